//! State consolidation: what is learnt from a heap before an obligation fails.
//!
//! In reading order: [`learning`] (pairs and sums of chunks), [`quantified`] (quantified chunks), [`nesting`] (instances inside each
//! other, heaps of the past), [`together`] (instances opened side by side), [`inside`] (heaps inside of an expression).

mod inside;
mod learning;
pub(crate) mod nesting;
mod quantified;
mod together;
