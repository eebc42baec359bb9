//! Triggers and the resources of `forperm`: which terms they may consist of.
//!
//! In the reference these are the errors of translating the parse tree. They count as type errors,
//! and other inconsistencies are looked for only if there are none.

use super::Checker;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Body, Decreases, Expr, ExprKind, LocalId, Location, Member, Resource};
use crate::source::Span;
use crate::triggers::is_trigger_term;
use crate::walk::{Visit, walk_body, walk_expr};

pub(super) fn check(checker: &mut Checker<'_>, member: Member) {
    let program = checker.program;
    match member {
        Member::Field(_) => {}
        Member::Predicate(id) => all(checker, &program.predicates[id].body),
        Member::Function(id) => {
            let function = &program.functions[id];
            all(checker, &function.contract.preconditions);
            all(checker, &function.contract.postconditions);
            measures(checker, &function.contract.decreases);
            all(checker, &function.body);
        }
        Member::Domain(id) => {
            all(checker, program.domains[id].axioms.iter().map(|axiom| &axiom.body));
        }
        Member::Method(id) => {
            let method = &program.methods[id];
            all(checker, &method.contract.preconditions);
            all(checker, &method.contract.postconditions);
            measures(checker, &method.contract.decreases);
            for implementation in &method.implementations {
                body(checker, &implementation.body);
            }
        }
    }
}

fn measures(checker: &mut Checker<'_>, clauses: &[Decreases]) {
    for clause in clauses {
        clause.for_each_child(|expr| all(checker, [expr]));
    }
}

fn all<'e>(checker: &mut Checker<'_>, exprs: impl IntoIterator<Item = &'e Expr>) {
    for expr in exprs {
        walk_expr(expr, |expr| node(checker, expr));
    }
}

fn body(checker: &mut Checker<'_>, body: &Body) {
    walk_body(body, |visit| {
        if let Visit::Expr(expr) = visit {
            walk_expr(expr, |expr| node(checker, expr));
        }
    });
}

fn node(checker: &mut Checker<'_>, expr: &Expr) {
    match &expr.kind {
        ExprKind::Quantified { triggers, .. } => {
            for trigger in triggers {
                // Reported for the trigger as a whole, as in the reference.
                if let Some(term) = trigger.iter().find(|term| !is_trigger_term(term)) {
                    let message = "a term of this trigger cannot be part of a trigger; \
                         write applications of functions or fields that mention the variables, as in `{ f(x) }`";
                    checker.found.push(
                        Diagnostic::new(Code::TypecheckerError, trigger.span, message)
                            .with_related(term.span, "this term cannot be matched"),
                    );
                }
            }
        }
        ExprKind::ForPerm { variables, resource, .. } => {
            forperm(checker, expr.span, variables, resource);
        }
        _ => {}
    }
}

fn forperm(checker: &mut Checker<'_>, span: Span, variables: &[LocalId], resource: &Resource) {
    let mut mentioned = vec![false; variables.len()];
    let mut mention = |expr: &Expr| {
        let mut any = false;
        walk_expr(expr, |expr| {
            if let ExprKind::Local(local) = expr.kind
                && let Some(index) = variables.iter().position(|&it| it == local)
            {
                mentioned[index] = true;
                any = true;
            }
        });
        any && !matches!(expr.kind, ExprKind::Local(_))
    };
    let mut indirect = None;
    match resource {
        Resource::Location(Location::Field { receiver, .. }) => {
            if mention(receiver) {
                indirect = Some(receiver.span);
            }
        }
        Resource::Location(Location::Predicate { arguments, .. }) => {
            for argument in arguments {
                if mention(argument) {
                    indirect = indirect.or(Some(argument.span));
                }
            }
        }
        Resource::Wand(wand) => {
            mention(wand);
        }
    }
    if let Some(span) = indirect {
        error(checker, span, "a variable of `forperm` can only be used directly as an argument");
    }
    if !mentioned.iter().all(|&mentioned| mentioned) {
        error(checker, span, "the resource of `forperm` mentions each of its variables");
    }
}

fn error(checker: &mut Checker<'_>, span: Span, message: &str) {
    checker.found.push(Diagnostic::new(Code::TypecheckerError, span, message));
}
