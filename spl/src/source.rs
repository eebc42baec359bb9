//! Source files and places in them.

use std::ops::Range;

/// What some editors write at the start of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Index of a file in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(u16);

/// All files of one program: the main file first, the others in the order in which they are included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// How many files one program may have.
    pub const LIMIT: usize = 10_000;

    /// Adds a file; no more than [`Sources::LIMIT`] fit.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        assert!(self.files.len() < Self::LIMIT, "a program has no more than {} files", Self::LIMIT);
        self.files.push(file);
        FileId((self.files.len() - 1) as u16)
    }

    /// A file that was added.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files with their ids, the main file first.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(at, file)| (FileId(at as u16), file))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The text a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.files.get(span.file.0 as usize).map_or("", |file| file.slice(span))
    }

    /// The line on which a span starts, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        self.file(span.file).line_column(span.start).0
    }
}

impl FileId {
    /// The position among the files of the program.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A named text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// What diagnostics call the file.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Offset of the first byte of each line; never empty.
    line_starts: Vec<u32>,
    /// Is every character one byte? Then columns need no counting, which would cost a text in one long line its
    /// length squared.
    is_ascii: bool,
}

impl SourceFile {
    /// Takes a text and notes where its lines start.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let after_newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts =
            std::iter::once(0).chain(after_newlines.map(|(at, _)| at as u32 + 1)).collect();
        let is_ascii = text.is_ascii();
        Self { name: name.into(), text, line_starts, is_ascii }
    }

    /// Line and column of a byte offset, both counted from 1; columns count characters, not bytes, and no byte order mark.
    ///
    /// An offset past the end is read as the end.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let (start, end) = (self.line_starts[line - 1] as usize, offset as usize);
        let before = if self.is_ascii {
            end - start
        } else {
            let before = self.text.get(start..end).unwrap_or_default();
            before.trim_start_matches(BYTE_ORDER_MARK).chars().count()
        };
        (line, before + 1)
    }

    /// The text a span covers; empty if it reaches beyond the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// A stretch of a source text, in byte offsets; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span between two offsets.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both; the file is that of the first.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }

    /// The empty span at the end.
    #[must_use]
    pub fn behind(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// The last byte, such as the closing brace of a block.
    #[must_use]
    pub fn last(self) -> Self {
        Self { start: self.end.saturating_sub(1).max(self.start), ..self }
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

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let source = SourceFile::new("f", "\u{feff}ab\n");
        assert_eq!(source.line_column(4), (1, 2));
    }
}
