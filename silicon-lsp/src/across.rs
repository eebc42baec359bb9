//! Names across files: where a name is used in the file that declares it, and in those that import
//! this file.
//!
//! Files of SIL import each other. A name of another language is looked for in its own text only.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use front::Words;
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
    /// Returns the text of a file; `None` where it cannot be read.
    fn text(&self, path: &Path) -> Option<String> {
        String::from_utf8(self.read(path).ok()?).ok()
    }

    fn analysis(&self, path: &Path, language: Language, text: String) -> Arc<Analysis> {
        let name = path.display().to_string();
        let (uri, text) = (uri_of(&name), Text::new(text));
        analyse_with(Request { uri, version: 0, name, language, text }, self)
    }

    /// Returns the names in files that are not open, of those whose text has `query` in it in some
    /// writing.
    pub(crate) fn closed(&self, query: &str) -> Vec<Analysis> {
        let paths = self.folders.iter().flat_map(|folder| programs_below(folder));
        let closed: BTreeSet<PathBuf> =
            paths.filter(|path| !self.texts.contains_key(path)).collect();
        let named = closed.into_iter().filter_map(|path| {
            let language = Language::of_name(&path)?;
            let text = self.text(&path).filter(|text| text.to_lowercase().contains(query))?;
            Some(Analysis::of_names(&path.display().to_string(), language, text))
        });
        named.collect()
    }

    /// Analyses the files of SIL that import a file, directly or not.
    fn importing(&self, home: &Path) -> Vec<(PathBuf, Arc<Analysis>)> {
        let mut paths: BTreeSet<PathBuf> = self.texts.keys().cloned().collect();
        paths.extend(self.folders.iter().flat_map(|folder| programs_below(folder)));
        paths.remove(home);
        paths.retain(|path| Language::of_name(path) == Some(Language::Sil));
        let uri = uri_of(&home.display().to_string());
        let analysed = paths.into_iter().filter_map(|path| {
            let text = self.text(&path).filter(|text| text.contains("import"))?;
            let analysis = self.analysis(&path, Language::Sil, text);
            analysis.others.contains(&uri).then_some((path, analysis))
        });
        analysed.collect()
    }
}

/// A file that sees a name, and where it uses the name.
struct Uses {
    path: PathBuf,
    analysis: Arc<Analysis>,
    /// The number of what the name means there, if the file knows it.
    symbol: Option<usize>,
}

impl Uses {
    fn ranges(&self) -> Vec<Range<usize>> {
        let index = &self.analysis.index;
        self.symbol.into_iter().flat_map(|symbol| index.uses_of(symbol)).collect()
    }

    /// Returns words for the file, in a message about the file at `path`.
    fn named(&self, path: &Path) -> String {
        if self.path == path { "the text".to_owned() } else { format!("`{}`", self.path.display()) }
    }
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
        (Some(_), _) if !is_global => return Ok(vec![here(path, analysis, symbol)]),
        (Some(declared), _) => (path.to_owned(), analysis.text.range(declared)),
        (None, Some((file, range))) => (PathBuf::from(file), *range),
        (None, None) => return Err("it is declared in another file".to_owned()),
    };
    let name = home.display().to_string();
    let own = if home == *path {
        Arc::clone(analysis)
    } else {
        let text = workspace.text(&home).ok_or_else(|| format!("`{name}` cannot be read"))?;
        workspace.analysis(&home, Language::Sil, text)
    };
    let in_file = |(path, analysis): (PathBuf, Arc<Analysis>)| {
        let is_it = |symbol: &crate::index::Symbol| match (&symbol.declared, &symbol.elsewhere) {
            (Some(range), _) => path == home && analysis.text.range(range) == declared,
            (None, Some((file, range))) => *file == name && *range == declared,
            (None, None) => false,
        };
        let symbol = analysis.index.symbols.iter().position(is_it);
        Uses { path, analysis, symbol }
    };
    let importing = workspace.importing(&home);
    Ok(std::iter::once((home.clone(), own)).chain(importing).map(in_file).collect())
}

fn here(path: &Path, analysis: &Arc<Analysis>, symbol: usize) -> Uses {
    Uses { path: path.to_owned(), analysis: Arc::clone(analysis), symbol: Some(symbol) }
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
    let found = uses(path, analysis, symbol, workspace)
        .unwrap_or_else(|_| vec![here(path, analysis, symbol)]);
    let places = found.iter().flat_map(|uses| {
        let analysis = &uses.analysis;
        let declared = uses.symbol.and_then(|it| analysis.index.symbols[it].declared.clone());
        let mut ranges = uses.ranges();
        ranges.retain(|range| with_declaration || Some(range) != declared.as_ref());
        ranges.into_iter().map(|range| (analysis.uri.clone(), analysis.text.range(&range)))
    });
    places.collect()
}

/// Returns the word that can be renamed at a place.
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
    let is_word = matches!(&tokens(new, language)[..], [one] if one.kind == Kind::Word);
    if !is_word || new.trim() != new || Words::of(language).is_reserved(new) {
        return Err(format!("`{new}` is no name"));
    }
    let found = uses(path, analysis, symbol, workspace)?;
    let (mut renamed, mut expected) = (workspace.clone(), Vec::new());
    for uses in &found {
        let (analysis, whose) = (&uses.analysis, uses.named(path));
        let text = &analysis.text.text;
        if !analysis.is_program {
            return Err(format!("{whose} has errors"));
        }
        let is_used = |it: &Token| &text[it.range.clone()] == new;
        if analysis.index.tokens.iter().any(is_used) {
            return Err(format!("`{new}` is used in {whose} already"));
        }
        let (text, places) = replaced(text, &uses.ranges(), new);
        renamed.texts.insert(uses.path.clone(), text.into());
        expected.push(places);
    }
    for (uses, expected) in found.iter().zip(expected) {
        let again = renamed.analysis(&uses.path, language, renamed.texts[&uses.path].to_string());
        let symbol = expected.first().and_then(|at| again.index.uses.get(at));
        let named = symbol.into_iter().flat_map(|&it| again.index.uses_of(it));
        if !again.is_program || !named.map(|it| it.start).eq(expected) {
            let whose = uses.named(path);
            return Err(format!("with that name, {whose} would mean something else"));
        }
    }
    let with_uses = found.iter().map(|it| (&it.analysis, it.ranges()));
    let with_uses = with_uses.filter(|(_, ranges)| !ranges.is_empty());
    let edits = with_uses.map(|(analysis, ranges)| {
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
