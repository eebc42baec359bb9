//! The members of a SIL program: their verification.

pub mod function;
pub(crate) mod method;
mod predicate;
