//! The ranges of a quantifier's variables, from the guards in its body.

use chalice::program::{BinaryOp, Expr, ExprKind, LocalId};

use super::Quantifier;
use crate::value::Value;

/// The values outside of which the body of a quantifier is trivial.
pub(super) enum Range<'e> {
    /// One value.
    Exactly(&'e Expr),
    /// The elements of a collection.
    Members(&'e Expr),
    /// The integers between bounds; the flags say which bounds are left out themselves.
    Between { lower: Vec<(&'e Expr, bool)>, upper: Vec<(&'e Expr, bool)> },
    /// Nothing finite is known.
    Unknown,
}

/// Returns the conjuncts that must hold for the body to matter: left of `==>` below `forall`, any
/// of the body below `exists`.
pub(super) fn guards(quantifier: Quantifier, body: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    match quantifier {
        Quantifier::Forall => {
            let mut body = body;
            while let ExprKind::Implies { guard, body: inner } = &body.kind {
                conjuncts(guard, &mut found);
                body = inner;
            }
        }
        Quantifier::Exists => conjuncts(body, &mut found),
        Quantifier::Sum | Quantifier::Max => {}
    }
    found
}

fn conjuncts<'e>(e: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::And(parts) => parts.iter().for_each(|part| conjuncts(part, found)),
        _ => found.push(e),
    }
}

/// Returns the range that the guards give to the first of `variables`, without the help of the
/// others, which are bound after it.
pub(super) fn range<'e>(guards: &[&'e Expr], variables: &[LocalId]) -> Range<'e> {
    let is_variable = |e: &Expr| matches!(e.kind, ExprKind::Local(local) if local == variables[0]);
    let is_known = |e: &Expr| {
        !e.any(
            &mut |part| matches!(part.kind, ExprKind::Local(local) if variables.contains(&local)),
        )
    };
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for guard in guards {
        let ExprKind::Binary { op, left, right } = &guard.kind else { continue };
        let (op, other) = if is_variable(left) && is_known(right) {
            (*op, &**right)
        } else if is_variable(right) && is_known(left) {
            let Some(op) = mirrored(*op) else { continue };
            (op, &**left)
        } else {
            continue;
        };
        match op {
            BinaryOp::Eq => return Range::Exactly(other),
            BinaryOp::In => return Range::Members(other),
            BinaryOp::Less => upper.push((other, true)),
            BinaryOp::AtMost => upper.push((other, false)),
            BinaryOp::Greater => lower.push((other, true)),
            BinaryOp::AtLeast => lower.push((other, false)),
            _ => {}
        }
    }
    if lower.is_empty() || upper.is_empty() {
        return Range::Unknown;
    }
    Range::Between { lower, upper }
}

/// Returns the operator that says the same with its operands exchanged.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Eq,
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::AtMost => BinaryOp::AtLeast,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::AtLeast => BinaryOp::AtMost,
        _ => return None,
    })
}

/// Returns the integers written in an expression.
pub(super) fn literals(e: &Expr) -> Vec<Value> {
    let mut found = Vec::new();
    e.any(&mut |part| {
        if let ExprKind::Int(number) = &part.kind {
            found.push(Value::int(number.clone()));
        }
        false
    });
    found
}
