//! The facts about a program as a whole. Its language finds them before members are verified.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use sil::program::{FunctionId, PredicateId};

use crate::state::heap::Resource;
use crate::whole::Fact;

/// The facts about a program that are found before any member is verified. The engine asks for them
/// by [`Fact`].
#[derive(Debug, Default)]
pub struct Analysis {
    /// Fields and predicates that occur as triggers.
    pub trigger_resources: BTreeSet<Resource>,
    /// Predicates whose instances may hold instances of themselves.
    pub recursive_predicates: FxHashSet<PredicateId>,
    /// Functions that bodies of predicates apply, by themselves or in such functions.
    pub functions_in_bodies: FxHashSet<FunctionId>,
    /// Predicates whose bodies assert something inside of an expression, by themselves or in an
    /// instance that they open.
    pub asserting_predicates: FxHashSet<PredicateId>,
    /// Tells whether applying a magic wand may change values.
    pub scripts_may_write: bool,
    /// Tells whether functions know of their preconditions only facts that their callers show.
    pub contracts_have_one_reading: bool,
}

impl Analysis {
    /// Tells whether a fact holds.
    pub fn says(&self, fact: Fact) -> bool {
        match fact {
            Fact::IsTrigger(resource) => self.trigger_resources.contains(&resource),
            Fact::IsRecursive(predicate) => self.recursive_predicates.contains(&predicate),
            Fact::SomeAreRecursive => !self.recursive_predicates.is_empty(),
            Fact::IsInBodies(function) => self.functions_in_bodies.contains(&function),
            Fact::IsAsserting(predicate) => self.asserting_predicates.contains(&predicate),
            Fact::ScriptsMayWrite => self.scripts_may_write,
            Fact::ContractsHaveOneReading => self.contracts_have_one_reading,
        }
    }
}
