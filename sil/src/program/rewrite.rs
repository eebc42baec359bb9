//! Rewriting expressions.

use front::grow_stack;
use rustc_hash::FxHashMap;

use super::{Expr, ExprKind, LocalId};

impl Expr {
    /// Changes the expression, and then its operands in the same way: below a node for which
    /// `change` answers false, nothing is changed.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Self) -> bool) {
        if change(self) {
            grow_stack(|| self.for_each_child_mut(|child| child.rewrite(change)));
        }
    }

    /// Returns the expression with each free occurrence of a variable replaced.
    ///
    /// No capture is possible: a bound variable has an id of its own.
    #[must_use]
    pub fn substitute(&self, values: &FxHashMap<LocalId, Self>) -> Self {
        let mut copy = self.clone();
        copy.rewrite(&mut |part| match &part.kind {
            ExprKind::Local(local) => {
                if let Some(value) = values.get(local) {
                    *part = value.clone();
                }
                false
            }
            _ => true,
        });
        copy
    }
}
