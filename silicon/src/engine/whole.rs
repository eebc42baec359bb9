//! What the engine reads of the program as a whole, beyond what a member mentions: a verdict may depend on it.
//!
//! SOUNDNESS: a verdict is used again where all that it depends on is the same ([`crate::answers`]). What a member mentions is found
//! by following its ids; all else has to be asked here, where it is written down. So [`Context`](super::Context) does not have the
//! [`Analysis`].

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use sil::program::{FunctionId, PredicateId};

use super::Engine;
use super::members::analysis::Analysis;
use super::state::heap::Resource;

/// A question about the program as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Fact {
    /// Whether a field or a predicate occurs as a trigger.
    IsTrigger(Resource),
    /// Whether the instances of a predicate may hold instances of it.
    IsRecursive(PredicateId),
    /// Whether there is such a predicate.
    SomeAreRecursive,
    /// Whether a function is applied in the body of a predicate, there or by such functions.
    IsInBodies(FunctionId),
    /// Whether something is asserted in the body of a predicate inside of an expression, there or in an instance opened there.
    IsAsserting(PredicateId),
    /// Whether applying a magic wand may change values.
    ScriptsMayWrite,
    /// Whether what a function knows of its precondition is what its callers show.
    ContractsHaveOneReading,
}

/// What one task has asked of the program as a whole.
#[derive(Debug)]
pub(crate) struct Facts<'p> {
    analysis: &'p Analysis,
    asked: Mutex<BTreeSet<Fact>>,
}

impl<'p> Facts<'p> {
    /// Nothing has been asked yet.
    pub(crate) fn of(analysis: &'p Analysis) -> Self {
        Self { analysis, asked: Mutex::default() }
    }

    /// Whether a fact holds. That it was asked is written down.
    fn holds(&self, fact: Fact) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(fact);
        self.analysis.says(fact)
    }

    /// What was asked, with the answers.
    pub(crate) fn into_asked(self) -> Vec<(Fact, bool)> {
        let asked = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        asked.into_iter().map(|fact| (fact, self.analysis.says(fact))).collect()
    }
}

impl Engine<'_> {
    /// Whether something holds of the program as a whole.
    pub(crate) fn of_program(&self, fact: Fact) -> bool {
        self.setting.visible.facts.holds(fact)
    }
}
