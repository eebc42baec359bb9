//! A program to a report: which members are verified, in which order, on which threads.
//!
//! A member may rely on what was shown of the functions and predicates it mentions, and on nothing
//! else (trap T5a). It starts when that is known; what does not depend on each other runs in
//! parallel.

mod attempt;
mod collect;
mod functions;
pub(crate) mod interpretations;
mod member;
mod profile;
mod reports;
mod schedule;
pub(crate) mod selection;
mod smt_log;
mod tasks;
mod termination;
mod turns;

use std::any::Any;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use sil::program::{DomainId, Member, Program};
use sil::source::Sources;
use smt::prover::Workspace;

use self::collect::Collected;
use self::member::verify_member;
use self::reports::blank;
use self::schedule::{Schedule, Task};
use self::selection::{is_selected, planned, reported};
use self::tasks::{Run, note_predicate, observed};
use self::turns::Turns;
use crate::answers::{Answers, Recall, Recalled};
use crate::huge_pages;
use crate::stack;
use symex::members::analysis::Analysis;
use symex::observer::{Nobody, Observer, Planned};
use symex::options::{Assigned, Options};
use symex::report::{MemberReport, Report};
use symex::whole::Facts;
use symex::{Context, Engine, Visible};
use symex_sil::analysis::analyse;
use syxc::Direct;

/// A program to verify, and how.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    program: &'a Program,
    direct: Option<&'a Direct>,
    sources: &'a Sources,
    options: &'a Options,
    assigned: &'a Assigned,
    observer: &'a dyn Observer,
    answers: Option<&'a Answers>,
}

impl<'a> Request<'a> {
    /// Asks for the members of a program that the options select.
    pub fn new(program: &'a Program, sources: &'a Sources, options: &'a Options) -> Self {
        static NOTHING: Assigned = Assigned { settled: BTreeSet::new(), given_up: Vec::new() };
        let (assigned, observer) = (&NOTHING, &Nobody);
        Self { program, direct: None, sources, options, assigned, observer, answers: None }
    }

    /// Goes on where earlier attempts have ended.
    #[must_use]
    pub fn assigned(self, assigned: &'a Assigned) -> Self {
        Self { assigned, ..self }
    }

    /// An observer hears how it gets on, and may stop it.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Does not verify again what answers know already, and adds what is found to them. The keys of
    /// answers are about SIL programs: of others nothing is recalled.
    #[must_use]
    pub(crate) fn recalling(self, answers: Option<&'a Answers>) -> Self {
        Self { answers, ..self }
    }

    /// Executes a Chalice program without a translation; `program` is the table of its
    /// declarations.
    pub(crate) fn directly(self, direct: &'a Direct) -> Self {
        Self { direct: Some(direct), ..self }
    }

    /// Returns the members about which there will be reports, in their order.
    pub(crate) fn members(&self) -> Vec<Planned> {
        let members = reported(self, self.program).into_iter();
        members.map(|member| planned(self.program, member)).collect()
    }

    /// Verifies the members. The report is the same for every number of threads.
    pub fn verify(&self) -> Report {
        verify_members(self)
    }
}

fn verify_members(request: &Request<'_>) -> Report {
    let Request { program, direct, sources, options, assigned, observer, answers } = *request;
    let with_checks = options.smoke.then(|| sil::plugins::smoke::instrument(program));
    let program = with_checks.as_ref().unwrap_or(program);
    let amounts = if options.exact_amounts_in_functions {
        sil::plugins::termination::Amounts::Exact
    } else {
        sil::plugins::termination::Amounts::SomeOrNone
    };
    let termination = sil::plugins::termination::instrument(program, amounts);
    let program = termination.as_ref().map_or(program, |checks| &checks.program);
    let above = if direct.is_some() { syxc::above() } else { symex_sil::above() };
    let context = Context {
        own: direct.map(|direct| direct as &(dyn Any + Send + Sync)),
        given_up: &assigned.given_up,
        ..Context::new(program, sources, options, observer, termination.as_ref(), above)
    };
    let reported = reported(request, program);
    observer.planned(&reported.iter().map(|&member| planned(program, member)).collect::<Vec<_>>());
    let is_domain = |member: &Member| matches!(member, Member::Domain(_));
    // Axioms may mention nothing that needs a proof, so nothing else is to come; that they are
    // trusted is said elsewhere.
    if !options.smoke {
        let domains = reported.iter().copied().filter(is_domain);
        domains.for_each(|domain| observer.finished(&blank(program, domain)));
    }
    let schedule = Schedule::new(&context, |member| is_selected(request, program, member));
    let collected = Collected::new(&schedule, &reported, observer);
    let mut analysis = analyse(program);
    if let Some(direct) = direct {
        // Its tree has the bodies of the predicates.
        analysis.functions_in_bodies = direct.functions_in_bodies();
        analysis.recursive_predicates = direct.recursive_predicates();
    }
    let tasks = schedule.tasks.iter().map(Task::subject);
    let answers = answers.filter(|_| direct.is_none());
    let recall = answers.and_then(|answers| {
        let settings = (options, &assigned.given_up[..]);
        Recall::new(answers, program, sources, context.termination, settings, tasks)
    });
    let known = recall.as_ref().map(|recall| recall.look(&context, &analysis));
    let is_known = known.as_ref().map_or(Vec::new(), Recalled::numbers);
    for (index, reports) in known.into_iter().flat_map(|known| known.reports).enumerate() {
        let task = &schedule.tasks[index];
        if let Some(reports) = reports {
            note_predicate(&context, task, &reports);
            collected.add_all(index, task.members().into_iter().zip(reports).collect());
        }
    }
    let run = Run {
        context: &context,
        tasks: &schedule.tasks,
        analysis: &analysis,
        collected: &collected,
        recall: recall.as_ref(),
        known: &is_known,
        turns: Turns::new(options.deadline),
    };
    // Where all is known, threads would be most of the work.
    if is_known.len() < schedule.tasks.len() {
        on_threads(options.threads, |in_parallel| run.go(&schedule, in_parallel));
    }
    if let Some(recall) = &recall {
        recall.finish();
    }
    let mut reports = collected.into_reports();
    let mut report = Report::default();
    for &member in &reported {
        report.members.extend(reports.remove(&member));
        if let Member::Domain(domain) = member {
            let of_domain = if options.smoke {
                let checked = axioms(&context, &analysis, domain);
                observer.finished(&checked);
                checked
            } else {
                blank(program, member)
            };
            report.members.push(of_domain);
        }
    }
    report
}

/// Does work in a pool of threads, if there can be one.
fn on_threads(count: usize, work: impl FnOnce(bool) + Send) {
    const STACK_SIZE: usize = 256 << 20;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .stack_size(stack::size(STACK_SIZE))
        .start_handler(|_| huge_pages::prefer())
        .build();
    match pool {
        Ok(pool) => pool.install(|| work(true)),
        // No threads to be had: this one will do.
        Err(_) => work(false),
    }
}

/// Smoke detection of the axioms of a domain. All functions are verified by now.
fn axioms(context: &Context<'_>, analysis: &Analysis, domain: DomainId) -> MemberReport {
    let functions = context.program.functions.iter().map(|(id, _)| id).collect();
    let predicates = FxHashSet::default();
    let facts = Facts::of(analysis);
    let visible = Visible {
        functions: &functions,
        contracts: &[],
        definitions: &[],
        predicates: &predicates,
        facts: &facts,
    };
    let workspace = Workspace::new();
    let member = Member::Domain(domain);
    let check =
        |engine: &mut Engine<'_>| symex_sil::Sil::of(engine).check_axioms(domain).map(|()| None);
    let work = |_| verify_member(context, member, "axioms", visible, &workspace, check);
    observed(context, member, None, work).0
}
