//! Permission: looked up, added, taken.
//!
//! In reading order: [`take`] (the one function that takes permission), [`wildcard`], [`ordinary`]
//! (chunks of one location), [`more_complete`] (all chunks that may be meant), [`quantified`]
//! (chunks of many locations), [`transfer`] (the heaps around a package), [`shortfall`] (what is
//! said of missing permission).

mod more_complete;
pub(crate) mod ordinary;
pub mod quantified;
mod shortfall;
pub(crate) mod take;
pub(crate) mod transfer;
mod wildcard;
