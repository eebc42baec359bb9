//! A program to a report: which members are verified, in which order, on which threads.
//!
//! Functions come first, callees before callers, since a member may rely on what was shown of the functions it
//! mentions and on nothing else (trap T5a); predicates and methods follow. Members of one stage are independent.

mod schedule;
mod smt_log;
mod termination;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use sil::diagnostics::Diagnostic;
use sil::imports::library;
use sil::program::{FunctionId, Member, Program};
use sil::source::{Sources, Span};

use crate::engine::function::{FunctionAxioms, FunctionTable};
use crate::engine::{Context, Engine, Stop};
use crate::options::{Join, Options};
use crate::report::{Finding, MemberKind, MemberReport, Report, Severity, Statistics, Verdict};

/// Verifies the selected members of a program. The report is the same for every number of threads.
pub fn verify(program: &Program, sources: &Sources, options: &Options) -> Report {
    match rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .stack_size(STACK_SIZE)
        .build()
    {
        Ok(pool) => pool.install(|| verify_members(program, sources, options)),
        // No threads to be had: this one will do.
        Err(_) => verify_members(program, sources, options),
    }
}

/// Deep terms need deep recursion; the memory is only reserved until it is used.
const STACK_SIZE: usize = 256 << 20;

fn verify_members(program: &Program, sources: &Sources, options: &Options) -> Report {
    let with_checks = options.smoke.then(|| sil::plugins::smoke::instrument(program));
    let program = with_checks.as_ref().unwrap_or(program);
    let termination = sil::plugins::termination::instrument(program);
    let program = termination.as_ref().map_or(program, |checks| &checks.program);
    let trigger_resources = crate::engine::quantified::touch::trigger_resources(program);
    let mut context = Context {
        trigger_resources,
        program,
        sources,
        options,
        functions: Arc::new(FunctionTable::default()),
        recursive_predicates: crate::engine::nesting::recursive_predicates(program),
        ill_formed_predicates: FxHashSet::default(),
        scripts_may_write: crate::engine::wands::scripts_may_write(program),
        termination: termination.as_ref(),
    };
    let mut outcomes: Vec<(Member, MemberReport)> = Vec::new();
    for stage in schedule::stages(program) {
        // What the members of a stage share is replaced between stages only.
        let contracts: Vec<_> = stage
            .par_iter()
            .map(|(function, group)| {
                verify_member(&context, Member::Function(*function), "contract", |engine| {
                    engine.recursion_group = group.iter().copied().collect();
                    engine.verify_function_contract(*function).map(Some)
                })
            })
            .collect();
        let contracts = add_axioms(&mut context, &stage, contracts);
        let bodies: Vec<_> = stage
            .par_iter()
            .map(|(function, group)| {
                verify_member(&context, Member::Function(*function), "body", |engine| {
                    engine.recursion_group = group.iter().copied().collect();
                    engine.verify_function_body(*function)
                })
            })
            .collect();
        let bodies = add_axioms(&mut context, &stage, bodies);
        for ((function, _), (contract, body)) in stage.iter().zip(contracts.into_iter().zip(bodies))
        {
            outcomes.push((Member::Function(*function), both(contract, body)));
        }
    }
    let predicates: Vec<Member> = program
        .order
        .iter()
        .copied()
        .filter(|member| matches!(member, Member::Predicate(_)))
        .collect();
    let reports: Vec<_> =
        predicates.par_iter().map(|&member| verify_other(&context, member)).collect();
    for (member, report) in predicates.into_iter().zip(reports) {
        if let (Member::Predicate(predicate), false) = (member, report.findings.is_empty()) {
            context.ill_formed_predicates.insert(predicate);
        }
        outcomes.push((member, report));
    }
    let methods: Vec<Member> = program
        .order
        .iter()
        .copied()
        .filter(|member| matches!(member, Member::Method(_)))
        .filter(|&member| is_selected(program, member, options))
        .collect();
    let reports: Vec<_> =
        methods.par_iter().map(|&member| verify_other(&context, member)).collect();
    outcomes.extend(methods.into_iter().zip(reports));
    add_termination_proofs(&context, &mut outcomes);
    let mut report = Report::default();
    for member in &program.order {
        if let Some(index) = outcomes.iter().position(|(other, _)| other == member)
            && is_selected(program, *member, options)
        {
            report.members.push(outcomes.swap_remove(index).1);
        }
        if let Member::Domain(_) = member
            && is_selected(program, *member, options)
            && !is_of_library(sources, program, *member)
        {
            // Axioms may mention nothing that needs a proof; that they are trusted is said elsewhere.
            report.members.push(blank(program, *member));
        }
    }
    report
}

/// The proofs that functions terminate. They come last, since they may use what the functions promise.
fn add_termination_proofs(context: &Context<'_>, outcomes: &mut [(Member, MemberReport)]) {
    let Some(checks) = context.termination else { return };
    let proofs: Vec<_> = checks
        .proofs
        .iter()
        .filter(|(_, function)| {
            is_selected(context.program, Member::Function(*function), context.options)
        })
        .collect();
    let reports: Vec<_> =
        proofs.par_iter().map(|(proof, _)| verify_other(context, Member::Method(*proof))).collect();
    for ((_, function), proof) in proofs.into_iter().zip(reports) {
        let of_function =
            outcomes.iter_mut().find(|(member, _)| *member == Member::Function(*function));
        let (_, report) = of_function.expect("all functions are verified");
        *report = both(proof, report.clone());
    }
}

/// Makes what a phase has shown available to the members that come later.
fn add_axioms(
    context: &mut Context<'_>,
    stage: &[(FunctionId, Vec<FunctionId>)],
    outcomes: Vec<(MemberReport, Option<FunctionAxioms>)>,
) -> Vec<MemberReport> {
    let mut table = (*context.functions).clone();
    let mut reports = Vec::with_capacity(outcomes.len());
    for ((function, _), (report, axioms)) in stage.iter().zip(outcomes) {
        if let Some(axioms) = axioms {
            table.insert(*function, axioms);
        }
        reports.push(report);
    }
    context.functions = Arc::new(table);
    reports
}

/// One report from those of the two phases of a function.
fn both(contract: MemberReport, body: MemberReport) -> MemberReport {
    let mut findings = contract.findings;
    for finding in body.findings {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    sort(&mut findings);
    let statistics = sum(&contract.statistics, &body.statistics);
    let verdict = contract.verdict.max(body.verdict);
    MemberReport { verdict, findings, statistics, ..body }
}

/// What two parts of the work on a member cost together.
fn sum(first: &Statistics, second: &Statistics) -> Statistics {
    Statistics {
        time: first.time + second.time,
        prover_time: first.prover_time + second.prover_time,
        queries: first.queries + second.queries,
        answered_without_prover: first.answered_without_prover + second.answered_without_prover,
        paths: first.paths + second.paths,
        counters: Vec::new(),
    }
}

/// A predicate or a method. Where merging states has not led to a proof, a method gets a second try without: paths one
/// by one are sometimes easier, and what fails is said of the path where it does. Both ways are sound.
fn verify_other(context: &Context<'_>, member: Member) -> MemberReport {
    let (report, has_merged) = verify_paths(context, member, context.options.join, None);
    let is_open = matches!(report.verdict, Verdict::Failed | Verdict::Inconclusive);
    if !is_open || !has_merged || context.options.join != Join::Auto || is_cut_short(&report) {
        return report;
    }
    let limit = RETRY_QUERIES.saturating_add(report.statistics.queries.saturating_mul(4));
    let (again, _) = verify_paths(context, member, Join::Never, Some(limit));
    let statistics = sum(&report.statistics, &again.statistics);
    let kept = if is_cut_short(&again) { report } else { again };
    MemberReport { statistics, ..kept }
}

/// How many questions the second try may ask beyond four times those of the first.
const RETRY_QUERIES: u64 = 1000;

fn is_cut_short(report: &MemberReport) -> bool {
    report.findings.iter().any(|finding| finding.error == OUT_OF_TIME)
}

/// Verifies a member, merging states as `join` says; also, whether it did.
fn verify_paths(
    context: &Context<'_>,
    member: Member,
    join: Join,
    query_limit: Option<u64>,
) -> (MemberReport, bool) {
    let part = if query_limit.is_some() { "unmerged" } else { "" };
    let mut has_merged = false;
    let (report, _) = verify_member(context, member, part, |engine| {
        engine.join = join;
        engine.query_limit = query_limit;
        let result = verify_body(context, member, engine);
        has_merged = engine.merges > 0;
        result.map(|()| None)
    });
    (report, has_merged)
}

fn verify_body(context: &Context<'_>, member: Member, engine: &mut Engine<'_>) -> Result<(), Stop> {
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
fn verify_member(
    context: &Context<'_>,
    member: Member,
    part: &str,
    run: impl FnOnce(&mut Engine<'_>) -> Result<Option<FunctionAxioms>, Stop>,
) -> (MemberReport, Option<FunctionAxioms>) {
    let started = Instant::now();
    let mut report = blank(context.program, member);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let log = smt_log::open(context.options, &report.name, part)?;
        let mut engine = Engine::new(context, log)?;
        let result = run(&mut engine);
        Ok::<_, Stop>((engine.finish(), result))
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
            match result {
                Ok(made) => axioms = made,
                Err(stop) => stopped(&mut report, stop),
            }
        }
        Ok(Err(stop)) => stopped(&mut report, stop),
        Err(panic) => {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            stopped(&mut report, Stop::Broken(words.to_owned()));
        }
    }
    sort(&mut report.findings);
    report.statistics.time = started.elapsed();
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

/// The id of the finding that a limit of the member is reached.
const OUT_OF_TIME: &str = "timeout.error";

/// A member whose verification stopped early is never verified.
fn stopped(report: &mut MemberReport, stop: Stop) {
    let (verdict, error, reason, span, message) = match stop {
        // Contradictory preconditions: nothing is left to show.
        Stop::Infeasible => return,
        Stop::Unsupported { span, what } => {
            let message = format!("not supported yet: {what}");
            (Verdict::Unsupported, "internal", Some("feature.unsupported"), span, message)
        }
        Stop::OutOfTime => {
            let message = "gave up: the time limit of the member is reached".to_owned();
            (Verdict::Inconclusive, OUT_OF_TIME, None, report.span, message)
        }
        Stop::Broken(what) => {
            (Verdict::Error, "internal", None, report.span, format!("internal error: {what}"))
        }
    };
    report.verdict = report.verdict.max(verdict);
    report.findings.push(finding(error, reason, span, message));
}

fn finding(
    error: &'static str,
    reason: Option<&'static str>,
    span: Span,
    message: String,
) -> Finding {
    Finding {
        severity: Severity::Warning,
        error,
        reason,
        message,
        span,
        reason_span: None,
        related: Vec::new(),
        path: Vec::new(),
    }
}

fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (finding.span, finding.full_id()));
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
    let (_, name, _) = describe(program, member);
    let matches = |globs: &[String]| globs.iter().any(|glob| matches_glob(glob, &name));
    (options.members.is_empty() || matches(&options.members)) && !matches(&options.excluded)
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
    use super::matches_glob;

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
