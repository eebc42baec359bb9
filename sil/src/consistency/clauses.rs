//! What clauses of contracts and bodies of functions, predicates and axioms may not contain.

use la_arena::Arena;

use super::Checker;
use crate::program::{Decreases, Expr, ExprKind, Local, LocalKind, OldLabel};
use crate::walk::walk_expr;

/// What a clause contains, wherever in it.
#[derive(Default)]
struct Contents {
    /// `old(…)`.
    old: bool,
    /// `old[l](…)`; `old[lhs](…)` is not counted, as it belongs to the wand around it.
    labelled_old: bool,
    /// `perm` or `forperm`.
    introspection: bool,
    asserting: bool,
    /// `asserting` of permissions.
    asserted_permission: bool,
    result: bool,
    /// Anything that needs a heap.
    location: bool,
}

impl Contents {
    fn of(expr: &Expr) -> Self {
        let mut contents = Self::default();
        walk_expr(expr, |expr| match expr.kind {
            ExprKind::Old { label: OldLabel::Entry, .. } => contents.old = true,
            ExprKind::Old { label: OldLabel::Label(_), .. } => contents.labelled_old = true,
            ExprKind::Perm(_) | ExprKind::ForPerm { .. } => contents.introspection = true,
            ExprKind::Asserting { ref assertion, .. } => {
                contents.asserting = true;
                contents.asserted_permission |= !assertion.is_pure();
            }
            ExprKind::Result => contents.result = true,
            ExprKind::FieldRead { .. }
            | ExprKind::Acc { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Wand { .. }
            | ExprKind::Applying { .. } => contents.location = true,
            _ => {}
        });
        contents
    }
}

impl Checker<'_> {
    pub(super) fn precondition(&mut self, clause: &Expr) {
        let contents = Contents::of(clause);
        if contents.old {
            self.error(clause.span, "old expressions are not allowed in preconditions");
        }
        if contents.labelled_old {
            self.error(clause.span, "labelled old expressions are not allowed in preconditions");
        }
    }

    /// When the precondition is checked there are no results yet.
    pub(super) fn no_results(&mut self, clause: &Expr, locals: &Arena<Local>) {
        walk_expr(clause, |expr| {
            if let ExprKind::Local(local) = expr.kind
                && locals[local].kind == LocalKind::Returned
            {
                let message =
                    format!("the result `{}` cannot be used in a precondition", locals[local].name);
                self.error(expr.span, message);
            }
        });
    }

    /// What a termination clause may not mention is what the part of the contract may not that it belongs to.
    pub(super) fn measures_of_function(&mut self, clauses: &[Decreases]) {
        for clause in clauses {
            let (old, labelled_old) = old_in_measure(clause);
            if old || labelled_old {
                let message =
                    "old expressions are not allowed in termination measures of functions";
                self.error(clause.measure, message);
            }
        }
    }

    /// As [`Self::measures_of_function`]. Only behind an `ensures` there are an old state and results.
    pub(super) fn measures_of_method(&mut self, clauses: &[Decreases], locals: &Arena<Local>) {
        for clause in clauses {
            let (old, labelled_old) = old_in_measure(clause);
            if labelled_old {
                let message = "labelled old expressions are not allowed in termination measures";
                self.error(clause.measure, message);
            } else if old && !clause.in_postcondition {
                let message = "old expressions are not allowed before `ensures`";
                self.error(clause.measure, message);
            }
            if !clause.in_postcondition {
                clause.for_each_child(|expr| self.no_results(expr, locals));
            }
        }
    }

    pub(super) fn method_postcondition(&mut self, clause: &Expr) {
        if Contents::of(clause).labelled_old {
            self.error(clause.span, "labelled old expressions are not allowed in postconditions");
        }
    }

    pub(super) fn function_postcondition(&mut self, clause: &Expr) {
        let contents = Contents::of(clause);
        if contents.old || contents.labelled_old {
            let message = "old expressions are not allowed in postconditions of functions";
            self.error(clause.span, message);
        }
        if contents.asserted_permission {
            self.error(clause.span, "postconditions of functions cannot be about permissions");
        }
    }

    pub(super) fn function_body(&mut self, body: &Expr) {
        let contents = Contents::of(body);
        if contents.old || contents.labelled_old {
            self.error(body.span, "old expressions are not allowed in bodies of functions");
        }
        if contents.introspection {
            self.error(body.span, "`perm` and `forperm` are not allowed in bodies of functions");
        }
        if contents.result {
            self.error(body.span, "`result` is not allowed in bodies of functions");
        }
    }

    pub(super) fn predicate_body(&mut self, body: &Expr) {
        let contents = Contents::of(body);
        if contents.old || contents.labelled_old {
            self.error(body.span, "old expressions are not allowed in bodies of predicates");
        }
        if contents.introspection {
            self.error(body.span, "`perm` and `forperm` are not allowed in bodies of predicates");
        }
    }

    pub(super) fn axiom_body(&mut self, body: &Expr) {
        let contents = Contents::of(body);
        if contents.old || contents.labelled_old {
            self.error(body.span, "old expressions are not allowed in axioms");
        }
        if contents.asserting {
            self.error(body.span, "`asserting` is not allowed in axioms");
        }
        if contents.location || contents.introspection {
            self.error(body.span, "axioms cannot depend on the heap or on permissions");
        }
    }
}

/// Whether a clause mentions `old(…)`, and `old[l](…)`.
fn old_in_measure(clause: &Decreases) -> (bool, bool) {
    let (mut old, mut labelled_old) = (false, false);
    clause.for_each_child(|expr| {
        let contents = Contents::of(expr);
        old |= contents.old;
        labelled_old |= contents.labelled_old;
    });
    (old, labelled_old)
}
