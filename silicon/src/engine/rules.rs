//! The rules: what expressions, assertions and statements mean.
//!
//! In reading order: [`eval`], [`produce`], [`consume`], [`exec`], then the constructs with rules of their own.

pub(crate) mod assertion;
pub(crate) mod assume;
pub(crate) mod consume;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod predicate;
pub(crate) mod produce;
pub(crate) mod quantified;
pub(crate) mod quasihavoc;
pub(crate) mod readings;
pub(crate) mod refute;
pub(crate) mod wands;
