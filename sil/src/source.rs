//! Source files and the spans that point into them.

pub mod map;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use front::{FileId, LineColumn, SourceFile, Sources};

/// A name as written in the source; cheap to clone, shareable between threads.
pub type Name = Arc<str>;

/// Where a node of a *translated* program comes from: an index into the program's
/// [origin table](crate::program::Program::origins). `NONE` for hand-written SIL.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct OriginId(pub u32);

impl OriginId {
    /// No annotation at or above this node.
    pub const NONE: Self = Self(0);
}

/// A range of bytes of one file, with the origin of the node that stands there.
///
/// Invariant: `start <= end`, both on character boundaries of the file's text.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
    pub origin: OriginId,
}

impl Span {
    /// Returns the bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32, origin: OriginId::NONE }
    }

    /// Tells whether something that has a place lies within.
    pub fn contains(self, other: Self) -> bool {
        let is_placed = other.start < other.end;
        is_placed && self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// From the start of `self` to the end of `other` (of the same file), with the origin of
    /// `self`.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

impl From<Span> for front::Span {
    fn from(span: Span) -> Self {
        Self { file: span.file, start: span.start, end: span.end }
    }
}
