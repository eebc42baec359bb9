//! What verification found, independent of how it is shown.

use std::time::Duration;

pub use sil::render::Severity;
use sil::source::Span;

/// The outcome for one program, members in source order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub members: Vec<MemberReport>,
}

/// The outcome for one member.
#[derive(Clone, Debug)]
pub struct MemberReport {
    pub kind: MemberKind,
    pub name: String,
    pub span: Span,
    pub verdict: Verdict,
    /// In source order of their spans, without duplicates.
    pub findings: Vec<Finding>,
    /// Taken without proof: no body, or a construct that is trusted; each with its words.
    pub trusted: Vec<(Span, String)>,
    pub statistics: Statistics,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MemberKind {
    Method,
    Function,
    Predicate,
    Domain,
}

impl MemberKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Function => "function",
            Self::Predicate => "predicate",
            Self::Domain => "domain",
        }
    }
}

/// The verdict on a member. Nothing but `Verified` counts as verified.
///
/// Ordered by weight: the largest of several is the verdict on the whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    Verified,
    /// A limit was hit: "gave up".
    Inconclusive,
    /// The member uses a construct that the engine does not know yet.
    Unsupported,
    Failed,
    /// A defect of the verifier, caught at the member.
    Error,
}

/// One failed obligation (or one warning).
///
/// `error` and `reason` are ids of the Viper language reference, section 14, as in
/// `assert.failed` and `assertion.false`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub severity: Severity,
    pub error: &'static str,
    pub reason: Option<&'static str>,
    /// In the words of a SIL program; a front end's own words are behind the span's origin.
    pub message: String,
    /// Where the error is reported.
    pub span: Span,
    /// The sub-expression that could not be shown.
    pub reason_span: Option<Span>,
    /// Further places, each with what it has to do with the failure.
    pub related: Vec<(Span, String)>,
    /// The branch conditions that led here, as written, negated ones with a `!`.
    pub path: Vec<String>,
}

impl Finding {
    /// `error:reason`, or just `error` where there is no reason.
    pub fn full_id(&self) -> String {
        match self.reason {
            Some(reason) => format!("{}:{reason}", self.error),
            None => self.error.to_owned(),
        }
    }
}

/// What the work on a member cost.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub time: Duration,
    /// Spent in the solver.
    pub prover_time: Duration,
    /// Questions that reached the solver.
    pub queries: u64,
    /// Questions answered without the solver.
    pub answered_without_prover: u64,
    /// Paths followed to their end.
    pub paths: u64,
    /// Free-form counters, in a fixed order.
    pub counters: Vec<(&'static str, u64)>,
}
