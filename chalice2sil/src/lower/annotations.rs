//! Where generated code comes from, and how its failures are told.
//!
//! The annotations are those of SIL: `@src.at` gives a place in the Chalice program, `@src.as`
//! renames an error, `@src.say` gives the words. In a new name, `*` stands for what the `*` of the
//! pattern matched.

use chalice::Span;
use sil::build::{source_at, source_file};
use sil::syntax::{Annotation, Expr};

pub(crate) use sil::build::{
    Annotate, hidden, inner, named, renamed, said, told_receivers, variables,
};

use super::Lowering;

/// The key under which the first member declares the Chalice file.
pub(crate) const FILE_KEY: &str = "0";

impl Lowering<'_> {
    /// `@src.at` of a place in the program.
    pub(crate) fn at(&self, span: Span) -> Annotation {
        let (start, end) = self.source.range(span.range());
        source_at(FILE_KEY, start, end)
    }

    /// `@src.file("0", "name")`
    pub(crate) fn file(&self) -> Annotation {
        source_file(FILE_KEY, &self.source.name)
    }
}

/// The same node without a place of its own: it is reported where the node around it is.
pub(crate) fn unplaced(mut e: Expr) -> Expr {
    e.annotations.retain(|annotation| &*annotation.key != "src.at");
    e
}
