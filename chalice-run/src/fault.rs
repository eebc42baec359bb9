//! The reasons that stop a run.
//!
//! Ids are those of the verifier, `kind:reason`: the statement or contract says the kind, the part
//! that went wrong the reason.

use std::fmt::Display;

use chalice::Span;
use chalice_rt::flaw::Flaw;
use findings::{ErrorId, Reason};

use crate::amount::Amount;
use crate::heap::Loc;
use crate::value::{Ref, Value};

/// A failed check, as far as the place where it fails knows it.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The kind, where the part that fails says it and not what it is part of.
    pub kind: Option<ErrorId>,
    /// Why.
    pub reason: Reason,
    /// The part that fails.
    pub span: Span,
    /// The clause, if it is one of several and is to be blamed.
    pub clause: Option<Span>,
    /// The fault, in words.
    pub words: String,
    /// The location of which permission is missing, and how much is asked for.
    pub missing: Option<(Loc, Option<Amount>)>,
    /// The values of the parts of a claim that is false.
    pub parts: Vec<PartValue>,
}

/// The value of a part of a claim, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartValue {
    /// The part.
    pub span: Span,
    /// Its value.
    pub value: String,
}

impl Fault {
    /// Returns a fault without a location, about names and numbers.
    ///
    /// # Panics
    /// If a row of the table names no finding.
    pub fn new(flaw: Flaw, span: Span, about: &[&dyn Display]) -> Self {
        let kind = flaw.kind().map(|id| {
            let known = ErrorId::ALL.iter().find(|kind| kind.id() == id);
            *known.expect("each kind is a finding")
        });
        let known = Reason::ALL.iter().find(|reason| reason.id() == flaw.reason());
        let reason = *known.expect("each reason is one of a finding");
        let (words, parts) = (flaw.words(about), Vec::new());
        Self { kind, reason, span, clause: None, words, missing: None, parts }
    }

    /// Permission that is missing.
    pub fn missing(flaw: Flaw, loc: Loc, amount: Option<Amount>, span: Span) -> Self {
        Self { missing: Some((loc, amount)), ..Self::new(flaw, span, &[]) }
    }

    /// Returns the fault with a kind of its own.
    #[must_use]
    pub(crate) fn of_kind(mut self, kind: ErrorId) -> Self {
        self.kind.get_or_insert(kind);
        self
    }
}

/// The reason that ends an evaluation or a step before its time.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// A check failed.
    Fault(Fault),
    /// A needed part cannot be executed.
    Unknown {
        /// The part: an id.
        what: &'static str,
        /// Where.
        span: Span,
    },
    /// The old state is needed, and there is none.
    NoOldState(Span),
    /// An assumption does not hold.
    Assumption(Span),
    /// The start that is being generated contradicts the precondition.
    Contradiction,
    /// A constant that was read before it was assigned got another value than it was taken to have.
    Foreseen {
        /// The number of the constant, counted over the run.
        number: usize,
        /// The value it got.
        value: Value,
    },
    /// A bound was hit.
    Bound(&'static str, Span),
    /// A receiver got other permissions than were given: a defect of the machine, or of a rule.
    Inconsistent(String, Span),
}

/// The result of an evaluation.
pub type Res<T> = Result<T, Box<Trouble>>;

impl From<Fault> for Box<Trouble> {
    fn from(fault: Fault) -> Self {
        Self::new(Trouble::Fault(fault))
    }
}

/// Returns a location of which the run does not know that the object exists.
pub(crate) fn reference_or_null<T>(
    value: &Value,
    span: Span,
    what: impl FnOnce(Ref) -> T,
) -> Res<T> {
    match value.reference() {
        Some(reference) => Ok(what(reference)),
        None => Err(Fault::new(Flaw::Null, span, &[]).into()),
    }
}

/// Says what kind of check has failed, and where, unless a part of it has said so already.
pub(crate) fn blamed<T>(result: Res<T>, kind: ErrorId, at: Option<Span>) -> Res<T> {
    result.map_err(|mut trouble| {
        if let Trouble::Fault(fault) = &mut *trouble
            && fault.kind.is_none()
        {
            fault.kind = Some(kind);
            fault.clause = at.or(fault.clause);
        }
        trouble
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flaw_is_a_finding() {
        for flaw in Flaw::ALL {
            let fault = Fault::new(*flaw, Span::default(), &[&"one", &"two", &"three"]);
            assert_eq!(
                (fault.reason.id(), fault.kind.map(ErrorId::id)),
                (flaw.reason(), flaw.kind())
            );
            assert!(!fault.words.is_empty() && !fault.words.contains('{'), "{}", fault.words);
        }
    }
}
