//! From files to a program, in order: read and parse, imports included; expand macros; desugar
//! plugins; resolve; check consistency; check the control flow.

mod member_wise;

use crate::cfg;
use crate::consistency;
use crate::diagnostics::Diagnostic;
use crate::imports::{self, FileSystem, Loader};
use crate::macros;
use crate::plugins;
use crate::program::Program;
use crate::resolve;
use crate::source::Sources;
use crate::syntax;

/// The assumptions about a program beside its text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    /// Functions and methods without a termination clause end, as if they had `decreases _`.
    pub termination: bool,
    /// The amounts in functions count, as they do elsewhere.
    pub exact_amounts_in_functions: bool,
}

/// A program as far as it got.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All files read; the one that was asked for is the first.
    pub sources: Sources,
    /// The parse tree of all files in one, macros expanded and plugins desugared.
    pub syntax: syntax::Program,
    /// Nothing is written there but blanks and comments: no declaration, macro or import.
    pub is_blank: bool,
    /// The resolved program; `None` if there are errors.
    pub program: Option<Program>,
    /// The errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Tells whether an error keeps the program from being verified.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| !diagnostic.code.is_warning())
}

/// The findings about a program, without the program.
#[derive(Debug, Default)]
pub struct Checked {
    /// All files read; the one that was asked for is the first.
    pub sources: Sources,
    /// See [`Loaded::is_blank`].
    pub is_blank: bool,
    /// The program has no errors, so it could be verified.
    pub is_accepted: bool,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Loaded> for Checked {
    fn from(loaded: Loaded) -> Self {
        let Loaded { sources, is_blank, program, diagnostics, .. } = loaded;
        Self { sources, is_blank, is_accepted: program.is_some(), diagnostics }
    }
}

/// The trees of a file of so many bytes take some hundred MB.
const KEPT: usize = 4_000_000;

/// Finds what [`load_assuming`] finds, byte for byte, in little memory: what is large is taken
/// member by member.
pub fn check_assuming(
    assumptions: Assumptions,
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
) -> Checked {
    // An imported file may have any size.
    let imports = bytes.windows(IMPORT.len()).any(|word| word == IMPORT);
    if bytes.len() <= KEPT && !imports {
        return load_assuming(assumptions, name, bytes, loader).into();
    }
    check_member_wise(assumptions, name, bytes, loader)
}

const IMPORT: &[u8] = b"import";

/// Finds what [`load_assuming`] finds and keeps no trees of it: a program of 100 MB takes a few
/// hundred MB where its trees would take some GB. In exchange, each member is parsed twice.
pub fn check_member_wise(
    assumptions: Assumptions,
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
) -> Checked {
    member_wise::check(assumptions, name, bytes, loader)
}

/// Loads a program that is already in memory; `name` is for messages and for relative imports.
pub fn load_text(name: &str, text: &str) -> Loaded {
    load(name, text.as_bytes().to_vec(), &FileSystem)
}

/// Loads the file `name` with the contents `bytes`; imported files come from `loader`.
pub fn load(name: &str, bytes: Vec<u8>, loader: &dyn Loader) -> Loaded {
    load_assuming(Assumptions::default(), name, bytes, loader)
}

/// The same, where some things are taken for granted.
pub fn load_assuming(
    assumptions: Assumptions,
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
) -> Loaded {
    let mut loaded = Loaded::default();
    let Loaded { sources, syntax, diagnostics, .. } = &mut loaded;
    *syntax = imports::read_all(name, bytes, loader, sources, diagnostics);
    loaded.is_blank = loaded.syntax.is_blank() && loaded.sources.files().count() <= 1;
    check(loaded, assumptions)
}

/// Loads a program that was built by code (see [`crate::build`]), which imports nothing.
///
/// Findings point at no file: the nodes have no place.
pub fn load_syntax(program: syntax::Program) -> Loaded {
    check(Loaded { syntax: program, ..Loaded::default() }, Assumptions::default())
}

/// Returns all that comes after reading.
fn check(mut loaded: Loaded, assumptions: Assumptions) -> Loaded {
    let Loaded { sources, syntax, diagnostics, .. } = &mut loaded;
    macros::expand(syntax, diagnostics);
    plugins::desugar(syntax, sources, diagnostics);
    if assumptions.termination {
        syntax.members.iter_mut().for_each(plugins::assumed_termination::assume);
    }
    // Errors of one phase stop the next ones.
    if !loaded.has_errors() {
        loaded.program = resolve::resolve(&loaded.syntax, &mut loaded.diagnostics);
    }
    if let Some(program) = &loaded.program {
        consistency::check(program, assumptions, &mut loaded.diagnostics);
    }
    if let Some(program) = &loaded.program
        && !loaded.has_errors()
    {
        let mut findings = Vec::new();
        cfg::check(program, &mut findings);
        loaded.diagnostics.append(&mut findings);
    }
    if loaded.has_errors() {
        loaded.program = None;
    }
    loaded
}
