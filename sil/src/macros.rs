//! Expanding macros on the parse tree.
//!
//! One walk over all members, in place. At a use of a macro, the arguments are expanded first
//! (where they stand), then a copy of the body is walked with the macro's [`Frame`] on top:
//! parameters become the arguments, names that the body declares are renamed if they are visible at
//! the call (those of members always are), and macros in it are expanded in turn.
//!
//! Invariants
//! - Afterwards no `define` and no use of a macro is left, unless an error was reported.
//! - Nothing that comes from an argument is captured: what the body declares is renamed if an
//!   argument mentions it. A bound variable and a local of one name clash in either order.
//! - Spans are as in the reference, since tests announce errors by their lines: the statements of a
//!   macro keep their places; the expansion of an expression stands at the outermost call in the
//!   expression, except for the elements of lists (arguments, triggers), amounts and types, which
//!   keep theirs. Notes say which conjunct of a body stands where ([`parts`]).
//! - Expansion ends: a macro inside its own expansion is an error, and [`MAX_EXPANSION`] bounds the
//!   size. A macro that nobody uses is not expanded, so it may contain itself.
//!
//! A name that is a local or bound variable where it stands is not taken for a macro.

mod expand;
mod names;
pub(crate) mod parts;
mod scopes;
mod statements;
mod table;
mod types;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Name, Span};
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{Adt, Block, Domain, Expr, Member, MemberKind, Program, Stmt, Type};

use names::Names;
use table::{MacroId, Table};

/// How many expressions the macros of a program may expand to in all.
pub(crate) const MAX_EXPANSION: usize = 2_000_000;

/// Expands all macros of `program` and removes their definitions; `parser.error`s go to
/// `diagnostics`.
pub fn expand(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let mut macros = Macros::of(program);
    for member in &mut program.members {
        macros.expand(member);
    }
    diagnostics.append(&mut macros.finish());
}

/// The macros of a program, to be expanded member by member.
#[derive(Clone)]
pub(crate) struct Macros(Expander);

impl Macros {
    /// Takes the definitions out of the program.
    pub(crate) fn of(program: &mut Program) -> Self {
        let mut expander = Expander::default();
        expander.collect_globals(program);
        Self(expander)
    }

    pub(crate) fn expand(&mut self, member: &mut Member) {
        self.0.member(member);
    }

    /// Tells whether the program defines any macro outside of members.
    pub(crate) fn are_defined(&self) -> bool {
        !self.0.table.is_empty()
    }

    /// Tells whether an error was found so far.
    pub(crate) fn has_errors(&self) -> bool {
        self.0.diagnostics.iter().any(|diagnostic| !diagnostic.code.is_warning())
    }

    /// Returns the errors of macros and their uses.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.0.diagnostics
    }
}

/// An argument, expanded at the call.
#[derive(Clone)]
struct Argument {
    expr: Expr,
    size: Size,
    /// Where it is written, which is not where it comes from if it is a parameter or a macro.
    written: Span,
}

/// How large a tree is.
#[derive(Clone, Copy)]
struct Size {
    nodes: usize,
    depth: usize,
}

/// The meaning of the names of a macro's body in one expansion.
#[derive(Clone)]
struct Frame {
    arguments: FxHashMap<Name, Argument>,
    /// The names in the arguments.
    mentioned: FxHashSet<Name>,
    /// The names in the body.
    names: Rc<Names>,
    /// New names of its labels.
    labels: FxHashMap<Name, Name>,
    /// The names that the body has declared before the present place, with their new names: they
    /// hide parameters.
    declared: Vec<(Name, Name)>,
}

/// A variable, as its declaration says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variable {
    /// The name lives to the end of its block.
    Local,
    /// The name lives in the expression or statement that binds it.
    Bound,
}

/// The names of variables that are in scope.
#[derive(Clone, Default)]
struct Variables {
    names: Vec<Name>,
    counts: FxHashMap<Name, usize>,
}

impl Variables {
    fn declare(&mut self, name: Name) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.names.push(name);
    }

    fn contains(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }

    /// Forgets all names but the first `length`.
    fn truncate(&mut self, length: usize) {
        for name in self.names.drain(length..) {
            if let Some(count) = self.counts.get_mut(&name) {
                *count -= 1;
            }
        }
    }
}

/// The walk over the program.
#[derive(Clone, Default)]
struct Expander {
    diagnostics: Vec<Diagnostic>,
    table: Table,
    /// The names that members declare: a variable of a macro may not have such a name.
    globals: FxHashSet<Name>,
    scope: Variables,
    /// The labels set so far in the implementation.
    labels: FxHashSet<Name>,
    /// The names of variables that were bound so far, in the contract and the implementation.
    bound: FxHashSet<Name>,
    /// The locals that the method declares itself, at whatever place.
    locals: FxHashSet<Name>,
    frames: Vec<Frame>,
    /// The macros that are being expanded, outermost first.
    active: Vec<MacroId>,
    /// The place of what is being walked in the expansion of an expression, unless it keeps its
    /// own.
    call: Option<Span>,
    /// The outermost use of a macro around what is being walked.
    outermost: Option<Span>,
    depth: usize,
    produced: usize,
    /// A limit was passed: nothing is expanded any more.
    exhausted: bool,
}

impl Expander {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Code::ParserError, span, message));
    }

    /// Takes the global definitions out of the program.
    fn collect_globals(&mut self, program: &mut Program) {
        let mut members = Vec::new();
        let mut definitions = Vec::new();
        for member in std::mem::take(&mut program.members) {
            match member.kind {
                MemberKind::Define(define) => definitions.push(define),
                _ => members.push(member),
            }
        }
        let mut taken = FxHashMap::default();
        for member in &members {
            let ident = match &member.kind {
                MemberKind::Method(method) => &method.name,
                MemberKind::Function(function) => &function.name,
                MemberKind::Predicate(predicate) => &predicate.name,
                MemberKind::Domain(domain) => &domain.name,
                _ => continue,
            };
            taken.entry(ident.name.clone()).or_insert(ident.span);
        }
        self.globals = members.iter().flat_map(names::of_member).collect();
        program.members = members;
        for define in definitions {
            if let Some(other) = taken.get(&define.name.name) {
                let message = format!("`{}` is also the name of a declaration", define.name.name);
                self.diagnostics.push(
                    Diagnostic::new(Code::ParserError, define.span, message)
                        .with_related(*other, "declared here"),
                );
            }
            self.define(define, false);
        }
    }
}

impl Rewriter for Expander {
    fn member(&mut self, member: &mut Member) {
        match &mut member.kind {
            MemberKind::Predicate(predicate) => {
                self.declare_all(&mut predicate.formals, Variable::Local);
                predicate.body.iter_mut().for_each(|body| self.expr(body));
            }
            MemberKind::Function(function) => {
                self.declare_all(&mut function.formals, Variable::Local);
                self.ty(&mut function.result);
                rewrite::contract(self, &mut function.contract);
                function.body.iter_mut().for_each(|body| self.expr(body));
            }
            MemberKind::Method(method) => self.method(method),
            MemberKind::Domain(Domain { parameters, .. })
            | MemberKind::Adt(Adt { parameters, .. }) => {
                parameters.iter().for_each(|it| self.scope.declare(it.name.clone()));
                rewrite::member(self, member);
            }
            MemberKind::Fields(_) => rewrite::member(self, member),
            MemberKind::Program(_) | MemberKind::Import(_) | MemberKind::Define(_) => {}
        }
        self.scope.truncate(0);
    }

    fn block(&mut self, block: &mut Block) {
        self.scoped_block(block);
    }

    fn stmt(&mut self, statement: &mut Stmt) {
        self.statement(statement);
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.expand(expr);
    }

    fn ty(&mut self, ty: &mut Type) {
        self.expand_in_type(ty);
    }
}
