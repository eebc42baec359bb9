//! From names to ids: resolution and type checking.
//!
//! Two rounds. [`declare`] collects what exists; a clash there ends the check, since later findings
//! would only repeat it. Then signatures, contracts and bodies are resolved and all their errors
//! collected. An ill-typed expression gets [`Type::Unknown`], which fits everywhere, so that one
//! mistake is reported once.

mod access;
mod call;
mod context;
mod declare;
mod expr;
mod measure;
mod member;
mod name;
mod operator;
mod scope;
mod stmt;
mod types;

use hints::spelling::Spelling;
use la_arena::Arena;
use rustc_hash::FxHashMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{ChannelId, ClassId, FunctionId, Local, LocalId, Member, Program, Type};
use crate::source::Span;
use crate::syntax;
use context::Context;
use scope::Scopes;

/// Resolves and type checks a parsed program.
///
/// The program is present exactly if no finding is an error. Findings come in source order.
///
/// `beginning` is where the findings stand that are about no text: see [`Resolver::error_nowhere`].
pub(crate) fn resolve(
    syntax: &syntax::Program,
    beginning: Span,
) -> (Option<Program>, Vec<Diagnostic>) {
    let (program, names) = match declare::declare(syntax) {
        Ok(declared) => declared,
        Err(clash) => return (None, vec![clash]),
    };
    let mut resolver = Resolver {
        program,
        names,
        findings: Vec::new(),
        beginning,
        scopes: Scopes::default(),
        home: Home { this: None, is_static: false, result: None },
        spelling: Spelling::default(),
        in_ghost_code: false,
        applied: Vec::new(),
    };
    resolver.signatures(syntax);
    resolver.bodies(syntax);
    resolver.expect_well_founded_functions();
    resolver.expect_no_replaced_fields();
    let mut findings = resolver.findings;
    findings.sort_by_key(|finding| finding.span.start);
    findings.dedup();
    let is_accepted = !findings.iter().any(Diagnostic::is_error);
    (is_accepted.then_some(resolver.program), findings)
}

/// The meaning of a type's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypeName {
    Class(ClassId),
    Channel(ChannelId),
}

/// The global names.
#[derive(Default)]
struct Names<'s> {
    types: FxHashMap<&'s str, TypeName>,
    members: FxHashMap<(ClassId, &'s str), Member>,
}

/// The declaration being resolved.
struct Home {
    /// The type of `this`.
    this: Option<Type>,
    /// Is it a static function, which has no `this`?
    is_static: bool,
    /// The type of `result`, where that may be mentioned.
    result: Option<Type>,
}

struct Resolver<'s> {
    program: Program,
    names: Names<'s>,
    findings: Vec<Diagnostic>,
    beginning: Span,
    scopes: Scopes<'s>,
    home: Home,
    spelling: Spelling,
    /// Is this ghost code, which may read ghosts everywhere?
    in_ghost_code: bool,
    /// The applications of functions in code that runs.
    applied: Vec<(FunctionId, Span)>,
}

impl Resolver<'_> {
    fn error(&mut self, message: impl Into<String>, span: Span) {
        self.findings.push(Diagnostic::new(Code::TypecheckerError, span, message));
    }

    /// An error about something that the text does not contain, such as the type of a variable
    /// declared implicitly: it stands where the program begins, after the comments at the head of
    /// the file.
    fn error_nowhere(&mut self, message: impl Into<String>) {
        self.error(message, self.beginning);
    }

    fn locals(&self) -> &Arena<Local> {
        &self.program.locals
    }

    fn local(&self, local: LocalId) -> &Local {
        &self.program.locals[local]
    }
}
