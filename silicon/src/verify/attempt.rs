//! Attempts to verify a member.

use rustc_hash::FxHashSet;
use sil::program::Member;
use smt::prover::Workspace;

use super::member::{verify_body, verify_member};
use super::reports::with_cost_of;
use symex::clock::Until;
use symex::options::Join;
use symex::report::{Finding, MemberReport, Severity, Verdict};
use symex::{Context, Limits, Stop, Visible};

/// How a member is verified, and how far.
#[derive(Clone, Copy)]
struct Attempt {
    /// Its name in the names of log files; the first has none.
    name: &'static str,
    one_by_one: bool,
    limits: Limits,
    /// All attempts have the time of one member.
    until: Until,
}

impl Attempt {
    fn new(until: Until) -> Self {
        Self { name: "", one_by_one: false, limits: Limits::default(), until }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum End {
    /// All is said.
    #[default]
    Plain,
    /// All is said, of merged states too.
    Merged,
    /// A limit of the attempt was reached.
    TooMuch,
    /// No time was left.
    Late,
}

/// Returns a predicate or a method, within the time that one member has.
///
/// With `--join auto`, a method is verified path by path if it has few; else with states merged;
/// and where that has not led to a proof, path by path again, as far as that gets within a limit:
/// one path is sometimes easier, and what fails is said of the path where it does. Errors that the
/// first attempt has shown on its paths are not looked for again. Each attempt is sound by itself.
pub(super) fn verify_other(
    context: &Context<'_>,
    member: Member,
    until: Until,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> (MemberReport, End) {
    let attempt = |how| run(context, member, how, visible, workspace);
    let join = context.options.join;
    if !matches!((member, join), (Member::Method(_), Join::Auto)) {
        return attempt(Attempt::new(until));
    }
    let limits = Limits { paths: Some(FEW_PATHS), ..Limits::default() };
    let few = Attempt { one_by_one: true, limits, ..Attempt::new(until) };
    let (first, end) = attempt(few);
    if end != End::TooMuch {
        return (first, end);
    }
    let merging = Attempt { name: "merged", ..Attempt::new(until) };
    let (report, end) = attempt(merging);
    let report = with_cost_of(report, &first);
    let is_open = matches!(report.verdict, Verdict::Failed | Verdict::Inconclusive);
    if !is_open || end != End::Merged {
        return (report, end);
    }
    if have_same_errors(&first, &report) {
        return (MemberReport { findings: errors(&first), ..report }, End::Plain);
    }
    let spent = &report.statistics.questions;
    let limits = Limits {
        paths: None,
        questions: Some(RETRY_QUESTIONS.saturating_add(spent.asked().saturating_mul(4))),
        by_prover: Some(RETRY_QUERIES.saturating_add(spent.by_prover.saturating_mul(4))),
    };
    let retry = Attempt { name: "paths", one_by_one: true, limits, until };
    let (again, end_again) = attempt(retry);
    match end_again {
        End::TooMuch => (with_cost_of(report, &again), end),
        // Earlier findings stand, unless the method gets another turn.
        End::Late => (with_cost_of(report, &again), End::Late),
        End::Plain | End::Merged => (with_cost_of(again, &report), end_again),
    }
}

/// Tells whether merged states have shown errors only, and single paths the same. Then no path is
/// left that could prove the member. PERFORMANCE: failing members would be verified once more.
fn have_same_errors(paths: &MemberReport, merged: &MemberReport) -> bool {
    let keys = |findings: &[Finding]| -> FxHashSet<_> {
        findings.iter().map(|finding| finding.key(true)).collect()
    };
    let is_failed = merged.findings.iter().all(|finding| finding.severity == Severity::Error);
    is_failed && !merged.findings.is_empty() && keys(&errors(paths)) == keys(&merged.findings)
}

/// Returns the errors, without what an attempt says of itself.
fn errors(report: &MemberReport) -> Vec<Finding> {
    let findings = report.findings.iter();
    findings.filter(|finding| finding.severity == Severity::Error).cloned().collect()
}

/// The number of paths that are followed one by one before states are merged. Proofs about one path
/// are easier than proofs about several, and most methods have no more.
const FEW_PATHS: u64 = 40;

/// How many questions the last attempt may ask beyond four times those of the others, and how many
/// of the prover.
const RETRY_QUESTIONS: u64 = 20_000;
const RETRY_QUERIES: u64 = 1000;

/// Verifies a member in one attempt.
fn run(
    context: &Context<'_>,
    member: Member,
    attempt: Attempt,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> (MemberReport, End) {
    let mut end = End::Plain;
    let (report, _) = verify_member(context, member, attempt.name, visible, workspace, |engine| {
        engine.setting.one_by_one = attempt.one_by_one;
        engine.setting.limits = attempt.limits;
        engine.setting.until = attempt.until;
        let result = verify_body(context, member, engine);
        end = match &result {
            Err(Stop::TooMuch) => End::TooMuch,
            // The earlier findings are as good.
            Err(Stop::Cancelled) if attempt.limits.questions.is_some() => End::TooMuch,
            Err(Stop::OutOfTime) => End::Late,
            _ if engine.has_merged() => End::Merged,
            _ => End::Plain,
        };
        result.map(|()| None)
    });
    (report, end)
}
