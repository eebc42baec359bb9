//! What the front end says of a text: at once, before anything is verified.

use std::sync::Arc;

use sil::imports::FileSystem;
use sil::load::{Assumptions, load_assuming};
use sil::render::{Message, Texts};
use silicon::session::input::Language;
use silicon::session::{Input, Session, Task, on_large_stack};

use crate::convert::Files;
use crate::index::Index;
use crate::positions::Text;
use crate::protocol::Found;

/// A text to be looked at.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) name: String,
    pub(crate) language: Language,
    pub(crate) text: Text,
}

/// What is known of one version of a text. Never changed.
pub(crate) struct Analysis {
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) text: Text,
    pub(crate) found: Vec<Found>,
    /// Whether it is a program that can be verified.
    pub(crate) is_program: bool,
    pub(crate) index: Index,
}

/// Takes a text through its front end. Never panics: a defect there is a finding.
pub(crate) fn analyse(request: Request) -> Arc<Analysis> {
    let Request { uri, version, name, language, text } = request;
    let analysed = on_large_stack(|| match language {
        Language::Sil => analyse_sil(&uri, &name, &text),
        Language::Chalice | Language::Spl => analyse_other(&uri, &name, &text, language),
    });
    let (found, is_program, index) = analysed.unwrap_or_else(|defect| {
        let message = Message {
            severity: sil::render::Severity::Error,
            id: "internal".to_owned(),
            text: format!("internal error: {defect}"),
            place: sil::render::Place::start_of(&name),
            notes: Vec::new(),
            remarks: Vec::new(),
        };
        let files = Files::new(&name, &uri, &text, &Texts::default());
        (vec![files.message(&message)], false, Index::new(&text, language, None))
    });
    Arc::new(Analysis { uri, version, text, found, is_program, index })
}

fn analyse_sil(uri: &str, name: &str, text: &Text) -> (Vec<Found>, bool, Index) {
    let bytes = text.text.as_bytes().to_vec();
    let loaded = load_assuming(Assumptions::default(), name, bytes, &FileSystem);
    let files = Files::new(name, uri, text, &Texts::of(&loaded.sources));
    let messages = loaded.diagnostics.iter().map(|one| Message::of(&loaded.sources, one));
    let found = messages.map(|message| files.message(&message)).collect();
    let program = loaded.program.as_ref();
    let index = Index::new(text, Language::Sil, program.map(|it| (it, &loaded.sources)));
    (found, program.is_some(), index)
}

fn analyse_other(
    uri: &str,
    name: &str,
    text: &Text,
    language: Language,
) -> (Vec<Found>, bool, Index) {
    let session = Session { task: Task::Check, ..Session::default() };
    let input = Input { language: Some(language), ..Input::text(name, Arc::clone(&text.text)) };
    let outcome = session.run(&input);
    let files = Files::new(name, uri, text, &outcome.texts);
    let found = outcome.diagnostics.iter().map(|one| files.diagnostic(one)).collect();
    (found, outcome.errors() == 0, Index::new(text, language, None))
}
