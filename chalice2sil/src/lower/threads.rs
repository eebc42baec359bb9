//! Threads: forks and joins, monitors and their histories, the order of locks, and channels.

pub(super) mod channels;
pub(super) mod downgrade;
pub(super) mod forks;
pub(super) mod held;
pub(super) mod history;
pub(super) mod levels;
pub(super) mod monitors;
pub(super) mod states;
