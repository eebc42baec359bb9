//! The order in which functions are verified.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::program::{Expr, ExprKind, FunctionId, Location, PredicateId, Program};

/// Groups of mutually recursive functions, in stages: what a stage mentions is in earlier stages or in the function's
/// own group. Each function comes with its group, empty where the function is not recursive.
pub(super) fn stages(program: &Program) -> Vec<Vec<(FunctionId, Vec<FunctionId>)>> {
    let mut graph: DiGraphMap<u32, ()> = DiGraphMap::new();
    for (caller, _) in program.functions.iter() {
        graph.add_node(raw(caller));
        for callee in mentioned(program, caller) {
            graph.add_edge(raw(caller), raw(callee), ());
        }
    }
    let mut level: FxHashMap<u32, usize> = FxHashMap::default();
    let mut stages: Vec<Vec<(FunctionId, Vec<FunctionId>)>> = Vec::new();
    // Callees come first.
    for mut group in tarjan_scc(&graph) {
        group.sort_unstable();
        let below = group
            .iter()
            .flat_map(|&function| graph.neighbors(function))
            .filter(|callee| !group.contains(callee))
            .map(|callee| level[&callee] + 1)
            .max()
            .unwrap_or(0);
        let recursive = group.len() > 1 || graph.contains_edge(group[0], group[0]);
        let ids: Vec<_> = group.iter().map(|&function| id(function)).collect();
        if stages.len() <= below {
            stages.resize_with(below + 1, Vec::new);
        }
        for &function in &group {
            level.insert(function, below);
            let group = if recursive { ids.clone() } else { Vec::new() };
            stages[below].push((id(function), group));
        }
    }
    for stage in &mut stages {
        stage.sort_by_key(|(function, _)| raw(*function));
    }
    stages
}

fn raw(function: FunctionId) -> u32 {
    function.into_raw().into_u32()
}

fn id(raw: u32) -> FunctionId {
    FunctionId::from_raw(la_arena::RawIdx::from_u32(raw))
}

/// The functions that a function's contract and body mention, through the bodies of predicates too.
fn mentioned(program: &Program, function: FunctionId) -> Vec<FunctionId> {
    let mut found = Found::default();
    let declaration = &program.functions[function];
    let contract = &declaration.contract;
    for expr in
        contract.preconditions.iter().chain(&contract.postconditions).chain(&declaration.body)
    {
        found.look_at(program, expr);
    }
    found.functions
}

#[derive(Default)]
struct Found {
    functions: Vec<FunctionId>,
    predicates: FxHashSet<PredicateId>,
}

impl Found {
    fn look_at(&mut self, program: &Program, expr: &Expr) {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let mut bodies = Vec::new();
            sil::walk::walk_expr(expr, |expr| match &expr.kind {
                ExprKind::Apply { function, .. } if !self.functions.contains(function) => {
                    self.functions.push(*function);
                }
                ExprKind::Acc { location: Location::Predicate { predicate, .. }, .. } => {
                    bodies.push(*predicate);
                }
                ExprKind::Unfolding { access, .. } => bodies.push(access.predicate),
                _ => {}
            });
            for predicate in bodies {
                if self.predicates.insert(predicate) {
                    pending.extend(&program.predicates[predicate].body);
                }
            }
        }
    }
}
