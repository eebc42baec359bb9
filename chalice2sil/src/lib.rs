//! Lowers Chalice to SIL.
//!
//! [`translate`] turns a resolved Chalice program into a parse tree of SIL whose annotations lead
//! every failure back to the Chalice text; [`load`] does everything from the text to a resolved SIL
//! program.

#![expect(
    clippy::unused_self,
    reason = "constructors of nodes are methods of what will need its state next"
)]
#![expect(
    clippy::needless_for_each,
    reason = "visitors are closures: handing them on is the plainest loop"
)]
#![expect(clippy::large_enum_variant, reason = "environments are few and short-lived")]

pub mod explain;
pub mod messages;

mod build;
mod lower;
mod names;
mod walk;

use chalice::Options;
use chalice::source::{SourceFile, Span};
use sil::render::Message;

/// The result of translating a program.
#[derive(Debug)]
pub struct Translation {
    /// The parse tree. Members that contain something unsupported are in it in a form that the
    /// engine refuses.
    pub program: sil::syntax::Program,
    /// The constructs without a lowering, in source order of the members.
    pub unsupported: Vec<Unsupported>,
}

/// A construct that has no lowering yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Its name, in words.
    pub construct: String,
    /// Where it is used.
    pub span: Span,
}

/// Lowers a resolved program; `asked` are options beside those in its first line.
pub fn translate(source: &SourceFile, program: &chalice::Program, asked: &[String]) -> Translation {
    lower::lower(source, program, Options::of(&source.text, asked))
}

/// The name of a field in the translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldName {
    /// In the translation.
    pub translated: String,
    /// The name of its class.
    pub class: String,
    /// Its own name.
    pub field: String,
}

/// The name of the field with the lock level of an object, in the translation.
pub const LEVEL: &str = names::fixed::MU;

/// Lists the names of a program's fields in its translation.
pub fn field_names(program: &chalice::Program) -> Vec<FieldName> {
    let names = names::Names::of(program);
    let fields = program.fields.iter().map(|(id, field)| FieldName {
        translated: names.fields[id].to_string(),
        class: program.classes[field.class].name.clone(),
        field: field.name.clone(),
    });
    fields.collect()
}

/// A Chalice program as far as it got on its way to a SIL program.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The SIL program, as read back from the text of the translation; absent if a message is an
    /// error.
    pub program: Option<sil::program::Program>,
    /// The text of the translation, into which the program's spans point.
    pub sources: sil::source::Sources,
    /// Findings about the Chalice text. Constructs that have no lowering yet are not among them:
    /// the members that have them are refused by the engine.
    pub messages: Vec<Message>,
}

/// Parses, checks and lowers a Chalice text; `asked` are options beside those in its first line.
///
/// The result is what `chalice2sil file | silicon -` sees: the translation is printed and read
/// back, so that failures have a place in a SIL text beside the one in the Chalice text.
pub fn load(name: &str, text: &str, asked: &[String]) -> Loaded {
    let (translated, mut messages) = translate_text(name, text, asked, sil::print::Form::Graph);
    let Some(translated) = translated else { return Loaded { messages, ..Loaded::default() } };
    // The engine says it again, of the members that it verifies, as it does on every other way to
    // it.
    messages.retain(|message| message.id != messages::FEATURE_UNSUPPORTED);
    let loaded = sil::load::load_text(&format!("{name} (as SIL)"), &translated);
    if loaded.program.is_none() {
        messages.extend(
            loaded.diagnostics.iter().map(|one| Message::of_translator(name, &one.message)),
        );
    }
    Loaded { program: loaded.program, sources: loaded.sources, messages }
}

/// From a Chalice text to the text of its translation; absent if one of the messages is an error.
/// Constructs that have no lowering yet are warned about. `asked` are options beside those in the
/// first line.
pub fn translate_text(
    name: &str,
    text: &str,
    asked: &[String],
    form: sil::print::Form,
) -> (Option<String>, Vec<Message>) {
    let (program, mut messages) = messages::check(name, text);
    let Some(program) = program else { return (None, messages) };
    let source = SourceFile::new(name, text);
    let translation = translate(&source, &program, asked);
    messages.extend(translation.unsupported.iter().map(|one| messages::unsupported(&source, one)));
    let mut diagnostics = Vec::new();
    let resolved = sil::resolve::resolve(&translation.program, &mut diagnostics);
    match resolved {
        Some(program) => (Some(sil::print::program(&program, form)), messages),
        None => {
            messages
                .extend(diagnostics.iter().map(|one| Message::of_translator(name, &one.message)));
            (None, messages)
        }
    }
}
