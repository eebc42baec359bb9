//! Attempts to verify a member, each in as many parts as its engines make of it.

use std::sync::{Mutex, PoisonError};

use rayon::Scope;
use rustc_hash::FxHashSet;
use sil::program::Member;
use smt::prover::Workspace;

use super::member::{verify_body, verify_member};
use super::reports::{both, with_cost_of};
use symex::clock::Until;
use symex::findings::blame::{INVARIANT, contradiction};
use symex::options::Join;
use symex::report::{Finding, MemberReport, Questions, Severity, Statistics, Verdict};
use symex::run::parts::{Part, Sharing, Whole};
use symex::{Context, Limits, Stop, Visible};

/// How a member is verified, and how far.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Its name in the names of log files; the first has none.
    pub(super) part: &'static str,
    pub(super) one_by_one: bool,
    pub(super) limits: Limits,
    /// All attempts have the time of one member.
    pub(super) until: Until,
}

impl Attempt {
    fn new(until: Until) -> Self {
        Self { part: "", one_by_one: false, limits: Limits::default(), until }
    }
}

/// How an attempt ended. Ordered by weight: the largest of several is how the whole ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
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
    let try_once = |how| run(context, member, how, visible, workspace);
    let attempt = |how| {
        let Tried { report, end, .. } = try_once(how);
        (report, end)
    };
    let join = context.options.join;
    if !matches!((member, join), (Member::Method(_), Join::Auto)) {
        return attempt(Attempt::new(until));
    }
    let limits = Limits { paths: Some(FEW_PATHS), ..Limits::default() };
    let few = Attempt { one_by_one: true, limits, ..Attempt::new(until) };
    let first = try_once(few);
    if first.end != End::TooMuch {
        return (first.report, first.end);
    }
    let merging = Attempt { part: "merged", ..Attempt::new(until) };
    let (report, end) = attempt(merging);
    let report = with_cost_of(report, &first.report);
    let is_open = matches!(report.verdict, Verdict::Failed | Verdict::Inconclusive);
    if !is_open || end != End::Merged {
        return (report, end);
    }
    if have_same_errors(&first.report, &report) {
        let findings = if first.in_parts { report.findings } else { errors(&first.report) };
        return (MemberReport { findings, ..report }, End::Plain);
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
        // Earlier findings stand, unless the method gets another turn.
        End::Late => (with_cost_of(report, &again), End::Late),
        End::Plain | End::Merged => {
            let mut again = with_cost_of(again, &report);
            // With more luck the first attempt had found the errors of merged states, and these had
            // been shown: so they are shown now, too.
            let is_same = || have_same_errors(&again, &report) && have_same_errors(&report, &again);
            if first.in_parts && is_same() {
                again.findings = report.findings;
            }
            (again, end_again)
        }
    }
}

/// Tells whether merged states have shown errors only, and single paths the same. Then no path is
/// left that could prove the member. PERFORMANCE: failing members would be verified once more.
///
/// An attempt in several parts finds more or fewer errors before its limit, by chance. The findings
/// of merged states are reported then: the last attempt would find all of them, or more.
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

/// An attempt that is over.
pub(super) struct Tried {
    pub(super) report: MemberReport,
    pub(super) end: End,
    /// Several engines have worked on it.
    in_parts: bool,
}

/// The number of paths that are followed one by one before states are merged. Proofs about one path
/// are easier than proofs about several, and most methods have no more.
const FEW_PATHS: u64 = 40;

/// How many questions the last attempt may ask beyond four times those of the others, and how many
/// of the prover.
const RETRY_QUESTIONS: u64 = 20_000;
const RETRY_QUERIES: u64 = 1000;

/// Verifies a member. Parts of it may run on other threads of the pool, in workspaces of their own;
/// the report does not depend on that.
pub(super) fn run(
    context: &Context<'_>,
    member: Member,
    attempt: Attempt,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> Tried {
    let done = Mutex::new(Vec::new());
    let whole = Whole::default();
    let job = Job { context, member, attempt, visible, whole: &whole, done: &done };
    // Traces and models are of one solver.
    let is_shared = matches!(member, Member::Method(_))
        && context.options.profile.is_none()
        && !context.options.counterexample
        && rayon::current_thread_index().is_some();
    if is_shared {
        rayon::in_place_scope(|scope| job.run_shared(scope, workspace, Vec::new(), None));
    } else {
        job.run(workspace, Vec::new(), None);
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by(|(left, _), (right, _)| left.cmp(right));
    let several = done.len() > 1;
    let parts = done.into_iter().map(|(_, outcome)| outcome);
    let together = |(first, end): (MemberReport, End), (second, other): (MemberReport, End)| {
        (both(first, second), end.max(other))
    };
    let (mut report, end) = parts.reduce(together).expect("the first part is always verified");
    if end == End::TooMuch && several {
        // How far each got depends on chance: of what they cost, only times tell.
        let Statistics { time, questions, .. } = report.statistics;
        let questions = Questions { prover_time: questions.prover_time, ..Questions::default() };
        report.statistics = Statistics { time, questions, ..Statistics::default() };
    }
    if report.verdict == Verdict::Verified {
        let unmet = whole.unmet().into_iter().map(|span| contradiction(span, INVARIANT));
        report.findings.extend(unmet);
    }
    Tried { report, end, in_parts: several }
}

/// One attempt, as all who take part in it know it.
#[derive(Clone, Copy)]
struct Job<'s> {
    context: &'s Context<'s>,
    member: Member,
    attempt: Attempt,
    visible: Visible<'s>,
    whole: &'s Whole,
    /// The parts that are done.
    done: &'s Mutex<Vec<(Number, (MemberReport, End))>>,
}

/// The number of a part: that of the part it was made from, and which it is of those.
type Number = Vec<usize>;

impl<'s> Job<'s> {
    fn run_shared(
        self,
        scope: &Scope<'s>,
        workspace: &Workspace,
        number: Number,
        part: Option<Part>,
    ) {
        let mut given = 0;
        let own = number.clone();
        let give = |part: Part| {
            let mut number = own.clone();
            number.push(given);
            given += 1;
            scope.spawn(move |scope| {
                self.run_shared(scope, &Workspace::new(), number, Some(part));
            });
        };
        self.run(workspace, number, Some(Sharing::new(part, self.whole, give)));
    }

    fn run(self, workspace: &Workspace, number: Number, sharing: Option<Sharing<'_>>) {
        let Job { context, member, attempt, visible, done, .. } = self;
        let names = number.iter().map(|index| format!("part{index}"));
        let own = Some(attempt.part.to_owned()).filter(|own| !own.is_empty());
        let name: Vec<_> = own.into_iter().chain(names).collect();
        let mut end = End::Plain;
        let (report, _) =
            verify_member(context, member, &name.join("."), visible, workspace, |engine| {
                engine.setting.one_by_one = attempt.one_by_one;
                engine.setting.limits = attempt.limits;
                engine.setting.until = attempt.until.here();
                engine.run.sharing = sharing;
                let mut result = verify_body(context, member, engine);
                if result.is_ok() && engine.run.sharing.as_ref().is_some_and(|it| !it.has_arrived())
                {
                    result = Err(Stop::Broken("a part was not reached".to_owned()));
                }
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
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push((number, (report, end)));
    }
}
