//! Walks over statements; most of those over expressions are methods of [`Expr`].

use std::borrow::Cow;

use front::grow_stack;

use super::{Block, Bounds, Expr, ExprKind, FunctionId, LocalId, Program, Rhs, Stmt, StmtKind};

/// Returns the functions that expressions apply, in order, perhaps more than once.
pub fn applied<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<FunctionId> {
    let mut applied = Vec::new();
    for expr in exprs {
        expr.for_each(&mut |part| {
            if let ExprKind::Apply { function, .. } = part.kind {
                applied.push(function);
            }
        });
    }
    applied
}

/// Visits every statement of a block, nested ones included, outermost first.
pub fn each_stmt<'s>(block: &'s Block, visit: &mut dyn FnMut(&'s Stmt)) {
    for stmt in &block.stmts {
        grow_stack(|| {
            visit(stmt);
            each_block(stmt, &mut |inner| each_stmt(inner, visit));
        });
    }
}

/// Visits the blocks directly below a statement.
pub fn each_block<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Block)) {
    match &stmt.kind {
        StmtKind::Block(body) | StmtKind::While { body, .. } | StmtKind::Lock { body, .. } => {
            visit(body);
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter().for_each(|arm| visit(&arm.body));
            otherwise.iter().for_each(visit);
        }
        StmtKind::Assert(_)
        | StmtKind::Prove(_)
        | StmtKind::Assume(_)
        | StmtKind::Declare { .. }
        | StmtKind::AssignLocal { .. }
        | StmtKind::AssignField { .. }
        | StmtKind::Specification { .. }
        | StmtKind::Call { .. }
        | StmtKind::Fork { .. }
        | StmtKind::Join { .. }
        | StmtKind::Share { .. }
        | StmtKind::Reorder { .. }
        | StmtKind::Unshare(_)
        | StmtKind::Acquire { .. }
        | StmtKind::Release { .. }
        | StmtKind::Downgrade(_)
        | StmtKind::Free(_)
        | StmtKind::Fold(_)
        | StmtKind::Unfold(_)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Wait(_)
        | StmtKind::Signal(_)
        | StmtKind::SignalAll(_) => {}
    }
}

/// Visits the outermost expressions of a statement itself, not those of statements in it.
pub fn each_expr_of_stmt<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Expr)) {
    match &stmt.kind {
        StmtKind::Assert(e)
        | StmtKind::Assume(e)
        | StmtKind::Unshare(e)
        | StmtKind::Downgrade(e)
        | StmtKind::Free(e) => {
            visit(e);
        }
        StmtKind::Prove(obligation) => visit(&obligation.claim),
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
        StmtKind::While { guard, invariants, lock_changes, decreases, .. } => {
            visit(guard);
            invariants.iter().for_each(&mut *visit);
            lock_changes.iter().for_each(&mut *visit);
            decreases.iter().for_each(|measure| visit(&measure.number));
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
        StmtKind::Fold(access) | StmtKind::Unfold(access) => access.for_each_child(visit),
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
pub fn each_expr_in_block<'s>(block: &'s Block, visit: &mut dyn FnMut(&'s Expr)) {
    each_stmt(block, &mut |stmt| each_expr_of_stmt(stmt, &mut |e| e.for_each(visit)));
}

/// Returns the right-hand side of a statement that has one.
pub fn rhs_of(stmt: &Stmt) -> Option<&Rhs> {
    match &stmt.kind {
        StmtKind::Declare { value, .. } => value.as_ref(),
        StmtKind::AssignLocal { value, .. } | StmtKind::AssignField { value, .. } => Some(value),
        _ => None,
    }
}

/// Returns the variables that a statement, apart from those in it, gives a value after their
/// declaration.
pub fn assigned_by(stmt: &Stmt) -> impl Iterator<Item = LocalId> + '_ {
    let (one, outs, token) = match &stmt.kind {
        StmtKind::AssignLocal { local, .. } => (Some(*local), &[][..], None),
        StmtKind::Call { outs, .. }
        | StmtKind::Join { outs, .. }
        | StmtKind::Receive { outs, .. }
        | StmtKind::Specification { targets: outs, .. } => (None, &outs[..], None),
        StmtKind::Fork { token, .. } => (None, &[][..], token.as_ref()),
        StmtKind::Assert(_)
        | StmtKind::Prove(_)
        | StmtKind::Assume(_)
        | StmtKind::Block(_)
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Lock { .. }
        | StmtKind::Declare { .. }
        | StmtKind::AssignField { .. }
        | StmtKind::Share { .. }
        | StmtKind::Reorder { .. }
        | StmtKind::Unshare(_)
        | StmtKind::Acquire { .. }
        | StmtKind::Release { .. }
        | StmtKind::Downgrade(_)
        | StmtKind::Free(_)
        | StmtKind::Fold(_)
        | StmtKind::Unfold(_)
        | StmtKind::Send { .. }
        | StmtKind::Wait(_)
        | StmtKind::Signal(_)
        | StmtKind::SignalAll(_) => (None, &[][..], None),
    };
    one.into_iter().chain(outs.iter().chain(token).map(|out| out.local))
}

/// Returns all clauses and bodies of a program that are no statements.
fn assertions(program: &Program) -> impl Iterator<Item = &Expr> {
    let methods = program.methods.values().flat_map(|method| {
        let measures = method.decreases.iter().map(|measure| &measure.number);
        method.requires.iter().chain(&method.ensures).chain(&method.lock_changes).chain(measures)
    });
    let functions = program.functions.values().flat_map(|function| {
        let measures = function.decreases.iter().map(|measure| &measure.number);
        function.requires.iter().chain(&function.ensures).chain(&function.body).chain(measures)
    });
    let predicates = program.predicates.values().map(|predicate| &predicate.body);
    let monitors = program.classes.values().flat_map(|class| &class.invariants);
    let channels = program.channels.values().flat_map(|channel| &channel.where_clause);
    methods.chain(functions).chain(predicates).chain(monitors).chain(channels)
}

/// Tells whether an expression somewhere satisfies a claim.
pub fn any_expr(program: &Program, claim: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if assertions(program).any(|clause| clause.any(claim)) {
        return true;
    }
    program.methods.values().any(|method| {
        let mut found = false;
        each_expr_in_block(&method.body, &mut |expr| found = found || claim(expr));
        found
    })
}

/// Ranges of more numbers than this are not written out.
const LONGEST_RANGE: u32 = 32;

/// Returns the elements of a collection that is written out, each counted once; a range of few
/// numbers is as good.
pub fn written_out(collection: &Expr) -> Option<Cow<'_, [Expr]>> {
    match &collection.kind {
        ExprKind::Seq(elements) => Some(elements.into()),
        ExprKind::Set(elements) if elements.len() < 2 => Some(elements.into()),
        ExprKind::Range { from, to } => {
            let (ExprKind::Int(low), ExprKind::Int(high)) = (&from.kind, &to.kind) else {
                return None;
            };
            let length =
                u32::try_from(high - low).ok().filter(|&length| length <= LONGEST_RANGE)?;
            let number = |offset| Expr { kind: ExprKind::Int(low + offset), ..(**from).clone() };
            Some((0..length).map(number).collect())
        }
        _ => None,
    }
}
