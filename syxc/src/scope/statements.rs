//! Statements that have rules.

use chalice::program::locking::{chooses_by_wait_level, mentions_wait_level};
use chalice::program::{
    AccessTarget, Block, Bounds, Expr, ExprKind, LockMode, OutVariable, Rhs, Stmt, StmtKind, Type,
};

use super::{Found, Scope, has_range, is_credit, is_of_acquire, span};

impl<'d> Scope<'d> {
    pub(super) fn block(&mut self, block: &'d Block) -> Found {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'d Stmt) -> Found {
        let refuse = |what| Err((span(stmt.span), what));
        match &stmt.kind {
            StmtKind::Assert(expr) => self.asking([expr]),
            StmtKind::Prove(obligation) => self.expr(&obligation.claim),
            // Assumptions imply that their ranges are in order.
            StmtKind::Assume(expr) if expr.any(&mut has_range) => {
                refuse("ranges that are sequences")
            }
            StmtKind::Assume(expr) => self.asking([expr]),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Declare { value, .. } => value.iter().try_for_each(|value| self.value(value)),
            StmtKind::AssignLocal { value, .. } => self.value(value),
            StmtKind::AssignField { receiver, value, .. } => {
                self.expr(receiver)?;
                self.value(value)
            }
            StmtKind::Call { receiver, method, arguments, .. } => {
                self.expr(receiver)?;
                self.all(arguments)?;
                self.contract(&self.direct.tree.methods[*method])
            }
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    self.executed(&arm.condition)?;
                    self.block(&arm.body)?;
                }
                otherwise.iter().try_for_each(|block| self.block(block))
            }
            StmtKind::While { guard, invariants, lock_changes, body, .. } => {
                self.executed(guard)?;
                self.asking(invariants)?;
                self.all(lock_changes)?;
                self.block(body)
            }
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                if let AccessTarget::Predicate { receiver, .. } = &access.target {
                    self.expr(receiver)?;
                }
                let mut parts = Vec::new();
                access.amount.for_each_child(&mut |part| parts.push(part));
                self.all(parts)?;
                self.opening(access)
            }
            StmtKind::Specification { targets, pre, post } => {
                let is_constant =
                    |target: &OutVariable| self.direct.tree.locals[target.local].is_const;
                if targets.iter().any(is_constant) {
                    return refuse("specification statements for constants");
                }
                for clause in pre.iter().chain([post]) {
                    if clause.any(&mut is_of_thread) || clause.any(&mut has_range) {
                        return refuse("specification statements about threads, and ranges");
                    }
                }
                if self.has_channels() && chooses_by_wait_level(targets, post) {
                    return refuse("values that the wait level decides");
                }
                if mentions_wait_level(post) && post.any(&mut is_credit) {
                    return refuse("wait levels beside credits that a statement promises");
                }
                self.asking(pre.iter().chain([post]))
            }
            _ => self.shared_stmt(stmt),
        }
    }

    /// Checks a statement about several threads.
    fn shared_stmt(&mut self, stmt: &'d Stmt) -> Found {
        let refuse = |what| Err((span(stmt.span), what));
        match &stmt.kind {
            StmtKind::Fork { receiver, method, arguments, .. } => {
                self.expr(receiver)?;
                self.all(arguments)?;
                let callee = &self.direct.tree.methods[*method];
                if callee.requires.iter().any(|clause| clause.any(&mut is_of_acquire)) {
                    return refuse("a thread that is told of an acquire");
                }
                self.contract(callee)
            }
            StmtKind::Join { token, method, .. } => {
                self.expr(token)?;
                self.contract(&self.direct.tree.methods[*method])
            }
            StmtKind::Downgrade(target) => self.monitor(target, LockMode::Read),
            StmtKind::Acquire { target, mode } | StmtKind::Release { target, mode } => {
                self.monitor(target, *mode)
            }
            StmtKind::Lock { target, mode, body } => {
                self.monitor(target, *mode)?;
                self.block(body)
            }
            StmtKind::Share { target, bounds } => {
                self.monitor(target, LockMode::Write)?;
                self.bounds(bounds)
            }
            StmtKind::Reorder { target, bounds } => {
                self.expr(target)?;
                self.bounds(bounds)
            }
            StmtKind::Unshare(target) => self.expr(target),
            StmtKind::Free(target) => {
                if let Type::Class(class) = target.ty
                    && self.has_tracked(class)
                {
                    return refuse("back pointers");
                }
                self.expr(target)
            }
            StmtKind::Send { channel, declaration, arguments } => {
                self.expr(channel)?;
                self.all(arguments)?;
                self.messages(*declaration)
            }
            StmtKind::Receive { channel, declaration, .. } => {
                self.expr(channel)?;
                self.messages(*declaration)
            }
            StmtKind::Wait(_) => refuse("`wait`, as nothing obliges anybody to signal,"),
            StmtKind::Signal(_) | StmtKind::SignalAll(_) => {
                refuse("`signal`, as nobody can wait for it,")
            }
            _ => refuse("this form of statement"),
        }
    }

    /// Checks the bounds of a level.
    fn bounds(&mut self, bounds: &'d Bounds) -> Found {
        let is_wait_level = |bound: &&Expr| matches!(bound.kind, ExprKind::WaitLevel);
        self.all(bounds.lower.iter().filter(|bound| !is_wait_level(bound)).chain(&bounds.upper))
    }

    fn value(&mut self, value: &'d Rhs) -> Found {
        match value {
            Rhs::Expr(expr) => self.executed(expr),
            Rhs::New { initialisers, .. } => {
                initialisers.iter().try_for_each(|one| self.executed(&one.value))
            }
            Rhs::NewChannel { bounds, .. } => self.bounds(bounds),
        }
    }
}

/// Tells whether an expression is about held locks, or about a kept state.
fn is_of_thread(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Holds { .. } | ExprKind::Eval { .. })
}
