//! Silicon: a symbolic-execution verifier for SIL.

mod engine;
mod huge_pages;
pub mod options;
pub mod output;
pub mod report;
pub mod session;
mod verify;

pub use verify::verify;
