//! What is said of an obligation that failed: [`blame`] (whose fault it is, and in which words), [`log`] (what has
//! been found), [`contract`] (which clauses of contracts are ill-formed), [`incidents`] (what came up while something was
//! evaluated) and [`counterexample`] (a state in which it fails). And what is said when asked: [`shown`] (the state before a statement).

pub(crate) mod blame;
pub(crate) mod contract;
mod counterexample;
pub(crate) mod incidents;
pub(crate) mod log;
pub(crate) mod names;
mod shown;
