//! Source files and places in them.

pub use front::{FileId, SourceFile, Sources, Span};

/// How many files one program may have.
pub(crate) const FILE_LIMIT: usize = 10_000;
