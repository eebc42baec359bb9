//! The macros of a program: where each is defined, what its body declares, which are in force.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic};
use crate::source::Name;
use crate::source::Span;
use crate::syntax::walk::{Visitor, visit};
use crate::syntax::{Block, Define, MacroBody, Stmt, StmtKind};

use super::names::Names;
use super::{Expander, names};

/// The definitions in the body of a macro.
#[derive(Default)]
struct InnerDefinitions(Vec<Span>);

impl Visitor<'_> for InnerDefinitions {
    fn stmt(&mut self, statement: &Stmt) {
        if let StmtKind::Define(define) = &statement.kind {
            self.0.push(define.span);
        } else {
            visit::stmt(self, statement);
        }
    }
}

/// A macro of a [`Table`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MacroId(usize);

#[derive(Clone)]
struct Entry {
    define: Rc<Define>,
    /// The names in the body.
    names: Rc<Names>,
    /// An error was reported that makes expanding it pointless.
    broken: bool,
}

#[derive(Clone, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    globals: FxHashMap<Name, MacroId>,
    /// The macros of the method that is being walked.
    locals: FxHashMap<Name, MacroId>,
}

impl Table {
    pub(super) fn lookup(&self, name: &str) -> Option<MacroId> {
        self.locals.get(name).or_else(|| self.globals.get(name)).copied()
    }

    pub(super) fn definition(&self, id: MacroId) -> Rc<Define> {
        self.entries[id.0].define.clone()
    }

    pub(super) fn names(&self, id: MacroId) -> Rc<Names> {
        self.entries[id.0].names.clone()
    }

    pub(super) fn is_broken(&self, id: MacroId) -> bool {
        self.entries[id.0].broken
    }

    pub(super) fn set_broken(&mut self, id: MacroId) {
        self.entries[id.0].broken = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn forget_locals(&mut self) {
        self.locals.clear();
    }
}

impl Expander {
    /// Adds a definition to the global or the local macros.
    pub(super) fn define(&mut self, define: Define, local: bool) {
        if let MacroBody::Block(body) = &define.body {
            self.refuse_definitions_inside(body);
        }
        let names = names::of_body(&define.body);
        self.warn_of_unused_parameters(&define, &names.mentioned);
        let macros = if local { &mut self.table.locals } else { &mut self.table.globals };
        let name = define.name.clone();
        if let Some(first) = macros.get(&name.name) {
            let first = self.table.entries[first.0].define.name.span;
            // In one method the first definition counts, as in the reference.
            let (code, words) = if local {
                (Code::ParserWarning, "is defined twice; the first definition counts")
            } else {
                (Code::ParserError, "is defined twice")
            };
            let message = format!("the macro `{}` {words}", name.name);
            self.diagnostics.push(
                Diagnostic::new(code, define.span, message)
                    .with_related(first, "first defined here"),
            );
            return;
        }
        macros.insert(name.name, MacroId(self.table.entries.len()));
        self.table.entries.push(Entry {
            define: Rc::new(define),
            names: Rc::new(names),
            broken: false,
        });
    }

    fn refuse_definitions_inside(&mut self, body: &Block) {
        let mut inner = InnerDefinitions::default();
        inner.block(body);
        for span in inner.0 {
            self.error(span, "macros cannot be nested: define this one outside of the other");
        }
    }

    fn warn_of_unused_parameters(&mut self, define: &Define, mentioned: &FxHashSet<Name>) {
        // Uses of the arguments of a macro with a type as body are of no interest.
        if matches!(define.body, MacroBody::Type(_) | MacroBody::Empty) {
            return;
        }
        let parameters = define.parameters.iter().flatten().map(|parameter| &*parameter.name);
        let unused: Vec<&str> = parameters.filter(|name| !mentioned.contains(*name)).collect();
        if !unused.is_empty() {
            let message = format!(
                "the macro `{}` does not use its parameter(s) {}",
                define.name.name,
                unused.join(", ")
            );
            self.diagnostics.push(Diagnostic::new(Code::ParserWarning, define.span, message));
        }
    }
}
