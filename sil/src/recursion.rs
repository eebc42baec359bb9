//! Functions that apply each other.

use la_arena::{ArenaMap, Idx};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::program::{Expr, ExprKind, Function, FunctionId, Program};
use crate::walk::{walk_expr, walk_expr_while};

/// Returns the strongly connected components of the functions of a program: functions with the same
/// number apply each other, perhaps through others, in those of their expressions that `parts`
/// picks.
pub(crate) fn function_components<'p>(
    program: &'p Program,
    parts: impl Fn(&'p Function) -> Vec<&'p Expr>,
) -> ArenaMap<FunctionId, usize> {
    components(program.functions.iter().map(|(id, function)| (id, applied(parts(function)))))
}

/// The same, of members with those that each applies.
pub fn components<T>(
    members: impl IntoIterator<Item = (Idx<T>, Vec<Idx<T>>)>,
) -> ArenaMap<Idx<T>, usize> {
    let mut graph: DiGraphMap<Idx<T>, ()> = DiGraphMap::new();
    for (caller, applied) in members {
        graph.add_node(caller);
        for callee in applied {
            graph.add_edge(caller, callee, ());
        }
    }
    let numbered = tarjan_scc(&graph).into_iter().enumerate();
    numbered
        .flat_map(|(number, members)| members.into_iter().map(move |member| (member, number)))
        .collect()
}

/// Returns the functions that are applied in some expressions, in order, perhaps more than once.
pub fn applied<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<FunctionId> {
    let mut applied = Vec::new();
    for expr in exprs {
        walk_expr(expr, |expr| {
            if let ExprKind::Apply { function, .. } = expr.kind {
                applied.push(function);
            }
        });
    }
    applied
}

/// Returns the functions that a function's postconditions apply, but for the function itself where
/// that is its result.
pub fn applied_in_postconditions(program: &Program, function: FunctionId) -> Vec<FunctionId> {
    let mut found = Vec::new();
    for clause in &program.functions[function].contract.postconditions {
        walk_expr_while(clause, |expr| match &expr.kind {
            // An application below has another heap to look at.
            ExprKind::Unfolding { .. } | ExprKind::Applying { .. } => {
                found.extend(applied([expr]));
                false
            }
            ExprKind::Apply { function: callee, arguments } => {
                let is_result = *callee == function && is_result(program, function, arguments);
                if !is_result {
                    found.push(*callee);
                }
                !is_result
            }
            _ => true,
        });
    }
    found
}

/// Tells whether a function applied to `arguments` is its result, in its own postcondition: the
/// arguments are its parameters.
pub fn is_result(program: &Program, function: FunctionId, arguments: &[Expr]) -> bool {
    let formals = &program.functions[function].formals;
    let stands_for = |(argument, formal): (&Expr, _)| matches!(&argument.kind, ExprKind::Local(local) if local == formal);
    formals.len() == arguments.len() && arguments.iter().zip(formals).all(stands_for)
}
