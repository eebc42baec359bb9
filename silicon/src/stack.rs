//! Stacks of threads.

use rustix::process::{Resource, getrlimit};

/// Returns the size of a stack in bytes: `most`, or less where the address space is limited
/// (`ulimit -v`). Deep programs need deep recursion; the memory is only reserved until it is used.
pub(crate) fn size(most: usize) -> usize {
    /// One stack takes no more than such a part of the address space.
    const PART: u64 = 16;
    let limit = getrlimit(Resource::As).current.map(|limit| limit / PART);
    limit.and_then(|limit| usize::try_from(limit).ok()).map_or(most, |limit| most.min(limit))
}
