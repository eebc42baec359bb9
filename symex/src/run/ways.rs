//! Numbers of ways, capped: their product never overflows.

/// The most paths of a method, from its beginning to its end, without merging.
pub const PATHS: u64 = 8;

/// The cap: larger numbers are not told apart.
const MANY: u64 = 1 << 20;

/// Returns the number of ways of one kind or another, capped.
pub fn sum(left: u64, right: u64) -> u64 {
    left.saturating_add(right).min(MANY)
}

/// Returns the number of ways of one kind and then another, capped.
pub fn product(left: u64, right: u64) -> u64 {
    left.saturating_mul(right).min(MANY)
}
