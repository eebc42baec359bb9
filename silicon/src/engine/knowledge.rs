//! What is known on the present path, and the questions about it.
//!
//! In reading order: [`decide`] (questions, cheap and thorough, and branches), [`goals`] (the form of goals), [`symbols`]
//! (function symbols, and what the prover is told of them), [`functions`] (axioms of the functions verified so far),
//! [`domain`] (instances of domains).

pub(crate) mod decide;
pub(crate) mod domain;
pub(crate) mod functions;
pub(crate) mod goals;
pub(crate) mod symbols;
