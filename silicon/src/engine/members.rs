//! The members of a program: what is verified of each.

pub(crate) mod contract;
pub(crate) mod function;
pub(crate) mod method;
