//! The applications of functions by functions: in their contracts and bodies, and through the
//! predicates mentioned there.

use std::collections::BTreeSet;

use chalice::program::{AccessTarget, Expr, ExprKind, FunctionId, PredicateId, Program};
use la_arena::ArenaMap;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::program as sil_program;

use super::{Direct, renumbered};

/// The applications of functions.
#[derive(Debug)]
pub(super) struct Graph {
    /// The functions applied in contract and body, and in the predicates mentioned there.
    applied: FxHashMap<FunctionId, BTreeSet<FunctionId>>,
    /// The circles of functions, as numbers. Functions with one number apply each other in their
    /// bodies, perhaps through others.
    circle: ArenaMap<FunctionId, usize>,
    /// The functions on a circle.
    recursive: FxHashSet<FunctionId>,
}

impl Graph {
    pub(super) fn of(tree: &Program) -> Self {
        let mut applied = FxHashMap::default();
        let mut bodies: DiGraphMap<FunctionId, ()> = DiGraphMap::new();
        for (id, function) in tree.functions.iter() {
            let clauses = function.requires.iter().chain(&function.ensures);
            applied.insert(id, mentioned(tree, clauses.chain(&function.body)));
            bodies.add_node(id);
            for callee in mentioned(tree, &function.body) {
                bodies.add_edge(id, callee, ());
            }
        }
        let mut circle = ArenaMap::default();
        let mut recursive = FxHashSet::default();
        for (number, functions) in tarjan_scc(&bodies).into_iter().enumerate() {
            let is_circle = functions.len() > 1 || bodies.contains_edge(functions[0], functions[0]);
            for function in functions {
                circle.insert(function, number);
                if is_circle {
                    recursive.insert(function);
                }
            }
        }
        Self { applied, circle, recursive }
    }

    /// Tells whether two functions apply each other in their bodies, or one itself.
    pub(super) fn is_circle(&self, from: FunctionId, to: FunctionId) -> bool {
        self.recursive.contains(&from) && self.circle.get(from) == self.circle.get(to)
    }

    /// Tells whether the functions that an expression mentions apply a function, perhaps through
    /// others.
    pub(super) fn leads_to(&self, tree: &Program, expr: &Expr, to: FunctionId) -> bool {
        let mut pending: Vec<FunctionId> = mentioned(tree, [expr]).into_iter().collect();
        let mut seen = FxHashSet::default();
        while let Some(function) = pending.pop() {
            if function == to {
                return true;
            }
            if seen.insert(function) {
                pending.extend(self.applied.get(&function).into_iter().flatten());
            }
        }
        false
    }

    /// Tells whether the body of a function may lead back to it.
    pub(super) fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive.contains(&function)
    }
}

impl Direct {
    /// Returns the functions that a function applies.
    pub fn applied_by(
        &self,
        function: sil_program::FunctionId,
    ) -> FxHashSet<sil_program::FunctionId> {
        let applied = self.graph.applied.get(&renumbered(function));
        applied.into_iter().flatten().map(|&callee| renumbered(callee)).collect()
    }

    /// Returns the functions that bodies of predicates apply, and those that these apply.
    pub fn functions_in_bodies(&self) -> FxHashSet<sil_program::FunctionId> {
        let bodies = self.tree.predicates.iter().map(|(_, predicate)| &predicate.body);
        let mut pending: Vec<FunctionId> = mentioned(&self.tree, bodies).into_iter().collect();
        let mut found = FxHashSet::default();
        while let Some(function) = pending.pop() {
            if found.insert(renumbered(function)) {
                pending.extend(self.graph.applied.get(&function).into_iter().flatten());
            }
        }
        found
    }
}

/// Tells whether a part of a function's postcondition is the function's value there: the function
/// applied to its own arguments, where no instance is opened.
pub(super) fn is_result(tree: &Program, function: FunctionId, part: &Expr) -> bool {
    let ExprKind::Apply { receiver, function: callee, arguments } = &part.kind else {
        return false;
    };
    let declared = &tree.functions[function];
    let is_same = |(argument, parameter): (&Expr, &_)| matches!(&argument.kind, ExprKind::Local(local) if local == parameter);
    *callee == function
        && (declared.is_static || matches!(receiver.kind, ExprKind::This))
        && arguments.iter().zip(&declared.parameters).all(is_same)
}

/// Returns the functions that expressions apply, and those that are applied in the bodies of
/// predicates that they mention.
fn mentioned<'e>(
    tree: &'e Program,
    exprs: impl IntoIterator<Item = &'e Expr>,
) -> BTreeSet<FunctionId> {
    let mut functions = BTreeSet::new();
    let mut entered: FxHashSet<PredicateId> = FxHashSet::default();
    let mut pending: Vec<&Expr> = exprs.into_iter().collect();
    while let Some(expr) = pending.pop() {
        expr.for_each(&mut |part| {
            let access = match &part.kind {
                ExprKind::Apply { function, .. } => {
                    functions.insert(*function);
                    return;
                }
                ExprKind::Access(access) | ExprKind::Unfolding { access, .. } => access,
                _ => return,
            };
            let (AccessTarget::Predicate { predicate, .. }
            | AccessTarget::ElementsPredicate { predicate, .. }) = access.target
            else {
                return;
            };
            if entered.insert(predicate) {
                pending.push(&tree.predicates[predicate].body);
            }
        });
    }
    functions
}
