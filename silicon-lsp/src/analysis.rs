//! The front end's answer about a text: at once, before anything is verified.

use std::sync::Arc;

use sil::imports::{FileSystem, Loader};
use sil::load::{Assumptions, load_assuming};
use sil::program::Program;
use sil::render::{Message, Texts};
use sil::source::Sources;
use silicon::session::input::Language;
use silicon::session::outcome::in_order;
use silicon::session::{Input, Session, Task, on_large_stack};

use crate::convert::{Files, uri_of};
use crate::index::{Index, Meaning};
use crate::positions::Text;
use crate::protocol::Found;
use crate::tokens::{Token, tokens};

/// A text to be looked at.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) name: String,
    pub(crate) language: Language,
    pub(crate) text: Text,
}

/// The analysis of one version of a text. An analysis never changes.
pub(crate) struct Analysis {
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) text: Text,
    pub(crate) found: Vec<Found>,
    /// The text is a program that can be verified.
    pub(crate) is_program: bool,
    /// The analysis has read another file, or may have missed one.
    pub(crate) depends_on_files: bool,
    /// The other files that were read, as URIs.
    pub(crate) others: Vec<String>,
    pub(crate) index: Index,
}

impl Analysis {
    /// Finds the names that a text declares, and nothing else.
    pub(crate) fn of_names(name: &str, language: Language, text: String) -> Self {
        let text = Text::new(text);
        let index = Index::new(&text, language, &Meaning::Unknown);
        Self {
            uri: uri_of(name),
            version: 0,
            text,
            found: Vec::new(),
            is_program: false,
            depends_on_files: true,
            others: Vec::new(),
            index,
        }
    }
}

/// Takes a text through its front end. Never panics: a defect there is a finding.
pub(crate) fn analyse(request: Request) -> Arc<Analysis> {
    analyse_with(request, &FileSystem)
}

/// Takes a text through its front end; files that a program of SIL imports come from `loader`.
pub(crate) fn analyse_with(request: Request, loader: &(dyn Loader + Sync)) -> Arc<Analysis> {
    let Request { uri, version, name, language, text } = request;
    let analysed = on_large_stack(|| match language {
        Language::Sil => analyse_sil(&uri, &name, &text, loader),
        Language::Chalice | Language::Spl => analyse_other(&uri, &name, &text, language),
    });
    let Analysed { found, is_program, depends_on_files, others, index } =
        analysed.unwrap_or_else(|defect| {
            let words = format!("internal error: {defect}");
            let message = Message::error("internal", words, sil::render::Place::start_of(&name));
            let files = Files::new(&name, &uri, &text, &Texts::default());
            Analysed {
                found: vec![files.message(&message)],
                is_program: false,
                depends_on_files: true,
                others: Vec::new(),
                index: Index::new(&text, language, &Meaning::Unknown),
            }
        });
    Arc::new(Analysis { uri, version, text, found, is_program, depends_on_files, others, index })
}

/// The part of an analysis that differs between languages.
struct Analysed {
    found: Vec<Found>,
    is_program: bool,
    depends_on_files: bool,
    others: Vec<String>,
    index: Index,
}

/// Returns the other texts than the own one.
fn others(name: &str, texts: &Texts) -> Vec<String> {
    let others = texts.names().filter(|other| **other != *name);
    others.map(uri_of).collect()
}

fn analyse_sil(uri: &str, name: &str, text: &Text, loader: &dyn Loader) -> Analysed {
    let bytes = text.text.as_bytes().to_vec();
    let loaded = load_assuming(Assumptions::default(), name, bytes, loader);
    let texts = Texts::of(&loaded.sources);
    let files = Files::new(name, uri, text, &texts);
    let messages = loaded.diagnostics.iter().map(|one| Message::of(&loaded.sources, one));
    let messages = in_order(messages.collect());
    let found = messages.iter().map(|message| files.message(message)).collect();
    let program = loaded.program.as_ref();
    // While a text is written, it is no program; what it imports is known all the same.
    let imported = if program.is_none() { imported(name, text, loader) } else { None };
    let meaning = match (program, &imported) {
        (Some(program), _) => Meaning::Sil(program, &loaded.sources),
        (None, Some((program, sources))) => Meaning::Imported(program, sources),
        (None, None) => Meaning::Unknown,
    };
    let index = Index::new(text, Language::Sil, &meaning);
    let is_program = program.is_some();
    let others = others(name, &texts);
    let depends_on_files = !is_program || !others.is_empty();
    Analysed { found, is_program, depends_on_files, others, index }
}

/// Returns the program that a text imports, whatever else the text says.
fn imported(name: &str, text: &Text, loader: &dyn Loader) -> Option<(Program, Sources)> {
    let text = &text.text;
    let tokens = tokens(text, Language::Sil);
    let from = |(number, token): (usize, &Token)| {
        let is_import = &text[token.range.clone()] == "import";
        let path = tokens[number + 1..].iter().take_while(|next| is_on_line(text, token, next));
        let end = path.last().filter(|_| is_import)?.range.end;
        Some(&text[token.range.start..end])
    };
    let imports: Vec<&str> = tokens.iter().enumerate().filter_map(from).collect();
    if imports.is_empty() {
        return None;
    }
    let bytes = imports.join("\n").into_bytes();
    let loaded = load_assuming(Assumptions::default(), name, bytes, loader);
    Some((loaded.program?, loaded.sources))
}

fn is_on_line(text: &str, first: &Token, other: &Token) -> bool {
    !text[first.range.end..other.range.end].contains('\n')
}

fn analyse_other(uri: &str, name: &str, text: &Text, language: Language) -> Analysed {
    let session = Session { task: Task::Check, ..Session::default() };
    let input = Input { language: Some(language), ..Input::text(name, Arc::clone(&text.text)) };
    let outcome = session.run(&input);
    let files = Files::new(name, uri, text, &outcome.texts);
    let found = outcome.diagnostics.iter().map(|one| files.diagnostic(one)).collect();
    let is_program = outcome.errors() == 0;
    let others = others(name, &outcome.texts);
    let depends_on_files = !is_program || !others.is_empty();
    let program = (language == Language::Chalice)
        .then(|| chalice::check(&chalice::SourceFile::new(name, &*text.text)).0)
        .flatten();
    let meaning = program.as_ref().map_or(Meaning::Unknown, Meaning::Chalice);
    let index = Index::new(text, language, &meaning);
    Analysed { found, is_program, depends_on_files, others, index }
}
