//! Tests that measure time, stop processes, or drive programs of others, one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod large_members;
mod lsp_clients;
mod lsp_kills;
mod page;
mod stability;
mod stopping;
mod watching;

/// Waits for the other tests of this executable, and keeps them waiting while the result lives.
///
/// Each test begins with this call, so that none shares the machine with another one.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
