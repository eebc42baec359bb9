//! The members of a SIL program: what is verified of each.

pub mod function;
pub(crate) mod method;
mod predicate;
