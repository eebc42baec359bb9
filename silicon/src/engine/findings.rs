//! What is said of an obligation that failed: [`blame`] (whose fault it is, and in which words) and [`counterexample`] (a
//! state in which it fails).

pub(crate) mod blame;
mod counterexample;
