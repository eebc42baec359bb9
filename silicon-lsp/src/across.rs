//! Names across files: where a name is used in the file that declares it, and in those that import
//! this file.
//!
//! Files of SIL import each other. A name of another language is looked for in its own text only.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layout::words::Words;
use lsp_types::{Position, TextEdit};
use sil::imports::{FileSystem, Loader};
use silicon::session::input::{Language, programs_below};

use crate::analysis::{Analysis, Request, analyse_with};
use crate::convert::uri_of;
use crate::features::At;
use crate::positions::Text;
use crate::tokens::{Kind, Token, tokens};

/// The texts of a client: open documents as they are edited, other files as the disk has them.
#[derive(Clone)]
pub(crate) struct Workspace {
    /// The texts that stand for files, by path.
    pub(crate) texts: BTreeMap<PathBuf, Arc<str>>,
    /// The folders that the client has open.
    pub(crate) folders: Vec<PathBuf>,
}

impl Loader for Workspace {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.texts
            .get(path)
            .map_or_else(|| FileSystem.read(path), |text| Ok(text.as_bytes().to_vec()))
    }
}

impl Workspace {
    /// Analyses a file of SIL; `None` where it cannot be read.
    fn analysis(&self, path: &Path) -> Option<Arc<Analysis>> {
        let text = String::from_utf8(self.read(path).ok()?).ok()?;
        Some(self.analysis_of(path, Language::Sil, text))
    }

    fn analysis_of(&self, path: &Path, language: Language, text: String) -> Arc<Analysis> {
        let name = path.display().to_string();
        let (uri, text) = (uri_of(&name), Text::new(text));
        analyse_with(Request { uri, version: 0, name, language, text }, self)
    }

    /// Analyses the files of SIL that import a file, directly or not.
    fn importing(&self, home: &Path) -> Vec<(PathBuf, Arc<Analysis>)> {
        let mut paths: BTreeSet<PathBuf> = self.texts.keys().cloned().collect();
        paths.extend(self.folders.iter().flat_map(|folder| programs_below(folder)));
        paths.remove(home);
        let has_imports = |path: &PathBuf| {
            Language::of_name(path) == Some(Language::Sil)
                && self.read(path).is_ok_and(|text| text.windows(6).any(|it| it == b"import"))
        };
        let uri = uri_of(&home.display().to_string());
        let analysed = paths.into_iter().filter(has_imports).filter_map(|path| {
            let analysis = self.analysis(&path)?;
            analysis.others.contains(&uri).then_some((path, analysis))
        });
        analysed.collect()
    }
}

/// A file that sees a name, and where it uses the name.
struct Uses {
    path: PathBuf,
    analysis: Arc<Analysis>,
    ranges: Vec<Range<usize>>,
}

/// Finds the files that see a symbol of an analysis of the file at `path`.
///
/// # Errors
/// Why they cannot be found.
fn uses(
    path: &Path,
    analysis: &Arc<Analysis>,
    symbol: usize,
    workspace: &Workspace,
) -> Result<Vec<Uses>, String> {
    let index = &analysis.index;
    let it = &index.symbols[symbol];
    let is_global = it.inside.is_none() && index.language == Language::Sil;
    let (home, declared) = match (&it.declared, &it.elsewhere) {
        (Some(_), _) if !is_global => {
            let (path, analysis) = (path.to_owned(), Arc::clone(analysis));
            return Ok(vec![Uses { path, analysis, ranges: index.uses_of(symbol).collect() }]);
        }
        (Some(declared), _) => (path.to_owned(), analysis.text.range(declared)),
        (None, Some((file, range))) => (PathBuf::from(file), *range),
        (None, None) => return Err("it is declared in another file".to_owned()),
    };
    let own = if home == *path { Some(Arc::clone(analysis)) } else { workspace.analysis(&home) };
    let own = own.ok_or_else(|| format!("`{}` cannot be read", home.display()))?;
    let name = home.display().to_string();
    let uses = |(path, analysis): (PathBuf, Arc<Analysis>)| {
        let is_it = |symbol: &crate::index::Symbol| match (&symbol.declared, &symbol.elsewhere) {
            (Some(range), _) => path == home && analysis.text.range(range) == declared,
            (None, Some((file, range))) => *file == name && *range == declared,
            (None, None) => false,
        };
        let symbol = analysis.index.symbols.iter().position(is_it);
        let ranges = symbol.into_iter().flat_map(|it| analysis.index.uses_of(it)).collect();
        Uses { path, analysis, ranges }
    };
    let importing = workspace.importing(&home);
    Ok(std::iter::once((home.clone(), own)).chain(importing).map(uses).collect())
}

/// Lists where the word at a place is named, its declaration among them if that is wanted.
pub(crate) fn references(
    path: &Path,
    analysis: &Arc<Analysis>,
    position: Position,
    with_declaration: bool,
    workspace: &Workspace,
) -> Vec<At> {
    let Some((_, symbol)) = analysis.index.at(analysis.text.offset(position)) else {
        return Vec::new();
    };
    let found = uses(path, analysis, symbol, workspace).unwrap_or_else(|_| {
        let (path, analysis) = (path.to_owned(), Arc::clone(analysis));
        let ranges = analysis.index.uses_of(symbol).collect();
        vec![Uses { path, analysis, ranges }]
    });
    let places = found.iter().flat_map(|Uses { analysis, ranges, .. }| {
        let declares = |range: &Range<usize>| {
            let declares = |it: &crate::index::Symbol| it.declared.as_ref() == Some(range);
            analysis.index.symbols.iter().any(declares)
        };
        let wanted = ranges.iter().filter(move |range| with_declaration || !declares(range));
        wanted.map(|range| (analysis.uri.clone(), analysis.text.range(range)))
    });
    places.collect()
}

/// The word that can be renamed at a place.
pub(crate) fn can_rename(analysis: &Analysis, position: Position) -> Option<lsp_types::Range> {
    let (range, symbol) = analysis.index.at(analysis.text.offset(position))?;
    let symbol = &analysis.index.symbols[symbol];
    // A file of the standard library has its name in brackets, and cannot be edited.
    let is_edited = |(file, _): &(String, lsp_types::Range)| !file.starts_with('<');
    let can = symbol.declared.is_some() || symbol.elsewhere.as_ref().is_some_and(is_edited);
    can.then(|| analysis.text.range(&range))
}

/// Makes the edits that give what the word at a place means another name, by URI.
///
/// The name must be new: then nothing can be captured, and a use that was overlooked is a name that
/// means nothing. So the renamed texts are analysed again, and have to be programs in which the
/// same words mean the same.
///
/// # Errors
/// Why it cannot be renamed.
pub(crate) fn rename(
    path: &Path,
    analysis: &Arc<Analysis>,
    position: Position,
    new: &str,
    workspace: &Workspace,
) -> Result<BTreeMap<String, Vec<TextEdit>>, String> {
    let language = analysis.index.language;
    let at = analysis.index.at(analysis.text.offset(position));
    let (_, symbol) = at.ok_or("there is nothing here that has a name")?;
    let is_word = tokens(new).len() == 1 && tokens(new)[0].kind == Kind::Word;
    if !is_word || new.trim() != new || Words::of(language).is_reserved(new) {
        return Err(format!("`{new}` is no name"));
    }
    let found = uses(path, analysis, symbol, workspace)?;
    let (mut renamed, mut expected) = (workspace.clone(), Vec::new());
    for Uses { path: other, analysis, ranges } in &found {
        let text = &analysis.text.text;
        let whose = if other == path { "the text" } else { &format!("`{}`", other.display()) };
        if !analysis.is_program {
            return Err(format!("{whose} has errors"));
        }
        let is_used = |it: &Token| &text[it.range.clone()] == new;
        if analysis.index.tokens.iter().any(is_used) {
            return Err(format!("`{new}` is used in {whose} already"));
        }
        let (text, places) = replaced(text, ranges, new);
        renamed.texts.insert(other.clone(), text.into());
        expected.push(places);
    }
    for (Uses { path: other, .. }, expected) in found.iter().zip(expected) {
        let again = renamed.analysis_of(other, language, renamed.texts[other].to_string());
        let symbol = expected.first().and_then(|at| again.index.uses.get(at));
        let uses = symbol.into_iter().flat_map(|&it| again.index.uses_of(it));
        if !again.is_program || !uses.map(|it| it.start).eq(expected) {
            let whose = if other == path { "the text" } else { &format!("`{}`", other.display()) };
            return Err(format!("with that name, {whose} would mean something else"));
        }
    }
    let with_uses = found.iter().filter(|uses| !uses.ranges.is_empty());
    let edits = with_uses.map(|Uses { analysis, ranges, .. }| {
        let edit = |range| TextEdit::new(analysis.text.range(range), new.to_owned());
        (analysis.uri.clone(), ranges.iter().map(edit).collect())
    });
    Ok(edits.collect())
}

/// Puts a word in the place of each of these parts of a text, and tells where it begins.
fn replaced(text: &str, ranges: &[Range<usize>], new: &str) -> (String, Vec<usize>) {
    let mut renamed = String::with_capacity(text.len());
    let (mut done, mut places) = (0, Vec::new());
    for range in ranges {
        renamed.push_str(&text[done..range.start]);
        places.push(renamed.len());
        renamed.push_str(new);
        done = range.end;
    }
    renamed.push_str(&text[done..]);
    (renamed, places)
}
