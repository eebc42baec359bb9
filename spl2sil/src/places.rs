//! Where generated code comes from.

use sil::build::{Annotate, noted, source_at, source_file};
use sil::syntax::{Annotation, Member};
use spl::source::{Sources, Span};

/// `@src.at(..)` of a place in the program.
pub(crate) fn at(sources: &Sources, span: Span) -> Annotation {
    let (start, end) = sources.file(span.file).range(span.range());
    source_at(&span.file.index().to_string(), start, end)
}

/// Returns a second place, shown with errors from the node.
pub(crate) fn note(sources: &Sources, span: Span, text: &str) -> Annotation {
    let (start, end) = sources.file(span.file).range(span.range());
    noted(&span.file.index().to_string(), start, end, text)
}

/// Declares the files of the program at the first member.
pub(crate) fn declare_files(sources: &Sources, members: &mut [Member]) {
    if let Some(first) = members.first_mut() {
        let files: Vec<Annotation> = sources
            .files()
            .map(|(id, file)| source_file(&id.index().to_string(), &file.name))
            .collect();
        first.annotations.splice(0..0, files);
    }
}

/// Returns the node with a place.
pub(crate) fn placed<N: Annotate>(sources: &Sources, span: Span, node: N) -> N {
    node.with(at(sources, span))
}
