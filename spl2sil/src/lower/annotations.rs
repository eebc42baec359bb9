//! Where generated code comes from, and how its failures are told.
//!
//! The annotations are those of SIL: `@src.at` gives a place in an SPL file, `@src.as` renames an
//! error, `@src.say` gives the words.

use findings::ErrorId;
use sil::syntax::Annotation;
use spl::source::Span;

pub(crate) use sil::build::{Annotate, named, renamed, said, values_called, variables};

use super::Lowering;
use crate::places;

/// Returns the words for a call or loop that might not end.
pub(crate) fn ends() -> Annotation {
    said(
        ErrorId::TerminationFailed,
        "this might not end: the measure might not decrease, or not be bounded",
    )
}

impl Lowering<'_> {
    /// Returns where a node comes from.
    pub(crate) fn at(&self, span: Span) -> Annotation {
        places::at(self.sources, span)
    }

    /// Returns a second place, shown with errors from here.
    pub(crate) fn note(&self, span: Span, text: &str) -> Annotation {
        places::note(self.sources, span, text)
    }
}
