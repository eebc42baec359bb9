//! The variables that names stand for. Local variables may hide anything.

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
    /// Where the innermost block begins among them.
    block: usize,
}

/// A moment to which scopes can be reset.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    declared: usize,
    block: usize,
}

impl<'s> Scopes<'s> {
    pub(super) fn find(&self, name: &str) -> Option<LocalId> {
        self.visible.get(name)?.last().copied()
    }

    /// Returns the names of the variables in scope.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.declared.iter().copied()
    }

    /// Opens a block.
    pub(super) fn open(&mut self) -> Mark {
        let mark = Mark { declared: self.declared.len(), block: self.block };
        self.block = mark.declared;
        mark
    }

    /// Closes a block: forgets what was declared in it.
    pub(super) fn close(&mut self, mark: Mark) {
        for name in self.declared.drain(mark.declared..) {
            if let Some(locals) = self.visible.get_mut(name) {
                locals.pop();
            }
        }
        self.block = mark.block;
    }

    fn is_in_block(&self, name: &str) -> bool {
        self.declared[self.block..].contains(&name)
    }

    fn add(&mut self, name: &'s str, local: LocalId) {
        self.visible.entry(name).or_default().push(local);
        self.declared.push(name);
    }
}

impl<'s> Resolver<'s> {
    /// Declares a variable; its name must be new in the block.
    pub(super) fn declare(&mut self, name: &'s Ident, local: Local) -> LocalId {
        let id = self.locals().alloc(local);
        self.enter(name, id);
        id
    }

    /// Puts a variable declared earlier, such as a parameter, in scope.
    pub(super) fn enter(&mut self, name: &'s Ident, local: LocalId) {
        if self.scopes.is_in_block(&name.name) {
            self.error(format!("`{}` is declared twice in this scope", name.name), name.span);
        }
        self.scopes.add(&name.name, local);
    }

    /// Runs a step in a block of its own.
    pub(super) fn scoped<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.scopes.open();
        let value = step(self);
        self.scopes.close(mark);
        value
    }
}

/// Returns a variable that is neither ghost nor implicit.
pub(super) fn new_local(name: &Ident, ty: Type, kind: LocalKind) -> Local {
    let name_text = name.name.clone();
    Local { name: name_text, ty, kind, is_ghost: false, is_implicit: false, span: name.span }
}
