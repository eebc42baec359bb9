//! The rules: what expressions, assertions and statements mean.
//!
//! The rules of SIL are methods of [`Sil`]; those that other languages share are methods of
//! [`Engine`].
//!
//! In reading order: [`assertion`] (the forms of assertions), [`language`] (the rules that all
//! languages share), [`location`], [`parts`] (of SIL's assertions), [`eval`], [`quantified`]
//! (assertions below quantifiers), [`predicate`], [`exec`], [`call`], then the constructs with rules
//! of their own.

pub mod assertion;
pub(crate) mod assume;
mod axioms;
mod call;
pub(crate) mod eval;
pub(crate) mod exec;
pub mod language;
mod location;
mod package;
mod parts;
pub(crate) mod predicate;
pub mod quantified;
pub(crate) mod quasihavoc;
pub(crate) mod refute;
mod same;
pub mod shape;
pub(crate) mod wands;

use std::ops::{Deref, DerefMut};

use crate::{Engine, View};

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
