//! Quantified permissions: `forall xs :: c ==> acc(e.f, p)` (Müller, Schwerhoff, Summers 2016).
//!
//! A quantified chunk gives, for every location r of a resource, an amount p(r) and a value: a map
//! from locations to values, of a sort of its own for each resource. p(r) is a term over variables
//! that stand for the location, the `formals` of the resource. Inverse functions of the receiver
//! expression turn claims about the variables of the quantifier into claims about these.
//!
//! In reading order: [`chunks`] (the representation), [`injectivity`], [`inverse`], [`single`] (one
//! location of a resource with quantified chunks), [`rewrite`] (writing one), [`everywhere`] (all
//! locations at once), [`summaries`] (the values of several chunks as one map), [`touch`]
//! (locations as triggers). [`crate::rules::quantified`] has the rules of assertions.
//!
//! Differs from the paper
//! - DIVERGENCE: permission to a single location stays an ordinary chunk. The present chunks decide
//!   how a resource is treated, not a static analysis of the member. Without quantified chunks a
//!   resource is treated as usual.
//! - DIVERGENCE: inverse functions and summaries are named after their definitions. The same
//!   receiver under the same condition gets the same inverse functions, so a permission that is
//!   given away and received again is the same term. A receiver that is injective under all
//!   conditions gets the same functions under all of them, so that the rest of an array is a matter
//!   of its indices.
//! - DIVERGENCE: an assertion that frames itself reads values from its own chunks, not from a
//!   summary of all chunks.

pub(crate) mod chunks;
mod everywhere;
pub mod injectivity;
pub mod inverse;
mod rewrite;
pub(crate) mod single;
pub(crate) mod summaries;
pub mod touch;

use rustc_hash::FxBuildHasher;

/// Returns the label of a formula that quantified permissions bring along.
pub fn label(of: &str) -> String {
    format!("qp.{of}")
}

/// Symbols made for quantified permissions, by their definitions.
///
/// Invariant: an entry stands for a symbol that exists under its definition alone, so that it may
/// be used again wherever the definition is assumed again. A replayed run finds the symbols that it
/// made before (trap T16).
#[derive(Debug, Default)]
pub(crate) struct Tables {
    inverses: indexmap::IndexSet<inverse::Key, FxBuildHasher>,
    summaries: indexmap::IndexSet<summaries::Key, FxBuildHasher>,
}
