//! Functions that apply each other.

use la_arena::ArenaMap;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::program::{Expr, ExprKind, Function, FunctionId, Program};
use crate::walk::walk_expr;

/// The strongly connected components of the functions of a program: functions with the same number apply each other,
/// perhaps through others, in those of their expressions that `parts` picks.
pub fn function_components<'p>(
    program: &'p Program,
    parts: impl Fn(&'p Function) -> Vec<&'p Expr>,
) -> ArenaMap<FunctionId, usize> {
    let mut graph: DiGraphMap<FunctionId, ()> = DiGraphMap::new();
    for (caller, function) in program.functions.iter() {
        graph.add_node(caller);
        for callee in applied(parts(function)) {
            graph.add_edge(caller, callee, ());
        }
    }
    let numbered = tarjan_scc(&graph).into_iter().enumerate();
    numbered
        .flat_map(|(number, members)| members.into_iter().map(move |member| (member, number)))
        .collect()
}

/// The functions that are applied in some expressions, in order, perhaps more than once.
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
