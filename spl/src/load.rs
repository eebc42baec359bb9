//! Reading a program: the main file and what it includes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use front::{Loader, grow_stack, normalised};

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FILE_LIMIT, FileId, SourceFile, Sources};
use crate::syntax::{self, Declaration, DeclarationKind, Text};

/// How deep includes may nest.
const INCLUDE_LIMIT: usize = 200;

/// Reads a program: each file once, its declarations in place of the first `include` that names it.
/// Files are looked for beside the one that includes them, or below `base`.
///
/// # Errors
/// The first syntax error, or a file that cannot be read.
pub(crate) fn load(
    name: &str,
    text: &str,
    base: Option<&Path>,
    loader: &dyn Loader,
    sources: &mut Sources,
) -> Result<syntax::Program, Diagnostic> {
    let file = sources.add(SourceFile::new(name, text));
    let read = BTreeSet::from([normalised(Path::new(name))]);
    let mut loading =
        Loading { base, loader, sources, read, depth: 0, program: syntax::Program::default() };
    loading.file(file, text)?;
    Ok(loading.program)
}

struct Loading<'l> {
    base: Option<&'l Path>,
    loader: &'l dyn Loader,
    sources: &'l mut Sources,
    /// The files that have been read, so that nothing is read twice and cycles end.
    read: BTreeSet<PathBuf>,
    depth: usize,
    program: syntax::Program,
}

impl Loading<'_> {
    fn file(&mut self, file: FileId, text: &str) -> Result<(), Diagnostic> {
        let parsed = syntax::parse(file, text)?;
        self.program.opens_predicates |= parsed.opens_predicates;
        for declaration in parsed.declarations {
            let Declaration { kind, span } = declaration;
            match kind {
                DeclarationKind::Include(path) => self.include(file, &path)?,
                kind => self.program.declarations.push(Declaration { kind, span }),
            }
        }
        Ok(())
    }

    fn include(&mut self, from: FileId, path: &Text) -> Result<(), Diagnostic> {
        let beside = Path::new(&self.sources.file(from).name).parent().unwrap_or(Path::new(""));
        let path_read = normalised(&self.base.unwrap_or(beside).join(&path.value));
        if !self.read.insert(path_read.clone()) {
            return Ok(());
        }
        let error = |why: String| {
            let message = format!("`{}` cannot be included: {why}", path.value);
            Diagnostic::new(Code::ParserError, path.span, message)
        };
        if self.sources.files().len() == FILE_LIMIT || self.depth == INCLUDE_LIMIT {
            return Err(error("too many files are included".to_owned()));
        }
        let bytes = self.loader.read(&path_read).map_err(|why| error(why.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| error("the file is not UTF-8".to_owned()))?;
        let name = path_read.display().to_string();
        let file = self.sources.add(SourceFile::new(name, text.as_str()));
        self.depth += 1;
        grow_stack(|| self.file(file, &text))?;
        self.depth -= 1;
        Ok(())
    }
}
