//! Permission to many locations at once: what an assertion says of them, and chunks of it.

use smt::terms::Term;

use crate::state::heap::Resource;

/// `∀xs {triggers}. guard ⇒ acc(arguments, amount)`, evaluated.
#[derive(Clone, Debug)]
pub struct Access {
    pub resource: Resource,
    pub variables: Vec<Term>,
    pub guard: Term,
    pub arguments: Vec<Term>,
    /// With the factor of the predicate around.
    pub amount: Term,
    pub triggers: Vec<Vec<Term>>,
}

/// The same, as a function of the location.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Over the formals: `ite(condition, amount, none)`.
    pub amount: Term,
    pub triggers: Vec<Vec<Term>>,
}

/// `∀r. r.f ↦ map@r # amount(r)`, or the same for a predicate and its tuples of arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct QuantifiedChunk {
    /// Over the formals of the resource; `ite(condition, amount, none)` where there is a condition.
    ///
    /// Invariant: not negative.
    pub amount: Term,
    /// The values, where the amount is positive.
    pub map: Term,
    /// Over the formals: where the map is defined, if it was made for this permission and is
    /// nothing but its values. Such a map is the snapshot of all that is there.
    pub domain: Option<Term>,
    /// Terms over the formals that say that a location matters to the chunk.
    pub triggers: Vec<Vec<Term>>,
    /// The receiver expression as written: chunks with the same one are tried first.
    pub shape: Vec<Term>,
}

impl QuantifiedChunk {
    /// Makes the chunk of an access, whose values are in a map.
    pub fn new(access: &Access, footprint: Footprint, map: Term) -> Self {
        Self {
            amount: footprint.amount,
            map,
            domain: None,
            triggers: footprint.triggers,
            shape: access.arguments.clone(),
        }
    }
}
