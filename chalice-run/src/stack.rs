//! The one place that asks for more stack.

/// Runs a recursive step on a fresh piece of stack if the current one runs low.
pub(crate) fn grow_stack<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, step)
}
