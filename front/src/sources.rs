use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The mark that some editors write at the start of a file; it has no column.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text behind a byte order mark, if it starts with one.
pub fn behind_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns the text with blanks for a byte order mark, which is no part of a program: what follows
/// keeps its offset.
pub fn blank_mark(text: &str) -> Cow<'_, str> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Cow::Owned(" ".repeat(BYTE_ORDER_MARK.len_utf8()) + rest),
        None => Cow::Borrowed(text),
    }
}

/// A place in a text: both numbers count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LineColumn {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.line, self.column)
    }
}

/// The text of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// The name shown to users: the path as given.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Offset of the first byte of each line; never empty.
    line_starts: Vec<u32>,
    /// Is every character one byte? Then columns need no counting, which would cost a text in one
    /// long line its length squared.
    is_ascii: bool,
}

impl SourceFile {
    /// Takes a text and notes where its lines start.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1))
            .collect();
        let is_ascii = text.is_ascii();
        Self { name: name.into(), text, line_starts, is_ascii }
    }

    /// Returns the line and column of a byte offset; offsets past the end count as the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let end = (offset as usize).min(self.text.len());
        let line = self.line(offset);
        let start = self.line_starts[line - 1] as usize;
        let before = if self.is_ascii {
            end - start
        } else {
            let before = self.text.get(start..end).unwrap_or_default();
            before.trim_start_matches(BYTE_ORDER_MARK).chars().count()
        };
        LineColumn { line: line as u32, column: before as u32 + 1 }
    }

    /// Returns the byte offset of a line and column: the inverse of [`Self::line_column`]. A column
    /// past the end of its line counts as the end. `None`: there is no such line.
    pub fn offset(&self, LineColumn { line, column }: LineColumn) -> Option<usize> {
        let range = self.line_range(line as usize)?;
        let text = behind_mark(&self.text[range.clone()]);
        let start = range.end - text.len();
        let column = (column as usize).saturating_sub(1);
        if self.is_ascii {
            return Some(range.end.min(start + column));
        }
        Some(text.char_indices().nth(column).map_or(range.end, |(at, _)| start + at))
    }

    /// Returns the bytes of a line, counted from 1, without its line break.
    pub fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(line.checked_sub(1)?)? as usize;
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize - 1);
        Some(start..end)
    }

    /// Returns where a range starts and (exclusively) ends.
    pub fn range(&self, range: Range<usize>) -> (LineColumn, LineColumn) {
        (self.line_column(range.start as u32), self.line_column(range.end.max(range.start) as u32))
    }

    /// Returns the line of a byte offset, counted from 1; offsets past the end are in the last line.
    pub fn line(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Returns a part of the text; empty if it reaches beyond the text.
    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// A file of [`Sources`].
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct FileId(pub u32);

/// A range of bytes of one file.
///
/// Invariant: `start <= end`, both on character boundaries of the file's text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl FileId {
    /// Returns the position among the files of the program.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Span {
    /// Returns the bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// Returns the smallest span that covers both; `self` if they are of different files.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }

    /// Returns the empty span at the end.
    #[must_use]
    pub fn behind(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// Returns the last byte, such as the closing brace of a block.
    #[must_use]
    pub fn last(self) -> Self {
        Self { start: self.end.saturating_sub(1).max(self.start), ..self }
    }

    /// Returns the offsets as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All files that one program was read from: the main file first, the others in the order in which
/// they are read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and returns its id.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// Returns the file of an id made by [`Sources::add`].
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Returns the file of an id; absent for that of other sources.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// Returns all files with their ids, the main file first.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// Start and (exclusive) end of a span; `None` where the span's file is unknown, as for
    /// programs built by code.
    pub fn range(&self, span: impl Into<Span>) -> Option<(LineColumn, LineColumn)> {
        let span = span.into();
        Some(self.get(span.file)?.range(span.range()))
    }

    /// Returns the text under a span, if its file is known.
    pub fn text(&self, span: impl Into<Span>) -> Option<&str> {
        let span = span.into();
        self.get(span.file)?.text.get(span.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_column(file: &SourceFile, offset: u32) -> (u32, u32) {
        let at = file.line_column(offset);
        (at.line, at.column)
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new("f", "ab\nöö x\n");
        let x = file.text.find('x').expect("the text has an x");
        assert_eq!(line_column(&file, x as u32), (2, 4));
        assert_eq!(line_column(&file, 0), (1, 1));
        assert_eq!(line_column(&file, 999), (3, 1));
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let file = SourceFile::new("f", "\u{feff}ab\n");
        assert_eq!(line_column(&file, 4), (1, 2));
    }

    #[test]
    fn spans_of_two_files_have_no_union() {
        let (here, there) = (Span::new(FileId(0), 2, 5), Span::new(FileId(1), 7, 9));
        assert_eq!(here.to(there), here);
        assert_eq!(here.to(Span::new(FileId(0), 7, 9)).range(), 2..9);
    }
}
