//! Functions that apply each other.

pub(super) mod recursion;
pub(super) mod termination;
