//! The order in which an assertion asks for permission to one location: exact amounts, then `rd*`.
//!
//! A conjunction asks for the sum of its amounts, in whatever order they stand. How much `rd*` is
//! is chosen where it is given away, and chosen of what is left there. So what is given exactly
//! goes first.
//!
//! SOUNDNESS: the same permission is asked for. What moves has the receiver of the `rd*` that it
//! moves ahead of, and its amount reads no location but those that are asked for before: so it is
//! defined where `rd*` is.

use front::grow_stack;

use crate::program::{
    Access, AccessTarget, BinaryOp, Block, Expr, ExprKind, Permission, PermissionKind, Program,
    Stmt, StmtKind,
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
            let mut readable = Vec::new();
            parts[..at].iter().for_each(|part| locations(part, &mut readable));
            let wanted = Wanted { targets, readable };
            parts.extend(behind.into_iter().filter_map(|part| wanted.out_of(part, &mut ahead)));
        }
        let next = at + ahead.len() + 1;
        parts.splice(at..at, ahead);
        at = next;
    }
}

/// Lists the single locations of which an assertion asks `rd*` in any case.
fn stars(e: &Expr, found: &mut Vec<AccessTarget>) {
    each_location(e, &mut |access| {
        if matches!(access.amount.kind, PermissionKind::Star) {
            found.push(access.target.clone());
        }
    });
}

/// Lists the single locations that an assertion asks for in any case, and may be read then.
fn locations(e: &Expr, found: &mut Vec<AccessTarget>) {
    each_location(e, &mut |access| {
        if matches!(access.amount.kind, PermissionKind::Full | PermissionKind::AbstractRead) {
            found.push(access.target.clone());
        }
    });
}

fn each_location(e: &Expr, visit: &mut dyn FnMut(&Access)) {
    match &e.kind {
        ExprKind::And(parts) => {
            parts.iter().for_each(|part| grow_stack(|| each_location(part, visit)));
        }
        ExprKind::Access(access)
            if matches!(
                access.target,
                AccessTarget::Field { .. } | AccessTarget::Predicate { .. }
            ) =>
        {
            visit(access);
        }
        _ => {}
    }
}

/// The locations whose exact amounts move ahead, and those that amounts may read there.
struct Wanted {
    targets: Vec<AccessTarget>,
    readable: Vec<AccessTarget>,
}

impl Wanted {
    /// Takes the exact amounts out of an assertion; nothing if that is all of it.
    fn out_of(&self, mut e: Expr, taken: &mut Vec<Expr>) -> Option<Expr> {
        match &mut e.kind {
            ExprKind::And(parts) => {
                let all = std::mem::take(parts);
                let mut rest = all.into_iter().filter_map(|part| self.out_of(part, taken));
                let first = rest.next()?;
                let Some(second) = rest.next() else { return Some(first) };
                parts.extend([first, second]);
                parts.extend(rest);
            }
            ExprKind::Access(access)
                if self.targets.contains(&access.target) && self.is_exact(&access.amount) =>
            {
                taken.push(e);
                return None;
            }
            _ => {}
        }
        Some(e)
    }

    /// Tells whether an amount is made of numbers, variables and the fraction of the contract.
    fn is_exact(&self, amount: &Permission) -> bool {
        let mut exact = true;
        amount.for_each_amount(&mut |part| {
            exact &= match part {
                PermissionKind::Full | PermissionKind::AbstractRead => true,
                PermissionKind::Percentage(count) | PermissionKind::Epsilons(count) => {
                    self.has_value(count)
                }
                PermissionKind::Add(..) | PermissionKind::Sub(..) => true,
                PermissionKind::Scale { factor, .. } => self.has_value(factor),
                PermissionKind::Star
                | PermissionKind::PredicateRead(_)
                | PermissionKind::MonitorRead(_)
                | PermissionKind::ChannelRead(_)
                | PermissionKind::TokenRead(_) => false,
            };
        });
        exact
    }

    /// Tells whether a number has a value, and the same one, wherever what is readable is.
    fn has_value(&self, number: &Expr) -> bool {
        !number.any(&mut |part| match &part.kind {
            ExprKind::Int(_)
            | ExprKind::Local(_)
            | ExprKind::This
            | ExprKind::Unary { .. }
            | ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, .. } => false,
            ExprKind::FieldRead { receiver, field } => !self.readable.iter().any(|one| {
                matches!(one, AccessTarget::Field { receiver: of, field: named }
                    if *of == **receiver && named == field)
            }),
            _ => true,
        })
    }
}
