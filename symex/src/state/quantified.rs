//! Permission to many locations at once: in assertions, and as chunks.

use smt::terms::{Substitution, Term, Terms};

use crate::state::heap::Resource;

/// `∀xs {triggers}. guard ⇒ acc(arguments, amount)`, evaluated.
#[derive(Clone, Debug)]
pub struct Access {
    pub resource: Resource,
    pub variables: Vec<Term>,
    pub guard: Term,
    pub arguments: Vec<Term>,
    /// The amount, times the factor of the predicate around.
    pub amount: Term,
    pub triggers: Vec<Vec<Term>>,
}

impl Access {
    /// Replaces terms in all parts but the list of variables.
    pub(crate) fn substitute(&mut self, terms: &mut Terms, map: &Substitution) {
        let mut replace = |term: &mut Term| *term = terms.substitute(*term, map);
        self.arguments.iter_mut().for_each(&mut replace);
        self.triggers.iter_mut().flatten().for_each(&mut replace);
        replace(&mut self.guard);
        replace(&mut self.amount);
    }
}

/// The permission of an access as a function of the location.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// The amount over the formals: `ite(condition, amount, none)`.
    pub amount: Term,
    pub triggers: Vec<Vec<Term>>,
}

/// A chunk `∀r. r.f ↦ map@r # amount(r)`, or the same for a predicate and its tuples of arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct QuantifiedChunk {
    /// The amount over the formals of the resource; `ite(condition, amount, none)` if there is a
    /// condition.
    ///
    /// Invariant: not negative.
    pub amount: Term,
    /// The values, where the amount is positive.
    pub map: Term,
    /// The domain of the map over the formals, if the map was made for this permission, and has
    /// only its values. Such a map is the snapshot of the whole permission.
    pub domain: Option<Term>,
    /// Terms over the formals that trigger facts about a location of the chunk.
    pub triggers: Vec<Vec<Term>>,
    /// The receiver expression as written. Chunks with the same expression are tried first.
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
