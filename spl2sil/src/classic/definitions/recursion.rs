//! Recursive definitions: functions, and predicates.

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use spl::program::{Expr, ExprKind, FunctionId, PredicateId, PredicateUse, Program};

/// Functions whose bodies apply themselves, directly or through others, and those that apply such
/// functions: axioms of domains cannot.
pub(in crate::classic) fn recursive_functions(program: &Program) -> FxHashSet<FunctionId> {
    let applied_by = |id: FunctionId| {
        let mut all = Vec::new();
        let mut seen = FxHashSet::default();
        let body = program.functions[id].body.iter();
        body.for_each(|body| applied(program, body, &mut seen, &mut all));
        all
    };
    let ids = || program.functions.iter().map(|(id, _)| id);
    let mut found: FxHashSet<FunctionId> = ids().filter(|&id| reaches(id, &applied_by)).collect();
    let mentioned_by = |id: FunctionId| {
        let function = &program.functions[id];
        let clauses = function.requires.iter().chain(&function.ensures);
        let (mut all, mut seen) = (Vec::new(), FxHashSet::default());
        let parts = function.body.iter().chain(clauses.map(|clause| &clause.condition));
        parts.for_each(|part| applied(program, part, &mut seen, &mut all));
        all
    };
    loop {
        let more: Vec<FunctionId> = ids()
            .filter(|id| {
                !found.contains(id) && mentioned_by(*id).iter().any(|it| found.contains(it))
            })
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Lists the definitions that recurse through a comprehension. Nothing says how often a
/// comprehension applies a function, so nothing shows that such a definition has a meaning: `h(k) =
/// {x :: !(x in h(k))}` has no value.
pub(in crate::classic) fn in_comprehensions(program: &Program) -> FxHashSet<Defined> {
    let functions = program.functions.iter().map(|(id, _)| Defined::Function(id));
    let predicates = program.predicates.iter().map(|(id, _)| Defined::Predicate(id));
    let mentioned = |id: Defined| {
        let mut all = Vec::new();
        parts(program, id).for_each(|part| mentions(part, false, &mut all));
        all
    };
    let direct: Vec<(Defined, Vec<(Defined, bool)>)> =
        functions.chain(predicates).map(|id| (id, mentioned(id))).collect();
    let table: FxHashMap<Defined, Vec<Defined>> = direct
        .iter()
        .map(|(id, all)| (*id, all.iter().map(|(other, _)| *other).collect()))
        .collect();
    let step = |id: Defined| table[&id].clone();
    let mut found = FxHashSet::default();
    for (id, all) in &direct {
        let mut inside = all.iter().filter(|(_, is_inside)| *is_inside).map(|(other, _)| *other);
        if inside.any(|other| other == *id || reached(other, &step).contains(id)) {
            found.insert(*id);
            let back = reached(*id, &step).into_iter();
            found.extend(back.filter(|other| reached(*other, &step).contains(id)));
        }
    }
    found
}

/// Lists the definitions that apply themselves, directly or through others.
pub(in crate::classic) fn defined_by_themselves(program: &Program) -> FxHashSet<Defined> {
    let functions = program.functions.iter().map(|(id, _)| Defined::Function(id));
    let predicates = program.predicates.iter().map(|(id, _)| Defined::Predicate(id));
    let applied = |id: Defined| {
        let body = match id {
            Defined::Function(id) => &program.functions[id].body,
            Defined::Predicate(id) => &program.predicates[id].body,
        };
        let mut all = Vec::new();
        body.iter().for_each(|body| mentions(body, false, &mut all));
        all.into_iter().map(|(other, _)| other).collect()
    };
    let all: Vec<Defined> = functions.chain(predicates).collect();
    let table: FxHashMap<Defined, Vec<Defined>> = all.iter().map(|&id| (id, applied(id))).collect();
    all.into_iter().filter(|&id| reaches(id, &|id| table[&id].clone())).collect()
}

/// A function or predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::classic) enum Defined {
    Function(FunctionId),
    Predicate(PredicateId),
}

/// Body and contract.
fn parts(program: &Program, id: Defined) -> impl Iterator<Item = &Expr> {
    let (body, requires, ensures) = match id {
        Defined::Function(id) => {
            let function = &program.functions[id];
            (&function.body, &function.requires, &function.ensures)
        }
        Defined::Predicate(id) => {
            let predicate = &program.predicates[id];
            (&predicate.body, &predicate.requires, &predicate.ensures)
        }
    };
    body.iter().chain(requires.iter().chain(ensures).map(|clause| &clause.condition))
}

/// Collects the applications of an expression, and whether each stands inside a comprehension.
fn mentions(e: &Expr, is_inside: bool, all: &mut Vec<(Defined, bool)>) {
    let is_comprehension =
        matches!(e.kind, ExprKind::SetComprehension { .. } | ExprKind::MapComprehension { .. });
    match &e.kind {
        ExprKind::Apply { function, .. } => all.push((Defined::Function(*function), is_inside)),
        ExprKind::Predicate(used) => all.push((Defined::Predicate(used.predicate), is_inside)),
        _ => {}
    }
    let is_inside = is_inside || is_comprehension;
    front::grow_stack(|| e.for_each_child(&mut |child| mentions(child, is_inside, all)));
}

/// Predicates that stand for something in which they occur, each with those that are defined
/// together with it.
pub(in crate::classic) fn recursive_predicates(
    program: &Program,
) -> ArenaMap<PredicateId, FxHashSet<PredicateId>> {
    let used = |id: PredicateId| {
        let mut all = Vec::new();
        if let Some(body) = &program.predicates[id].body {
            body.any(&mut |e| {
                if let ExprKind::Predicate(PredicateUse { predicate, .. }) = &e.kind {
                    all.push(*predicate);
                }
                false
            });
        }
        all
    };
    let reached: ArenaMap<PredicateId, FxHashSet<PredicateId>> =
        program.predicates.iter().map(|(id, _)| (id, reached(id, &used))).collect();
    let with = |id: PredicateId| {
        let back = reached[id].iter().copied().filter(|&other| reached[other].contains(&id));
        back.collect::<FxHashSet<_>>()
    };
    let ids = program.predicates.iter().map(|(id, _)| id);
    ids.filter(|&id| reached[id].contains(&id)).map(|id| (id, with(id))).collect()
}

/// The functions that an expression applies, also by way of predicates, each of which is looked
/// into once.
fn applied(
    program: &Program,
    e: &Expr,
    seen: &mut FxHashSet<PredicateId>,
    all: &mut Vec<FunctionId>,
) {
    e.any(&mut |e| {
        match &e.kind {
            ExprKind::Apply { function, .. } => all.push(*function),
            ExprKind::Predicate(used) if seen.insert(used.predicate) => {
                if let Some(body) = &program.predicates[used.predicate].body {
                    front::grow_stack(|| applied(program, body, seen, all));
                }
            }
            _ => {}
        }
        false
    });
}

/// Does a chain of steps lead from `start` back to it?
fn reaches<I: Copy + Eq + std::hash::Hash>(start: I, step: &impl Fn(I) -> Vec<I>) -> bool {
    reached(start, step).contains(&start)
}

/// Returns everything that one step or more leads to from `start`.
fn reached<I: Copy + Eq + std::hash::Hash>(start: I, step: &impl Fn(I) -> Vec<I>) -> FxHashSet<I> {
    let (mut seen, mut todo) = (FxHashSet::default(), step(start));
    while let Some(next) = todo.pop() {
        if seen.insert(next) {
            todo.extend(step(next));
        }
    }
    seen
}
