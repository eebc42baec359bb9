//! Variables of pure quantifiers that have one value.
//!
//! They are found before the quantifier is evaluated ([`values`]). `forall x, y :: x == e && c ==>
//! b` is about e alone, and so is `exists x, y :: x == e && b`. Such a quantifier is matched
//! without x: triggers that mention x, and locations that depend on it, are those for e.
//!
//! SOUNDNESS: both formulas are equivalent to their rest with e for x. The equation is one of the
//! conjuncts in front of the body or the conclusion. e mentions no variable of the quantifier and
//! is defined everywhere, so that it may be evaluated before the conjuncts to its left.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Quantifier, UnaryOp};
use sil::walk::walk_expr;

/// Returns the variables of a quantifier that have one value only, with these values.
pub(crate) fn values<'e>(
    quantifier: Quantifier,
    variables: &[LocalId],
    body: &'e Expr,
) -> Vec<(LocalId, &'e Expr)> {
    let mut conjuncts = Vec::new();
    match quantifier {
        Quantifier::Forall => premises(body, &mut conjuncts),
        Quantifier::Exists => split(body, &mut conjuncts),
    }
    let mut found: Vec<(LocalId, &Expr)> = Vec::new();
    for conjunct in conjuncts {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &conjunct.kind else { continue };
        for (variable, value) in [(left, right), (right, left)] {
            if let ExprKind::Local(local) = variable.kind
                && variables.contains(&local)
                && found.iter().all(|&(other, _)| other != local)
                && is_defined_everywhere(value, variables)
            {
                found.push((local, value));
                break;
            }
        }
    }
    found
}

/// Collects the premises of an implication's conclusion.
fn premises<'e>(mut body: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    while let ExprKind::Binary { op: BinaryOp::Implies, left, right } = &body.kind {
        split(left, conjuncts);
        body = right;
    }
}

fn split<'e>(expr: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ExprKind::And(operands) => pending.extend(operands.iter().rev()),
            _ => conjuncts.push(expr),
        }
    }
}

/// Tells whether an expression needs neither state nor definedness, and mentions none of the
/// variables.
fn is_defined_everywhere(expr: &Expr, variables: &[LocalId]) -> bool {
    let mut is_so = true;
    walk_expr(expr, |part| {
        is_so &= match &part.kind {
            ExprKind::Local(local) => !variables.contains(local),
            ExprKind::Unary { op: UnaryOp::Minus, .. } => true,
            ExprKind::Binary { op, .. } => {
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Result
            | ExprKind::Cardinality(_)
            | ExprKind::DomainApply { .. } => true,
            _ => false,
        };
    });
    is_so
}
