//! The front ends: from a text to a program that can be verified.

use std::path::Path;
use std::sync::Arc;

use sil::imports::{FileSystem, Loader as _};
use sil::load::Assumptions;
use sil::program::Program;
use sil::render::{Message, Place, Texts};
use sil::source::{SourceFile, Sources};

use super::input::{Input, Language, Unreadable};
use crate::verify::interpretations;
use syxc::{self, Direct};

/// The result of a front end for a file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Absent if one of the messages is an error, and of what is only checked.
    pub program: Option<Program>,
    /// None of the messages is an error.
    pub is_accepted: bool,
    /// The program declares nothing, of whatever kind. One that is translated to nothing has a
    /// domain that stands for it ([`sil::build::nothing`]).
    pub is_blank: bool,
    /// The SIL texts: the file with its imports, or the translation.
    pub sources: Sources,
    /// The texts that were translated.
    pub originals: Vec<SourceFile>,
    pub messages: Vec<Message>,
}

impl Loaded {
    /// Nothing but the reason why there is no text.
    pub(super) fn unreadable(input: &Input, unreadable: Unreadable) -> Self {
        let id = if unreadable.text.is_some() { "parser.error" } else { "file.unreadable" };
        let message = Message::error(id, unreadable.reason, unreadable.place);
        let original = unreadable.text.map(|text| SourceFile::new(input.name.as_str(), text));
        Self {
            originals: original.into_iter().collect(),
            messages: vec![message],
            ..Self::default()
        }
    }

    /// Makes the result of the front end of another language.
    fn translated(
        program: Option<Program>,
        sources: Sources,
        originals: Vec<SourceFile>,
        messages: Vec<Message>,
    ) -> Self {
        let is_accepted = program.is_some();
        let is_blank = program.as_ref().is_some_and(|program| program.order.is_empty());
        Self { program, is_accepted, is_blank, sources, originals, messages }
    }

    /// Returns the texts that the messages point into.
    pub fn texts(&self) -> Texts {
        let mut texts = Texts::of(&self.sources);
        for original in &self.originals {
            texts.add(original.clone());
        }
        texts
    }
}

/// Finds what [`load`] finds, but yields no program where it can do without.
pub(super) fn check(input: &Input, text: Arc<str>, assumptions: Assumptions) -> Loaded {
    if input.language() != Language::Sil {
        return load(input, text, assumptions);
    }
    let bytes = text.as_bytes().to_vec();
    drop(text);
    let checked = sil::load::check_assuming(assumptions, &input.name, bytes, &FileSystem);
    let sil::load::Checked { sources, is_blank, is_accepted, diagnostics } = checked;
    let messages = diagnostics.iter().map(|one| Message::of(&sources, one)).collect();
    Loaded { program: None, is_accepted, is_blank, sources, originals: Vec::new(), messages }
}

/// Parses, resolves and checks an input. Of Chalice programs nothing is assumed.
pub fn load(input: &Input, text: Arc<str>, assumptions: Assumptions) -> Loaded {
    match input.language() {
        Language::Sil => load_sil(&input.name, &text, assumptions),
        Language::Chalice => load_chalice(input, &text),
        Language::Spl => load_spl(&input.name, &text),
    }
}

fn load_sil(name: &str, text: &str, assumptions: Assumptions) -> Loaded {
    let sil::load::Loaded { sources, program, is_blank, diagnostics, .. } =
        sil::load::load_assuming(assumptions, name, text.as_bytes().to_vec(), &FileSystem);
    let mut messages: Vec<Message> =
        diagnostics.iter().map(|one| Message::of(&sources, one)).collect();
    let errors = program.as_ref().map(interpretations::errors).unwrap_or_default();
    messages.extend(errors.iter().map(|one| Message::of(&sources, one)));
    let program = program.filter(|_| errors.is_empty());
    let is_accepted = program.is_some();
    Loaded { program, is_accepted, is_blank, sources, originals: Vec::new(), messages }
}

fn load_chalice(input: &Input, text: &str) -> Loaded {
    let name = input.name.as_str();
    let chalice2sil::Loaded { program, sources, messages } =
        chalice2sil::load(name, text, &input.parameters);
    let originals = vec![SourceFile::new(name, text)];
    Loaded::translated(program, sources, originals, messages)
}

/// Returns the declarations of a Chalice program and the program itself, for those who execute it
/// directly.
pub(super) fn load_direct(input: &Input, text: Arc<str>) -> (Loaded, Option<Direct>) {
    let name = input.name.as_str();
    if input.language() != Language::Chalice {
        let text = "only Chalice programs can be executed directly (--direct)";
        let message = Message::error("parser.error", text, Place::start_of(name));
        return (Loaded { messages: vec![message], ..Loaded::default() }, None);
    }
    let (program, messages) = chalice2sil::messages::check(name, &text);
    let mut sources = Sources::default();
    sources.add(SourceFile::new(name, text.clone()));
    let (program, direct) = program
        .map(|program| syxc::load(program, chalice::Options::of(&text, &input.parameters)))
        .unzip();
    let loaded = Loaded::translated(program, sources, Vec::new(), messages);
    // The table of declarations has no part for a class without members.
    (Loaded { is_blank: false, ..loaded }, direct)
}

fn load_spl(name: &str, text: &str) -> Loaded {
    let (settings, options) = Default::default();
    let spl2sil::Loaded { program, sources, originals, messages } =
        spl2sil::load(name, text, &settings, options, &FileSystem);
    let originals = originals.files().map(|(_, file)| file.clone()).collect();
    Loaded::translated(program, sources, originals, messages)
}

/// Returns the texts that a translated program came from, as far as they can be read: to quote from
/// them.
///
/// Their names are as the translator was given them, so they are looked for where we run, then
/// beside the translation. A name that leads nowhere is no error: the findings then come without
/// quotes.
pub(super) fn originals<'a>(
    input: &Input,
    names: impl Iterator<Item = &'a str>,
    known: &Texts,
) -> Vec<SourceFile> {
    let beside = input.path().and_then(Path::parent);
    names
        .filter(|name| known.get(name).is_none())
        .filter_map(|name| {
            let bytes = FileSystem.read(Path::new(name)).or_else(|error| match beside {
                Some(directory) => FileSystem.read(&directory.join(name)),
                None => Err(error),
            });
            Some(SourceFile::new(name, String::from_utf8(bytes.ok()?).ok()?))
        })
        .collect()
}
