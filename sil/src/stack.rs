//! The one place where a recursive pass asks for more stack.

/// Runs `recurse` with enough stack for one more level of a recursive pass, however deep the input nests.
pub(crate) fn grow_stack<R>(recurse: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, recurse)
}
