//! The one place where this crate's recursion asks for more stack.

/// Runs `work` with enough stack for one more level of recursion over a syntax tree.
pub(crate) fn grow<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, work)
}
