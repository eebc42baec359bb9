//! The SPL language of GRASShopper: source text in, a resolved and typed [`Program`] or diagnostics
//! out.
//!
//! SPL is a small imperative language with specifications in separation logic, in two dialects
//! ([`program::Dialect`]) that give the same text different meanings. This crate knows the language
//! only; what its programs mean is said by whoever lowers them.
//!
//! The way through the crate is the way of a program through it: includes are read, each text
//! becomes a tree of names ([`syntax::parse`]), `resolve` turns names into ids and checks types,
//! and [`check`] is all in sequence. A [`Program`] exists only for programs without static errors,
//! so whoever takes one meets no unknown name and no ill-typed expression.

pub mod diagnostic;
pub mod load;
pub mod options;
pub mod program;
mod resolve;
pub mod source;
pub mod syntax;

use std::path::PathBuf;

pub use diagnostic::{Code, Diagnostic};
pub use front::{FileSystem, Loader, NoFiles};
pub use options::Options;
pub use program::{Dialect, Program};
pub use source::{SourceFile, Sources, Span};

/// How a program is read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The dialect; absent means that the program's own marks say which.
    pub dialect: Option<Dialect>,
    /// Below which directory included files are; absent means beside the file that includes them.
    pub base: Option<PathBuf>,
}

/// The result of checking a text.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// Present exactly if no finding is an error ([`Diagnostic::is_error`]); warnings may accompany
    /// it.
    pub program: Option<Program>,
    /// The files that were read, the main one first.
    pub sources: Sources,
    /// The findings, in source order.
    pub findings: Vec<Diagnostic>,
}

/// Reads, parses, resolves and type checks a program.
///
/// A syntax error, a file that cannot be read, or a clash of declarations is reported alone, every
/// other static error together with all others.
pub fn check(name: &str, text: &str, settings: &Settings, loader: &dyn Loader) -> Checked {
    let mut sources = Sources::default();
    match load::load(name, text, settings.base.as_deref(), loader, &mut sources) {
        Ok(syntax) => {
            let (program, findings) = resolve::resolve(&syntax, settings.dialect);
            Checked { program, sources, findings }
        }
        Err(error) => Checked { program: None, sources, findings: vec![error] },
    }
}
