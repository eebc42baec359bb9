//! What is said of an obligation that failed: [`blame`] (whose fault it is, and in which words), [`log`] (what has
//! been found), [`incidents`] (what came up while something was evaluated) and [`counterexample`] (a state in which it fails).

pub(crate) mod blame;
mod counterexample;
pub(crate) mod incidents;
pub(crate) mod log;
