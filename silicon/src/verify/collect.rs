//! Reports on parts of members, put together to reports on members.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use sil::program::Member;

use super::reports::both;
use super::schedule::{Schedule, Task};
use symex::observer::Observer;
use symex::report::MemberReport;

/// The reports that tasks have made so far.
pub(super) struct Collected<'a> {
    observer: &'a dyn Observer,
    members: Mutex<FxHashMap<Member, Pending>>,
}

/// The finished parts of a member, and the number of tasks to come.
#[derive(Default)]
struct Pending {
    tasks: usize,
    is_reported: bool,
    /// By the number of the task.
    parts: Vec<(usize, MemberReport)>,
}

impl<'a> Collected<'a> {
    /// Before any task has run. The observer hears of members that are `reported`.
    pub(super) fn new(
        schedule: &Schedule,
        reported: &[Member],
        observer: &'a dyn Observer,
    ) -> Self {
        let mut members: FxHashMap<Member, Pending> = FxHashMap::default();
        for member in schedule.tasks.iter().flat_map(Task::members) {
            members.entry(member).or_default().tasks += 1;
        }
        for member in reported {
            members.entry(*member).or_default().is_reported = true;
        }
        Self { observer, members: Mutex::new(members) }
    }

    /// Adds the reports of a task on its members.
    pub(super) fn add_all(&self, task: usize, reports: Vec<(Member, MemberReport)>) {
        reports.into_iter().for_each(|(member, report)| self.add(member, task, report));
    }

    fn add(&self, member: Member, task: usize, report: MemberReport) {
        let complete = {
            let mut members = self.lock();
            let pending = members.entry(member).or_default();
            pending.parts.push((task, report));
            let is_complete = pending.is_reported && pending.parts.len() == pending.tasks;
            is_complete.then(|| together(pending.parts.clone()))
        };
        if let Some(report) = complete {
            self.observer.finished(&report);
        }
    }

    /// Returns the reports on members, those that nobody asked for too.
    pub(super) fn into_reports(self) -> FxHashMap<Member, MemberReport> {
        let members = self.members.into_inner().unwrap_or_else(PoisonError::into_inner);
        let members = members.into_iter().filter(|(_, pending)| !pending.parts.is_empty());
        members.map(|(member, pending)| (member, together(pending.parts))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<Member, Pending>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the proof that a function terminates comes after the function, and its report first.
fn together(mut parts: Vec<(usize, MemberReport)>) -> MemberReport {
    parts.sort_by_key(|&(task, _)| std::cmp::Reverse(task));
    let reports = parts.into_iter().map(|(_, report)| report);
    reports.reduce(both).expect("there is a part")
}
