//! Source files and places in them.

use std::ops::Range;

/// A named text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// What diagnostics call the file.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Offset of the first byte of each line; never empty.
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Takes a text and notes where its lines start.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let after_newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts =
            std::iter::once(0).chain(after_newlines.map(|(at, _)| at as u32 + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Line and column of a byte offset, both counted from 1; columns count characters, not bytes.
    ///
    /// An offset past the end is read as the end.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        let before = self.text.get(start as usize..offset as usize).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// The line on which a span starts, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        self.line_column(span.start).0
    }

    /// The empty span at the first line that is not a line comment.
    pub fn beginning(&self) -> Span {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            if !line.trim_start().starts_with("//") {
                break;
            }
            offset += line.len();
        }
        Span::at(offset.min(self.text.len()))
    }

    /// The text a span covers; empty if the span does not belong to this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// A stretch of a source text, in byte offsets; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span between two offsets.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The empty span at an offset.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The offsets as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = SourceFile::new("f", "ab\nöö x\n");
        let x = source.text.find('x').expect("the text has an x");
        assert_eq!(source.line_column(x as u32), (2, 4));
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(999), (3, 1));
    }
}
