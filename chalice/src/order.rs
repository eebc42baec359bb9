//! The order in which an assertion asks for permission to one location: exact amounts, then `rd*`.
//!
//! A conjunction asks for the sum of its amounts, in whatever order they stand. How much `rd*` is
//! is chosen where it is given away, and chosen of what is left there. So what is given exactly
//! goes first.
//!
//! SOUNDNESS: the same permission is asked for. What moves has the receiver of the `rd*` that it
//! moves ahead of, and its amount reads no location: so it is defined where `rd*` is.

use front::grow_stack;

use crate::program::{
    AccessTarget, BinaryOp, Block, Expr, ExprKind, Permission, PermissionKind, Program, Stmt,
    StmtKind,
};

/// Orders the amounts of every assertion that permission is given by.
pub(crate) fn put_exact_amounts_first(program: &mut Program) {
    for method in program.methods.values_mut() {
        clauses(&mut method.requires);
        clauses(&mut method.ensures);
        block(&mut method.body);
    }
    program.classes.values_mut().for_each(|class| clauses(&mut class.invariants));
    let channels = program.channels.values_mut().filter_map(|one| one.where_clause.as_mut());
    let bodies = program.predicates.values_mut().map(|predicate| &mut predicate.body);
    bodies.chain(channels).for_each(assertion);
}

fn block(of: &mut Block) {
    of.stmts.iter_mut().for_each(|stmt| grow_stack(|| inside(stmt)));
}

fn inside(stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Block(body) | StmtKind::Lock { body, .. } => block(body),
        StmtKind::While { invariants, body, .. } => {
            clauses(invariants);
            block(body);
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter_mut().map(|arm| &mut arm.body).chain(otherwise).for_each(block);
        }
        StmtKind::Assert(claim) => assertion(claim),
        StmtKind::Specification { pre, post, .. } => {
            pre.iter_mut().chain([post]).for_each(assertion);
        }
        _ => {}
    }
}

/// Orders clauses, which are conjuncts.
fn clauses(all: &mut Vec<Expr>) {
    all.iter_mut().for_each(assertion);
    conjuncts(all);
}

fn assertion(e: &mut Expr) {
    grow_stack(|| match &mut e.kind {
        ExprKind::And(parts) => clauses(parts),
        ExprKind::Implies { body, .. } | ExprKind::Quantified { body, .. } => assertion(body),
        ExprKind::Conditional { then, otherwise, .. } => {
            assertion(then);
            assertion(otherwise);
        }
        _ => {}
    });
}

fn conjuncts(parts: &mut Vec<Expr>) {
    let mut at = 0;
    while at < parts.len() {
        let mut targets = Vec::new();
        stars(&parts[at], &mut targets);
        let mut ahead = Vec::new();
        if !targets.is_empty() {
            let behind = parts.split_off(at + 1);
            parts.extend(behind.into_iter().filter_map(|part| without(part, &targets, &mut ahead)));
        }
        let next = at + ahead.len() + 1;
        parts.splice(at..at, ahead);
        at = next;
    }
}

/// Lists the single locations of which an assertion asks `rd*` in any case.
fn stars(e: &Expr, found: &mut Vec<AccessTarget>) {
    match &e.kind {
        ExprKind::And(parts) => parts.iter().for_each(|part| grow_stack(|| stars(part, found))),
        ExprKind::Access(access)
            if matches!(access.amount.kind, PermissionKind::Star)
                && matches!(
                    access.target,
                    AccessTarget::Field { .. } | AccessTarget::Predicate { .. }
                ) =>
        {
            found.push(access.target.clone());
        }
        _ => {}
    }
}

/// Takes the exact amounts of some locations out of an assertion; nothing if that is all of it.
fn without(mut e: Expr, targets: &[AccessTarget], taken: &mut Vec<Expr>) -> Option<Expr> {
    match &mut e.kind {
        ExprKind::And(parts) => {
            let all = std::mem::take(parts);
            let mut rest = all.into_iter().filter_map(|part| without(part, targets, taken));
            let first = rest.next()?;
            let Some(second) = rest.next() else { return Some(first) };
            parts.extend([first, second]);
            parts.extend(rest);
        }
        ExprKind::Access(access)
            if targets.contains(&access.target) && is_exact(&access.amount) =>
        {
            taken.push(e);
            return None;
        }
        _ => {}
    }
    Some(e)
}

/// Tells whether an amount is made of numbers, variables and the fraction of the contract.
fn is_exact(amount: &Permission) -> bool {
    let mut exact = true;
    amount.for_each_amount(&mut |part| {
        exact &= match part {
            PermissionKind::Full | PermissionKind::AbstractRead => true,
            PermissionKind::Percentage(count) | PermissionKind::Epsilons(count) => {
                reads_none(count)
            }
            PermissionKind::Add(..) | PermissionKind::Sub(..) => true,
            PermissionKind::Scale { factor, .. } => reads_none(factor),
            PermissionKind::Star
            | PermissionKind::PredicateRead(_)
            | PermissionKind::MonitorRead(_)
            | PermissionKind::ChannelRead(_)
            | PermissionKind::TokenRead(_) => false,
        };
    });
    exact
}

/// Tells whether a number has a value in every state, and the same one.
fn reads_none(number: &Expr) -> bool {
    !number.any(&mut |part| {
        !matches!(
            part.kind,
            ExprKind::Int(_)
                | ExprKind::Local(_)
                | ExprKind::Unary { .. }
                | ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, .. }
        )
    })
}
