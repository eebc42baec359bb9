//! The variables that names stand for.

use rustc_hash::FxHashMap;

use super::Resolver;
use crate::program::{Local, LocalId, LocalKind, Type};
use crate::syntax::Ident;

/// The variables in scope.
#[derive(Default)]
pub(super) struct Scopes<'s> {
    /// For each name the variables that have it, innermost last.
    visible: FxHashMap<&'s str, Vec<LocalId>>,
    /// Declared names in order.
    declared: Vec<&'s str>,
}

/// A moment to which scopes can be reset.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl<'s> Scopes<'s> {
    pub(super) fn find(&self, name: &str) -> Option<LocalId> {
        self.visible.get(name)?.last().copied()
    }

    /// Returns the names of all variables in scope.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.declared.iter().copied()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.declared.len())
    }

    /// Forgets what was declared since.
    pub(super) fn reset(&mut self, mark: Mark) {
        for name in self.declared.drain(mark.0..) {
            if let Some(locals) = self.visible.get_mut(name) {
                locals.pop();
            }
        }
    }

    fn add(&mut self, name: &'s str, local: LocalId) {
        self.visible.entry(name).or_default().push(local);
        self.declared.push(name);
    }
}

impl<'s> Resolver<'s> {
    /// Declares a variable of a statement or quantifier; its name must be new.
    pub(super) fn declare_local(&mut self, name: &'s Ident, local: Local) -> LocalId {
        if let Some(other) = self.scopes.find(&name.name) {
            let other = self.local(other).span;
            let message = format!("`{}` is already a variable in scope", name.name);
            self.error(message, name.span);
            if let Some(finding) = self.findings.last_mut() {
                finding.related.push((other, "declared here".to_owned()));
            }
        }
        self.declare(name, local)
    }

    /// Puts a new variable in scope.
    pub(super) fn declare(&mut self, name: &'s Ident, local: Local) -> LocalId {
        let id = self.program.locals.alloc(local);
        self.scopes.add(&name.name, id);
        id
    }

    /// Puts a variable declared earlier (a parameter) in scope.
    pub(super) fn enter(&mut self, name: &'s Ident, local: LocalId) {
        self.scopes.add(&name.name, local);
    }

    /// Runs a step in a scope of its own.
    pub(super) fn scoped<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.scopes.mark();
        let value = step(self);
        self.scopes.reset(mark);
        value
    }
}

/// Returns an ordinary variable.
pub(super) fn new_local(name: &Ident, ty: Type, kind: LocalKind) -> Local {
    Local { name: name.name.clone(), ty, kind, is_ghost: false, is_const: false, span: name.span }
}
