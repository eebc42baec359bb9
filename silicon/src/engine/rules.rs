//! The rules: what expressions, assertions and statements mean.
//!
//! In reading order: [`assertion`] (the forms of assertions), [`eval`], [`produce`], [`consume`],
//! [`quantified`] (assertions below quantifiers), [`predicate`], [`exec`], [`call`], then the
//! constructs with rules of their own.

pub(crate) mod assertion;
pub(crate) mod assume;
mod axioms;
mod call;
pub(crate) mod consume;
pub(crate) mod eval;
pub(crate) mod exec;
mod package;
pub(crate) mod predicate;
pub(crate) mod produce;
pub(crate) mod quantified;
pub(crate) mod quasihavoc;
pub(crate) mod refute;
mod same;
pub(crate) mod shape;
pub(crate) mod wands;
