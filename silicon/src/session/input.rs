//! The files to work on: from the arguments of the command line to texts.

use std::cmp::Reverse;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use chalice::options::parse as chalice_option;
pub use front::Language;
use front::{decode, read_bounded};
use sha2::{Digest, Sha256};
use sil::render::Place;

/// Something to verify.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// As shown to users: the path as given. Imports are looked for beside it.
    pub name: String,
    pub source: Source,
    /// Whatever the name says.
    pub language: Option<Language>,
    /// Options of a Chalice program beside those in its first line.
    pub parameters: Vec<String>,
}

/// Where the text of an input is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    Stdin,
    File(PathBuf),
    /// The bytes themselves.
    Memory(Arc<[u8]>),
}

/// Why an input has no text.
pub struct Unreadable {
    pub reason: String,
    pub place: Place,
    /// The readable text, for quotations.
    pub text: Option<String>,
}

impl Input {
    fn nowhere() -> Self {
        let source = Source::Memory(Arc::default());
        Self { name: String::new(), source, language: None, parameters: Vec::new() }
    }

    pub fn stdin() -> Self {
        Self { name: "<stdin>".into(), source: Source::Stdin, ..Self::nowhere() }
    }

    pub fn file(path: &Path) -> Self {
        let source = Source::File(path.to_owned());
        Self { name: harmless(&path.display().to_string()), source, ..Self::nowhere() }
    }

    /// Returns a text that is in memory, under a name that need not be that of a file.
    pub fn text(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let source = Source::Memory(Arc::from(text.into()));
        Self { name: name.into(), source, ..Self::nowhere() }
    }

    /// With what is on standard input in memory: that can be read only once.
    pub fn fetched(self) -> io::Result<Self> {
        match self.source {
            Source::Stdin => {
                let source = Source::Memory(self.bytes()?.into());
                Ok(Self { source, ..self })
            }
            _ => Ok(self),
        }
    }

    /// Returns the file that it is read from.
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Stdin | Source::Memory(_) => None,
        }
    }

    /// Returns the stated language, or else the language of the name's end; SIL where neither says
    /// anything.
    pub fn language(&self) -> Language {
        let of_name = || Language::of_name(Path::new(&self.name));
        self.language.or_else(of_name).unwrap_or(Language::Sil)
    }

    pub(super) fn read(&self) -> Result<Arc<str>, Unreadable> {
        let bytes = self.bytes().map_err(|error| Unreadable {
            reason: format!("cannot read {}: {error}", self.name),
            place: Place::start_of(&self.name),
            text: None,
        })?;
        decode(bytes).map(Arc::from).map_err(|wrong| {
            let at = wrong.place();
            let place = Place { file: self.name.as_str().into(), start: at, end: at };
            Unreadable { reason: "the file is not UTF-8".into(), place, text: Some(wrong.text) }
        })
    }

    /// Returns a digest of the text, if that can be read; not to be asked of standard input that is
    /// not [`Self::fetched`].
    pub fn digest(&self) -> Option<String> {
        Some(format!("{:x}", Sha256::digest(self.bytes().ok()?)))
    }

    /// Returns the length of the text in bytes; 0 where that shows only when it is read.
    fn size(&self) -> u64 {
        match &self.source {
            Source::Stdin => 0,
            Source::File(path) => path.metadata().map_or(0, |file| file.len()),
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        match &self.source {
            Source::Stdin => read_bounded(io::stdin()),
            Source::File(path) => read_bounded(File::open(path)?),
            Source::Memory(bytes) => read_bounded(&**bytes),
        }
    }
}

/// Returns the numbers of the inputs, the longest text first.
///
/// PERFORMANCE: several processes that begin with the longest texts end at about the same time. By
/// name, two of them took a fifth more over 177 programs of several front ends.
pub fn longest_first(inputs: &[Input]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_cached_key(|&input| Reverse(inputs[input].size()));
    order
}

/// Lists the inputs of the arguments: `-` is standard input, a directory stands for all programs
/// below it, sorted by path.
///
/// A path that does not exist stays, so that reading it is reported like any other input error.
pub fn expand(arguments: &[PathBuf]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            inputs.push(Input::stdin());
        } else if argument.is_dir() {
            inputs.extend(programs_below(argument).iter().map(|path| Input::file(path)));
        } else {
            inputs.push(Input::file(argument));
        }
    }
    // A file named twice is verified once.
    let mut seen = std::collections::HashSet::new();
    inputs.retain(|input| seen.insert(input.path().map(Path::to_owned)));
    inputs
}

/// Returns the directories among the arguments below which there is no program.
pub fn without_programs(arguments: &[PathBuf]) -> Vec<&Path> {
    let is_empty = |argument: &&Path| argument.is_dir() && programs_below(argument).is_empty();
    arguments.iter().map(PathBuf::as_path).filter(is_empty).collect()
}

/// Returns a name that does not control the terminal it is shown on, or end a line of output.
pub fn harmless(name: &str) -> String {
    let shown = |c: char| {
        let escaped = c.is_control().then(|| c.escape_default());
        let same = escaped.is_none().then_some(c);
        escaped.into_iter().flatten().chain(same)
    };
    name.chars().flat_map(shown).collect()
}

/// Returns all `.sil`, `.vpr`, `.chalice` and `.spl` files below a directory, sorted. Links to
/// directories are not followed, and a pipe is no program.
pub fn programs_below(directory: &Path) -> Vec<PathBuf> {
    let mut programs = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        // A directory that cannot be listed stands for itself, and is reported when it is read.
        let Ok(entries) = fs::read_dir(&directory) else {
            programs.push(directory);
            continue;
        };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                if !path.is_symlink() {
                    waiting.push(path);
                }
            } else if is_program(&path) && !is_special(&path) {
                programs.push(path);
            }
        }
    }
    programs.sort();
    programs
}

/// Tells whether the path leads to something that is no file: a pipe, a socket or a device.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

fn is_program(path: &Path) -> bool {
    Language::of_name(path).is_some()
}

/// `FILE:LINE[-LINE]`: some lines of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lines {
    file: String,
    first: u32,
    last: u32,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, first, last } = self;
        write!(f, "{file}:{first}")?;
        if first == last { Ok(()) } else { write!(f, "-{last}") }
    }
}

impl Lines {
    fn parse(text: &str) -> Option<Self> {
        let (file, lines) = text.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (!file.is_empty() && 0 < first && first <= last).then(|| Self {
            file: file.to_owned(),
            first,
            last,
        })
    }

    /// Returns the file, or the end of its path.
    pub fn file(&self) -> &Path {
        Path::new(&self.file)
    }

    /// Tells whether a file is the one of these lines.
    pub fn is_of(&self, file: &str) -> bool {
        Path::new(file).ends_with(&self.file)
    }

    /// Returns how many lines lie between these and a place in the same file.
    pub fn distance(&self, place: &Place) -> u32 {
        let after = place.start.line.saturating_sub(self.last);
        after.max(self.first.saturating_sub(place.end.line))
    }

    /// Tells whether a place shares a line with these; a file may be given by the end of its path.
    pub fn overlap(&self, place: &Place) -> bool {
        self.is_of(&place.file) && self.distance(place) == 0
    }
}

impl std::str::FromStr for Lines {
    type Err = NoLines;

    fn from_str(text: &str) -> Result<Self, NoLines> {
        Self::parse(text).ok_or(NoLines)
    }
}

/// A text that names no lines of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected FILE:LINE or FILE:LINE-LINE")]
pub struct NoLines;

#[cfg(test)]
mod tests {
    use sil::source::LineColumn;

    use super::*;

    #[test]
    fn the_longest_text_comes_first() {
        let mut inputs = ["xx", "x", "xxx", "xx"].map(|text| Input::text("a", text)).to_vec();
        inputs.extend([Input::stdin(), Input::file(Path::new("is/not/there"))]);
        assert_eq!(longest_first(&inputs), [2, 0, 3, 1, 4, 5]);
    }

    #[test]
    fn names_are_shown_without_harm() {
        let path = Path::new("d\u{1b}[2J/\n\u{e4} b.sil");
        let input = Input::file(path);
        assert_eq!(input.name, "d\\u{1b}[2J/\\n\u{e4} b.sil");
        assert_eq!(input.path(), Some(path));
    }

    #[test]
    fn lines_are_parsed_and_compared() {
        let lines: Lines = "b.sil:3-5".parse().expect("well formed");
        let at = |first, last| Place {
            file: "a/b.sil".into(),
            start: LineColumn { line: first, column: 1 },
            end: LineColumn { line: last, column: 2 },
        };
        assert!(lines.overlap(&at(1, 3)) && lines.overlap(&at(5, 9)) && lines.overlap(&at(1, 9)));
        assert!(!lines.overlap(&at(1, 2)) && !lines.overlap(&at(6, 6)));
        for wrong in ["b.sil", "b.sil:", ":3", "b.sil:5-3", "b.sil:0", "b.sil:1-2-3"] {
            assert!(wrong.parse::<Lines>().is_err(), "{wrong}");
        }
    }
}
