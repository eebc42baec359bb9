//! The corpus of programs with announced errors, and what runs it.

pub mod expectations;
