//! The heap, and permission: looked up, added, taken.
//!
//! In reading order: [`heap`] (chunks by resource), [`ordinary`] (chunks of one location), [`take`] (how permission is taken), [`quantified`] (many locations at once), [`transfer`]
//! (from the heaps around a package).

pub(crate) mod heap;
pub(crate) mod ordinary;
pub(crate) mod quantified;
pub(crate) mod take;
pub(crate) mod transfer;
