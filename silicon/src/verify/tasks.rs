//! The tasks of a schedule, each on the thread that takes it: what is known of it is taken over,
//! the rest is verified, in turns where time is limited.

use std::ops::Range;
use std::time::{Duration, Instant};

use sil::program::Member;
use smt::prover::Workspace;

use super::attempt::{End, verify_other};
use super::collect::Collected;
use super::functions::functions_of_group;
use super::reports::{blank, stopped};
use super::schedule::{Piece, Schedule, Task};
use super::turns::Turns;
use crate::answers::Recall;
use symex::clock::Until;
use symex::members::analysis::Analysis;
use symex::options::GivenUp;
use symex::report::{ErrorId, MemberReport};
use symex::whole::Facts;
use symex::{Context, Stop, Visible};

/// The steps of the prover (half a second) that make a task one that others do not wait for.
const COSTLY: u64 = 2_000_000;

/// The shared data of all threads of a run.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) tasks: &'a [Task],
    pub(super) analysis: &'a Analysis,
    pub(super) collected: &'a Collected<'a>,
    pub(super) recall: Option<&'a Recall<'a>>,
    /// The numbers of the tasks that need no work.
    pub(super) known: &'a [usize],
    pub(super) turns: Turns,
}

impl Run<'_> {
    /// Does all tasks, those that had to wait for another turn last.
    pub(super) fn go(&self, schedule: &Schedule, in_parallel: bool) {
        if in_parallel {
            schedule.run(|lane| self.work(lane));
            while let Some(postponed) = self.turns.next() {
                rayon::scope(|scope| {
                    for index in postponed {
                        scope.spawn(move |_| _ = self.work(index..index + 1));
                    }
                });
            }
        } else {
            schedule.run_here(|lane| self.work(lane));
            while let Some(postponed) = self.turns.next() {
                postponed.into_iter().for_each(|index| _ = self.work(index..index + 1));
            }
        }
    }

    /// Gives each of these tasks a turn, one after the other. Returns those behind a costly one:
    /// they need not wait.
    fn work(&self, lane: Range<usize>) -> Range<usize> {
        let end = lane.end;
        let mut workspace = Workspace::new();
        // The solver's models depend on what came before in its workspace, so that a counterexample
        // would change with the members beside it.
        let is_apart = self.recall.is_some() || self.context.options.counterexample;
        for index in lane {
            if self.known.contains(&index) {
                continue;
            }
            if workspace.is_worn() || is_apart {
                workspace = Workspace::new();
            }
            let (task, facts) = (&self.tasks[index], Facts::of(self.analysis));
            if self.recall.is_some_and(Recall::is_complete) {
                self.collected.add_all(index, self.without_answer(task));
                continue;
            }
            let started = Instant::now();
            match perform(self.context, task, &facts, self.turns.slice(), &workspace) {
                Some(mut reports) => {
                    let steps: u64 = reports.iter().map(|(_, report)| steps(report)).sum();
                    if let Some(recall) = self.recall {
                        let (time, asked) = (started.elapsed(), facts.into_asked());
                        let found = reports.iter().map(|(_, report)| report);
                        let difference = recall.done(index, self.context, time, asked, found);
                        if let Some(difference) = difference {
                            let options = self.context.options;
                            for (_, report) in &mut reports {
                                stopped(options, report, Stop::Broken(difference.clone()));
                            }
                        }
                    }
                    self.collected.add_all(index, reports);
                    if steps > COSTLY {
                        return index + 1..end;
                    }
                }
                None => self.turns.postpone(index),
            }
        }
        end..end
    }
}

/// Returns the steps of the prover: as many on any number of threads.
fn steps(report: &MemberReport) -> u64 {
    report.statistics.places.values().map(|cost| cost.steps).sum()
}

impl Run<'_> {
    /// Returns the reports of a task that was not to be verified.
    fn without_answer(&self, task: &Task) -> Vec<(Member, MemberReport)> {
        let given_up = |member| {
            let mut report = blank(self.context.program, member);
            let why = "the cache has no answer (--cache-only)".to_owned();
            stopped(self.context.options, &mut report, Stop::GivenUp(why));
            (member, report)
        };
        task.members().into_iter().map(given_up).collect()
    }
}

/// Verifies the members of a task, and leaves what is learnt of them to those that come later.
/// `None`: it has had its turn, and is not done.
fn perform(
    context: &Context<'_>,
    task: &Task,
    facts: &Facts<'_>,
    slice: Option<Duration>,
    workspace: &Workspace,
) -> Option<Vec<(Member, MemberReport)>> {
    let visible = Visible {
        functions: &task.functions,
        contracts: &[],
        definitions: &[],
        predicates: &task.predicates,
        facts,
    };
    Some(match &task.piece {
        Piece::Functions { functions, recursive, promise_late } => {
            let (recursive, late) = (*recursive, &promise_late[..]);
            functions_of_group(context, functions, recursive, late, visible, workspace)
        }
        Piece::Predicate(predicate) => {
            let member = Member::Predicate(*predicate);
            let report = verify_whole(context, member, visible, workspace);
            note_predicate(context, task, std::slice::from_ref(&report));
            vec![(member, report)]
        }
        Piece::Method(method) => {
            let member = Member::Method(*method);
            // Nobody waits for a method.
            let is_turn = |limit: Option<Duration>| {
                slice.is_some() && limit.is_none_or(|limit| slice < Some(limit))
            };
            let (report, end) = observed(context, member, slice, |until| {
                verify_other(context, member, until, visible, workspace)
            });
            if end == End::Late && is_turn(context.options.member_time_limit) {
                return None;
            }
            vec![(member, report)]
        }
        Piece::Termination { proof, function } => {
            let (report, _) = observed(context, Member::Function(*function), None, |until| {
                verify_other(context, Member::Method(*proof), until, visible, workspace)
            });
            vec![(Member::Function(*function), report)]
        }
    })
}

/// Leaves word of whether a predicate is well-formed, if the task is about one.
pub(super) fn note_predicate(context: &Context<'_>, task: &Task, reports: &[MemberReport]) {
    if let Piece::Predicate(predicate) = &task.piece {
        let mut findings = reports.iter().flat_map(|report| &report.findings);
        let has_failed = findings.any(|finding| finding.error != ErrorId::VerifierWarning);
        let ill_formed = &context.ill_formed_predicates[predicate];
        ill_formed.set(has_failed).expect("a predicate is checked once");
    }
}

/// Tells the observer of a piece of work, which gets the time at which it should be over.
///
/// Whose work that is, is what observers know of it: where they have given `member` up, nothing of
/// it is done, whichever program the work is about. `slice` is what it may take for the time being.
pub(super) fn observed<T: Default>(
    context: &Context<'_>,
    member: Member,
    slice: Option<Duration>,
    work: impl FnOnce(Until) -> (MemberReport, T),
) -> (MemberReport, T) {
    let mut report = blank(context.program, member);
    let is_it = |one: &&GivenUp| one.kind == report.kind && one.name == report.name;
    let given_up = context.given_up.iter().find(is_it);
    if let Some(GivenUp { is_defect, why, time, .. }) = given_up {
        report.statistics.time = *time;
        let stop = if *is_defect { Stop::Broken } else { Stop::GivenUp };
        stopped(context.options, &mut report, stop(why.clone()));
        return (report, T::default());
    }
    let limit = context.options.member_time_limit.into_iter().chain(slice).min();
    let until = Until::new(limit, context.options.deadline);
    let MemberReport { kind, name, .. } = report;
    context.observer.started(kind, &name, until.left().map(|left| Instant::now() + left));
    let done = work(until);
    context.observer.ended(kind, &name);
    done
}

fn verify_whole(
    context: &Context<'_>,
    member: Member,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> MemberReport {
    let work = |until| verify_other(context, member, until, visible, workspace);
    observed(context, member, None, work).0
}
