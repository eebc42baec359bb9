//! What is known on the present path, and the questions about it.
//!
//! In reading order: [`decide`] (obligations, optimisation checks, branches), [`symbols`] (sorts and function symbols, and what the
//! prover is told of them), [`domain`] (instances of domains and their axioms).

pub(crate) mod decide;
pub(crate) mod domain;
pub(crate) mod symbols;
