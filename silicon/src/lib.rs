//! Silicon: a symbolic-execution verifier for SIL.

pub mod options;
pub mod report;
pub mod terms;
