//! Mutual recursion: the strongly connected components of the call graphs.

use la_arena::ArenaMap;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::program::{FunctionId, MethodId, Program, StmtKind};
use crate::recursion::function_components;
use crate::walk::{Visit, walk_body};

/// For each function and method its component.
pub(super) struct Components {
    functions: ArenaMap<FunctionId, usize>,
    methods: Vec<usize>,
}

impl Components {
    pub(super) fn of(program: &Program) -> Self {
        // Calls in bodies and in contracts count alike.
        let functions = function_components(program, |function| {
            let contract = &function.contract;
            let clauses = contract.preconditions.iter().chain(&contract.postconditions);
            clauses.chain(&function.body).collect()
        });
        Self { functions, methods: methods(program) }
    }

    /// Tells whether a function that calls another one may be called back by it.
    pub(super) fn are_mutual(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.functions[caller] == self.functions[callee]
    }

    pub(super) fn are_mutual_methods(&self, caller: MethodId, callee: MethodId) -> bool {
        let component = |id: MethodId| self.methods[id.into_raw().into_u32() as usize];
        component(caller) == component(callee)
    }
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
