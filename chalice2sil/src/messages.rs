//! The Chalice front end's findings, in the form that both commands show.

use chalice::{Diagnostic, Program, SourceFile, Span};
use sil::render::{Message, Place, Severity};
use sil::source::LineColumn;

/// Parses, resolves and type checks a text; the program is present exactly if no message is an error.
pub fn check(name: &str, text: &str) -> (Option<Program>, Vec<Message>) {
    let source = SourceFile::new(name, text);
    let (program, diagnostics) = chalice::check(&source);
    (program, diagnostics.iter().map(|one| message(&source, one)).collect())
}

/// A finding about `source`, ready to be shown.
pub fn message(source: &SourceFile, diagnostic: &Diagnostic) -> Message {
    Message {
        severity: if diagnostic.is_error() { Severity::Error } else { Severity::Warning },
        id: diagnostic.code.as_str().to_owned(),
        text: diagnostic.message.clone(),
        place: place(source, diagnostic.span),
        notes: diagnostic
            .related
            .iter()
            .map(|(span, remark)| (place(source, *span), remark.clone()))
            .collect(),
        remarks: Vec::new(),
    }
}

fn place(source: &SourceFile, span: Span) -> Place {
    let at = |offset| {
        let (line, column) = source.line_column(offset);
        LineColumn { line: line as u32, column: column as u32 }
    };
    Place { file: source.name.as_str().into(), start: at(span.start), end: at(span.end) }
}
