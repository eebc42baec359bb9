//! Quantified permissions in assertions: `forall xs :: c ==> acc(e.f, p)`.
//!
//! In reading order: [`normalise`] (an impure quantifier as a list of conjuncts), [`access`] (the
//! claim of a conjunct about one location), [`produce`], [`consume`].
//! [`symex::permission::quantified`] has their form in the heap.

pub(crate) mod access;
pub(crate) mod consume;
pub(crate) mod normalise;
pub(crate) mod produce;
