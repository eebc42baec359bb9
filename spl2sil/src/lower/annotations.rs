//! Where generated code comes from, and how its failures are told.
//!
//! The annotations are those of SIL: `@src.at` gives a place in an SPL file, `@src.as` renames an error, `@src.say` gives
//! the words.

use sil::build::{annotation, source_file};
use sil::syntax::{Annotation, Stmt, StmtKind};
use spl::source::Span;

pub(crate) use sil::build::{Annotate, named, renamed, said, values_called, variables};

use super::Lowering;

/// The words for a call or loop that might not end.
pub(crate) fn ends() -> Annotation {
    said(
        "termination.failed:*",
        "this might not end: the measure might not decrease, or not be bounded",
    )
}

/// What stands in an `else`: if it is one `if` with a condition that has a place, it needs none itself, and is printed as
/// `elseif`. So long chains are not nested.
pub(crate) fn chained(mut otherwise: Vec<Stmt>) -> Vec<Stmt> {
    if let [only] = &mut otherwise[..]
        && let StmtKind::If { condition, .. } = &only.kind
        && !condition.annotations.is_empty()
    {
        only.annotations.clear();
    }
    otherwise
}

impl Lowering<'_> {
    /// `@src.at("file", "line.column-line.column")`
    pub(crate) fn at(&self, span: Span) -> Annotation {
        let (key, range) = self.range(span);
        annotation("src.at", vec![key.as_str().into(), range.into()])
    }

    /// `@src.note("file", "line.column-line.column", "text")`: a second place, shown with errors from here.
    pub(crate) fn note(&self, span: Span, text: &str) -> Annotation {
        let (key, range) = self.range(span);
        annotation("src.note", vec![key.as_str().into(), range.into(), sil::build::escaped(text)])
    }

    fn range(&self, span: Span) -> (String, String) {
        let file = self.sources.file(span.file);
        let (line, column) = file.line_column(span.start);
        let (end_line, end_column) = file.line_column(span.end.max(span.start));
        (span.file.index().to_string(), format!("{line}.{column}-{end_line}.{end_column}"))
    }

    /// `@src.file("0", "name")` for each file.
    pub(crate) fn files(&self) -> Vec<Annotation> {
        let files = self.sources.iter();
        files.map(|(id, file)| source_file(&id.index().to_string(), &file.name)).collect()
    }
}
