//! The SPL front end's findings, in the form that both commands show.

use sil::render::{Message, Place, Severity};
use sil::source::LineColumn;
use spl::source::{Sources, Span};
use spl::{Code, Diagnostic};

use crate::Refusal;

/// A finding, ready to be shown.
pub fn message(sources: &Sources, diagnostic: &Diagnostic) -> Message {
    Message {
        severity: if diagnostic.is_error() { Severity::Error } else { Severity::Warning },
        id: diagnostic.code.as_str().to_owned(),
        text: diagnostic.message.clone(),
        place: place(sources, diagnostic.span),
        notes: diagnostic
            .related
            .iter()
            .map(|(span, remark)| (place(sources, *span), remark.clone()))
            .collect(),
        remarks: Vec::new(),
    }
}

/// That something has no meaning in SIL.
pub(crate) fn refused(sources: &Sources, refusal: &Refusal) -> Message {
    let code = Code::TypecheckerError;
    message(sources, &Diagnostic::error(code, refusal.message.clone(), refusal.span))
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

fn place(sources: &Sources, span: Span) -> Place {
    let file = sources.file(span.file);
    let at = |offset| {
        let (line, column) = file.line_column(offset);
        LineColumn { line: line as u32, column: column as u32 }
    };
    Place { file: file.name.as_str().into(), start: at(span.start), end: at(span.end) }
}
