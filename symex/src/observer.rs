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
/// The methods are called on the threads that verify, at any time and in any order that fits. They
/// should be quick. The final report does not depend on the observer, unless the observer stops the
/// verification.
pub trait Observer: Sync {
    /// Hears of the members of the report, in its order, before everything else.
    fn planned(&self, _members: &[Planned]) {}

    /// Hears that work on a member begins, which should be over by a certain time. For functions
    /// there is work on the contract, the body and termination, one after the other. Members that
    /// were not asked for may be verified because others need them.
    fn started(&self, _kind: MemberKind, _name: &str, _until: Option<Instant>) {}

    /// Hears that the latest work on a member is over.
    fn ended(&self, _kind: MemberKind, _name: &str) {}

    /// Hears the report of a member.
    fn finished(&self, _report: &MemberReport) {}

    /// Tells whether the observer wants to hear answers.
    fn wants_answers(&self) -> bool {
        false
    }

    /// Hears an answer that a later run may use, as text without white space.
    fn answered(&self, _answer: &str) {}

    /// Tells whether to show the states in which paths of methods reach this place: a statement, or
    /// the condition of a branch or a loop.
    fn wants_state(&self, _at: Span) -> bool {
        false
    }

    /// Hears that a path has reached a statement for which [`Observer::wants_state`] is true.
    /// Merged paths count as one.
    fn reached(&self, _state: ShownState) {}

    /// Tells whether to stop. The engine asks before each question to the prover and does not
    /// interrupt a running question. So a stop takes at most
    /// [`crate::options::Options::member_time_limit`], as far as the prover looks at its clock.
    /// Unfinished members end as inconclusive.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// An observer that hears nothing, and runs to the end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nobody;

impl Observer for Nobody {}
