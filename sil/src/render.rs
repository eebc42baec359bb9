//! Showing findings as text: with the source line and marks under it, or on one line.
//!
//! Messages need not point into a SIL program: a front end shows places of its own language. So a
//! place is a file's name with lines and columns, and the texts are handed over beside it. Only
//! this file and the report of runs (`chalice-run/src/report/human.rs`) name `codespan_reporting`.

use std::ops::Range;
use std::sync::OnceLock;

use codespan_reporting::diagnostic::{Diagnostic as Shown, Label, Severity as ShownSeverity};
use codespan_reporting::files::{self, Files};
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

/// A range in a named text; `end` is exclusive. Output for scripts has places in this form.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(String, String)>", into = "Vec<(String, String)>")]
pub struct Texts {
    files: IndexMap<Name, Text>,
}

#[derive(Clone, Debug)]
struct Text {
    file: SourceFile,
    /// The text as it is quoted, made when it is first quoted; `None`: as it is.
    harmless: OnceLock<Option<SourceFile>>,
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
        let name = file.name.as_str().into();
        self.files.insert(name, Text { file, harmless: OnceLock::new() });
    }

    pub fn get(&self, name: &str) -> Option<&SourceFile> {
        Some(&self.files.get(name)?.file)
    }

    /// Returns the names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name)
    }

    /// Returns the text of a place's file, and where in it the place is.
    pub fn locate(&self, place: &Place) -> Option<(&str, Range<usize>)> {
        let file = self.get(&place.file)?;
        Some((&file.text, range(file, place)?))
    }

    /// Returns the number of a place's file, and where in its quoted text the place is; `None`
    /// where the text is not known or not fit to be shown.
    fn quoted(&self, place: &Place) -> Option<(usize, Range<usize>)> {
        let (number, _, text) = self.files.get_full(&place.file)?;
        let file = text.harmless();
        let is_long = |line: u32| {
            file.line_range(line as usize).is_none_or(|line| line.len() > LONGEST_QUOTED_LINE)
        };
        if is_long(place.start.line) || is_long(place.end.line) {
            return None;
        }
        Some((number, range(file, place)?))
    }

    fn numbered(&self, number: usize) -> Result<&SourceFile, files::Error> {
        let (_, text) = self.files.get_index(number).ok_or(files::Error::FileMissing)?;
        Ok(text.harmless())
    }
}

/// Makes files of names and texts.
impl From<Vec<(String, String)>> for Texts {
    fn from(files: Vec<(String, String)>) -> Self {
        let mut texts = Self::default();
        files.into_iter().for_each(|(name, text)| texts.add(SourceFile::new(name, text)));
        texts
    }
}

impl From<Texts> for Vec<(String, String)> {
    fn from(texts: Texts) -> Self {
        let files = texts.files.into_values();
        files.map(|Text { file, .. }| (file.name, file.text.to_string())).collect()
    }
}

/// Lines longer than this are not quoted: machine-made input would drown the message.
const LONGEST_QUOTED_LINE: usize = 500;

impl Text {
    fn harmless(&self) -> &SourceFile {
        let made = self.harmless.get_or_init(|| {
            let text = behind_mark(&self.file.text);
            let is_harmless = text.len() == self.file.text.len() && !text.contains(is_control);
            (!is_harmless).then(|| SourceFile::new(&*self.file.name, harmless(text)))
        });
        made.as_ref().unwrap_or(&self.file)
    }
}

/// Returns where a place is in its file.
fn range(file: &SourceFile, place: &Place) -> Option<Range<usize>> {
    let start = file.offset(place.start)?;
    Some(start..file.offset(place.end)?.max(start))
}

impl<'a> Files<'a> for Texts {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, number: usize) -> Result<&'a str, files::Error> {
        Ok(&self.numbered(number)?.name)
    }

    fn source(&'a self, number: usize) -> Result<&'a str, files::Error> {
        Ok(&self.numbered(number)?.text)
    }

    fn line_index(&'a self, number: usize, offset: usize) -> Result<usize, files::Error> {
        Ok(self.numbered(number)?.line(offset as u32) - 1)
    }

    fn line_range(&'a self, number: usize, index: usize) -> Result<Range<usize>, files::Error> {
        let file = self.numbered(number)?;
        let missing = || files::Error::LineTooLarge { given: index, max: usize::MAX };
        let Range { start, end } = file.line_range(index + 1).ok_or_else(missing)?;
        // With its line break.
        Ok(start..file.text.len().min(end + 1))
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
    let primary = texts.quoted(&message.place).map(|(id, range)| Label::primary(id, range));
    if primary.is_none() {
        let file = &*message.place.file;
        // A file that cannot be read has no lines.
        let has_lines = message.place != Place::start_of(file);
        if has_lines {
            shown = shown.with_note(format!("at {}", written(&message.place)));
        } else if !message.text.contains(file) {
            shown = shown.with_note(format!("at {file}"));
        }
    }
    shown = shown.with_labels_iter(primary);
    for (place, text) in &message.notes {
        match texts.quoted(place) {
            Some((id, range)) => {
                shown = shown.with_label(Label::secondary(id, range).with_message(harmless(text)));
            }
            None => shown = shown.with_note(format!("{} at {}", harmless(text), written(place))),
        }
    }
    let shown = shown.with_notes_iter(message.remarks.iter().map(|text| harmless(text)));
    emit(&shown, texts, colours).unwrap_or_else(|| short(message))
}

fn written(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.start.line, place.start.column)
}

fn emit(shown: &Shown<usize>, texts: &Texts, colours: Colours) -> Option<String> {
    let config = Config::default();
    match colours {
        Colours::Never => emit_into_string(&config, texts, shown).ok(),
        Colours::Always => {
            let mut writer = Ansi::new(Vec::new());
            emit_to_write_style(&mut writer, &config, texts, shown).ok()?;
            String::from_utf8(writer.into_inner()).ok()
        }
    }
}

/// Text that does not control the terminal, though it may quote a program that tries to.
fn harmless(text: &str) -> String {
    text.replace(is_control, "\u{fffd}")
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}
