//! Walks over resolved Chalice programs.

use chalice::program::{
    Access, AccessTarget, Block, Bounds, Domain, EvalState, Expr, ExprKind, Permission,
    PermissionKind, Rhs, Stmt, StmtKind,
};

use crate::stack::grow;

/// Visits `e` and every expression in it, outermost first.
pub(crate) fn each_expr<'e>(e: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    grow(|| {
        visit(e);
        each_child(e, &mut |child| each_expr(child, visit));
    });
}

/// Visits the expressions directly below `e`, in source order.
pub(crate) fn each_child<'e>(e: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &e.kind {
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::String(_)
        | ExprKind::This
        | ExprKind::Result
        | ExprKind::WaitLevel
        | ExprKind::LockBottom
        | ExprKind::Local(_)
        | ExprKind::Assigned(_) => {}
        ExprKind::FieldRead { receiver, .. } | ExprKind::BackPointers { receiver, .. } => {
            visit(receiver);
        }
        ExprKind::Apply { receiver, arguments, .. } => {
            visit(receiver);
            arguments.iter().for_each(visit);
        }
        ExprKind::Unary { operand, .. } => visit(operand),
        ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::And(parts)
        | ExprKind::Or(parts)
        | ExprKind::Seq(parts)
        | ExprKind::Set(parts) => {
            parts.iter().for_each(visit);
        }
        ExprKind::Implies { guard, body } => {
            visit(guard);
            visit(body);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Old(body) | ExprKind::Length(body) => visit(body),
        ExprKind::Unfolding { access, body } => {
            each_in_access(access, visit);
            visit(body);
        }
        ExprKind::Range { from, to } => {
            visit(from);
            visit(to);
        }
        ExprKind::Index { sequence, index } => {
            visit(sequence);
            visit(index);
        }
        ExprKind::Slice { sequence, from, to } => {
            visit(sequence);
            from.iter().for_each(|from| visit(from));
            to.iter().for_each(|to| visit(to));
        }
        ExprKind::Quantified { domain, body, .. } => {
            if let Domain::Collection(collection) = domain {
                visit(collection);
            }
            visit(body);
        }
        ExprKind::Holds { target, .. } => visit(target),
        ExprKind::Access(access) => each_in_access(access, visit),
        ExprKind::Credit { channel, amount } => {
            visit(channel);
            amount.iter().for_each(|amount| visit(amount));
        }
        ExprKind::Eval { state, body } => {
            match &**state {
                EvalState::Acquire(target) | EvalState::Release(target) => visit(target),
                EvalState::Fork { token, receiver, arguments, .. } => {
                    visit(token);
                    visit(receiver);
                    arguments.iter().flatten().for_each(&mut *visit);
                }
            }
            visit(body);
        }
    }
}

fn each_in_access<'e>(access: &'e Access, visit: &mut dyn FnMut(&'e Expr)) {
    match &access.target {
        AccessTarget::Field { receiver, .. }
        | AccessTarget::Predicate { receiver, .. }
        | AccessTarget::AllFields { receiver, .. }
        | AccessTarget::BackPointers { receiver, .. } => visit(receiver),
        AccessTarget::ElementsField { elements, .. }
        | AccessTarget::ElementsAllFields { elements, .. } => {
            visit(elements);
        }
    }
    each_in_amount(&access.amount, visit);
}

fn each_in_amount<'e>(amount: &'e Permission, visit: &mut dyn FnMut(&'e Expr)) {
    match &amount.kind {
        PermissionKind::Percentage(e)
        | PermissionKind::Epsilons(e)
        | PermissionKind::PredicateRead(e)
        | PermissionKind::MonitorRead(e)
        | PermissionKind::ChannelRead(e)
        | PermissionKind::TokenRead(e) => visit(e),
        PermissionKind::Add(left, right) | PermissionKind::Sub(left, right) => {
            each_in_amount(left, visit);
            each_in_amount(right, visit);
        }
        PermissionKind::Scale { factor, amount } => {
            visit(factor);
            each_in_amount(amount, visit);
        }
        _ => {}
    }
}

/// Visits every amount and the amounts it is made of.
pub(crate) fn each_amount<'e>(amount: &'e Permission, visit: &mut dyn FnMut(&'e PermissionKind)) {
    visit(&amount.kind);
    match &amount.kind {
        PermissionKind::Add(left, right) | PermissionKind::Sub(left, right) => {
            each_amount(left, visit);
            each_amount(right, visit);
        }
        PermissionKind::Scale { amount, .. } => each_amount(amount, visit),
        _ => {}
    }
}

/// The access that stands directly in an expression, as an assertion or below `unfolding`.
pub(crate) fn access_of(e: &Expr) -> Option<&Access> {
    match &e.kind {
        ExprKind::Access(access) | ExprKind::Unfolding { access, .. } => Some(access),
        _ => None,
    }
}

/// Visits every statement of a block, nested ones included, outermost first.
pub(crate) fn each_stmt<'s>(block: &'s Block, visit: &mut dyn FnMut(&'s Stmt)) {
    for stmt in &block.stmts {
        grow(|| {
            visit(stmt);
            each_block(stmt, &mut |inner| each_stmt(inner, visit));
        });
    }
}

/// Visits the blocks directly below a statement.
pub(crate) fn each_block<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Block)) {
    match &stmt.kind {
        StmtKind::Block(body) | StmtKind::While { body, .. } | StmtKind::Lock { body, .. } => {
            visit(body);
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter().for_each(|arm| visit(&arm.body));
            otherwise.iter().for_each(visit);
        }
        _ => {}
    }
}

/// Visits the outermost expressions of a statement itself, not those of statements in it.
pub(crate) fn each_expr_of_stmt<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Expr)) {
    match &stmt.kind {
        StmtKind::Assert(e)
        | StmtKind::Assume(e)
        | StmtKind::Unshare(e)
        | StmtKind::Downgrade(e)
        | StmtKind::Free(e) => {
            visit(e);
        }
        StmtKind::Block(_) => {}
        StmtKind::Declare { value, .. } => value.iter().for_each(|value| each_in_rhs(value, visit)),
        StmtKind::AssignLocal { value, .. } => each_in_rhs(value, visit),
        StmtKind::AssignField { receiver, value, .. } => {
            visit(receiver);
            each_in_rhs(value, visit);
        }
        StmtKind::Specification { pre, post, .. } => {
            pre.iter().for_each(&mut *visit);
            visit(post);
        }
        StmtKind::Call { receiver, arguments, .. } | StmtKind::Fork { receiver, arguments, .. } => {
            visit(receiver);
            arguments.iter().for_each(visit);
        }
        StmtKind::Join { token, .. } => visit(token),
        StmtKind::If { arms, .. } => arms.iter().for_each(|arm| visit(&arm.condition)),
        StmtKind::While { guard, invariants, lock_changes, .. } => {
            visit(guard);
            invariants.iter().for_each(&mut *visit);
            lock_changes.iter().for_each(visit);
        }
        StmtKind::Share { target, bounds } | StmtKind::Reorder { target, bounds } => {
            visit(target);
            each_in_bounds(bounds, visit);
        }
        StmtKind::Acquire { target, .. }
        | StmtKind::Release { target, .. }
        | StmtKind::Lock { target, .. } => {
            visit(target);
        }
        StmtKind::Fold(access) | StmtKind::Unfold(access) => each_in_access(access, visit),
        StmtKind::Send { channel, arguments, .. } => {
            visit(channel);
            arguments.iter().for_each(visit);
        }
        StmtKind::Receive { channel, .. } => visit(channel),
        StmtKind::Wait(condition)
        | StmtKind::Signal(condition)
        | StmtKind::SignalAll(condition) => {
            visit(&condition.receiver);
        }
    }
}

fn each_in_rhs<'s>(value: &'s Rhs, visit: &mut dyn FnMut(&'s Expr)) {
    match value {
        Rhs::Expr(e) => visit(e),
        Rhs::New { initialisers, .. } => {
            initialisers.iter().for_each(|initialiser| visit(&initialiser.value));
        }
        Rhs::NewChannel { bounds, .. } => each_in_bounds(bounds, visit),
    }
}

fn each_in_bounds<'s>(bounds: &'s Bounds, visit: &mut dyn FnMut(&'s Expr)) {
    bounds.lower.iter().chain(&bounds.upper).for_each(visit);
}

/// Visits every expression of a body, at any depth.
pub(crate) fn each_expr_in_block<'s>(block: &'s Block, visit: &mut dyn FnMut(&'s Expr)) {
    each_stmt(block, &mut |stmt| each_expr_of_stmt(stmt, &mut |e| each_expr(e, visit)));
}

/// The right-hand side of a statement that has one.
pub(crate) fn rhs_of(stmt: &Stmt) -> Option<&Rhs> {
    match &stmt.kind {
        StmtKind::Declare { value, .. } => value.as_ref(),
        StmtKind::AssignLocal { value, .. } | StmtKind::AssignField { value, .. } => Some(value),
        _ => None,
    }
}

/// Is there an accessibility assertion or credit in `e`, other than to say what `unfolding` opens?
pub(crate) fn is_impure(e: &Expr) -> bool {
    grow(|| match &e.kind {
        ExprKind::Access(_) | ExprKind::Credit { .. } => true,
        ExprKind::And(parts) => parts.iter().any(is_impure),
        ExprKind::Implies { body, .. } => is_impure(body),
        ExprKind::Conditional { then, otherwise, .. } => is_impure(then) || is_impure(otherwise),
        ExprKind::Quantified { body, .. } | ExprKind::Eval { body, .. } => is_impure(body),
        _ => false,
    })
}
