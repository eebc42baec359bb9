//! `[a, b]`: a where the assertion is assumed, b where it has to be proved.

use sil::program::{BinaryOp, Expr, ExprKind, Location};
use smt::terms::grow_stack;

/// Whether `[a, b]` occurs in a clause.
pub(crate) fn has_two_readings(clause: &Expr) -> bool {
    clause.any(|expr| matches!(expr.kind, ExprKind::InhaleExhale { .. }))
}

/// Whether the snapshots of two assertions hold the values of the same locations at the same places.
///
/// SOUNDNESS: where they do not, values of different locations would be taken for each other (trap T3).
pub(crate) fn same_shape(left: &Expr, right: &Expr) -> bool {
    grow_stack(|| match (&left.kind, &right.kind) {
        _ if left.is_pure() && right.is_pure() => true,
        (
            ExprKind::Acc { location: left, amount },
            ExprKind::Acc { location: right, amount: other_amount },
        ) => {
            // SOUNDNESS: a value counts only where both sides hold something (trap T2).
            let held = same_value(amount, other_amount)
                || (is_positive(amount) && is_positive(other_amount));
            held && match (left, right) {
                (
                    Location::Field { receiver, field },
                    Location::Field { receiver: other, field: other_field },
                ) => field == other_field && same_value(receiver, other),
                (
                    Location::Predicate { predicate, arguments },
                    Location::Predicate { predicate: other, arguments: others },
                ) => predicate == other && all_same(arguments, others, same_value),
                _ => false,
            }
        }
        (ExprKind::And(left), ExprKind::And(right)) => all_same(left, right, same_shape),
        (
            ExprKind::Binary { op: BinaryOp::Implies, left: guard, right: inner },
            ExprKind::Binary { op: BinaryOp::Implies, left: other_guard, right: other },
        ) => same_value(guard, other_guard) && same_shape(inner, other),
        _ => false,
    })
}

/// Whether an amount is positive, as far as that is seen at once.
fn is_positive(amount: &Expr) -> bool {
    let positive = |expr: &Expr| matches!(&expr.kind, ExprKind::Int(n) if *n > 0.into());
    match &amount.kind {
        ExprKind::FullPerm | ExprKind::Wildcard => true,
        ExprKind::Binary { op: BinaryOp::PermDiv, left, right } => {
            positive(left) && positive(right)
        }
        _ => false,
    }
}

/// Whether two expressions are the same, as far as that is seen at once.
fn same_value(left: &Expr, right: &Expr) -> bool {
    grow_stack(|| match (&left.kind, &right.kind) {
        (ExprKind::Local(left), ExprKind::Local(right)) => left == right,
        (ExprKind::Int(left), ExprKind::Int(right)) => left == right,
        (ExprKind::Bool(left), ExprKind::Bool(right)) => left == right,
        (ExprKind::Null, ExprKind::Null) => true,
        (
            ExprKind::FieldRead { receiver, field },
            ExprKind::FieldRead { receiver: other, field: other_field },
        ) => field == other_field && same_value(receiver, other),
        (
            ExprKind::Binary { op, left, right },
            ExprKind::Binary { op: other_op, left: other_left, right: other_right },
        ) => op == other_op && same_value(left, other_left) && same_value(right, other_right),
        (
            ExprKind::DomainApply { function, instance, arguments },
            ExprKind::DomainApply { function: other, instance: other_instance, arguments: others },
        ) => {
            function == other
                && instance == other_instance
                && all_same(arguments, others, same_value)
        }
        _ => false,
    })
}

fn all_same(left: &[Expr], right: &[Expr], same: fn(&Expr, &Expr) -> bool) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
}
