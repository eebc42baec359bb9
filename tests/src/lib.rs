//! The corpus of programs with announced errors, and what runs it.
//!
//! [`expectations`] reads what a program announces, [`observation`] runs the verifier on it,
//! [`conformance`] compares the two for whole suites; [`seeds`] makes wrong variants of right
//! programs, [`plant`] looks for errors that go unnoticed, [`cross_check`] runs Chalice programs
//! that are verified, [`editor`] talks with the language server, [`clients`] finds editors and
//! browsers that do ([`browser`] drives one), and [`misuse`] plants what has to fail into programs
//! that run.

pub mod attack;
pub mod binaries;
pub mod browser;
pub mod clients;
pub mod concrete;
pub mod conformance;
pub mod cross_check;
pub mod editor;
pub mod edits;
pub mod grammars;
pub mod layouts;
pub mod misuse;
pub mod observation;
pub mod plant;
pub mod sample;
pub mod schema;
pub mod seeds;
#[cfg(feature = "remote-cache")]
pub mod server;

pub use silicon::expectations;
