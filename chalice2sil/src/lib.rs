//! Lowers Chalice to SIL.
//!
//! [`translate`] turns a resolved Chalice program into a parse tree of SIL whose annotations lead every failure back to
//! the Chalice text; [`load`] does everything from the text to a resolved SIL program.

pub mod messages;

mod build;
mod lower;
mod names;
mod stack;
mod walk;

use chalice::source::{SourceFile, Span};

/// What became of a program.
#[derive(Debug)]
pub struct Translation {
    /// The parse tree. Members that contain something unsupported are in it in a form that the engine refuses.
    pub program: sil::syntax::Program,
    /// What could not be lowered, in source order of the members.
    pub unsupported: Vec<Unsupported>,
}

/// A construct that has no lowering yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Its name, in words.
    pub construct: String,
    /// Where it is used.
    pub span: Span,
}

/// Lowers a resolved program.
pub fn translate(source: &SourceFile, program: &chalice::Program) -> Translation {
    lower::lower(source, program)
}
