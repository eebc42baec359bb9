//! The SPL language of GRASShopper: source text in, a resolved and typed [`Program`] or diagnostics out.
//!
//! SPL is a small imperative language with specifications in separation logic, in two dialects
//! ([`program::Dialect`]) that give the same text different meanings. This crate knows the language only; what its programs
//! mean is said by whoever lowers them.
//!
//! The way through the crate is the way of a program through it:
//! [`syntax::parse`] reads one text into a tree of names.

pub mod diagnostic;
pub mod options;
pub mod program;
pub mod source;
mod stack;
pub mod syntax;

pub use diagnostic::{Code, Diagnostic};
pub use options::Options;
pub use program::Program;
pub use source::{SourceFile, Span};
