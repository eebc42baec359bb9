//! Source files and places in them.

use std::ops::Range;

pub use front::SourceFile;

/// A stretch of a source text, in byte offsets; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span between two offsets.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the empty span at an offset.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the offsets as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Span> for front::Span {
    fn from(span: Span) -> Self {
        Self { start: span.start, end: span.end, ..Self::default() }
    }
}

/// Returns the empty span at the first line that is not a line comment.
pub(crate) fn beginning(file: &SourceFile) -> Span {
    let mut offset = 0;
    for line in file.text.split_inclusive('\n') {
        if !line.trim_start().starts_with("//") {
            break;
        }
        offset += line.len();
    }
    Span::at(offset.min(file.text.len()))
}
