//! The Chalice language: source text in, a resolved and typed [`Program`] or diagnostics out.
//!
//! Chalice (Leino, Müller, Smans 2009; Leino and Müller 2009) is a class-based concurrent language
//! whose contracts speak about permissions. This crate knows the language only; what its programs
//! mean is said by whoever lowers them.
//!
//! The way through the crate is the way of a program through it: [`syntax::parse`] reads text into
//! a tree of names, `resolve` turns names into ids and checks types, and [`check`] is both in
//! sequence. A [`Program`] exists only for programs without static errors, so whoever takes one
//! meets no unknown name and no ill-typed expression.

pub mod diagnostic;
mod dialect;
mod magic;
pub mod options;
mod order;
pub mod program;
mod refinement;
mod resolve;
pub mod source;
pub mod syntax;
mod termination;

pub use diagnostic::{Code, Diagnostic};
pub use options::Options;
pub use program::Program;
pub use source::{SourceFile, Span};

/// Adds to a program what follows from what is written, so that all that give programs a meaning
/// give them the same one: the permissions of `-autoMagic`, exact amounts before `rd*`, and the
/// obligations of what has to end ([`program::StmtKind::Prove`]). No program is elaborated twice.
pub fn elaborate(program: &mut Program, options: Options) {
    if options.auto_magic {
        magic::add_magic(program);
    }
    if options.dialect == options::Dialect::Thesis {
        dialect::raise_levels(program);
    }
    order::put_exact_amounts_first(program);
    termination::add_obligations(program, options.termination);
}

/// Parses, resolves and type checks one file.
///
/// The program is present exactly if no diagnostic is an error ([`Diagnostic::is_error`]); warnings
/// may accompany it. Syntax errors are reported alone, one a member; so is a clash of declarations.
/// Every other static error comes together with all others of its file. Diagnostics come in source
/// order.
pub fn check(source: &SourceFile) -> (Option<Program>, Vec<Diagnostic>) {
    match syntax::parse(&source.text) {
        Ok(mut syntax) => {
            let (program, mut found) = match refinement::flatten(&mut syntax) {
                Ok(()) => resolve::resolve(&syntax, source::beginning(source)),
                Err(error) => (None, vec![error]),
            };
            found.splice(0..0, options::unknown(&source.text));
            (program, found)
        }
        Err(errors) => (None, errors),
    }
}
