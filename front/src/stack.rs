/// Runs one more level of a recursive pass, on a fresh piece of stack if the current one runs low:
/// texts nest as deep as the limit of their language allows, whatever stack a thread has.
pub fn grow_stack<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, step)
}

/// Runs a computation that recurses without asking, as the generated parsers do.
pub fn with_large_stack<T>(computation: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(48 * 1024 * 1024, 64 * 1024 * 1024, computation)
}
