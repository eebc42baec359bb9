//! Where generated code comes from, and how its failures are told.
//!
//! The annotations are those of SIL: `@src.at` gives a place in the Chalice program, `@src.as` renames an error,
//! `@src.say` gives the words. In a new name, `*` stands for what the `*` of the pattern matched.

use chalice::Span;
use sil::source::Name;
use sil::syntax::{Annotation, Expr, Member, Stmt};

use super::Lowering;
use crate::build::annotation;

/// The key under which the first member declares the Chalice file.
pub(crate) const FILE_KEY: &str = "0";

/// `@src.as("pattern", "id:reason")`
pub(crate) fn renamed(pattern: &str, id: &str) -> Annotation {
    annotation("src.as", vec![pattern.into(), id.into()])
}

/// `@src.say("pattern", "text")`; in the text, `%e` stands for the source of what could not be shown.
pub(crate) fn said(pattern: &str, text: &str) -> Annotation {
    annotation("src.say", vec![pattern.into(), text.into()])
}

/// `@src.name("C.m")`: what the program calls a declaration.
pub(crate) fn named(name: &str) -> Annotation {
    annotation("src.name", vec![escaped(name)])
}

/// `@src.hide()`: if this fails, the translation is wrong, not the program.
pub(crate) fn hidden() -> Annotation {
    annotation("src.hide", Vec::new())
}

/// Quotes and newlines as annotations want them.
pub(crate) fn escaped(text: &str) -> Name {
    text.replace('%', "%25").replace('"', "%22").replace('\n', "%0a").replace('\r', "%0d").into()
}

impl Lowering<'_> {
    /// `@src.at("0", "line.column-line.column")`
    pub(crate) fn at(&self, span: Span) -> Annotation {
        let (line, column) = self.source.line_column(span.start);
        let (end_line, end_column) = self.source.line_column(span.end.max(span.start));
        let range = format!("{line}.{column}-{end_line}.{end_column}");
        annotation("src.at", vec![FILE_KEY.into(), range.into()])
    }

    /// `@src.file("0", "name")`
    pub(crate) fn file(&self) -> Annotation {
        annotation("src.file", vec![FILE_KEY.into(), escaped(&self.source.name)])
    }
}

/// The same node without a place of its own: it is reported where the node around it is.
pub(crate) fn unplaced(mut e: Expr) -> Expr {
    e.annotations.retain(|annotation| &*annotation.key != "src.at");
    e
}

/// A node that can carry annotations.
pub(crate) trait Annotate: Sized {
    fn annotations(&mut self) -> &mut Vec<Annotation>;

    /// Adds an annotation after those that are there.
    #[must_use]
    fn with(mut self, annotation: Annotation) -> Self {
        self.annotations().push(annotation);
        self
    }
}

impl Annotate for Expr {
    fn annotations(&mut self) -> &mut Vec<Annotation> {
        &mut self.annotations
    }
}

impl Annotate for Stmt {
    fn annotations(&mut self) -> &mut Vec<Annotation> {
        &mut self.annotations
    }
}

impl Annotate for Member {
    fn annotations(&mut self) -> &mut Vec<Annotation> {
        &mut self.annotations
    }
}
