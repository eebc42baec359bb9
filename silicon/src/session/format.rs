//! The layout of a program: `silicon fmt`, and the language server.

use std::sync::Arc;

use findings::ErrorId;
use front::SourceFile;
use layout::Edit;
use sil::render::{Message, Place};
use sil::source::Sources;

use super::load::Loaded;
use super::outcome::Diagnostic;
use super::{Fault, FileVerdict, Input, Outcome, on_large_stack};
use crate::session::input::Language;

/// A program, and what gives it its layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub text: Arc<str>,
    /// Changes of blanks, in order.
    pub edits: Vec<Edit>,
}

impl Layout {
    /// Returns the text in its layout.
    pub fn formatted(&self) -> String {
        layout::apply(&self.text, &self.edits)
    }
}

/// Reads a program and lays it out.
///
/// # Errors
/// The text cannot be read, or is no program; types do not matter.
pub fn layout(input: &Input) -> Result<Layout, Box<Outcome>> {
    let text = input.read().map_err(|unreadable| {
        let loaded = Loaded::unreadable(input, unreadable);
        refused(input, None, loaded.messages)
    })?;
    let errors = on_large_stack(|| syntax_errors(input, &text));
    let errors = errors.unwrap_or_else(|defect| vec![internal(input, &defect.to_string())]);
    if !errors.is_empty() {
        return Err(refused(input, Some(&text), errors));
    }
    match layout::edits(&text, input.language()) {
        Ok(edits) => Ok(Layout { text, edits }),
        Err(problem) => {
            let message = internal(input, &problem.to_string());
            Err(refused(input, Some(&text), vec![message]))
        }
    }
}

fn internal(input: &Input, what: &str) -> Message {
    let text = format!("internal error: {what}");
    Message::error(ErrorId::Internal.id(), text, Place::start_of(&input.name))
}

fn syntax_errors(input: &Input, text: &str) -> Vec<Message> {
    let mut sources = Sources::default();
    let file = sources.add(SourceFile::new(input.name.as_str(), text));
    let found: Vec<Message> = match input.language() {
        Language::Sil => {
            let mut found = Vec::new();
            sil::parser::parse(file, text, &mut found);
            found.iter().map(|one| Message::of(&sources, one)).collect()
        }
        Language::Chalice => {
            let found = chalice::syntax::parse(text).err().unwrap_or_default();
            found.iter().map(|one| Message::in_file(sources.file(file), one)).collect()
        }
        Language::Spl => {
            let found = spl::syntax::parse(file, text).err();
            found.iter().map(|one| Message::of(&sources, one)).collect()
        }
    };
    found.into_iter().filter(|one| one.severity == sil::render::Severity::Error).collect()
}

fn refused(input: &Input, text: Option<&str>, messages: Vec<Message>) -> Box<Outcome> {
    let mut outcome = Outcome::empty(&input.name);
    outcome.verdict = if messages.iter().any(|one| Fault::of(one) == Fault::Defect) {
        FileVerdict::Error
    } else {
        FileVerdict::InputError
    };
    if let Some(text) = text {
        outcome.texts.add(SourceFile::new(input.name.as_str(), text));
    }
    outcome.diagnostics = messages.into_iter().map(Diagnostic::of).collect();
    Box::new(outcome)
}
