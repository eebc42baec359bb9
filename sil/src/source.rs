//! Source files and the spans that point into them.

use std::fmt;
use std::sync::Arc;

/// A name as written in the source; cheap to clone, shareable between threads.
pub type Name = Arc<str>;

/// A file of [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// Where a node of a *translated* program comes from: an index into the program's
/// [origin table](crate::program::Program::origins). `NONE` for hand-written SIL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct OriginId(pub u32);

impl OriginId {
    /// No annotation at or above this node.
    pub const NONE: Self = Self(0);
}

/// A range of bytes of one file, with the origin of the node that stands there.
///
/// Invariant: `start <= end`, both on character boundaries of the file's text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
    pub origin: OriginId,
}

impl Span {
    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32, origin: OriginId::NONE }
    }

    /// From the start of `self` to the end of `other` (of the same file), with the origin of `self`.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

/// A place in a text: both numbers count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LineColumn {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.line, self.column)
    }
}

/// The text of one file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown to users: the path as given.
    pub name: String,
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1))
            .collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The line and column of a byte offset; offsets past the end count as the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start as usize <= offset) - 1;
        let column =
            self.text.get(self.line_starts[line] as usize..offset).map_or(0, |s| s.chars().count());
        LineColumn { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

/// All files that one program was read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and returns its id.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of an id made by [`Sources::add`].
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// Start and (exclusive) end of a span; `None` where the span's file is unknown, as for programs built by code.
    pub fn range(&self, span: Span) -> Option<(LineColumn, LineColumn)> {
        let file = self.files.get(span.file.0 as usize)?;
        Some((file.line_column(span.start), file.line_column(span.end)))
    }

    /// The text under a span, if its file is known.
    pub fn text(&self, span: Span) -> Option<&str> {
        self.files.get(span.file.0 as usize)?.text.get(span.start as usize..span.end as usize)
    }
}
