//! Constructors for the nodes of SIL's parse tree: those of [`sil::build`], and what only Chalice
//! needs.

pub(crate) use sil::build::*;

use sil::syntax::{Expr, Stmt, TypeKind};

/// `forall name: Ref :: {trigger} .. body`, each trigger a single term.
pub(crate) fn forall_ref(name: &str, triggers: Vec<Expr>, body: Expr) -> Expr {
    forall([typed(name, TypeKind::Ref)], triggers.into_iter().map(|trigger| vec![trigger]), body)
}

/// `forperm name: Ref [resource] :: body`
pub(crate) fn for_perm(name: &str, resource: Expr, body: Expr) -> Expr {
    forperm([typed(name, TypeKind::Ref)], resource, body)
}

/// `if (condition) { .. } else { .. }`; a condition that has no place in the program is marked as
/// made up.
pub(crate) fn branch(mut condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
    if !condition.annotations.iter().any(|annotation| &*annotation.key == "src.at") {
        condition = condition.with(generated());
    }
    sil::build::branch(condition, then, otherwise)
}
