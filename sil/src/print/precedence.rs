//! The rule by which forms need parentheses.

use crate::program::{BinaryOp, Expr, ExprKind, Type};

/// How strongly a form binds: the levels of the grammar, from weakest to strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Conditional,
    Iff,
    Implies,
    Wand,
    Or,
    And,
    Equality,
    Comparison,
    Sum,
    Product,
    Prefix,
    Suffix,
    Atom,
}

/// The presence of a text before the next closing bracket that the expression could swallow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    Something,
}

pub(super) fn is_negative(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Int(value) if value.sign() == num_bigint::Sign::Minus)
}

pub(super) fn level_of(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Conditional { .. } => Level::Conditional,
        ExprKind::Wand { .. } => Level::Wand,
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Unary { .. } => Level::Prefix,
        ExprKind::Int(_) if is_negative(expr) => Level::Prefix,
        ExprKind::Binary { op, left, right } => match op {
            BinaryOp::Implies => Level::Implies,
            BinaryOp::Eq if is_equivalence(left, right) => Level::Iff,
            BinaryOp::Eq | BinaryOp::Ne => Level::Equality,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::In => {
                Level::Comparison
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Append
            | BinaryOp::Union
            | BinaryOp::Intersection
            | BinaryOp::Setminus
            | BinaryOp::Subset => Level::Sum,
            BinaryOp::Mul | BinaryOp::IntDiv | BinaryOp::Mod | BinaryOp::PermDiv => Level::Product,
        },
        ExprKind::FieldRead { .. }
        | ExprKind::Index { .. }
        | ExprKind::Update { .. }
        | ExprKind::Take { .. }
        | ExprKind::Drop { .. } => Level::Suffix,
        _ => Level::Atom,
    }
}

/// Tells whether an equality of Bools is written `<==>`: where `==` would need parentheses.
fn is_equivalence(left: &Expr, right: &Expr) -> bool {
    let is_connective = |expr: &Expr| match &expr.kind {
        ExprKind::And(_) | ExprKind::Or(_) => true,
        ExprKind::Binary { op, .. } => {
            matches!(
                op,
                BinaryOp::Implies
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::In
            )
        }
        _ => false,
    };
    left.ty == Type::Bool && (is_connective(left) || is_connective(right))
}

/// Tells whether the form itself takes in everything that follows up to a closing bracket.
pub(super) fn swallows_what_follows(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Quantified { .. }
            | ExprKind::ForPerm { .. }
            | ExprKind::Let { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Applying { .. }
            | ExprKind::Asserting { .. }
            | ExprKind::Wand { .. }
    )
}
