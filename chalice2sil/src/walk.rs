//! The parts of expressions, beside those that the language itself offers.

pub(crate) use chalice::program::walk::{each_expr_in_block, each_expr_of_stmt, each_stmt};
use chalice::program::{Access, Expr, ExprKind};

/// Returns the access that stands directly in an expression, as an assertion or below `unfolding`.
pub(crate) fn access_of(e: &Expr) -> Option<&Access> {
    match &e.kind {
        ExprKind::Access(access) | ExprKind::Unfolding { access, .. } => Some(access),
        _ => None,
    }
}
