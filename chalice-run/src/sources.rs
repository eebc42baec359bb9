//! The texts of a run: the program, and what is added to it to start it.

use chalice::{Diagnostic, Options, Program, SourceFile, Span};
use front::behind_mark;

use crate::fault::PartValue;

/// Texts that together are one program. A span points into the file that it comes from.
#[derive(Debug, Clone)]
pub struct Sources {
    files: Vec<(SourceFile, u32)>,
    whole: SourceFile,
    /// Options beside those in the first line.
    asked: Vec<String>,
}

/// A place: file, line and column, both counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Sources {
    /// Texts with their names, in order.
    pub fn new(texts: Vec<(String, String)>) -> Self {
        let mut whole = String::new();
        let mut files = Vec::new();
        for (name, text) in texts {
            // A mark at the start has no column, and no place behind another text.
            let text = behind_mark(&text);
            files.push((SourceFile::new(name, text), whole.len() as u32));
            whole.push_str(text);
            whole.push('\n');
        }
        let name = files.first().map_or_else(String::new, |(file, _)| file.name.clone());
        Self { files, whole: SourceFile::new(name, whole), asked: Vec::new() }
    }

    /// Adds options to those in the first line.
    #[must_use]
    pub fn with_options(self, asked: Vec<String>) -> Self {
        Self { asked, ..self }
    }

    /// Parses, resolves and checks the program.
    pub fn check(&self) -> (Option<Program>, Vec<Diagnostic>) {
        chalice::check(&self.whole)
    }

    /// Reads the options in the first line, and adds those asked for beside it.
    pub fn options(&self) -> Options {
        Options::of(&self.whole.text, &self.asked)
    }

    /// Returns the files with where each begins in the whole.
    pub fn files(&self) -> &[(SourceFile, u32)] {
        &self.files
    }

    /// Returns the file that an offset is in: its number.
    pub fn file_of(&self, offset: u32) -> usize {
        self.files.partition_point(|(_, start)| *start <= offset).saturating_sub(1)
    }

    /// Returns where a span is in its file.
    pub fn range(&self, span: Span) -> (usize, std::ops::Range<usize>) {
        let file = self.file_of(span.start);
        let (source, start) = &self.files[file];
        let length = source.text.len();
        let at = |offset: u32| (offset.saturating_sub(*start) as usize).min(length);
        (file, at(span.start)..at(span.end))
    }

    /// Returns where an offset is.
    pub fn place(&self, offset: u32) -> Place {
        let (file, start) = &self.files[self.file_of(offset)];
        let at = file.line_column(offset - start);
        Place { file: file.name.clone(), line: at.line as usize, column: at.column as usize }
    }

    /// Returns the text at a place.
    pub fn text(&self, span: Span) -> &str {
        let (file, range) = self.range(span);
        self.files[file].0.text.get(range).unwrap_or_default()
    }

    /// Returns the names and values of parts, each once, and none that is known or the receiver.
    pub fn values(&self, parts: &[PartValue], known: &[(String, String)]) -> Vec<(String, String)> {
        let mut values: Vec<(String, String)> = Vec::new();
        for part in parts {
            let name = self.text(part.span);
            let is_it = |(other, value): &(String, String)| other == name && *value == part.value;
            let is_known = values.iter().chain(known).any(is_it);
            if !name.is_empty() && name != "this" && !is_known {
                values.push((name.to_owned(), part.value.clone()));
            }
        }
        values
    }

    /// Returns the line on which a span starts.
    pub fn line(&self, span: Span) -> usize {
        self.place(span.start).line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_keep_their_files() {
        let texts = [("a", "class A {}\n"), ("b", "\nclass B {}")];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let sources = Sources::new(texts.into());
        let (program, found) = sources.check();
        assert!(found.is_empty());
        let program = program.expect("it is a program");
        let places: Vec<_> =
            program.classes.values().map(|class| sources.place(class.span.start)).collect();
        assert_eq!((places[0].file.as_str(), places[0].line), ("a", 1));
        assert_eq!((places[1].file.as_str(), places[1].line), ("b", 2));
    }
}
