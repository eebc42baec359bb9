//! Programs that must not verify, made at random.
//!
//! [`Generator`](statements::Generator) makes a method along a run of it (see [`crate::concrete`]):
//! each statement is executed as it is made, and kept if the run goes on. So every assumption is
//! true in that run, and `assert false` behind it, a **probe**, must be reported, whatever else is.
//! Further probes stand in branches that a Boolean argument decides and nothing else mentions.
//! [`facts`] does the same for the theories: ground terms with their values.
//!
//! A seed names a program: the same seed, the same bytes.

mod assertions;
pub mod chalice;
mod control;
pub mod facts;
pub mod judge;
mod members;
mod methods;
mod pick;
pub mod program;
mod resources;
mod shrink;
mod statements;
mod terms;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use silicon::session::on_large_stack;

pub use program::Attack;
pub use shrink::shrink;
pub use statements::generate;

/// Does something for each number, `jobs` at a time (0: one per core); the results are in the order
/// of the numbers. A panic is the `Err` of its number.
///
/// # Panics
/// Never: what panics is caught.
pub fn in_order<T: Send>(
    numbers: Range<usize>,
    jobs: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<Result<T, String>> {
    let jobs = match jobs {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        jobs => jobs,
    };
    let next = AtomicUsize::new(numbers.start);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs.min(numbers.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    let result = on_large_stack(|| work(number)).map_err(|it| it.to_string());
                    results.lock().expect("no thread panics with the lock").push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
