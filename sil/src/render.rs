//! Showing findings as text: with the source line and marks under it, or on one line.
//!
//! Messages need not point into a SIL program: a front end shows places of its own language. So a
//! place is a file's name with lines and columns, and the texts are handed over beside it. Only
//! this file and the report of runs (`chalice-run/src/report/human.rs`) name `codespan_reporting`.

use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic as Shown, Label, Severity as ShownSeverity};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::termcolor::Ansi;
use codespan_reporting::term::{Config, emit_into_string, emit_to_write_style};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use front::{Diagnostic, behind_mark};

use crate::source::{LineColumn, Name, SourceFile, Sources};

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Severity {
    Error,
    Warning,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A range in a named text; `end` is exclusive.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    pub file: Name,
    pub start: LineColumn,
    pub end: LineColumn,
}

impl Place {
    /// Returns where a span of `sources` is; the start of the first file for a span of no known
    /// file.
    pub fn of(sources: &Sources, span: impl Into<front::Span>) -> Self {
        let span = span.into();
        match sources.get(span.file) {
            Some(file) => Self::in_file(file, span),
            None => Self::start_of(
                sources.files().next().map_or("<unknown>", |(_, file)| file.name.as_str()),
            ),
        }
    }

    /// Returns where a span of `file` is.
    pub fn in_file(file: &SourceFile, span: impl Into<front::Span>) -> Self {
        let (start, end) = file.range(span.into().range());
        Self { file: file.name.as_str().into(), start, end }
    }

    /// Returns the start of a file: for findings about the file as a whole.
    pub fn start_of(file: &str) -> Self {
        let origin = LineColumn { line: 1, column: 1 };
        Self { file: file.into(), start: origin, end: origin }
    }
}

/// One finding, ready to be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub severity: Severity,
    /// The stable id, as in `assert.failed:assertion.false`.
    pub id: String,
    pub text: String,
    pub place: Place,
    /// Further places, each with what it has to do with the finding.
    pub notes: Vec<(Place, String)>,
    /// Sentences without a place.
    pub remarks: Vec<String>,
}

impl Message {
    /// Returns an error without further places.
    pub fn error(id: impl Into<String>, text: impl Into<String>, place: Place) -> Self {
        let (id, text) = (id.into(), text.into());
        let severity = Severity::Error;
        Self { severity, id, text, place, notes: Vec::new(), remarks: Vec::new() }
    }

    /// Returns a finding of a front end, about several files.
    pub fn of<S>(sources: &Sources, diagnostic: &Diagnostic<S>) -> Self
    where
        S: Into<front::Span> + Copy,
    {
        Self::placed(diagnostic, |span| Place::of(sources, span))
    }

    /// Returns a finding of a front end, about one file.
    pub fn in_file<S>(file: &SourceFile, diagnostic: &Diagnostic<S>) -> Self
    where
        S: Into<front::Span> + Copy,
    {
        Self::placed(diagnostic, |span| Place::in_file(file, span))
    }

    fn placed<S: Copy>(diagnostic: &Diagnostic<S>, place: impl Fn(S) -> Place) -> Self {
        let related = diagnostic.related.iter();
        Self {
            severity: if diagnostic.is_error() { Severity::Error } else { Severity::Warning },
            notes: related.map(|(span, text)| (place(*span), text.clone())).collect(),
            ..Self::error(diagnostic.code.id(), &diagnostic.message, place(diagnostic.span))
        }
    }

    /// Makes the message that a translation is not a SIL program: a defect of the translator.
    pub fn of_translator(program: &str, why: &str) -> Self {
        let text =
            format!("the translation is not a SIL program (a defect of the translator): {why}");
        Self::error("internal", text, Place::start_of(program))
    }
}

/// The texts that places may point into, by name.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    files: IndexMap<Name, SourceFile>,
}

impl Texts {
    /// Returns the files of a program.
    pub fn of(sources: &Sources) -> Self {
        let mut texts = Self::default();
        for (_, file) in sources.files() {
            texts.add(file.clone());
        }
        texts
    }

    pub fn add(&mut self, file: SourceFile) {
        self.files.insert(file.name.as_str().into(), file);
    }

    pub fn get(&self, name: &str) -> Option<&SourceFile> {
        self.files.get(name)
    }

    /// Returns the names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name)
    }

    /// Returns the text of a place's file, and where in it the place is.
    pub fn locate(&self, place: &Place) -> Option<(&str, Range<usize>)> {
        let text = &*self.get(&place.file)?.text;
        let (_, start) = offset(text, place.start)?;
        let (_, end) = offset(text, place.end)?;
        Some((text, start..end.max(start)))
    }
}

/// The use of escape sequences for colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    Never,
    Always,
}

/// Returns the finding on one line, as compilers print it.
pub fn short(message: &Message) -> String {
    let Place { file, start, .. } = &message.place;
    let (severity, text) = (message.severity.name(), harmless(&message.text).replace('\n', " "));
    format!("{file}:{}:{}: {severity}[{}]: {text}\n", start.line, start.column, message.id)
}

/// Returns the finding with the lines it is about.
pub fn human(message: &Message, texts: &Texts, colours: Colours) -> String {
    let mut shown = Shown::new(match message.severity {
        Severity::Error => ShownSeverity::Error,
        Severity::Warning => ShownSeverity::Warning,
    })
    .with_code(&message.id)
    .with_message(harmless(&message.text));
    let mut quoted = Quoted { texts, files: SimpleFiles::new(), ids: IndexMap::new() };
    let primary = quoted.range(&message.place).map(|(id, range)| Label::primary(id, range));
    if primary.is_none() {
        // A file that cannot be read has no lines.
        let has_lines = message.place != Place::start_of(&message.place.file);
        let at = if has_lines { written(&message.place) } else { message.place.file.to_string() };
        shown = shown.with_note(format!("at {at}"));
    }
    shown = shown.with_labels_iter(primary);
    for (place, text) in &message.notes {
        match quoted.range(place) {
            Some((id, range)) => {
                shown = shown.with_label(Label::secondary(id, range).with_message(harmless(text)));
            }
            None => shown = shown.with_note(format!("{} at {}", harmless(text), written(place))),
        }
    }
    let shown = shown.with_notes_iter(message.remarks.iter().map(|text| harmless(text)));
    emit(&shown, &quoted.files, colours).unwrap_or_else(|| short(message))
}

fn written(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.start.line, place.start.column)
}

fn emit(
    shown: &Shown<usize>,
    files: &SimpleFiles<String, String>,
    colours: Colours,
) -> Option<String> {
    let config = Config::default();
    match colours {
        Colours::Never => emit_into_string(&config, files, shown).ok(),
        Colours::Always => {
            let mut writer = Ansi::new(Vec::new());
            emit_to_write_style(&mut writer, &config, files, shown).ok()?;
            String::from_utf8(writer.into_inner()).ok()
        }
    }
}

/// The files that a finding quotes.
struct Quoted<'a> {
    texts: &'a Texts,
    files: SimpleFiles<String, String>,
    ids: IndexMap<Name, usize>,
}

/// Lines longer than this are not quoted: machine-made input would drown the message.
const LONGEST_QUOTED_LINE: usize = 500;

impl Quoted<'_> {
    /// Returns the file and the bytes of a place; `None` where its text is not known or not fit to
    /// be shown.
    fn range(&mut self, place: &Place) -> Option<(usize, std::ops::Range<usize>)> {
        let file = self.texts.get(&place.file)?;
        let text = behind_mark(&file.text);
        let (first, start) = offset(text, place.start)?;
        let (last, end) = offset(text, place.end)?;
        if first.max(last) > LONGEST_QUOTED_LINE {
            return None;
        }
        let files = &mut self.files;
        let id = *self
            .ids
            .entry(place.file.clone())
            .or_insert_with(|| files.add(file.name.clone(), harmless(text)));
        // Replacing control characters keeps lines and columns, but not bytes.
        if text.contains(is_control) {
            let text = files.get(id).ok()?.source();
            let (_, start) = offset(text, place.start)?;
            let (_, end) = offset(text, place.end)?;
            return Some((id, start..end.max(start)));
        }
        Some((id, start..end.max(start)))
    }
}

/// Text that does not control the terminal, though it may quote a program that tries to.
fn harmless(text: &str) -> String {
    text.replace(is_control, "\u{fffd}")
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Returns the length of a place's line and the place's offset in the text.
fn offset(text: &str, place: LineColumn) -> Option<(usize, usize)> {
    let mut at = 0;
    for _ in 1..place.line {
        at += text[at..].find('\n')? + 1;
    }
    let line = text[at..].split('\n').next().unwrap_or_default();
    let column = (place.column as usize).saturating_sub(1);
    let inside = line.char_indices().nth(column).map_or(line.len(), |(offset, _)| offset);
    Some((line.len(), at + inside))
}
