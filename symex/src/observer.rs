//! Following a verification while it goes on, and stopping it.

use std::time::Instant;

use sil::source::Span;

use crate::report::shown::ShownState;
use crate::report::{MemberKind, MemberReport};

/// A member about which there will be a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    pub kind: MemberKind,
    pub name: String,
    pub span: Span,
}

/// A listener that hears of the progress of a verification, and may end it.
///
/// The methods are called on the threads that verify, at any time and in any order that fits: they
/// should be quick. The report that comes out in the end does not depend on what an observer does,
/// unless it stops the verification.
pub trait Observer: Sync {
    /// Before everything else: the members of the report, in its order.
    fn planned(&self, _members: &[Planned]) {}

    /// Work on a member begins, and should be over by a certain time. For functions there is work
    /// on the contract, the body and on termination, one after the other; and members that were not
    /// asked for may be needed by those that were.
    fn started(&self, _kind: MemberKind, _name: &str, _until: Option<Instant>) {}

    /// The work on a member that began last is over.
    fn ended(&self, _kind: MemberKind, _name: &str) {}

    /// Everything about a member is known.
    fn finished(&self, _report: &MemberReport) {}

    /// Tells whether to tell answers.
    fn wants_answers(&self) -> bool {
        false
    }

    /// An answer is known that a later run may use, as text without white space.
    fn answered(&self, _answer: &str) {}

    /// Tells whether to show the states in which paths of methods come to a statement, or to the
    /// condition of a branch or a loop.
    fn wants_state(&self, _at: Span) -> bool {
        false
    }

    /// A path has come to a statement for which [`Observer::wants_state`]. Paths that have been
    /// merged are one.
    fn reached(&self, _state: ShownState) {}

    /// Tells whether to stop. The engine asks before each question to the prover and does not
    /// interrupt a running question, so a stop takes at most
    /// [`crate::options::Options::member_time_limit`], as far as the prover looks at its clock.
    /// Unfinished members end as inconclusive.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody: runs to its end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nobody;

impl Observer for Nobody {}
