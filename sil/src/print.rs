//! Printing programs as text that our own parser reads back.
//!
//! Two forms: [`Form::Graph`], every body a graph with nested loop blocks, and
//! [`Form::Structured`], plain Viper. In both forms printing, parsing and printing again gives the
//! same text. What desugaring removed (macros, adts, `elseif` chains apart) does not come back.
//!
//! Invariants
//! - Parentheses stand only where reading back needs them; types are ascribed only where inference
//!   could miss.
//! - `@src.…` annotations are written where the origin changes.
//! - Names made up here contain a `$` and differ from all names of the program.

mod expr;
mod graph;
mod layout;
mod members;
mod names;
mod origins;
mod precedence;
mod statements;
mod structure;
mod types;

use indexmap::IndexMap;
use la_arena::Arena;
use rustc_hash::FxHashSet;

use crate::program::{Expr, Implementation, Local, Method, Program, Stmt, StmtKind, Type};
use crate::source::OriginId;
use expr::{Annotations, LocalNames, Printer};
use layout::Line;
use members::Context;

/// How bodies are printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Every body as a graph of basic blocks and loop blocks.
    Graph,
    /// Every body as structured statements, which any Viper verifier reads.
    Structured,
}

/// Returns the program as text.
///
/// A body whose control flow is not valid (see [`crate::cfg::build`]) is printed as it was written,
/// whatever the form.
pub fn program(program: &Program, form: Form) -> String {
    let mut writer = Writer::new(program, form);
    writer.members();
    writer.out
}

/// Returns the expression on one line, in the user's words: without annotations. For messages;
/// labels of `old` print as numbers.
pub fn expr(program: &Program, locals: &Arena<Local>, expr: &Expr) -> String {
    flat(program, &LocalNames::new(locals), expr)
}

/// Returns a type as written in the program.
pub fn ty(program: &Program, ty: &Type) -> String {
    types::type_text(program, ty)
}

/// Prints parts of a body, each on one line and without annotations: for messages and pictures.
pub struct Snippets<'a> {
    writer: Writer<'a>,
    scope: LocalNames<'a>,
}

impl<'a> Snippets<'a> {
    /// For the parts of one implementation of `method`.
    pub fn new(
        program: &'a Program,
        method: &'a Method,
        implementation: &'a Implementation,
    ) -> Self {
        let labels = Some(&implementation.labels);
        let scope = LocalNames { labels, is_plain: true, ..LocalNames::new(&method.locals) };
        // Names of members matter only to what makes new ones.
        let writer = Writer::with_names(program, Form::Graph, FxHashSet::default());
        Self { writer, scope }
    }

    /// Returns an expression.
    pub fn expr(&self, expr: &Expr) -> String {
        flat(self.writer.program, &self.scope, expr)
    }

    /// Returns a statement of a graph's block; of a proof script only that there is one.
    pub fn stmt(&self, stmt: &Stmt) -> String {
        match &stmt.kind {
            StmtKind::Label { label, .. } => format!("label {}", self.scope.label(*label)),
            StmtKind::Package { wand, script } => {
                let script = if script.statements.is_empty() { "{ }" } else { "{ … }" };
                format!("package {} {script}", self.expr(wand))
            }
            kind => {
                let mut line = Line::default();
                let context = Context { scope: &self.scope, origin: OriginId::NONE };
                self.writer.simple(context, &mut line, kind);
                line.flat()
            }
        }
    }
}

fn flat(program: &Program, scope: &LocalNames<'_>, expr: &Expr) -> String {
    let mut line = Line::default();
    Printer::new(program, scope, Annotations::Omitted, &mut line).print(expr);
    line.flat()
}

/// The text so far, and what is collected for the end of the program.
struct Writer<'a> {
    program: &'a Program,
    form: Form,
    out: String,
    indent: usize,
    /// Methods that return an arbitrary value of a type, to be declared at the end.
    havoc_methods: IndexMap<Type, String>,
    global_names: FxHashSet<String>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, form: Form) -> Self {
        Self::with_names(program, form, names::of_members(program))
    }

    fn with_names(program: &'a Program, form: Form, global_names: FxHashSet<String>) -> Self {
        Self {
            program,
            form,
            out: String::new(),
            indent: 0,
            havoc_methods: IndexMap::new(),
            global_names,
        }
    }

    /// One line of output, broken where it is too long.
    fn line(&mut self, fill: impl FnOnce(&Self, &mut Line)) {
        let mut line = Line::default();
        fill(self, &mut line);
        self.pad();
        line.layout(self.indent, &mut self.out);
        self.out.push('\n');
    }

    fn text_line(&mut self, text: &str) {
        self.pad();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn pad(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn indented(&mut self, fill: impl FnOnce(&mut Self)) {
        self.indent += 2;
        fill(self);
        self.indent -= 2;
    }
}
