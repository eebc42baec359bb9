//! Triggers: which terms may form one, and which ones a quantifier without any should get.
//!
//! The inference follows Heule et al.'s scheme for Viper: terms that uninterpreted symbols head are
//! candidates, minimal sets of them that cover all bound variables are triggers.

mod cover;
mod infer;

use crate::program::{BinaryOp, Expr, ExprKind, Location, UnaryOp};
pub use infer::{Inferred, infer_triggers};

/// Tells whether `expr` may be a term of a trigger.
///
/// Another check asks for all bound variables in the terms of a trigger.
pub(crate) fn is_trigger_term(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Old { body, .. } => is_trigger_term(body),
        // The structure of the wand is matched, not the values of its sides.
        ExprKind::Wand { .. } => true,
        ExprKind::FieldRead { .. } => !has_interpreted_part(expr),
        ExprKind::Acc { location: Location::Predicate { .. }, .. } => !has_interpreted_part(expr),
        _ => is_candidate(expr) && !has_interpreted_part(expr),
    }
}

/// Tells whether an uninterpreted symbol heads `expr`, so that a solver can match it.
fn is_candidate(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Apply { .. }
        | ExprKind::DomainApply { .. }
        | ExprKind::Literal { .. }
        | ExprKind::MapLiteral { .. }
        | ExprKind::Range { .. }
        | ExprKind::Index { .. }
        | ExprKind::Update { .. }
        | ExprKind::Take { .. }
        | ExprKind::Drop { .. }
        | ExprKind::Cardinality(_)
        | ExprKind::MapDomain(_)
        | ExprKind::MapRange(_) => true,
        ExprKind::Binary { op, .. } => matches!(
            op,
            BinaryOp::Append
                | BinaryOp::Union
                | BinaryOp::Intersection
                | BinaryOp::Setminus
                | BinaryOp::Subset
                | BinaryOp::In
        ),
        _ => false,
    }
}

/// Tells whether an operator with a fixed meaning in the solver occurs in `expr`: such a term
/// cannot be matched.
fn has_interpreted_part(expr: &Expr) -> bool {
    expr.any(is_interpreted)
}

fn is_interpreted(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Not, .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Conditional { .. } => true,
        ExprKind::Binary { op, .. } => matches!(
            op,
            BinaryOp::Implies
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::IntDiv
                | BinaryOp::Mod
                | BinaryOp::PermDiv
        ),
        _ => false,
    }
}
