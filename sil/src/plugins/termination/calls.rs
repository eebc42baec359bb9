//! Who may call whom back: the strongly connected components of the call graphs.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::program::{ExprKind, FunctionId, MethodId, Program, StmtKind};
use crate::walk::{Visit, walk_body, walk_expr};

/// For each function and method its component.
pub(super) struct Components {
    functions: Vec<usize>,
    methods: Vec<usize>,
}

impl Components {
    pub(super) fn of(program: &Program) -> Self {
        Self { functions: functions(program), methods: methods(program) }
    }

    /// Whether a function that calls another one may be called back by it.
    pub(super) fn are_mutual(&self, caller: FunctionId, callee: FunctionId) -> bool {
        let component = |id: FunctionId| self.functions[id.into_raw().into_u32() as usize];
        component(caller) == component(callee)
    }

    pub(super) fn are_mutual_methods(&self, caller: MethodId, callee: MethodId) -> bool {
        let component = |id: MethodId| self.methods[id.into_raw().into_u32() as usize];
        component(caller) == component(callee)
    }
}

/// Calls in bodies and in contracts count alike.
fn functions(program: &Program) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    program.functions.iter().for_each(|_| {
        graph.add_node(());
    });
    for (caller, function) in program.functions.iter() {
        let contract = &function.contract;
        let parts =
            contract.preconditions.iter().chain(&contract.postconditions).chain(&function.body);
        for part in parts {
            walk_expr(part, |expr| {
                if let ExprKind::Apply { function: callee, .. } = &expr.kind {
                    let from = NodeIndex::new(caller.into_raw().into_u32() as usize);
                    let to = NodeIndex::new(callee.into_raw().into_u32() as usize);
                    graph.update_edge(from, to, ());
                }
            });
        }
    }
    components(&graph)
}

fn methods(program: &Program) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    program.methods.iter().for_each(|_| {
        graph.add_node(());
    });
    for (caller, method) in program.methods.iter() {
        for implementation in &method.implementations {
            walk_body(&implementation.body, |visit| {
                if let Visit::Stmt(statement) = visit
                    && let StmtKind::Call { method: callee, .. } = &statement.kind
                {
                    let from = NodeIndex::new(caller.into_raw().into_u32() as usize);
                    let to = NodeIndex::new(callee.into_raw().into_u32() as usize);
                    graph.update_edge(from, to, ());
                }
            });
        }
    }
    components(&graph)
}

fn components(graph: &DiGraph<(), ()>) -> Vec<usize> {
    let mut component = vec![0; graph.node_count()];
    for (index, members) in tarjan_scc(graph).into_iter().enumerate() {
        for member in members {
            component[member.index()] = index;
        }
    }
    component
}
