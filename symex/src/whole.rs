//! The engine's reads of the program as a whole, beyond the members that a member mentions. A
//! verdict may depend on them.
//!
//! SOUNDNESS: a verdict is used again if all that it depends on is the same. The store of verdicts
//! follows the ids of a member to find the declarations that it mentions. Other facts have to be
//! asked here, where the question is noted. So [`Context`](super::Context) does not have the
//! [`Analysis`].

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use sil::program::{FunctionId, PredicateId};

use super::Symbols;
use super::members::analysis::Analysis;
use super::state::heap::Resource;

/// A question about the program as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// A field or a predicate occurs as a trigger.
    IsTrigger(Resource),
    /// The instances of a predicate may hold instances of it.
    IsRecursive(PredicateId),
    /// Some predicate is recursive.
    SomeAreRecursive,
    /// A function is applied in the body of a predicate, by itself or in such a function.
    IsInBodies(FunctionId),
    /// The body of a predicate asserts something inside of an expression, by itself or in an
    /// instance that it opens.
    IsAsserting(PredicateId),
    /// Applying a magic wand may change values.
    ScriptsMayWrite,
    /// A function knows of its precondition only facts that its callers show.
    ContractsHaveOneReading,
}

/// The questions of one task about the program as a whole.
#[derive(Debug)]
pub struct Facts<'p> {
    analysis: &'p Analysis,
    asked: Mutex<BTreeSet<Fact>>,
}

impl<'p> Facts<'p> {
    /// Begins to ask about a program.
    pub fn of(analysis: &'p Analysis) -> Self {
        Self { analysis, asked: Mutex::default() }
    }

    /// Tells whether a fact holds, and notes the question.
    fn holds(&self, fact: Fact) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(fact);
        self.analysis.says(fact)
    }

    /// Returns the questions, with their answers.
    pub fn into_asked(self) -> Vec<(Fact, bool)> {
        let asked = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        asked.into_iter().map(|fact| (fact, self.analysis.says(fact))).collect()
    }
}

impl Symbols<'_> {
    /// Tells whether a fact holds of the program as a whole.
    pub fn of_program(&self, fact: Fact) -> bool {
        self.setting.visible.facts.holds(fact)
    }
}
