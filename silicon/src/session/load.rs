//! The front ends: from a text to a program that can be verified.

use std::sync::Arc;

use sil::program::Program;
use sil::render::{Message, Place, Severity, Texts};
use sil::source::{SourceFile, Sources};

use super::input::{Input, Language};

/// What a front end made of a file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Absent if one of the messages is an error.
    pub program: Option<Program>,
    /// The SIL texts: the file with its imports, or the translation.
    pub sources: Sources,
    /// The text that was translated.
    pub original: Option<SourceFile>,
    pub messages: Vec<Message>,
}

impl Loaded {
    /// The texts that the messages point into.
    pub fn texts(&self) -> Texts {
        let mut texts = Texts::of(&self.sources);
        if let Some(original) = &self.original {
            texts.add(original.clone());
        }
        texts
    }
}

/// Parses, resolves and checks an input.
pub fn load(input: &Input, text: Arc<str>) -> Loaded {
    let words = match input.language() {
        Language::Sil => "the SIL front end is not part of this build",
        Language::Chalice => "the Chalice front end is not part of this build",
    };
    let message = Message {
        severity: Severity::Error,
        id: "internal".into(),
        text: words.into(),
        place: Place::start_of(&input.name),
        notes: Vec::new(),
        remarks: Vec::new(),
    };
    let original = Some(SourceFile::new(input.name.as_str(), text));
    Loaded { original, messages: vec![message], ..Loaded::default() }
}
