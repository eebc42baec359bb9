//! Statements, named after the syntax they make.

use super::{call, ident, typed};
use crate::source::Span;
use crate::syntax::{Block, Expr, Stmt, StmtKind, Type};

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { annotations: Vec::new(), kind, span: Span::default() }
}

pub fn inhale(assertion: Expr) -> Stmt {
    stmt(StmtKind::Inhale(assertion))
}

pub fn exhale(assertion: Expr) -> Stmt {
    stmt(StmtKind::Exhale(assertion))
}

pub fn assert(assertion: Expr) -> Stmt {
    stmt(StmtKind::Assert(assertion))
}

pub fn assume(assertion: Expr) -> Stmt {
    stmt(StmtKind::Assume(assertion))
}

pub fn refute(assertion: Expr) -> Stmt {
    stmt(StmtKind::Refute(assertion))
}

/// `fold access`: an `acc(..)` or the call of a predicate.
pub fn fold(access: Expr) -> Stmt {
    stmt(StmtKind::Fold(access))
}

/// `unfold access`: an `acc(..)` or the call of a predicate.
pub fn unfold(access: Expr) -> Stmt {
    stmt(StmtKind::Unfold(access))
}

/// `package wand { script }`
pub fn package(wand: Expr, script: impl IntoIterator<Item = Stmt>) -> Stmt {
    stmt(StmtKind::Package { wand, script: Some(block(script)) })
}

/// `apply wand`
pub fn apply(wand: Expr) -> Stmt {
    stmt(StmtKind::Apply(wand))
}

/// `quasihavoc condition ==> resource`
pub fn quasihavoc(condition: Option<Expr>, resource: Expr) -> Stmt {
    stmt(StmtKind::Quasihavoc { condition, resource })
}

/// `var name: T := value`
pub fn declare(name: &str, ty: impl Into<Type>, value: Option<Expr>) -> Stmt {
    stmt(StmtKind::Var { variables: vec![typed(name, ty)], initialiser: value })
}

/// `target := value`; the value may also be `new(..)` or a call of a method.
pub fn assign(target: Expr, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { targets: vec![target], value })
}

/// `targets := method(arguments)`
pub fn call_method(
    targets: impl IntoIterator<Item = Expr>,
    method: &str,
    arguments: impl IntoIterator<Item = Expr>,
) -> Stmt {
    let value = call(method, arguments);
    let targets: Vec<Expr> = targets.into_iter().collect();
    if targets.is_empty() {
        stmt(StmtKind::Expr(value))
    } else {
        stmt(StmtKind::Assign { targets, value })
    }
}

/// Statements in braces.
pub fn block(statements: impl IntoIterator<Item = Stmt>) -> Block {
    Block { statements: statements.into_iter().collect(), span: Span::default() }
}

/// `{ .. }` as a statement: a scope of its own.
pub fn block_stmt(statements: impl IntoIterator<Item = Stmt>) -> Stmt {
    stmt(StmtKind::Block(block(statements)))
}

/// `if (condition) { .. } else { .. }`, without the `else` if there is nothing in it.
pub fn branch(
    condition: Expr,
    then: impl IntoIterator<Item = Stmt>,
    otherwise: impl IntoIterator<Item = Stmt>,
) -> Stmt {
    let otherwise = block(otherwise);
    let otherwise = (!otherwise.statements.is_empty()).then_some(otherwise);
    stmt(StmtKind::If { condition, then: block(then), otherwise })
}

/// Makes the block of an `else`. A single `if` whose condition has a place needs no place itself,
/// and is printed as `elseif`, so that long chains are not nested.
pub fn chained(mut otherwise: Vec<Stmt>) -> Vec<Stmt> {
    if let [only] = &mut otherwise[..]
        && let StmtKind::If { condition, .. } = &only.kind
        && condition.annotations.iter().any(|annotation| &*annotation.key == "src.at")
    {
        only.annotations.clear();
    }
    otherwise
}

/// `while (condition) invariant .. { .. }`
pub fn while_loop(
    condition: Expr,
    invariants: impl IntoIterator<Item = Expr>,
    body: impl IntoIterator<Item = Stmt>,
) -> Stmt {
    let invariants = invariants.into_iter().collect();
    stmt(StmtKind::While { condition, invariants, decreases: Vec::new(), body: block(body) })
}

/// `label name`
pub fn label(name: &str) -> Stmt {
    loop_label(name, [])
}

/// `label name invariant ..`: the head of a loop that is made of `goto`s.
pub fn loop_label(name: &str, invariants: impl IntoIterator<Item = Expr>) -> Stmt {
    let invariants = invariants.into_iter().collect();
    stmt(StmtKind::Label { name: ident(name), invariants, decreases: Vec::new() })
}

/// `goto label`
pub fn goto(label: &str) -> Stmt {
    stmt(StmtKind::Goto(ident(label)))
}
