//! Permission: looked up, added, taken.
//!
//! In reading order: [`take`] (the one function that takes permission), [`wildcard`], [`ordinary`]
//! (chunks of one location), [`more_complete`] (all chunks that may be the location),
//! [`quantified`] (chunks of many locations), [`transfer`] (the heaps around a package),
//! [`shortfall`] (words for missing permission).

mod more_complete;
pub mod ordinary;
pub mod quantified;
mod shortfall;
pub mod take;
pub(crate) mod transfer;
mod wildcard;
