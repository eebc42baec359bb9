//! Lowers SPL to SIL.
//!
//! [`translate`] turns a resolved SPL program into a parse tree of SIL whose annotations lead every
//! failure back to the SPL text; [`load`] does everything from the text to a resolved SIL program.
//!
//! SPL has two dialects that give the same text different meanings ([`spl::program::Dialect`]).
//! Each has its own module, and what they have in common is in one place:
//!
//! - `lower`: places and origins, names, types and datatypes, values that do not depend on the
//!   heap, quantifiers and their triggers, and the domains that generated programs need. What a
//!   heap is, is said by an implementation of `lower::expressions::Meaning`.
//! - `thesis`: the field dialect. Fields are SIL fields, permissions are SIL permissions.
//! - `classic`: the classic dialect. Fields are values of a map domain, footprints are sets, and
//!   the frame rule is written down.
//!
//! Nothing outside of `lower::lower` asks which dialect a program has.

pub mod messages;

mod build;
mod classic;
mod lower;
mod names;
mod places;
mod thesis;

use sil::render::Message;
use spl::Checked;
use spl::source::Sources;

pub use lower::{Options, Refusal};
pub use spl::{FileSystem, Loader, Settings};

/// Lowers a resolved program.
///
/// # Errors
/// Constructs that have no meaning in SIL, each with its place.
pub fn translate(
    sources: &Sources,
    program: &spl::Program,
    options: Options,
) -> Result<sil::syntax::Program, Vec<Refusal>> {
    lower::lower(sources, program, options)
}

/// An SPL program as far as it got on its way to a SIL program.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The SIL program, as read back from the text of the translation; absent if a message is an
    /// error.
    pub program: Option<sil::program::Program>,
    /// The text of the translation, into which the program's spans point.
    pub sources: sil::source::Sources,
    /// The SPL texts, the main one first.
    pub originals: Sources,
    /// Findings about the SPL texts.
    pub messages: Vec<Message>,
}

/// Parses, checks and lowers an SPL text.
///
/// The result is what `spl2sil file | silicon -` sees: the translation is printed and read back, so
/// that failures have a place in a SIL text beside the one in the SPL text.
pub fn load(
    name: &str,
    text: &str,
    settings: &Settings,
    options: Options,
    loader: &dyn Loader,
) -> Loaded {
    let Translated { text: translated, originals, mut messages, .. } =
        translate_text(name, text, settings, options, loader, sil::print::Form::Graph);
    let Some(translated) = translated else {
        return Loaded { originals, messages, ..Loaded::default() };
    };
    let loaded = sil::load::load_text(&format!("{name} (as SIL)"), &translated);
    if loaded.program.is_none() {
        messages.extend(
            loaded.diagnostics.iter().map(|one| Message::of_translator(name, &one.message)),
        );
    }
    Loaded { program: loaded.program, sources: loaded.sources, originals, messages }
}

/// The result of translating a text.
#[derive(Debug, Default)]
pub struct Translated {
    /// The text of the translation; absent if one of the messages is an error.
    pub text: Option<String>,
    /// The dialect of the program, if it is one.
    pub dialect: Option<spl::Dialect>,
    /// The SPL texts, the main one first.
    pub originals: Sources,
    /// Findings about them.
    pub messages: Vec<Message>,
}

/// From an SPL text to the text of its translation.
pub fn translate_text(
    name: &str,
    text: &str,
    settings: &Settings,
    options: Options,
    loader: &dyn Loader,
    form: sil::print::Form,
) -> Translated {
    let Checked { program, sources, findings } = spl::check(name, text, settings, loader);
    let mut messages: Vec<Message> =
        findings.iter().map(|finding| Message::of(&sources, finding)).collect();
    let Some(program) = program else {
        return Translated { originals: sources, messages, ..Translated::default() };
    };
    let mut text = None;
    match translate(&sources, &program, options) {
        Ok(mut translation) => {
            let mut diagnostics = Vec::new();
            let mut own = sil::source::Sources::default();
            sil::plugins::desugar(&mut translation, &mut own, &mut diagnostics);
            match sil::resolve::resolve(&translation, &mut diagnostics) {
                Some(program) => text = Some(sil::print::program(&program, form)),
                None => messages.extend(
                    diagnostics.iter().map(|one| Message::of_translator(name, &one.message)),
                ),
            }
        }
        Err(refusals) => {
            messages.extend(refusals.iter().map(|one| messages::refused(&sources, one)));
        }
    }
    Translated { text, dialect: Some(program.dialect), originals: sources, messages }
}
