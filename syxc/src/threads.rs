//! Rules by which threads have to do with each other.
//!
//! In reading order: [`forks`], [`levels`], [`locks`] (what methods do to them is known of
//! [`Locking`](chalice::program::locking::Locking)), [`asking`] (functions that ask what is held),
//! [`monitors`], [`kept`] (earlier states), [`history`], [`channels`].

pub(super) mod asking;
pub(super) mod channels;
pub(super) mod forks;
pub(super) mod history;
pub(super) mod kept;
pub(super) mod levels;
pub(super) mod locks;
pub(super) mod monitors;
