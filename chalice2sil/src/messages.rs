//! The Chalice front end's findings, in the form that both commands show.

use chalice::{Program, SourceFile};
use sil::render::{Message, Place, Severity};

use crate::Unsupported;

/// Parses, resolves and type checks a text; the program is present exactly if no message is an
/// error.
pub fn check(name: &str, text: &str) -> (Option<Program>, Vec<Message>) {
    let source = SourceFile::new(name, text);
    let (program, diagnostics) = chalice::check(&source);
    (program, diagnostics.iter().map(|one| Message::in_file(&source, one)).collect())
}

/// The id of what has no lowering yet.
pub(crate) const FEATURE_UNSUPPORTED: &str = "internal:feature.unsupported";

/// Makes the message that a construct has no lowering yet. The message rejects nothing: the engine
/// refuses the member of the construct.
pub(crate) fn unsupported(source: &SourceFile, unsupported: &Unsupported) -> Message {
    let text = format!("{} cannot be verified yet", unsupported.construct);
    let place = Place::in_file(source, unsupported.span);
    Message { severity: Severity::Warning, ..Message::error(FEATURE_UNSUPPORTED, text, place) }
}
