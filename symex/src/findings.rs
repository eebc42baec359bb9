//! The account of a failed obligation: [`blame`] (whose fault it is, and in which words), [`log`]
//! (the findings so far), [`contract`] (the ill-formed clauses of contracts), [`incidents`] (the
//! incidents of an evaluation) [`evaluated`] (the values of
//! expressions) and [`counterexample`] (a state in which it fails). [`shown`] has
//! the state before a statement, for observers.

pub mod blame;
pub(crate) mod contract;
pub(crate) mod counterexample;
pub mod evaluated;
pub mod incidents;
pub(crate) mod log;
pub(crate) mod names;
mod shown;
