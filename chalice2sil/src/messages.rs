//! The Chalice front end's findings, in the form that both commands show.

use chalice::{Diagnostic, Program, SourceFile, Span};
use sil::render::{Message, Place, Severity};
use sil::source::LineColumn;

use crate::Unsupported;

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

/// The id of what has no lowering yet.
pub(crate) const FEATURE_UNSUPPORTED: &str = "internal:feature.unsupported";

/// That a construct has no lowering yet. It rejects nothing: the member that has it is refused by the engine.
pub(crate) fn unsupported(source: &SourceFile, unsupported: &Unsupported) -> Message {
    Message {
        severity: Severity::Warning,
        id: FEATURE_UNSUPPORTED.to_owned(),
        text: format!("{} cannot be verified yet", unsupported.construct),
        place: place(source, unsupported.span),
        notes: Vec::new(),
        remarks: Vec::new(),
    }
}

/// That the translation itself is wrong: a defect of this crate.
pub(crate) fn broken(name: &str, why: &str) -> Message {
    Message {
        severity: Severity::Error,
        id: "internal".to_owned(),
        text: format!("the translation is not a SIL program (a defect of the translator): {why}"),
        place: Place::start_of(name),
        notes: Vec::new(),
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
