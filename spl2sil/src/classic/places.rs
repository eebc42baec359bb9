//! Where generated code comes from.

use sil::build::{Annotate, source_at, source_file};
use sil::source::LineColumn;
use sil::syntax::{Annotation, Member};
use spl::source::{Sources, Span};

/// `@src.at(..)` of a place in the program.
pub(super) fn at(sources: &Sources, span: Span) -> Annotation {
    let file = sources.file(span.file);
    let place = |offset| {
        let (line, column) = file.line_column(offset);
        LineColumn { line: line as u32, column: column as u32 }
    };
    source_at(&span.file.index().to_string(), place(span.start), place(span.end.max(span.start)))
}

/// Declares the files of the program at the first member.
pub(super) fn declare_files(sources: &Sources, members: &mut [Member]) {
    if let Some(first) = members.first_mut() {
        let files: Vec<Annotation> = sources
            .iter()
            .map(|(id, file)| source_file(&id.index().to_string(), &file.name))
            .collect();
        first.annotations.splice(0..0, files);
    }
}

/// The node with a place.
pub(super) fn placed<N: Annotate>(sources: &Sources, span: Span, node: N) -> N {
    node.with(at(sources, span))
}
