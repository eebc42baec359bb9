//! Inference of triggers.

use std::collections::BTreeSet;

use front::grow_stack;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cover::{self, Term};
use super::{has_interpreted_part, is_candidate, is_interpreted};
use crate::program::{Expr, ExprKind, LocalId, OldLabel, Type};
use crate::walk::walk_expr;

/// Nodes that the values of `let` variables may add to one candidate; larger ones are no good
/// triggers anyway.
const MAX_SUBSTITUTED: usize = 1_000;

/// The result of [`infer_triggers`].
#[derive(Debug, Default)]
pub struct Inferred {
    /// Variables that the quantifier has to bind in addition; they stand for parts of terms that
    /// cannot be matched, such as `i + 1` in `f(i + 1, i)`.
    pub variables: Vec<LocalId>,
    /// Empty: no trigger was found, the solver's own inference applies.
    pub triggers: Vec<Vec<Expr>>,
}

/// Triggers for a quantifier over `variables` that was written without any.
///
/// `fresh` makes a new bound variable. For a quantified permission (`pure` is false) no variables
/// are added. The triggers depend on nothing but the arguments.
pub fn infer_triggers(
    variables: &[LocalId],
    body: &Expr,
    fresh: &mut dyn FnMut(&Type) -> LocalId,
) -> Inferred {
    let mut search = Search {
        variables,
        nested: nested_variables(body),
        lets: FxHashMap::default(),
        let_states: FxHashMap::default(),
        found: Vec::new(),
        keys: FxHashSet::default(),
    };
    search.visit(body, &mut Vec::new());
    let found = search.found;
    let terms: Vec<Term> = found
        .iter()
        .map(|candidate| Term {
            covers: candidate.covers.clone(),
            extra: candidate.holes > 0,
            key: candidate.key.clone(),
        })
        .collect();
    let groups = cover::groups(variables.len(), &terms);
    // Without added variables if possible; else, where it does not change what is quantified, with
    // the fewest.
    let Some(group) = groups
        .into_iter()
        .filter(|group| group.extra.is_empty() || body.is_pure())
        .min_by_key(|group| group.extra.iter().map(|&index| found[index].holes).sum::<usize>())
    else {
        return Inferred::default();
    };
    let mut inferred = Inferred::default();
    let mut made: FxHashMap<usize, Expr> = FxHashMap::default();
    for set in &group.sets {
        for &index in set {
            made.entry(index).or_insert_with(|| {
                let variables = &mut inferred.variables;
                found[index].instantiate(&mut |ty| {
                    let variable = fresh(ty);
                    variables.push(variable);
                    variable
                })
            });
        }
        inferred.triggers.push(set.iter().map(|index| made[index].clone()).collect());
    }
    inferred
}

/// Variables bound inside `body` by quantifiers; terms that mention them mean nothing outside.
fn nested_variables(body: &Expr) -> FxHashSet<LocalId> {
    let mut nested = FxHashSet::default();
    walk_expr(body, |expr| {
        if !matches!(expr.kind, ExprKind::Let { .. }) {
            nested.extend(expr.bound_variables().iter().copied());
        }
    });
    nested
}

/// A term that can be part of a trigger.
struct Candidate {
    /// The term as it stands, `let` variables replaced; parts that cannot be matched are still in
    /// it.
    expr: Expr,
    /// The states it is to be read in, outermost first.
    olds: Vec<OldLabel>,
    /// The bound variables that it mentions outside of parts that cannot be matched.
    covers: BTreeSet<usize>,
    /// Number of parts that cannot be matched.
    holes: usize,
    key: Vec<String>,
}

struct Search<'a> {
    variables: &'a [LocalId],
    nested: FxHashSet<LocalId>,
    lets: FxHashMap<LocalId, Expr>,
    /// The states in which values of `let` variables that read the heap are evaluated.
    let_states: FxHashMap<LocalId, Option<OldLabel>>,
    found: Vec<Candidate>,
    keys: FxHashSet<Vec<String>>,
}

impl Search<'_> {
    fn visit(&mut self, expr: &Expr, olds: &mut Vec<OldLabel>) {
        grow_stack(|| match &expr.kind {
            ExprKind::Old { label, body } => {
                olds.push(*label);
                self.visit(body, olds);
                olds.pop();
            }
            ExprKind::Let { variable, value, body } => {
                self.visit(value, olds);
                let value = value.substitute(&self.lets);
                if reads_heap(&value) {
                    self.let_states.insert(*variable, olds.last().copied());
                }
                self.lets.insert(*variable, value);
                self.visit(body, olds);
                self.lets.remove(variable);
                self.let_states.remove(variable);
            }
            ExprKind::Quantified { body, .. } => self.visit(body, olds),
            _ => {
                if is_candidate(expr) {
                    self.candidate(expr, olds);
                }
                expr.for_each_child(|child| self.visit(child, olds));
            }
        });
    }

    fn candidate(&mut self, expr: &Expr, olds: &[OldLabel]) {
        let Some(expr) = self.without_lets(expr, olds) else { return };
        let (mut covers, mut holes, mut nested) = (BTreeSet::new(), 0, false);
        let mut key = Vec::new();
        walk_in_states(&expr, olds.last().copied(), &mut |part, state| {
            if is_interpreted(part) {
                holes += 1;
                // Each such part is a variable of its own.
                key.push(format!("hole {} {holes}", self.found.len()));
                return false;
            }
            if let ExprKind::Local(local) = part.kind {
                nested |= self.nested.contains(&local);
                covers.extend(self.variables.iter().position(|&variable| variable == local));
            }
            key.extend(token(part, state));
            true
        });
        if covers.is_empty() || nested || !self.keys.insert(key.clone()) {
            return;
        }
        self.found.push(Candidate { expr, olds: olds.to_vec(), covers, holes, key });
    }

    /// Returns the term with the values of `let` variables in place of the variables; nothing if it
    /// would be large, or if a value would be read in another state than it is.
    fn without_lets(&self, expr: &Expr, olds: &[OldLabel]) -> Option<Expr> {
        let mut added = 0;
        let mut is_same = true;
        walk_in_states(expr, olds.last().copied(), &mut |part, state| {
            if let ExprKind::Local(local) = part.kind
                && let Some(value) = self.lets.get(&local)
            {
                walk_expr(value, |_| added += 1);
                is_same &= self.let_states.get(&local).is_none_or(|&of_value| of_value == state);
            }
            true
        });
        (is_same && added <= MAX_SUBSTITUTED).then(|| expr.substitute(&self.lets))
    }
}

impl Candidate {
    /// Returns the term, with a fresh variable for each part that cannot be matched.
    fn instantiate(&self, fresh: &mut dyn FnMut(&Type) -> LocalId) -> Expr {
        let mut expr = self.expr.clone();
        replace_interpreted(&mut expr, fresh);
        debug_assert!(!has_interpreted_part(&expr), "each such part was replaced");
        for &label in self.olds.iter().rev() {
            let (ty, span) = (expr.ty.clone(), expr.span);
            expr = Expr::new(ExprKind::Old { label, body: Box::new(expr) }, ty, span);
        }
        expr
    }
}

fn replace_interpreted(expr: &mut Expr, fresh: &mut dyn FnMut(&Type) -> LocalId) {
    expr.rewrite(&mut |part| {
        let is_replaced = is_interpreted(part);
        if is_replaced {
            part.kind = ExprKind::Local(fresh(&part.ty));
            part.annotations.clear();
        }
        !is_replaced
    });
}

/// Does the value of `expr` depend on the heap, as far as this shows in candidates?
fn reads_heap(expr: &Expr) -> bool {
    expr.any(|part| {
        matches!(
            part.kind,
            ExprKind::FieldRead { .. } | ExprKind::Apply { .. } | ExprKind::Unfolding { .. }
        )
    })
}

/// Visits `expr` and, where `visit` says so, what is in it, each part with the state it is read in.
fn walk_in_states(
    expr: &Expr,
    state: Option<OldLabel>,
    visit: &mut dyn FnMut(&Expr, Option<OldLabel>) -> bool,
) {
    if !visit(expr, state) {
        return;
    }
    let state = match expr.kind {
        ExprKind::Old { label, .. } => Some(label),
        _ => state,
    };
    grow_stack(|| expr.for_each_child(|child| walk_in_states(child, state, visit)));
}

/// Returns the token of a node: its head, apart from its operands, and their number. The tokens of
/// a pre-order walk determine a term.
///
/// A node that reads the heap is told apart by the state that it reads, so `old` itself needs no
/// token: `f(x)` is no part of `old(f(x))`, and a solver that finds one need not find the other.
fn token(expr: &Expr, state: Option<OldLabel>) -> Option<String> {
    let mut operands = 0;
    expr.for_each_child(|_| operands += 1);
    Some(match &expr.kind {
        ExprKind::Old { .. } => return None,
        ExprKind::Local(local) => format!("local {local:?}"),
        ExprKind::Int(value) => format!("int {value}"),
        ExprKind::Bool(value) => format!("bool {value}"),
        ExprKind::FieldRead { field, .. } => format!("field {field:?} {state:?}"),
        ExprKind::Apply { function, .. } => format!("function {function:?} {state:?}"),
        ExprKind::DomainApply { function, instance, .. } => {
            format!("domain function {function:?} {instance:?}")
        }
        ExprKind::Binary { op, .. } => format!("binary {op:?}"),
        ExprKind::Literal { collection, .. } => format!("{collection:?} {operands} {:?}", expr.ty),
        ExprKind::MapLiteral { .. } => format!("map {operands} {:?}", expr.ty),
        ExprKind::Unfolding { access, .. } => {
            format!("unfolding {:?} {state:?}", access.predicate)
        }
        kind => format!("{:?} {operands}", std::mem::discriminant(kind)),
    })
}
