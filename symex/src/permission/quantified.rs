//! Quantified permissions: `forall xs :: c ==> acc(e.f, p)` (Müller, Schwerhoff, Summers 2016).
//!
//! A quantified chunk gives, for every location r of a resource, an amount p(r) and a value: a map
//! from locations to values, of a sort of its own per resource. p(r) is a term over variables that
//! stand for the location, the `formals` of the resource; what the quantifier says about
//! its variables is turned around by inverse functions of the receiver expression.
//!
//! In reading order: [`chunks`] (the representation), [`injectivity`], [`inverse`], [`single`] (one
//! location of a resource with quantified chunks), [`rewrite`] (writing one), [`everywhere`] (all
//! locations at once), [`summaries`] (the values of several chunks as one map), [`touch`]
//! (locations as triggers). What assertions say of them is in [`crate::rules::quantified`].
//!
//! Differs from the paper
//! - DIVERGENCE: permission to a single location stays an ordinary chunk. Which chunks there are
//!   decides how a resource is treated, not a static analysis of the member: without quantified
//!   chunks all is as it is elsewhere.
//! - DIVERGENCE: inverse functions and summaries are named after what defines them. The same
//!   receiver under the same condition gets the same inverse functions, so a permission that is
//!   given away and received again is the same term; a receiver that is injective whatever the
//!   condition gets the same under all of them, so that what is left of an array is a matter of its
//!   indices.
//! - DIVERGENCE: an assertion that frames itself reads values from the chunks that it brought
//!   along, not from a summary of all there are.

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

/// Symbols made for quantified permissions, by what defines them.
///
/// Invariant: an entry stands for a symbol that exists under its definition alone, so that it may
/// be used again wherever the definition is assumed again; a replayed run finds the symbols it made
/// before (trap T16).
#[derive(Debug, Default)]
pub(crate) struct Tables {
    inverses: indexmap::IndexSet<inverse::Key, FxBuildHasher>,
    summaries: indexmap::IndexSet<summaries::Key, FxBuildHasher>,
}
