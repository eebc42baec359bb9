//! The members of a program: what is verified of each.
//!
//! In reading order: [`analysis`] (what is found out about the program before), [`method`],
//! [`function`], [`predicate`].

pub mod analysis;
pub mod function;
pub(crate) mod method;
mod predicate;
