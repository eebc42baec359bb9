//! A program to a report: which members are verified, in which order, on which threads.
//!
//! A member may rely on what was shown of the functions and predicates it mentions, and on nothing else (trap T5a). It
//! starts when that is known; what does not depend on each other runs in parallel.

mod attempt;
mod collect;
mod profile;
mod schedule;
mod smt_log;
mod termination;
mod turns;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use sil::diagnostics::Diagnostic;
use sil::imports::library;
use sil::program::{DomainId, FunctionId, Member, Program};
use sil::source::{Sources, Span};
use sil::source_map;
use smt::prover::Workspace;

use self::attempt::{Attempt, End};
use self::collect::Collected;
use self::schedule::{Piece, Schedule, Task};
use self::turns::Turns;
use crate::answers::{Answers, Recall, Recalled};
use crate::direct::Direct;
use crate::engine::knowledge::functions::{FunctionAxioms, Phase};
use crate::engine::members::analysis::Analysis;
use crate::engine::whole::Facts;
use crate::engine::{Context, Engine, Limits, Stop, Visible};
use crate::huge_pages;
use crate::observer::{Nobody, Observer, Planned};
use crate::options::{GivenUp, Join, Options};
use crate::report::{
    ErrorId, Finding, MemberKind, MemberReport, Reason, Report, Severity, Statistics, Verdict,
};

/// Verifies the selected members of a program. The report is the same for every number of threads.
pub fn verify(program: &Program, sources: &Sources, options: &Options) -> Report {
    verify_with(program, sources, options, &Nobody)
}

/// The same; `observer` hears how it gets on, and may stop it.
pub fn verify_with(
    program: &Program,
    sources: &Sources,
    options: &Options,
    observer: &dyn Observer,
) -> Report {
    verify_recalling(program, sources, options, observer, None)
}

/// The same; what `answers` know already is not verified again, and what is found is added to them.
pub fn verify_recalling(
    program: &Program,
    sources: &Sources,
    options: &Options,
    observer: &dyn Observer,
    answers: Option<&Answers>,
) -> Report {
    verify_either(program, None, sources, options, observer, answers)
}

/// Verifies a Chalice program without a translation; `table` has its declarations.
pub(crate) fn verify_direct(
    table: &Program,
    direct: &Direct,
    sources: &Sources,
    options: &Options,
    observer: &dyn Observer,
) -> Report {
    // The keys of answers are about SIL programs.
    verify_either(table, Some(direct), sources, options, observer, None)
}

fn verify_either(
    program: &Program,
    direct: Option<&Direct>,
    sources: &Sources,
    options: &Options,
    observer: &dyn Observer,
    answers: Option<&Answers>,
) -> Report {
    let run = |in_parallel| {
        verify_members(program, direct, sources, options, observer, answers, in_parallel)
    };
    match rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .stack_size(STACK_SIZE)
        .start_handler(|_| huge_pages::prefer())
        .build()
    {
        Ok(pool) => pool.install(|| run(true)),
        // No threads to be had: this one will do.
        Err(_) => run(false),
    }
}

/// Deep terms need deep recursion; the memory is only reserved until it is used.
const STACK_SIZE: usize = 256 << 20;

fn verify_members(
    program: &Program,
    direct: Option<&Direct>,
    sources: &Sources,
    options: &Options,
    observer: &dyn Observer,
    answers: Option<&Answers>,
    in_parallel: bool,
) -> Report {
    let with_checks = options.smoke.then(|| sil::plugins::smoke::instrument(program));
    let program = with_checks.as_ref().unwrap_or(program);
    let amounts = if options.exact_amounts_in_functions {
        sil::plugins::termination::Amounts::Exact
    } else {
        sil::plugins::termination::Amounts::SomeOrNone
    };
    let termination = sil::plugins::termination::instrument(program, amounts);
    let program = termination.as_ref().map_or(program, |checks| &checks.program);
    let context = Context {
        direct,
        ..Context::new(program, sources, options, observer, termination.as_ref())
    };
    let reported: Vec<Member> = program
        .order
        .iter()
        .copied()
        .filter(|&member| is_reported(program, sources, options, member))
        .collect();
    observer.planned(&reported.iter().map(|&member| planned(program, member)).collect::<Vec<_>>());
    let is_domain = |member: &Member| matches!(member, Member::Domain(_));
    // Axioms may mention nothing that needs a proof, so nothing else is to come; that they are trusted is said elsewhere.
    if !options.smoke {
        let domains = reported.iter().copied().filter(is_domain);
        domains.for_each(|domain| observer.finished(&blank(program, domain)));
    }
    let schedule =
        Schedule::new(program, context.termination, |member| is_selected(program, member, options));
    let collected = Collected::new(&schedule, &reported, observer);
    let analysis = Analysis::of(program);
    let tasks = schedule.tasks.iter().map(Task::subject);
    let recall = answers.and_then(|answers| {
        Recall::new(answers, program, sources, context.termination, options, tasks)
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
    let turns = Turns::new(options.deadline);
    let work = |lane: Range<usize>| {
        let mut workspace = Workspace::new();
        for index in lane {
            if is_known.contains(&index) {
                continue;
            }
            if workspace.is_worn() || recall.is_some() {
                workspace = Workspace::new();
            }
            let (task, facts) = (&schedule.tasks[index], Facts::of(&analysis));
            let started = Instant::now();
            match perform(&context, task, &facts, turns.slice(), &workspace) {
                Some(reports) => {
                    if let Some(recall) = &recall {
                        let (time, asked) = (started.elapsed(), facts.into_asked());
                        let reports = reports.iter().map(|(_, report)| report);
                        recall.done(index, &context, time, asked, reports);
                    }
                    collected.add_all(index, reports);
                }
                None => turns.postpone(index),
            }
        }
    };
    let work = &work;
    if in_parallel {
        schedule.run(work);
        while let Some(postponed) = turns.next() {
            rayon::scope(|scope| {
                for index in postponed {
                    scope.spawn(move |_| work(index..index + 1));
                }
            });
        }
    } else {
        schedule.run_here(work);
        while let Some(postponed) = turns.next() {
            postponed.into_iter().for_each(|index| work(index..index + 1));
        }
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

/// Whether there is a report on a member: it is selected, and there is something to say.
fn is_reported(program: &Program, sources: &Sources, options: &Options, member: Member) -> bool {
    !matches!(member, Member::Field(_))
        && is_selected(program, member, options)
        && !(matches!(member, Member::Domain(_)) && is_of_library(sources, program, member))
}

fn planned(program: &Program, member: Member) -> Planned {
    let (kind, name, span) = describe(program, member);
    Planned { kind, name, span }
}

/// Verifies the members of a task, and leaves what is learnt of them to those that come later. `None`: it has had its turn, and
/// is not done.
fn perform(
    context: &Context<'_>,
    task: &Task,
    facts: &Facts<'_>,
    slice: Option<Duration>,
    workspace: &Workspace,
) -> Option<Vec<(Member, MemberReport)>> {
    let visible =
        Visible { functions: &task.functions, contracts: &[], predicates: &task.predicates, facts };
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
fn note_predicate(context: &Context<'_>, task: &Task, reports: &[MemberReport]) {
    if let Piece::Predicate(predicate) = &task.piece {
        let mut findings = reports.iter().flat_map(|report| &report.findings);
        let has_failed = findings.any(|finding| finding.error != ErrorId::VerifierWarning);
        let ill_formed = &context.ill_formed_predicates[predicate];
        ill_formed.set(has_failed).expect("a predicate is checked once");
    }
}

/// Contracts first: a body may rely on those of its whole group, and on nothing else of it (trap T5a). But what a
/// function in `promise_late` promises is for later functions of that kind only.
fn functions_of_group(
    context: &Context<'_>,
    functions: &[FunctionId],
    recursive: bool,
    promise_late: &[FunctionId],
    visible: Visible<'_>,
    workspace: &Workspace,
) -> Vec<(Member, MemberReport)> {
    let group: FxHashSet<FunctionId> =
        if recursive { functions.iter().copied().collect() } else { FxHashSet::default() };
    let phase = |phase: Phase, contracts_were: &[MemberReport]| -> Vec<MemberReport> {
        let part = match phase {
            Phase::Contract => "contract",
            Phase::Body => "body",
        };
        let outcomes: Vec<_> = functions
            .iter()
            .enumerate()
            .map(|(index, &function)| {
                let is_ill_formed = contracts_were.get(index).is_some_and(|report| {
                    report.findings.iter().any(|finding| finding.severity == Severity::Error)
                });
                let contracts = match phase {
                    Phase::Contract => Vec::new(),
                    Phase::Body => usable_contracts(function, functions, promise_late),
                };
                let visible = Visible { contracts: &contracts, ..visible };
                let member = Member::Function(function);
                let run = |engine: &mut Engine<'_>| {
                    engine.setting.recursion_group = group.clone();
                    if context.direct.is_some() {
                        let done = match phase {
                            Phase::Contract => engine.verify_direct(member),
                            Phase::Body => Ok(()),
                        };
                        return done.map(|()| None);
                    }
                    match phase {
                        // What builds on an ill-formed contract would be reported for no other reason.
                        Phase::Body if is_ill_formed => Ok(None),
                        Phase::Contract => engine.verify_function_contract(function).map(Some),
                        Phase::Body => engine.verify_function_body(function),
                    }
                };
                observed(context, member, None, |_| {
                    verify_member(context, member, part, visible, workspace, run)
                })
            })
            .collect();
        let mut reports = Vec::with_capacity(functions.len());
        for (&function, (report, axioms)) in functions.iter().zip(outcomes) {
            if let Some(axioms) = axioms {
                context.functions.insert(function, phase, Arc::new(axioms));
            }
            reports.push(report);
        }
        reports
    };
    let contracts = phase(Phase::Contract, &[]);
    let bodies = phase(Phase::Body, &contracts);
    let reports = contracts.into_iter().zip(bodies).map(|(contract, body)| both(contract, body));
    functions.iter().map(|&function| Member::Function(function)).zip(reports).collect()
}

/// The functions of a group whose contracts the body of `function` may be checked with.
fn usable_contracts(
    function: FunctionId,
    functions: &[FunctionId],
    promise_late: &[FunctionId],
) -> Vec<FunctionId> {
    let early = functions.iter().filter(|other| !promise_late.contains(other));
    let own_place = promise_late.iter().position(|&other| other == function).unwrap_or(0);
    early.chain(&promise_late[..own_place]).copied().collect()
}

/// One report from those of two parts of a member, the first as if it had come first.
fn both(first: MemberReport, second: MemberReport) -> MemberReport {
    let mut findings = first.findings;
    for finding in second.findings {
        let known = findings.iter_mut().find(|known| known.key() == finding.key());
        match known {
            None => findings.push(finding),
            Some(known) => known.meet(finding),
        }
    }
    let mut statistics = first.statistics;
    statistics.add(&second.statistics);
    let verdict = first.verdict.max(second.verdict);
    MemberReport { verdict, findings, statistics, ..second }
}

/// Tells the observer of a piece of work, which gets the time at which it should be over.
///
/// Whose work that is, is what observers know of it: where they have given `member` up, nothing of it is done, whichever
/// program the work is about. `slice` is what it may take for the time being.
fn observed<T: Default>(
    context: &Context<'_>,
    member: Member,
    slice: Option<Duration>,
    work: impl FnOnce(Option<Instant>) -> (MemberReport, T),
) -> (MemberReport, T) {
    let mut report = blank(context.program, member);
    let is_it = |one: &&GivenUp| one.kind == report.kind && one.name == report.name;
    if let Some(GivenUp { is_defect, why, .. }) = context.options.given_up.iter().find(is_it) {
        let stop = if *is_defect { Stop::Broken } else { Stop::GivenUp };
        stopped(context.options, &mut report, stop(why.clone()));
        return (report, T::default());
    }
    let limit = context.options.member_time_limit.into_iter().chain(slice).min();
    let limit = limit.map(|limit| Instant::now() + limit);
    let until = limit.into_iter().chain(context.options.deadline).min();
    let MemberReport { kind, name, .. } = report;
    context.observer.started(kind, &name, until);
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

/// A predicate or a method, within the time that one member has.
///
/// With `--join auto`, a method is verified path by path if it has few; else with states merged; and where that has not
/// led to a proof, path by path again, as far as that gets within a limit: one path is sometimes easier, and what fails is
/// said of the path where it does. Each attempt is sound by itself.
fn verify_other(
    context: &Context<'_>,
    member: Member,
    until: Option<Instant>,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> (MemberReport, End) {
    let attempt = |how| attempt::run(context, member, how, visible, workspace);
    let join = context.options.join;
    if !matches!((member, join), (Member::Method(_), Join::Auto)) {
        return attempt(Attempt { until, ..Attempt::default() });
    }
    let limits = Limits { paths: Some(FEW_PATHS), ..Limits::default() };
    let few = Attempt { one_by_one: true, limits, until, ..Attempt::default() };
    let (first, end) = attempt(few);
    if end != End::TooMuch {
        return (first, end);
    }
    let merging = Attempt { part: "merged", until, ..Attempt::default() };
    let (report, end) = attempt(merging);
    let report = with_cost_of(report, &first);
    let is_open = matches!(report.verdict, Verdict::Failed | Verdict::Inconclusive);
    if !is_open || end != End::Merged {
        return (report, end);
    }
    let spent = &report.statistics.questions;
    let limits = Limits {
        paths: None,
        questions: Some(RETRY_QUESTIONS.saturating_add(spent.asked().saturating_mul(4))),
        by_prover: Some(RETRY_QUERIES.saturating_add(spent.by_prover.saturating_mul(4))),
    };
    let retry = Attempt { part: "paths", one_by_one: true, limits, until };
    let (again, end_again) = attempt(retry);
    match end_again {
        End::TooMuch => (with_cost_of(report, &again), end),
        // What was found before stands, unless the method gets another turn.
        End::Late => (with_cost_of(report, &again), End::Late),
        End::Plain | End::Merged => (with_cost_of(again, &report), end_again),
    }
}

/// The report of one attempt, with what another one has cost.
fn with_cost_of(report: MemberReport, other: &MemberReport) -> MemberReport {
    let mut statistics = other.statistics.clone();
    statistics.add(&report.statistics);
    MemberReport { statistics, ..report }
}

/// So many paths are followed one by one before states are merged. Proofs about one path are easier than proofs about
/// several, and most methods have no more.
const FEW_PATHS: u64 = 40;

/// How many questions the last attempt may ask beyond four times those of the others, and how many of the prover.
const RETRY_QUESTIONS: u64 = 20_000;
const RETRY_QUERIES: u64 = 1000;

/// Smoke detection of the axioms of a domain. All functions are verified by now.
fn axioms(context: &Context<'_>, analysis: &Analysis, domain: DomainId) -> MemberReport {
    let functions = context.program.functions.iter().map(|(id, _)| id).collect();
    let predicates = FxHashSet::default();
    let facts = Facts::of(analysis);
    let visible =
        Visible { functions: &functions, contracts: &[], predicates: &predicates, facts: &facts };
    let workspace = Workspace::new();
    let member = Member::Domain(domain);
    let check = |engine: &mut Engine<'_>| engine.check_axioms(domain).map(|()| None);
    let work = |_| verify_member(context, member, "axioms", visible, &workspace, check);
    observed(context, member, None, work).0
}

fn verify_body(context: &Context<'_>, member: Member, engine: &mut Engine<'_>) -> Result<(), Stop> {
    if context.direct.is_some() {
        return engine.verify_direct(member);
    }
    match member {
        Member::Predicate(predicate) => engine.verify_predicate(predicate),
        Member::Method(method) => {
            let mut graphs = Vec::new();
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for index in 0..context.program.methods[method].implementations.len() {
                let checked = context.termination.and_then(|it| it.graphs.get(&(method, index)));
                let cfg = checked
                    .cloned()
                    .or_else(|| sil::cfg::build(context.program, method, index, &mut diagnostics));
                match cfg {
                    Some(cfg) => graphs.push(cfg),
                    None => {
                        let span = context.program.methods[method].span;
                        let what = "a body without a valid control-flow graph".to_owned();
                        return Err(Stop::Unsupported { span, what });
                    }
                }
            }
            engine.verify_method(method, &graphs)
        }
        _ => Ok(()),
    }
}

/// Runs the verification of one member, or of a part of it, and turns what happens, panics included, into its report.
fn verify_member<'p>(
    context: &'p Context<'p>,
    member: Member,
    part: &str,
    visible: Visible<'p>,
    workspace: &Workspace,
    run: impl FnOnce(&mut Engine<'p>) -> Result<Option<FunctionAxioms>, Stop>,
) -> (MemberReport, Option<FunctionAxioms>) {
    let started = Instant::now();
    let mut report = blank(context.program, member);
    let trace = profile::Trace::new(context.options);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let log = smt_log::open(context.options, &report.name, part)?;
        let traced = trace.as_ref().and_then(profile::Trace::workspace);
        let workspace = traced.as_ref().unwrap_or(workspace);
        let mut engine = Engine::new(context, visible, workspace, log)?;
        let mut result = run(&mut engine);
        let outcome = engine.finish();
        if matches!(result, Ok(_) | Err(Stop::Infeasible)) && outcome.leaves_failures_open {
            result = Err(Stop::Broken("what was to be reported is lost".to_owned()));
        }
        Ok::<_, Stop>((outcome, result))
    }));
    let mut axioms = None;
    match result {
        Ok(Ok((outcome, result))) => {
            report.findings = outcome.findings;
            if let Some(checks) = context.termination {
                let found = std::mem::take(&mut report.findings);
                let (shown, some_left_out) =
                    termination::findings(checks, context.sources, member, found);
                report.findings = shown;
                // Fail closed: who reports the others has to do so.
                if some_left_out {
                    report.verdict = Verdict::Inconclusive;
                }
            }
            report.statistics = outcome.statistics;
            if outcome.gave_up {
                report.verdict = Verdict::Inconclusive;
            }
            if report.findings.iter().any(|finding| finding.severity == Severity::Error) {
                report.verdict = Verdict::Failed;
            }
            report.findings.extend(outcome.warnings);
            match result {
                Ok(made) => axioms = made,
                Err(stop) => stopped(context.options, &mut report, stop),
            }
        }
        Ok(Err(stop)) => stopped(context.options, &mut report, stop),
        Err(panic) => {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            stopped(context.options, &mut report, Stop::Broken(words.to_owned()));
        }
    }
    report.statistics.time = started.elapsed();
    match trace.map(|trace| trace.read()) {
        Some(Ok(instances)) => report.statistics.instances = instances,
        Some(Err(problem)) => stopped(context.options, &mut report, Stop::Broken(problem)),
        None => {}
    }
    (report, axioms)
}

/// The report on a member of which nothing has been shown to fail.
fn blank(program: &Program, member: Member) -> MemberReport {
    let (kind, name, span) = describe(program, member);
    MemberReport {
        kind,
        name,
        span,
        verdict: Verdict::Verified,
        findings: Vec::new(),
        trusted: Vec::new(),
        statistics: Statistics::default(),
    }
}

/// Whether a member is declared in the standard library.
fn is_of_library(sources: &Sources, program: &Program, member: Member) -> bool {
    let (_, _, span) = describe(program, member);
    sources.range(span).is_some() && library::is_name(&sources.file(span.file).name)
}

/// A member whose verification stopped early is never verified.
fn stopped(options: &Options, report: &mut MemberReport, stop: Stop) {
    let span = report.span;
    let gave_up = |why: &str| {
        (Verdict::Inconclusive, ErrorId::Timeout, None, span, format!("gave up: {why}"))
    };
    let (verdict, error, reason, span, message) = match stop {
        // Contradictory preconditions: nothing is left to show.
        Stop::Infeasible => return,
        Stop::Unsupported { span, what } => {
            let message = format!("not supported yet: {what}");
            (
                Verdict::Unsupported,
                ErrorId::Internal,
                Some(Reason::FeatureUnsupported),
                span,
                message,
            )
        }
        Stop::Cancelled => gave_up("the verification was stopped"),
        Stop::GivenUp(why) => gave_up(&why),
        // Of the second, nobody sees the report.
        Stop::OutOfTime | Stop::TooMuch => gave_up(&options.limit_reached()),
        Stop::Broken(what) => (
            Verdict::Error,
            ErrorId::Internal,
            None,
            report.span,
            format!("internal error: {what}"),
        ),
    };
    report.verdict = report.verdict.max(verdict);
    let mut found = finding(error, reason, span, message);
    if error == ErrorId::Timeout
        && let Some((place, what)) = report.statistics.last
        && place != Span::default()
    {
        found.related.push((place, format!("this was being verified ({what})")));
    }
    report.findings.push(found);
}

fn finding(error: ErrorId, reason: Option<Reason>, span: Span, message: String) -> Finding {
    Finding {
        severity: Severity::Warning,
        error,
        reason,
        message,
        span,
        reason_span: None,
        related: Vec::new(),
        path: Vec::new(),
        counterexample: None,
        shortfall: None,
    }
}

fn describe(program: &Program, member: Member) -> (MemberKind, String, Span) {
    match member {
        Member::Method(id) => {
            let method = &program.methods[id];
            (MemberKind::Method, method.name.to_string(), method.span)
        }
        Member::Function(id) => {
            let function = &program.functions[id];
            (MemberKind::Function, function.name.to_string(), function.span)
        }
        Member::Predicate(id) => {
            let predicate = &program.predicates[id];
            (MemberKind::Predicate, predicate.name.to_string(), predicate.span)
        }
        Member::Domain(id) => {
            let domain = &program.domains[id];
            (MemberKind::Domain, domain.name.to_string(), domain.span)
        }
        Member::Field(_) => unreachable!("fields are not verified"),
    }
}

fn is_selected(program: &Program, member: Member, options: &Options) -> bool {
    let (kind, name, span) = describe(program, member);
    // A member of a translated program goes by either of its names.
    let given = source_map::given_name(program, span);
    let names = || std::iter::once(&name).chain(&given);
    let matches =
        |globs: &[String]| names().any(|name| globs.iter().any(|glob| matches_glob(glob, name)));
    let is_asked_for =
        |asked: &[String], not: &[String]| (asked.is_empty() || matches(asked)) && !matches(not);
    let is_method = matches!(member, Member::Method(_));
    is_asked_for(&options.members, &options.excluded)
        && (!is_method || is_asked_for(&options.methods, &options.excluded_methods))
        && !is_settled(options, kind, &name)
}

fn is_settled(options: &Options, kind: MemberKind, name: &str) -> bool {
    !options.settled.is_empty() && options.settled.contains(&(kind, name.to_owned()))
}

/// Whether a name matches a glob of `*` and `?`.
fn matches_glob(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if g < glob.len() && (glob[g] == '?' || glob[g] == name[n]) {
            (g, n) = (g + 1, n + 1);
        } else if g < glob.len() && glob[g] == '*' {
            retry = Some((g, n));
            g += 1;
        } else if let Some((star, from)) = retry {
            (g, n) = (star + 1, from + 1);
            retry = Some((star, from + 1));
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_part_finds_is_lost() {
        let gave_up = finding(ErrorId::AssertFailed, None, Span::default(), "gave up".to_owned());
        let failed = Finding { severity: Severity::Error, ..gave_up.clone() };
        let report = |verdict, findings| MemberReport {
            kind: MemberKind::Method,
            name: "m".to_owned(),
            span: Span::default(),
            verdict,
            findings,
            trusted: Vec::new(),
            statistics: Statistics { paths: 1, ..Statistics::default() },
        };
        let verified = || report(Verdict::Verified, Vec::new());
        let inconclusive = || report(Verdict::Inconclusive, vec![gave_up.clone()]);
        let refuted = || report(Verdict::Failed, vec![failed.clone()]);
        for (first, second, expected) in [
            (verified(), refuted(), refuted()),
            (refuted(), verified(), refuted()),
            (inconclusive(), refuted(), refuted()),
            (refuted(), inconclusive(), refuted()),
            (inconclusive(), verified(), inconclusive()),
            (verified(), verified(), verified()),
        ] {
            let whole = both(first, second);
            assert_eq!((whole.verdict, whole.findings), (expected.verdict, expected.findings));
            assert_eq!(whole.statistics.paths, 2);
        }
    }

    #[test]
    fn globs_match_whole_names() {
        for (glob, name, expected) in [
            ("m", "m", true),
            ("m", "mm", false),
            ("m*", "method", true),
            ("*_x", "a_x_x", true),
            ("?", "", false),
            ("a*b?c", "aXXbYc", true),
            ("", "", true),
        ] {
            assert_eq!(matches_glob(glob, name), expected, "{glob} on {name}");
        }
    }
}
