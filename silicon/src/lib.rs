//! Silicon: a symbolic-execution verifier for SIL.

mod engine;
pub mod facts;
mod huge_pages;
pub mod options;
pub mod output;
pub mod prover;
pub mod report;
pub mod session;
pub mod terms;
mod theory;
mod verify;

pub use verify::verify;
