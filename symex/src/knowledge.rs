//! The knowledge about the present path, and the questions about it.
//!
//! In reading order:
//!
//! * [`decide`]: questions, cheap and thorough, and branches;
//! * [`goals`]: the form of goals;
//! * [`written`]: goals about all elements of a literal;
//! * [`arguments`]: arguments that are equal by a theory;
//! * [`unrolling`]: definitions of recursive functions;
//! * [`symbols`]: function symbols, and what the prover is told about them;
//! * [`functions`]: axioms of the functions verified so far;
//! * [`type_patterns`] and [`domain`]: instances of domains;
//! * [`subject`]: subjects of questions, for the statistics.

mod arguments;
pub(crate) mod decide;
pub(crate) mod domain;
pub mod functions;
pub mod goals;
mod subject;
pub mod symbols;
pub(crate) mod type_patterns;
mod unrolling;
mod written;
