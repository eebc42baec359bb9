//! Rules about several threads.
//!
//! In reading order: [`forks`], [`levels`], [`locks`]
//! ([`Locking`](chalice::program::locking::Locking) tells the effects of methods on them),
//! [`asking`] (functions that ask for held locks), [`monitors`], [`kept`] (earlier states),
//! [`history`], [`channels`].

pub(super) mod asking;
pub(super) mod channels;
pub(super) mod forks;
pub(super) mod history;
pub(super) mod kept;
pub(super) mod levels;
pub(super) mod locks;
pub(super) mod monitors;
