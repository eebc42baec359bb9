//! Scopes of variables, and names for what macros declare.

use crate::source::Name;
use crate::syntax::walk::Rewriter;
use crate::syntax::{Ident, TypedName};

use super::{Expander, Variable};

impl Expander {
    /// Where the scope of variables and what the current macro has declared end now.
    pub(super) fn enter_scope(&self) -> (usize, usize) {
        let declared = self.frames.last().map_or(0, |frame| frame.declared.len());
        (self.scope.names.len(), declared)
    }

    pub(super) fn leave_scope(&mut self, (names, declared): (usize, usize)) {
        self.scope.truncate(names);
        if let Some(frame) = self.frames.last_mut() {
            frame.declared.truncate(declared);
        }
    }

    /// Declares a variable. One of a macro gets another name where something else has its name.
    pub(super) fn declare(&mut self, ident: &mut Ident, variable: Variable) {
        if let Some(renamed) = self.new_name(&ident.name, variable)
            && let Some(frame) = self.frames.last_mut()
        {
            frame.declared.push((std::mem::replace(&mut ident.name, renamed.clone()), renamed));
        }
        self.scope.declare(ident.name.clone());
        if variable == Variable::Bound {
            self.bound.insert(ident.name.clone());
        }
    }

    /// Returns the name that a variable of a macro has in the expansion; `None` outside of macros.
    fn new_name(&self, name: &Name, variable: Variable) -> Option<Name> {
        let frame = self.frames.last()?;
        let is_visible = |name: &str| self.scope.contains(name) || self.globals.contains(name);
        // A local is declared in the rest of its block, and no variable of a method that is bound
        // elsewhere has its name.
        let clashes = is_visible(name)
            || frame.mentioned.contains(name)
            || match variable {
                Variable::Local => self.bound.contains(name) || frame.names.bound.contains(name),
                Variable::Bound => self.locals.contains(name),
            };
        if !clashes {
            return Some(name.clone());
        }
        let is_taken = |name: &str| {
            is_visible(name)
                || frame.mentioned.contains(name)
                || frame.names.mentioned.contains(name)
                || self.locals.contains(name)
                || self.bound.contains(name)
        };
        Some(fresh(name, is_taken))
    }

    pub(super) fn declare_all(&mut self, variables: &mut [TypedName], kind: Variable) {
        for variable in variables {
            self.ty(&mut variable.ty);
            self.declare(&mut variable.name, kind);
        }
    }

    pub(super) fn binding(&mut self, variables: &mut [TypedName], inside: impl FnOnce(&mut Self)) {
        let outside = self.enter_scope();
        self.declare_all(variables, Variable::Bound);
        inside(self);
        self.leave_scope(outside);
    }
}

/// Returns a name made of `name` that is not taken.
pub(super) fn fresh(name: &Name, is_taken: impl Fn(&str) -> bool) -> Name {
    let mut names = (0usize..).map(|number| format!("{name}${number}"));
    names.find(|fresh| !is_taken(fresh)).expect("there are infinitely many names").into()
}
