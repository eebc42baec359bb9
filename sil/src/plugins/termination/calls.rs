//! Mutual recursion: the strongly connected components of the call graphs.

use la_arena::ArenaMap;

use crate::program::{FunctionId, Method, MethodId, Program, StmtKind};
use crate::recursion::{components, function_components};
use crate::walk::{Visit, walk_body};

/// For each function and method its component.
pub(super) struct Components {
    functions: ArenaMap<FunctionId, usize>,
    methods: ArenaMap<MethodId, usize>,
}

impl Components {
    pub(super) fn of(program: &Program) -> Self {
        // Calls in bodies and in contracts count alike.
        let functions = function_components(program, |function| {
            let contract = &function.contract;
            let clauses = contract.preconditions.iter().chain(&contract.postconditions);
            clauses.chain(&function.body).collect()
        });
        let calls = program.methods.iter().map(|(id, method)| (id, called(method)));
        Self { functions, methods: components(calls) }
    }

    /// Tells whether a function that calls another one may be called back by it.
    pub(super) fn are_mutual(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.functions[caller] == self.functions[callee]
    }

    pub(super) fn are_mutual_methods(&self, caller: MethodId, callee: MethodId) -> bool {
        self.methods[caller] == self.methods[callee]
    }
}

/// Returns the methods that the implementations of a method call.
fn called(method: &Method) -> Vec<MethodId> {
    let mut called = Vec::new();
    for implementation in &method.implementations {
        walk_body(&implementation.body, |visit| {
            if let Visit::Stmt(statement) = visit
                && let StmtKind::Call { method: callee, .. } = &statement.kind
            {
                called.push(*callee);
            }
        });
    }
    called
}
