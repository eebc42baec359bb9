//! Walks over statements; most of those over expressions are methods of [`Expr`].

use std::borrow::Cow;

use front::grow_stack;

use super::{
    Block, Bounds, Expr, ExprKind, FunctionId, LocalId, OutVariable, Program, Rhs, Stmt, StmtKind,
};

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

/// A direct part of a statement.
enum Part<'s> {
    /// An outermost expression.
    Expr(&'s Expr),
    /// A block.
    Block(&'s Block),
    /// A variable that the statement gives a value after the variable's declaration.
    Assigned(LocalId),
}

/// Calls `visit` on each direct part of a statement. All walks over statements are made of this
/// one, so that none forgets a part.
fn each_part<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(Part<'s>)) {
    let mut outs: &[OutVariable] = &[];
    let mut expr = |e| visit(Part::Expr(e));
    match &stmt.kind {
        StmtKind::Assert(e)
        | StmtKind::Assume(e)
        | StmtKind::Unshare(e)
        | StmtKind::Downgrade(e)
        | StmtKind::Free(e)
        | StmtKind::Acquire { target: e, .. }
        | StmtKind::Release { target: e, .. } => expr(e),
        StmtKind::Prove(obligation) => expr(&obligation.claim),
        StmtKind::Block(body) => visit(Part::Block(body)),
        StmtKind::Declare { value, .. } => {
            value.iter().for_each(|value| each_in_rhs(value, &mut expr));
        }
        StmtKind::AssignLocal { local, value, .. } => {
            each_in_rhs(value, &mut expr);
            visit(Part::Assigned(*local));
        }
        StmtKind::AssignField { receiver, value, .. } => {
            expr(receiver);
            each_in_rhs(value, &mut expr);
        }
        StmtKind::Specification { targets, pre, post } => {
            pre.iter().for_each(&mut expr);
            expr(post);
            outs = targets;
        }
        StmtKind::Call { outs: results, receiver, arguments, .. } => {
            expr(receiver);
            arguments.iter().for_each(expr);
            outs = results;
        }
        StmtKind::Fork { token, receiver, arguments, .. } => {
            expr(receiver);
            arguments.iter().for_each(expr);
            outs = token.as_slice();
        }
        StmtKind::Join { outs: results, token: from, .. }
        | StmtKind::Receive { outs: results, channel: from, .. } => {
            expr(from);
            outs = results;
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter().for_each(|arm| expr(&arm.condition));
            arms.iter().for_each(|arm| visit(Part::Block(&arm.body)));
            otherwise.iter().for_each(|body| visit(Part::Block(body)));
        }
        StmtKind::While { guard, invariants, lock_changes, decreases, body } => {
            expr(guard);
            invariants.iter().chain(lock_changes).for_each(&mut expr);
            decreases.iter().for_each(|measure| expr(&measure.number));
            visit(Part::Block(body));
        }
        StmtKind::Share { target, bounds } | StmtKind::Reorder { target, bounds } => {
            expr(target);
            each_in_bounds(bounds, &mut expr);
        }
        StmtKind::Lock { target, body, .. } => {
            expr(target);
            visit(Part::Block(body));
        }
        StmtKind::Fold(access) | StmtKind::Unfold(access) => access.for_each_child(&mut expr),
        StmtKind::Send { channel, arguments, .. } => {
            expr(channel);
            arguments.iter().for_each(expr);
        }
        StmtKind::Wait(condition)
        | StmtKind::Signal(condition)
        | StmtKind::SignalAll(condition) => expr(&condition.receiver),
    }
    outs.iter().for_each(|out| visit(Part::Assigned(out.local)));
}

/// Visits the blocks directly below a statement.
pub fn each_block<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Block)) {
    each_part(stmt, &mut |part| {
        if let Part::Block(block) = part {
            visit(block);
        }
    });
}

/// Visits the outermost expressions of a statement itself, not those of statements in it.
pub fn each_expr_of_stmt<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Expr)) {
    each_part(stmt, &mut |part| {
        if let Part::Expr(e) = part {
            visit(e);
        }
    });
}

/// Returns the variables that a statement, apart from those in it, gives a value after their
/// declaration.
pub fn assigned_by(stmt: &Stmt) -> impl Iterator<Item = LocalId> + use<> {
    let mut assigned = Vec::new();
    each_part(stmt, &mut |part| {
        if let Part::Assigned(local) = part {
            assigned.push(local);
        }
    });
    assigned.into_iter()
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
