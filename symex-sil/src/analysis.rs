//! The facts about a program as a whole, found before its members are verified.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use sil::program::{
    Expr, ExprKind, Function, FunctionId, Location, PredicateId, Program, Stmt, StmtKind,
};
use sil::recursion::applied;
use sil::walk::{Visit, walk_body, walk_expr, walk_stmts};
use symex::members::analysis::Analysis;
use symex::state::heap::Resource;

/// Analyses the whole program.
pub fn analyse(program: &Program) -> Analysis {
    Analysis {
        trigger_resources: trigger_resources(program),
        recursive_predicates: recursive_predicates(program),
        functions_in_bodies: functions_in_bodies(program),
        asserting_predicates: asserting_predicates(program),
        scripts_may_write: scripts_may_write(program),
        contracts_have_one_reading: contracts_have_one_reading(program),
    }
}

/// Returns the fields and predicates that occur as triggers somewhere in the program.
fn trigger_resources(program: &Program) -> BTreeSet<Resource> {
    let mut found = BTreeSet::new();
    for (_, predicate) in program.predicates.iter() {
        predicate.body.iter().for_each(|body| collect(body, &mut found));
    }
    for (_, function) in program.functions.iter() {
        let contract = &function.contract;
        let clauses = contract.preconditions.iter().chain(&contract.postconditions);
        clauses.chain(&function.body).for_each(|expr| collect(expr, &mut found));
    }
    for (_, method) in program.methods.iter() {
        let contract = &method.contract;
        let clauses = contract.preconditions.iter().chain(&contract.postconditions);
        clauses.for_each(|expr| collect(expr, &mut found));
        for implementation in &method.implementations {
            walk_body(&implementation.body, |visit| {
                if let Visit::Expr(expr) = visit {
                    collect(expr, &mut found);
                }
            });
        }
    }
    found
}

fn collect(expr: &Expr, found: &mut BTreeSet<Resource>) {
    walk_expr(expr, |expr| {
        let ExprKind::Quantified { triggers, .. } = &expr.kind else { return };
        for term in triggers.iter().flatten() {
            match &term.kind {
                ExprKind::FieldRead { field, .. } => {
                    found.insert(Resource::Field(*field));
                }
                ExprKind::Acc { location: Location::Predicate { predicate, .. }, .. } => {
                    found.insert(Resource::Predicate(*predicate));
                }
                _ => {}
            }
        }
    });
}

/// Returns the predicates that reach themselves through the bodies of predicates.
fn recursive_predicates(program: &Program) -> FxHashSet<PredicateId> {
    let mut inside: FxHashMap<PredicateId, Vec<PredicateId>> = FxHashMap::default();
    for (id, predicate) in program.predicates.iter() {
        let mut held = Vec::new();
        if let Some(body) = &predicate.body {
            walk_expr(body, |expr| {
                if let ExprKind::Acc { location: Location::Predicate { predicate, .. }, .. } =
                    &expr.kind
                {
                    held.push(*predicate);
                }
            });
        }
        inside.insert(id, held);
    }
    let reaches_itself = |start: PredicateId| {
        let mut visited = FxHashSet::default();
        let mut pending = inside[&start].clone();
        while let Some(predicate) = pending.pop() {
            if predicate == start {
                return true;
            }
            if visited.insert(predicate) {
                pending.extend(&inside[&predicate]);
            }
        }
        false
    };
    program.predicates.iter().map(|(id, _)| id).filter(|&id| reaches_itself(id)).collect()
}

/// Returns the predicates whose bodies assert something inside of an expression, or open instances
/// of such predicates in one.
fn asserting_predicates(program: &Program) -> FxHashSet<PredicateId> {
    let mut asserting: FxHashSet<PredicateId> = FxHashSet::default();
    loop {
        let asserts = |expr: &Expr| match &expr.kind {
            ExprKind::Asserting { .. } => true,
            ExprKind::Unfolding { access, .. } => asserting.contains(&access.predicate),
            _ => false,
        };
        let bodies = program.predicates.iter().filter(|(id, _)| !asserting.contains(id));
        let more: Vec<PredicateId> = bodies
            .filter(|(_, predicate)| predicate.body.as_ref().is_some_and(|body| body.any(asserts)))
            .map(|(id, _)| id)
            .collect();
        if more.is_empty() {
            return asserting;
        }
        asserting.extend(more);
    }
}

/// Tells whether no contract of a function and no body of a predicate has `[a, b]` in it.
///
/// SOUNDNESS: if `[a, b]` is in a precondition, or in a predicate that it mentions, a body knows a.
/// A user of the function, directly or in another function, has shown b. So with such a form, no
/// side of a body is known never to be taken.
fn contracts_have_one_reading(program: &Program) -> bool {
    let contracts = program.functions.iter().map(|(_, function)| &function.contract);
    let clauses = contracts.flat_map(|it| it.preconditions.iter().chain(&it.postconditions));
    let bodies = program.predicates.iter().filter_map(|(_, predicate)| predicate.body.as_ref());
    !clauses.chain(bodies).any(has_two_readings)
}

/// Returns the functions that bodies of predicates apply, and those that these apply.
fn functions_in_bodies(program: &Program) -> FxHashSet<FunctionId> {
    let bodies = program.predicates.iter().filter_map(|(_, predicate)| predicate.body.as_ref());
    let mut pending = applied(bodies);
    let mut found = FxHashSet::default();
    while let Some(function) = pending.pop() {
        if found.insert(function) {
            let Function { contract, body, .. } = &program.functions[function];
            let clauses = contract.preconditions.iter().chain(&contract.postconditions);
            let mut parts: Vec<&Expr> = clauses.chain(body).collect();
            for measure in &contract.decreases {
                measure.for_each_child(|part| parts.push(part));
            }
            pending.extend(applied(parts));
        }
    }
    found
}

/// Tells whether some proof script of a program may give a location another value: by a call, or by
/// exhaling and inhaling the location.
fn scripts_may_write(program: &Program) -> bool {
    let mut found = false;
    let bodies = program.methods.iter().flat_map(|(_, method)| &method.implementations);
    for implementation in bodies {
        walk_body(&implementation.body, |visit| {
            if let Visit::Stmt(Stmt { kind: StmtKind::Package { script, .. }, .. }) = visit {
                walk_stmts(&script.statements, |statement| found |= may_write(statement));
            }
        });
    }
    found
}

fn may_write(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Call { .. }
        | StmtKind::FieldAssign { .. }
        | StmtKind::New { .. }
        | StmtKind::Quasihavoc { .. }
        | StmtKind::QuasihavocAll { .. } => true,
        StmtKind::Inhale(assertion) | StmtKind::Assume(assertion) => !assertion.is_pure(),
        _ => false,
    }
}

/// Tells whether `[a, b]` occurs in a clause.
pub(crate) fn has_two_readings(clause: &Expr) -> bool {
    clause.any(|expr| matches!(expr.kind, ExprKind::InhaleExhale { .. }))
}
