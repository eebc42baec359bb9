//! One member on an engine of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use sil::diagnostics::Diagnostic;
use sil::program::Member;
use smt::prover::Workspace;

use super::reports::{blank, stopped};
use super::smt_log::SmtLog;
use super::{profile, termination};
use symex::knowledge::functions::FunctionAxioms;
use symex::report::{MemberReport, Severity, Verdict};
use symex::{Context, Engine, Stop, Visible};
use symex_sil::Sil;
use syxc::Statements;

/// Runs one attempt to verify a member, and turns what happens, panics included, into its
/// report. `attempt` stands in the names of log files; the first attempt has no name.
pub(super) fn verify_member<'p>(
    context: &'p Context<'p>,
    member: Member,
    attempt: &str,
    visible: Visible<'p>,
    workspace: &Workspace,
    run: impl FnOnce(&mut Engine<'p>) -> Result<Option<FunctionAxioms>, Stop>,
) -> (MemberReport, Option<FunctionAxioms>) {
    let started = Instant::now();
    let mut report = blank(context.program, member);
    let trace = profile::Trace::new(context.options);
    let smt_log = SmtLog::default();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let log = smt_log.open(context.options, &report.name, attempt)?;
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
    if let Err(stop) = smt_log.close() {
        stopped(context.options, &mut report, stop);
    }
    report.statistics.time = started.elapsed();
    match trace.map(|trace| trace.read()) {
        Some(Ok(instances)) => report.statistics.instances = instances,
        Some(Err(problem)) => {
            stopped(context.options, &mut report, Stop::Broken(problem.to_string()));
        }
        None => {}
    }
    (report, axioms)
}

pub(super) fn verify_body(
    context: &Context<'_>,
    member: Member,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    if context.own.is_some() {
        return Statements::of(engine).verify(member);
    }
    match member {
        Member::Predicate(predicate) => Sil::of(engine).verify_predicate(predicate),
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
            Sil::of(engine).verify_method(method, &graphs)
        }
        _ => Ok(()),
    }
}
