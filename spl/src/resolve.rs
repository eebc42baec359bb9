//! From names to ids: resolution and type checking.
//!
//! Two rounds. [`declare`] collects what exists; a clash there ends the check, since later findings
//! would only repeat it. Then types, contracts and bodies are resolved and all their errors
//! collected. An ill-typed expression gets [`Type::Unknown`], which fits everywhere, so that one
//! mistake is reported once.

mod access;
mod apply;
mod binder;
mod declare;
mod expr;
mod ghosts;
mod member;
mod operator;
mod order;
mod proofs;
mod purity;
mod scope;
mod stmt;
mod types;

use front::counted;
use hints::spelling::Spelling;
use la_arena::Arena;
use rustc_hash::FxHashMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::options::{OptionError, Options};
use crate::program::{
    ConstructorId, DatatypeId, DestructorId, Dialect, FieldId, FunctionId, GlobalId, Local,
    LocalId, PredicateId, ProcedureId, Program, SortId, Stmt, StructId, Type,
};
use crate::source::Span;
use crate::syntax::{self, DeclarationKind, Expr, Ident};
use scope::Scopes;

/// Resolves and type checks a parsed program; `dialect` overrides what the program's own marks say.
///
/// The program is present exactly if no finding is an error. Findings come in source order.
pub(crate) fn resolve(
    syntax: &syntax::Program,
    dialect: Option<Dialect>,
) -> (Option<Program>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let options = options(syntax, &mut findings);
    let dialect = dialect.unwrap_or_else(|| recognised(syntax, options));
    let declared = match declare::declare(syntax, dialect, options) {
        Ok(declared) => declared,
        Err(clash) => return (None, vec![clash]),
    };
    let mut resolver = Resolver {
        program: declared.program,
        names: declared.names,
        macros: declared.macros,
        aliases: declared.aliases,
        findings,
        scopes: Scopes::default(),
        expansions: Vec::new(),
        expanded: 0,
        hoisted: Vec::new(),
        home: Home::default(),
        spelling: Spelling::default(),
    };
    resolver.types(&declared.items);
    resolver.bodies(&declared.items);
    ghosts::check(&resolver.program, &mut resolver.findings);
    proofs::check(&resolver.program, &mut resolver.findings);
    let mut findings = resolver.findings;
    findings.sort_by_key(|finding| (finding.span.file, finding.span.start));
    findings.dedup();
    let is_accepted = !findings.iter().any(Diagnostic::is_error);
    (is_accepted.then_some(resolver.program), findings)
}

/// Reads the `options` of the program.
fn options(syntax: &syntax::Program, findings: &mut Vec<Diagnostic>) -> Options {
    let mut options = Options::default();
    for declaration in &syntax.declarations {
        let DeclarationKind::Options(text) = &declaration.kind else { continue };
        match options.note(&text.value) {
            Ok(unknown) => findings.extend(unknown.iter().map(|flag| {
                let message = format!("`{flag}` is not known and ignored");
                Diagnostic::new(Code::TypecheckerWarning, text.span, message)
            })),
            Err(OptionError::NotAFlag(word)) => {
                let message = format!("options begin with `-`, not as `{word}`");
                findings.push(Diagnostic::new(Code::TypecheckerError, text.span, message));
            }
        }
    }
    if options.bit_vectors
        && let Some(first) = syntax.declarations.iter().find_map(|declaration| {
            let DeclarationKind::Options(text) = &declaration.kind else { return None };
            text.value.contains("-bitvector").then_some(text.span)
        })
    {
        let message = "integers are taken to have no bounds: nothing is said about overflow";
        findings.push(Diagnostic::new(Code::TypecheckerWarning, first, message));
    }
    options
}

/// Returns the dialect by the program's own marks.
fn recognised(syntax: &syntax::Program, options: Options) -> Dialect {
    if options.field_dialect || syntax.opens_predicates {
        Dialect::Field
    } else if options.assertions_about_parts {
        Dialect::ClassicParts
    } else {
        Dialect::Classic
    }
}

/// The meaning of a global name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Struct(StructId),
    Sort(SortId),
    Datatype(DatatypeId),
    Alias(usize),
    Global(GlobalId),
    Field(FieldId),
    Constructor(ConstructorId),
    Destructor(DestructorId),
    Procedure(ProcedureId),
    Predicate(PredicateId),
    Function(FunctionId),
    Macro(usize),
}

impl Named {
    /// Returns the noun for it in messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Struct(_) => "a struct",
            Self::Sort(_) | Self::Alias(_) => "a type",
            Self::Datatype(_) => "a datatype",
            Self::Global(_) => "a global variable",
            Self::Field(_) => "a field",
            Self::Constructor(_) => "a constructor",
            Self::Destructor(_) => "a destructor",
            Self::Procedure(_) => "a procedure",
            Self::Predicate(_) => "a predicate",
            Self::Function(_) => "a function",
            Self::Macro(_) => "a macro",
        }
    }
}

/// `define m(x, ..) { e }`
struct Macro<'s> {
    name: &'s Ident,
    parameters: &'s [Ident],
    body: &'s Expr,
}

/// `type t = T`
struct Alias<'s> {
    name: &'s Ident,
    value: &'s syntax::TypeExpr,
    state: AliasState,
}

/// How far an alias is resolved.
#[derive(Debug, Clone, PartialEq)]
enum AliasState {
    Open,
    Running,
    Done(Type),
}

/// The macro whose body is being resolved.
struct Expansion<'s> {
    /// The number of the macro.
    id: usize,
    /// The arguments in place of its parameters.
    arguments: &'s [Expr],
    /// The variables in scope where it is applied: its arguments mean those.
    scopes: Scopes<'s>,
}

/// The member being resolved.
#[derive(Default)]
struct Home<'s> {
    /// The explicit results of the procedure.
    results: Vec<LocalId>,
    /// The result of the function whose body it is: hints of the body may name it.
    value: Option<(&'s syntax::Ident, LocalId)>,
    /// How many loops are around the statement being resolved.
    loops: usize,
    /// Is it inside the proof of an assertion, which `return` must not leave?
    in_proof: bool,
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// May procedures be called and objects made?
    effects: bool,
    /// Is there an earlier state to which `old` can refer?
    old: bool,
}

impl Context {
    /// Values in statements.
    const VALUE: Self = Self { effects: true, old: true };
    /// Postconditions, invariants, and what statements assert.
    const TWO_STATE: Self = Self { effects: false, old: true };
    /// Preconditions, axioms, functions and predicates.
    const ONE_STATE: Self = Self { effects: false, old: false };

    /// The same without effects: below a binder a value is not computed once.
    fn bound(self) -> Self {
        Self { effects: false, ..self }
    }
}

struct Resolver<'s> {
    program: Program,
    names: FxHashMap<&'s str, Named>,
    macros: Vec<Macro<'s>>,
    aliases: Vec<Alias<'s>>,
    findings: Vec<Diagnostic>,
    scopes: Scopes<'s>,
    /// Macros being expanded, innermost last.
    expansions: Vec<Expansion<'s>>,
    /// How many have been expanded so far.
    expanded: usize,
    /// Calls and allocations written inside the expression being resolved: they go before its
    /// statement.
    hoisted: Vec<Stmt>,
    home: Home<'s>,
    spelling: Spelling,
}

impl Resolver<'_> {
    /// Returns the end of a message about an unknown name: which of those that are wanted is meant,
    /// as far as can be guessed.
    fn question(&self, name: &str, is_wanted: impl Fn(&Named) -> bool) -> String {
        let wanted = self.names.iter().filter(|(_, named)| is_wanted(named));
        self.spelling.question(name, wanted.map(|(name, _)| *name))
    }

    /// The same for an unknown variable.
    fn question_of_variable(&self, name: &str) -> String {
        let globals = self.names.iter().filter(|(_, named)| matches!(named, Named::Global(_)));
        self.spelling.question(name, self.scopes.names().chain(globals.map(|(name, _)| *name)))
    }

    fn error(&mut self, message: impl Into<String>, span: Span) {
        self.findings.push(Diagnostic::new(Code::TypecheckerError, span, message));
    }

    fn show(&self, ty: &Type) -> String {
        ty.show(&self.program)
    }

    fn locals(&mut self) -> &mut Arena<Local> {
        &mut self.program.locals
    }

    fn expect_count(&mut self, what: &str, expected: usize, found: usize, span: Span) -> bool {
        if expected != found {
            self.error(format!("expected {}, found {found}", counted(expected, what)), span);
        }
        expected == found
    }
}
