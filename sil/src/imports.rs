//! Imports: from the file that the user named to all files of the program.
//!
//! Each file is read once, under its textually normalised path, so cycles end by themselves.
//! Whatever can be parsed is kept; a file that is missing or is no text is a `parser.error`.
//!
//! Differs from the reference: `import <p>` looks in the library that is part of this program, then
//! for a file `import/p` beside or above the file that the user named, so that a project can bring
//! a library of its own.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

pub use front::{FileSystem, Loader, NoFiles};
use front::{NotUtf8, decode, normalised};
use rustc_hash::FxHashSet;

use crate::diagnostics::{Code, Diagnostic};
use crate::parser;
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::syntax::{Import, Member, MemberKind, Program};

pub mod library;

/// Spans count bytes in 32 bits.
const MAX_FILE_SIZE: usize = u32::MAX as usize - 1;

/// The identity of a file.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    Local(PathBuf),
    /// Relative to the root of the standard library.
    Standard(PathBuf),
}

/// A file that was found, before it is parsed.
struct Found {
    place: Place,
    name: String,
    bytes: Vec<u8>,
}

/// Parses the file `name` with the contents `bytes`, and everything that it imports.
///
/// The result has the members of all files, those of imported files first, and no imports. The file
/// itself is the first of `sources` if that was empty.
pub fn read_all(
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    read_each(name, bytes, loader, sources, diagnostics, &mut |member| member).1
}

/// The same; of each member, what `keep` makes of it is kept. Also returns the files that were
/// parsed, in the order of their members.
pub(crate) fn read_each(
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
    keep: &mut dyn FnMut(Member) -> Member,
) -> (Vec<FileId>, Program) {
    let place = Place::Local(normalised(Path::new(name)));
    let found = Found { place: place.clone(), name: name.to_string(), bytes };
    let mut reader = Reader {
        root: Path::new(name),
        loader,
        sources,
        diagnostics,
        seen: FxHashSet::from_iter([place]),
        waiting: VecDeque::from([found]),
        keep,
    };
    let mut files = Vec::new();
    while let Some(found) = reader.waiting.pop_front() {
        files.extend(reader.read(found));
    }
    let mut program = Program::default();
    let mut order = Vec::new();
    for (file, members) in files.into_iter().rev() {
        order.push(file);
        if program.members.is_empty() {
            // Most programs are one file, and the list may be long.
            program.members = members;
        } else {
            program.members.extend(members);
        }
    }
    (order, program)
}

/// Adds the members of a file of the standard library, and of those that it imports, to `program`.
///
/// For plugins that need declarations which the user did not import. Files are read without regard
/// to what was imported before: it is for the caller to know that nothing is declared twice.
pub(crate) fn add_standard(
    path: &str,
    program: &mut Program,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(text) = library::text(path) else { return };
    let place = Place::Standard(normalised(Path::new(path)));
    let bytes = text.as_bytes().to_vec();
    let found = Found { place: place.clone(), name: format!("<{path}>"), bytes };
    let mut reader = Reader {
        root: Path::new(""),
        loader: &NoFiles,
        sources,
        diagnostics,
        seen: FxHashSet::from_iter([place]),
        waiting: VecDeque::from([found]),
        keep: &mut |member| member,
    };
    while let Some(found) = reader.waiting.pop_front() {
        program.members.extend(reader.read(found).into_iter().flat_map(|(_, members)| members));
    }
}

/// The state of reading one program.
struct Reader<'a> {
    /// The file that the user named.
    root: &'a Path,
    loader: &'a dyn Loader,
    sources: &'a mut Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
    seen: FxHashSet<Place>,
    waiting: VecDeque<Found>,
    /// Makes the kept part of a member.
    keep: &'a mut dyn FnMut(Member) -> Member,
}

impl Reader<'_> {
    /// Parses a file and queues what it imports; `None` if it is no text that can be parsed.
    fn read(&mut self, found: Found) -> Option<(FileId, Vec<Member>)> {
        let (text, invalid) = match decode(found.bytes) {
            Ok(text) => (text, None),
            Err(NotUtf8 { text, offset }) => (text, Some(offset)),
        };
        let too_large = text.len() > MAX_FILE_SIZE;
        let text = if too_large { String::new() } else { text };
        let file = self.sources.add(SourceFile::new(found.name, text.as_str()));
        if too_large {
            self.error(Span::new(file, 0, 0), "this file is larger than 4 GB".to_string());
            return None;
        }
        if let Some(at) = invalid {
            let width = text[at..].chars().next().map_or(0, char::len_utf8);
            let span = Span::new(file, at, at + width);
            self.error(span, "the file is not UTF-8".to_string());
            return None;
        }
        drop(text);
        let text = self.sources.file(file).text.clone();
        let (mut members, mut imports) = (Vec::new(), Vec::new());
        parser::parse_each(file, &text, self.diagnostics, |member| match member.kind {
            MemberKind::Import(import) => imports.push((import, member.span)),
            _ => members.push((self.keep)(member)),
        });
        for (import, span) in imports {
            self.import(&import, span, &found.place);
        }
        Some((file, members))
    }

    fn error(&mut self, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::new(Code::ParserError, span, message));
    }

    /// Finds the file that is imported at `span` by the file at `importer`, and queues it.
    fn import(&mut self, import: &Import, span: Span, importer: &Place) {
        let path = Path::new(import.path.trim());
        let place = match importer {
            _ if import.standard => Place::Standard(normalised(path)),
            Place::Local(file) => Place::Local(beside(file, path)),
            Place::Standard(file) => Place::Standard(beside(file, path)),
        };
        if !self.seen.insert(place.clone()) {
            return;
        }
        let result = match &place {
            Place::Local(path) => self.loader.read(path).map(|bytes| (path.clone(), bytes)),
            Place::Standard(path) => self.read_standard(path),
        };
        match result {
            Ok((path, bytes)) => {
                // A file of the library that a project brings can be imported by its path, too.
                let file = Place::Local(normalised(&path));
                if file != place && !self.seen.insert(file) {
                    return;
                }
                let name = path.to_string_lossy().into_owned();
                self.waiting.push_back(Found { place, name, bytes });
            }
            Err(error) => self.error(span, format!("cannot import `{}`: {error}", import.path)),
        }
    }

    /// Returns the name and the bytes of a library file.
    fn read_standard(&self, path: &Path) -> io::Result<(PathBuf, Vec<u8>)> {
        if let Some(text) = path.to_str().and_then(library::text) {
            return Ok((PathBuf::from(format!("<{}>", path.display())), text.as_bytes().to_vec()));
        }
        let in_project =
            self.root.ancestors().skip(1).map(|folder| folder.join("import").join(path));
        for candidate in in_project {
            match self.loader.read(&candidate) {
                Ok(bytes) => return Ok((candidate, bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "the standard library has no such file"))
    }
}

/// `path`, seen from the folder of `file`.
fn beside(file: &Path, path: &Path) -> PathBuf {
    normalised(&file.parent().unwrap_or(Path::new("")).join(path))
}
