//! The account of a failed obligation:
//!
//! * [`blame`]: who is to blame, and in which words;
//! * [`log`]: the findings so far;
//! * [`contract`]: the ill-formed clauses of contracts;
//! * [`incidents`]: the incidents of an evaluation;
//! * [`evaluated`]: the values of expressions;
//! * [`counterexample`]: a state in which the obligation fails;
//! * [`shown`]: the state before a statement, for observers.

pub mod blame;
pub mod contract;
pub(crate) mod counterexample;
pub mod evaluated;
pub mod incidents;
pub mod log;
pub(crate) mod names;
mod shown;
