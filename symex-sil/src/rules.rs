//! The rules: what SIL's expressions, assertions and statements mean.
//!
//! In reading order: [`assertion`] (the forms of assertions), [`parts`] (what they mean), [`eval`],
//! [`quantified`] (assertions below quantifiers), [`predicate`], [`exec`], [`call`], then the
//! constructs with rules of their own.

pub mod assertion;
pub(crate) mod assume;
mod axioms;
mod call;
pub(crate) mod eval;
pub(crate) mod exec;
mod package;
mod parts;
pub(crate) mod predicate;
pub(crate) mod quantified;
pub(crate) mod quasihavoc;
pub(crate) mod refute;
mod same;
pub(crate) mod shape;
pub(crate) mod wands;

use std::ops::{Deref, DerefMut};

use symex::{Above, Engine, View};

/// The rules of SIL, on an engine.
pub struct Sil<'e, 'p> {
    core: &'e mut Engine<'p>,
}

impl<'e, 'p> Sil<'e, 'p> {
    /// Makes the view of an engine.
    pub fn of(core: &'e mut Engine<'p>) -> Self {
        Self { core }
    }
}

impl<'p> View<'p> for Sil<'_, 'p> {
    fn core(&mut self) -> &mut Engine<'p> {
        self.core
    }
}

impl<'p> Deref for Sil<'_, 'p> {
    type Target = Engine<'p>;

    fn deref(&self) -> &Engine<'p> {
        self.core
    }
}

impl DerefMut for Sil<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.core
    }
}

/// The rules of SIL that the engine needs.
pub fn above() -> Above {
    Above {
        consolidation: |engine| engine.learn_from_heap(),
        axioms: |engine, domain, instance| Sil::of(engine).tell_domain(domain, instance),
        unfold: |engine, predicate, arguments, amount, merges, at, blame| {
            Sil::of(engine).unfold_merging(predicate, arguments, amount, merges, at, blame)
        },
        fields_in: |engine, predicate| Sil::of(engine).fields_in(predicate),
        amounts: None,
    }
}
