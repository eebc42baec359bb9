//! One attempt to verify a member, in as many parts as its engines make of it.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::Scope;
use sil::program::Member;
use smt::prover::Workspace;

use super::{both, verify_body, verify_member};
use crate::engine::findings::blame::{INVARIANT, contradiction};
use crate::engine::run::parts::{Part, Sharing, Whole};
use crate::engine::{Context, Limits, Stop, Visible};
use crate::report::{MemberReport, Statistics, Verdict};

/// How a member is verified, and how far.
#[derive(Clone, Copy, Default)]
pub(super) struct Attempt {
    /// Its name in the names of log files; the first has none.
    pub(super) part: &'static str,
    pub(super) one_by_one: bool,
    pub(super) limits: Limits,
    /// All attempts have the time of one member.
    pub(super) until: Option<Instant>,
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
    /// There was no time left.
    Late,
}

/// Verifies a member. Parts of it may run on other threads of the pool, in workspaces of their own; the report does not
/// depend on that.
pub(super) fn run(
    context: &Context<'_>,
    member: Member,
    attempt: Attempt,
    visible: Visible<'_>,
    workspace: &Workspace,
) -> (MemberReport, End) {
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
        // How far each got depends on chance.
        report.statistics = Statistics { time: report.statistics.time, ..Statistics::default() };
    }
    if report.verdict == Verdict::Verified {
        let unmet = whole.unmet().into_iter().map(|span| contradiction(span, INVARIANT));
        report.findings.extend(unmet);
    }
    (report, end)
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
                engine.setting.deadline = attempt.until;
                engine.run.sharing = sharing;
                let mut result = verify_body(context, member, engine);
                if result.is_ok() && engine.run.sharing.as_ref().is_some_and(|it| !it.has_arrived())
                {
                    result = Err(Stop::Broken("a part was not reached".to_owned()));
                }
                end = match &result {
                    Err(Stop::TooMuch) => End::TooMuch,
                    // What was found before is as good.
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
