//! The rules: the meaning of SIL's expressions, assertions and statements.
//!
//! In reading order: [`assertion`] (the forms of assertions), [`parts`] (their meaning), [`eval`],
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

use derive_more::{Deref, DerefMut};
use sil::program::{Expr, ExprKind, FieldId, LocalId, Location, PredicateId, Program};
use symex::{Above, Engine, View};

/// The rules of SIL, on an engine.
#[derive(Deref, DerefMut)]
pub struct Sil<'e, 'p> {
    #[deref(forward)]
    #[deref_mut(forward)]
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

/// Returns the rules of SIL that the engine needs.
pub fn above() -> Above {
    Above {
        consolidation: |engine| engine.learn_from_heap(),
        axioms: |engine, domain, instance| Sil::of(engine).tell_domain(domain, instance),
        unfold: |engine, predicate, arguments, amount, merges, at, blame| {
            Sil::of(engine).unfold_merging(predicate, arguments, amount, merges, at, blame)
        },
        fields_in: |engine, predicate| predicate::fields_in(engine, predicate),
        holds,
        amounts: None,
    }
}

/// Tells whether the body of a predicate has `acc(formal.field, ..)` in it.
fn holds(program: &Program, predicate: PredicateId, formal: LocalId, field: FieldId) -> bool {
    let is_access = |part: &Expr| {
        let ExprKind::Acc { location: Location::Field { receiver, field: of }, .. } = &part.kind
        else {
            return false;
        };
        *of == field && matches!(receiver.kind, ExprKind::Local(local) if local == formal)
    };
    program.predicates[predicate].body.as_ref().is_some_and(|body| body.any(is_access))
}
