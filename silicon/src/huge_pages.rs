//! Memory in huge pages, where the system has them.
//!
//! Each context of Z3 begins with two hash tables of 8.5 MB, and fills them: with pages of 4 KB
//! these are over 4,000 page faults, a fifth of the time that a small program takes.

/// Asks that what this thread allocates next, up to some 48 MB, be in huge pages, and that the
/// process keep what it frees. Where that cannot be had (another system or allocator, or not enough
/// memory), nothing changes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library has no other interface")]
pub(crate) fn prefer() {
    use std::sync::Once;

    /// The size of a huge page on x86-64, and on AArch64 with pages of 4 KB.
    const HUGE_PAGE: usize = 2 << 20;
    /// A heap of a thread has 64 MB.
    const BLOCKS: usize = 2;
    const BLOCK: usize = 24 << 20;
    /// The size from which a block is a mapping of its own; the allocator takes no larger
    /// threshold.
    const MAPPED_FROM: i32 = 32 << 20;
    /// So much may be free at the end of a heap before it is given back.
    const KEPT: i32 = 256 << 20;

    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        // SAFETY: the options change when memory is taken from the system and given back, nothing
        // else. The functions lock what they change.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        }
    });
    // SAFETY: the blocks are this function's until it frees them, each once. `madvise` gets whole
    // pages inside of a block, and the advice does not change what is in them.
    unsafe {
        let blocks = [(); BLOCKS].map(|()| libc::malloc(BLOCK));
        for block in blocks.into_iter().filter(|block| !block.is_null()) {
            let pages =
                block.wrapping_byte_add(block.addr().next_multiple_of(HUGE_PAGE) - block.addr());
            libc::madvise(pages, BLOCK - HUGE_PAGE, libc::MADV_HUGEPAGE);
            libc::free(block);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn prefer() {}
