//! Numbers of ways, capped: their product never overflows.

/// With more paths than this from the beginning of a method to its end, states are merged.
pub const PATHS: u64 = 8;

/// More is not told apart.
const MANY: u64 = 1 << 20;

/// Returns the number of ways of one kind or another, capped.
pub fn sum(left: u64, right: u64) -> u64 {
    left.saturating_add(right).min(MANY)
}

/// Returns the number of ways of one kind and then another, capped.
pub fn product(left: u64, right: u64) -> u64 {
    left.saturating_mul(right).min(MANY)
}
