//! Quantified permissions in assertions: `forall xs :: c ==> acc(e.f, p)`.
//!
//! In reading order: [`normalise`] (an impure quantifier as a list of conjuncts), [`access`] (what
//! a conjunct says about one location), [`produce`], [`consume`]. What they become in the heap is
//! in [`crate::permission::quantified`].

pub(crate) mod access;
pub(crate) mod consume;
pub(crate) mod normalise;
pub(crate) mod produce;
