//! Forms that may not occur in clauses of contracts and in bodies of functions, predicates and
//! axioms.

use la_arena::Arena;

use super::Checker;
use crate::program::{Decreases, Expr, ExprKind, Local, LocalKind, OldLabel};
use crate::walk::walk_expr;

/// The contents of a clause, at any depth.
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
        contents.add(expr);
        contents
    }

    fn add(&mut self, expr: &Expr) {
        walk_expr(expr, |expr| match expr.kind {
            ExprKind::Old { label: OldLabel::Entry, .. } => self.old = true,
            ExprKind::Old { label: OldLabel::Label(_), .. } => self.labelled_old = true,
            ExprKind::Perm(_) | ExprKind::ForPerm { .. } => self.introspection = true,
            ExprKind::Asserting { ref assertion, .. } => {
                self.asserting = true;
                self.asserted_permission |= !assertion.is_pure();
            }
            ExprKind::Result => self.result = true,
            ExprKind::FieldRead { .. }
            | ExprKind::Acc { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Wand { .. }
            | ExprKind::Applying { .. } => self.location = true,
            _ => {}
        });
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

    /// Refuses old expressions in the termination clauses of a function, as its contract refuses
    /// them.
    pub(super) fn measures_of_function(&mut self, clauses: &[Decreases]) {
        let message = "old expressions are not allowed in termination measures of functions";
        for clause in clauses {
            self.without_old(clause, |contents| {
                (contents.old || contents.labelled_old).then_some(message)
            });
        }
    }

    /// As [`Self::measures_of_function`]. Only behind an `ensures` there are an old state and
    /// results.
    pub(super) fn measures_of_method(&mut self, clauses: &[Decreases], locals: &Arena<Local>) {
        for clause in clauses {
            let in_precondition = !clause.in_postcondition;
            self.without_old(clause, |contents| {
                if contents.labelled_old {
                    Some("labelled old expressions are not allowed in termination measures")
                } else {
                    (contents.old && in_precondition)
                        .then_some("old expressions are not allowed before `ensures`")
                }
            });
            if in_precondition {
                clause.for_each_child(|expr| self.no_results(expr, locals));
            }
        }
    }

    /// Reports at the clause what is wrong with its old expressions.
    fn without_old(
        &mut self,
        clause: &Decreases,
        wrong: impl Fn(&Contents) -> Option<&'static str>,
    ) {
        let mut contents = Contents::default();
        clause.for_each_child(|expr| contents.add(expr));
        if let Some(message) = wrong(&contents) {
            self.error(clause.measure, message);
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
