//! Making expressions.

use rustc_hash::FxHashMap;

use super::Locals;
use crate::program::{BinaryOp, Expr, ExprKind, Local, LocalId, LocalKind, OldLabel, Type};
use crate::source::{Name, Span};
use crate::walk::walk_expr;

pub(super) fn is_literal(expr: &Expr, value: bool) -> bool {
    matches!(expr.kind, ExprKind::Bool(other) if other == value)
}

pub(super) fn local(id: LocalId, ty: Type, span: Span) -> Expr {
    Expr::new(ExprKind::Local(id), ty, span)
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr::new(
        ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
        Type::Bool,
        span,
    )
}

pub(super) fn and(operands: Vec<Expr>, span: Span) -> Expr {
    if operands.iter().any(|operand| is_literal(operand, false)) {
        return Expr::boolean(false, span);
    }
    several(operands, true, ExprKind::And, span)
}

pub(super) fn or(operands: Vec<Expr>, span: Span) -> Expr {
    if operands.iter().any(|operand| is_literal(operand, true)) {
        return Expr::boolean(true, span);
    }
    several(operands, false, ExprKind::Or, span)
}

fn several(
    mut operands: Vec<Expr>,
    neutral: bool,
    kind: fn(Vec<Expr>) -> ExprKind,
    span: Span,
) -> Expr {
    operands.retain(|operand| !is_literal(operand, neutral));
    match operands.len() {
        0 => Expr::boolean(neutral, span),
        1 => operands.remove(0),
        _ => Expr::new(kind(operands), Type::Bool, span),
    }
}

pub(super) fn implies(guard: Expr, body: Expr, span: Span) -> Expr {
    if is_literal(&guard, true) || is_literal(&body, true) {
        return body;
    }
    binary(BinaryOp::Implies, guard, body, span)
}

/// Returns the value at the entry of the member.
pub(super) fn at_entry(body: Expr) -> Expr {
    if matches!(body.kind, ExprKind::Bool(_)) {
        return body;
    }
    let (ty, span) = (body.ty.clone(), body.span);
    Expr::new(ExprKind::Old { label: OldLabel::Entry, body: Box::new(body) }, ty, span)
}

/// Makes the expression that says at the entry of the member the same as `expr`.
pub(super) fn where_old_is_now(expr: &Expr) -> Expr {
    let mut copy = expr.clone();
    copy.rewrite(&mut |part| {
        while let ExprKind::Old { label: OldLabel::Entry, body } = &part.kind {
            *part = Expr::clone(body);
        }
        true
    });
    copy
}

/// Returns a variable that no user sees.
pub(super) fn fresh(locals: &mut Locals, name: &str, ty: Type, span: Span) -> LocalId {
    locals.alloc(Local { name: Name::from(name), ty, kind: LocalKind::Variable, span })
}

/// Tells whether a function is applied somewhere in the expression.
pub(super) fn has_calls(expr: &Expr) -> bool {
    expr.any(|expr| matches!(expr.kind, ExprKind::Apply { .. }))
}

/// Returns the expression with `place` as the origin of each of its nodes.
pub(super) fn placed(expr: &Expr, place: Span) -> Expr {
    let mut copy = expr.clone();
    self::place(&mut copy, place);
    copy
}

/// Gives each node of the expression `place` as its origin.
pub(super) fn place(expr: &mut Expr, place: Span) {
    expr.rewrite(&mut |part| {
        part.span.origin = place.origin;
        true
    });
}

/// Returns an expression of another member in terms of this one: its formals are replaced by
/// `values`, the variables it binds become variables in `locals`.
///
/// SOUNDNESS: what else it mentions, such as results, has any value: the other member's variables
/// are none of this one. Its old state would be taken for that of this one: there must be none (see
/// [`where_old_is_now`]).
pub(super) fn imported(
    expr: &Expr,
    from: &Locals,
    values: &FxHashMap<LocalId, Expr>,
    locals: &mut Locals,
    place: Span,
) -> Expr {
    let mut values = values.clone();
    let mut bound = FxHashMap::default();
    walk_expr(expr, |expr| {
        for &variable in expr.bound_variables() {
            let new = locals.alloc(from[variable].clone());
            bound.insert(variable, new);
            values.insert(variable, local(new, from[variable].ty.clone(), place));
        }
    });
    walk_expr(expr, |expr| {
        if let ExprKind::Local(variable) = expr.kind {
            values.entry(variable).or_insert_with(|| {
                let declared = &from[variable];
                let new = fresh(locals, &declared.name, declared.ty.clone(), place);
                local(new, declared.ty.clone(), place)
            });
        }
    });
    replaced(expr, &values, &bound, place)
}

/// Returns the expression with variables replaced by `values`, and with `place` as the origin of
/// each of its nodes.
pub(super) fn with_values(expr: &Expr, values: &FxHashMap<LocalId, Expr>, place: Span) -> Expr {
    replaced(expr, values, &FxHashMap::default(), place)
}

fn replaced(
    expr: &Expr,
    values: &FxHashMap<LocalId, Expr>,
    bound: &FxHashMap<LocalId, LocalId>,
    place: Span,
) -> Expr {
    let rename = |variable: &mut LocalId| {
        if let Some(new) = bound.get(variable) {
            *variable = *new;
        }
    };
    let mut copy = expr.clone();
    copy.rewrite(&mut |part| {
        part.span.origin = place.origin;
        match &mut part.kind {
            ExprKind::Local(id) => {
                if let Some(value) = values.get(id) {
                    *part = value.clone();
                }
                return false;
            }
            ExprKind::Quantified { variables, .. } | ExprKind::ForPerm { variables, .. } => {
                variables.iter_mut().for_each(rename);
            }
            ExprKind::Let { variable, .. } => rename(variable),
            _ => {}
        }
        true
    });
    copy
}
