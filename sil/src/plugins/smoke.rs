//! Smoke detection: `refute false` at the places of a body where something contradictory may have
//! been said. Opt-in.
//!
//! A check stands behind each `inhale` and `assume`, before each `goto`, at the end of the branches
//! of a conditional, if there is something in them, at the end of the bodies of loops and of a
//! method, and is reported there. A statement `unreachable` says that its place may be dead: what
//! follows it in the same run of statements is not checked.

use front::grow_stack;

use crate::program::{Block, Body, Expr, ExprKind, Program, Stmt, StmtKind};
use crate::source::Span;

/// Returns the program with its smoke checks. Bodies that are graphs get none.
pub fn instrument(program: &Program) -> Program {
    let mut program = program.clone();
    for (_, method) in program.methods.iter_mut() {
        let span = method.span;
        for implementation in &mut method.implementations {
            if let Body::Structured(block) = &mut implementation.body {
                let may_be_dead = in_statements(&mut block.statements, false);
                if !may_be_dead {
                    block.statements.push(check(span));
                }
            }
        }
    }
    program
}

/// Puts checks between statements. `may_be_dead`: whether the place before them has been said to be
/// out of reach; yields the same for the place behind them.
fn in_statements(statements: &mut Vec<Stmt>, mut may_be_dead: bool) -> bool {
    let mut all = Vec::with_capacity(statements.len());
    for mut statement in std::mem::take(statements) {
        let span = statement.span;
        match &mut statement.kind {
            StmtKind::Unreachable => may_be_dead = true,
            StmtKind::Label { .. } => may_be_dead = false,
            StmtKind::Goto(_) => {
                if !may_be_dead {
                    all.push(check(span));
                }
                may_be_dead = false;
            }
            StmtKind::If { then, otherwise, .. } => {
                let then = in_branch(then, may_be_dead);
                let otherwise =
                    otherwise.as_mut().map_or(may_be_dead, |block| in_branch(block, may_be_dead));
                may_be_dead = then && otherwise;
            }
            StmtKind::While { body, .. } => {
                in_block(body, may_be_dead);
            }
            StmtKind::Block(block) | StmtKind::Package { script: block, .. } => {
                may_be_dead = grow_stack(|| in_statements(&mut block.statements, may_be_dead));
            }
            _ => {}
        }
        let assumes = matches!(statement.kind, StmtKind::Inhale(_) | StmtKind::Assume(_));
        all.push(statement);
        if assumes && !may_be_dead {
            all.push(check(span));
        }
    }
    *statements = all;
    may_be_dead
}

/// Returns a branch, with a check at its end if it is more than a way around the other one.
fn in_branch(block: &mut Block, may_be_dead: bool) -> bool {
    if block.statements.is_empty() { may_be_dead } else { in_block(block, may_be_dead) }
}

/// Returns a branch or the body of a loop, with a check at its end: an invariant may contradict the
/// condition of a loop whose body is empty.
fn in_block(block: &mut Block, may_be_dead: bool) -> bool {
    let may_be_dead = grow_stack(|| in_statements(&mut block.statements, may_be_dead));
    if !may_be_dead {
        block.statements.push(check(block.span));
    }
    may_be_dead
}

/// Tells whether a statement is one of the checks. A `refute` of the user is longer than its
/// assertion, or a macro makes both and they say the same.
pub fn is_check(statement: &Stmt) -> bool {
    let StmtKind::Refute(assertion) = &statement.kind else { return false };
    matches!(assertion.kind, ExprKind::Bool(false)) && assertion.span == statement.span
}

fn check(span: Span) -> Stmt {
    Stmt::new(StmtKind::Refute(Expr::boolean(false, span)), span)
}
