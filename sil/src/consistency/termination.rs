//! Checks of termination clauses.

use la_arena::ArenaMap;

use super::{Applications, Checker};
use crate::program::{Body, Decreases, Expr, ExprKind, Function, FunctionId, Method, StmtKind};
use crate::recursion::components;
use crate::source::Span;
use crate::walk::{Visit, walk_body, walk_expr};

/// Reports postconditions that recurse without a termination measure, and the noted errors of
/// measures.
pub(super) fn functions(
    checker: &mut Checker<'_>,
    applications: ArenaMap<FunctionId, Applications>,
) {
    let in_bodies = applications.iter().map(|(id, of)| (id, of.in_body.clone()));
    let component = components(in_bodies);
    for (id, mut of) in applications {
        checker.found.append(&mut of.measures);
        for (applied, span) in of.in_postconditions {
            if applied == id {
                checker.error(
                    span,
                    "a function that applies itself in its postcondition needs a termination measure; `result` stands for the result of this application",
                );
            } else if component[applied] == component[id] {
                checker.error(
                    span,
                    "a function whose postcondition applies one that recurses through it needs a termination measure",
                );
            }
        }
    }
}

/// Returns the functions that the postconditions of a function apply, and where, if it has no
/// termination clause.
pub(super) fn applied_in_postconditions(function: &Function) -> Vec<(FunctionId, Span)> {
    let mut found = Vec::new();
    if function.contract.decreases.is_empty() {
        for clause in &function.contract.postconditions {
            walk_expr(clause, |expr| {
                if let ExprKind::Apply { function: applied, .. } = expr.kind {
                    found.push((applied, expr.span));
                }
            });
        }
    }
    found
}

pub(super) fn method(checker: &mut Checker<'_>, method: &Method) {
    clauses(checker, &method.contract.decreases);
    for implementation in &method.implementations {
        body(checker, &implementation.body);
    }
}

fn body(checker: &mut Checker<'_>, body: &Body) {
    walk_body(body, |visit| match visit {
        Visit::Stmt(statement) => {
            match &statement.kind {
                StmtKind::While { decreases, .. } => clauses(checker, decreases),
                // As in the reference, those of a label may be several of a kind.
                StmtKind::Label { decreases, .. } => measures(checker, decreases),
                _ => {}
            }
        }
        Visit::Node(node) => clauses(checker, &node.decreases),
        Visit::Expr(_) | Visit::Graph(_) => {}
    });
}

/// At most one clause of each kind before the first `ensures` and one behind it. Reported at the
/// first of a kind.
pub(super) fn clauses(checker: &mut Checker<'_>, clauses: &[Decreases]) {
    let of_a_kind = |clause: &Decreases, other: &Decreases| {
        clause.in_postcondition == other.in_postcondition
            && std::mem::discriminant(&clause.kind) == std::mem::discriminant(&other.kind)
    };
    for (index, clause) in clauses.iter().enumerate() {
        let is_first = !clauses[..index].iter().any(|other| of_a_kind(clause, other));
        if is_first && clauses[index + 1..].iter().any(|other| of_a_kind(clause, other)) {
            checker.error(
                clause.measure,
                "a contract has at most one termination clause of each kind",
            );
        }
    }
    measures(checker, clauses);
}

/// A clause means the same when it is inhaled and when it is exhaled.
///
/// SOUNDNESS: a check asserts what the next one takes for granted, and `perm`, which may stand
/// inside of `[a, b]`, speaks of what is held where the measure is read: one state would have two
/// measures (`termination/clauses_have_one_reading`).
fn measures(checker: &mut Checker<'_>, clauses: &[Decreases]) {
    for clause in clauses {
        clause.for_each_child(|part| measure(checker, part));
    }
}

fn measure(checker: &mut Checker<'_>, part: &Expr) {
    // With each whether it stands in the condition of `c ? a : b`: there the reference lets `[a,
    // b]` pass.
    let mut open = vec![(part, false)];
    while let Some((expr, in_condition)) = open.pop() {
        match &expr.kind {
            ExprKind::InhaleExhale { inhale, exhale }
                if in_condition && are_one_constant(inhale, exhale) => {}
            ExprKind::InhaleExhale { .. } => {
                checker.error(expr.span, "`[a, b]` is not allowed in a termination clause");
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                open.push((condition, true));
                open.extend([(&**then, in_condition), (&**otherwise, in_condition)]);
            }
            _ => expr.for_each_child(|child| open.push((child, in_condition))),
        }
    }
}

fn are_one_constant(left: &Expr, right: &Expr) -> bool {
    matches!((&left.kind, &right.kind), (ExprKind::Bool(left), ExprKind::Bool(right)) if left == right)
}
