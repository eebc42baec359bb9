//! The one place where this crate's recursion asks for more stack.

/// Runs `work` with enough stack for one more level of recursion over a syntax tree.
pub(crate) fn grow<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, work)
}
