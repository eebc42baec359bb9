//! Implicit parameters that only an instance of a predicate determines: as in an instance that the
//! caller was given, got back, or finds in one of these.
//!
//! The caller owes that some value exists (spl.md, section 3.3), so any choice is sound. The call
//! shows the contract with the chosen value.

use std::rc::Rc;

use front::grow_stack;
use sil::syntax as s;
use spl::program::{Clause, Expr, ExprKind, PredicateId, PredicateUse};

use super::super::Fallible;
use super::super::assertions::Draft;
use super::super::member::{Declaration, Env, Value};
use super::super::triggers::same;
use super::guesses::MOST_TRIED;
use crate::build::*;

/// An instance of a predicate that is not opened, by its arguments.
pub(in crate::classic) type Held = (PredicateId, Vec<s::Expr>);

impl<'p> Declaration<'_, 'p> {
    /// Is the predicate used without being opened?
    pub(in crate::classic) fn is_closed(&self, id: PredicateId) -> bool {
        self.program.predicates[id].body.is_none() || self.lowering.recursive.contains_idx(id)
    }

    /// Do the clauses mention instances that are not opened?
    pub(super) fn mention_instances(&self, clauses: &[Clause]) -> bool {
        let mut is_instance =
            |e: &Expr| matches!(&e.kind, ExprKind::Predicate(it) if self.is_closed(it.predicate));
        clauses.iter().any(|clause| clause.condition.any(&mut is_instance))
    }

    /// Notes the instances in clauses that hold now, and those inside with chosen values.
    pub(in crate::classic) fn note_held(&mut self, clauses: &'p [Clause], env: &Env) {
        for clause in clauses {
            for (id, arguments) in self.instances_in(&clause.condition, env) {
                // A predicate without lowering is refused where it is defined.
                let inside = self.chosen_inside(id, &arguments, env).unwrap_or_default();
                self.held.extend(inside);
                self.held.push((id, arguments));
            }
        }
    }

    /// Returns the instances in an assertion whose arguments are known.
    fn instances_in(&mut self, e: &'p Expr, env: &Env) -> Vec<Held> {
        match &e.kind {
            ExprKind::Predicate(used) if self.is_closed(used.predicate) => {
                let arguments = used.arguments.iter();
                let mentions_old = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Old(_)));
                if self.has_implicit(used) || arguments.clone().any(mentions_old) {
                    return Vec::new();
                }
                let places: Vec<usize> = (0..used.arguments.len()).collect();
                let arguments: Fallible<Vec<s::Expr>> =
                    places.into_iter().map(|at| self.instance_argument(used, at, env)).collect();
                arguments.map(|arguments| (used.predicate, arguments)).into_iter().collect()
            }
            ExprKind::Old(_)
            | ExprKind::Quantified { .. }
            | ExprKind::SetComprehension { .. }
            | ExprKind::MapComprehension { .. } => Vec::new(),
            _ => {
                let mut children = Vec::new();
                e.for_each_child(&mut |child| children.push(child));
                let found = children.into_iter();
                found.flat_map(|child| grow_stack(|| self.instances_in(child, env))).collect()
            }
        }
    }

    fn has_implicit(&self, used: &PredicateUse) -> bool {
        let parameters = &self.program.predicates[used.predicate].parameters;
        parameters.iter().any(|&parameter| self.program.locals[parameter].is_implicit)
    }

    fn instance_argument(
        &mut self,
        used: &'p PredicateUse,
        at: usize,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let parameter = self.program.predicates[used.predicate].parameters[at];
        let ty = &self.program.locals[parameter].ty;
        self.term_as(&used.arguments[at], ty, env)
    }

    /// Returns the arguments of noted instances of a predicate, the last first, each before the
    /// instances in its body.
    fn known_instances(&mut self, wanted: PredicateId) -> Vec<Vec<s::Expr>> {
        let env = self.env();
        let mut all: Vec<Vec<s::Expr>> = Vec::new();
        for (id, arguments) in self.held.clone().into_iter().rev() {
            let declared = &self.program.predicates[id];
            let mut found = vec![(id, arguments.clone())];
            if let Some(body) = &declared.body {
                let values = arguments.into_iter().map(Value::Term);
                let inner = Env { values: Rc::default(), values_before: None, ..env.clone() };
                let inner = inner.with(declared.parameters.iter().copied().zip(values));
                found.extend(self.instances_in(body, &inner));
            }
            for (id, arguments) in found {
                let is_known = |other: &Vec<s::Expr>| {
                    other.iter().zip(&arguments).all(|(one, other)| same(one, other))
                };
                if id == wanted && !all.iter().any(is_known) {
                    all.push(arguments);
                }
            }
        }
        all.truncate(MOST_TRIED);
        all
    }

    /// Fills the holes among the arguments of an instance that a contract asks for: with those of
    /// the first known instance whose other arguments are the same, else of the last one.
    pub(in crate::classic) fn fill_from_held(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        draft: &mut Draft<'p>,
    ) -> Fallible<Env> {
        let mut values = Vec::new();
        let (mut open, mut keys) = (Vec::new(), Vec::new());
        for (at, argument) in used.arguments.iter().enumerate() {
            match &argument.kind {
                ExprKind::Local(local) => match env.values.get(local) {
                    Some(Value::Hole(hole)) => match draft.bindings.get(hole) {
                        Some(value) => values.push((*local, Value::Term(value.clone()))),
                        None => open.push((at, *local, *hole)),
                    },
                    _ => keys.push(at),
                },
                _ => keys.push(at),
            }
        }
        let env = env.with(values);
        if open.is_empty() || self.has_implicit(used) {
            return Ok(env);
        }
        let keys: Fallible<Vec<(usize, s::Expr)>> =
            keys.into_iter().map(|at| Ok((at, self.instance_argument(used, at, &env)?))).collect();
        let keys = keys?;
        let instances = self.known_instances(used.predicate).into_iter();
        let mut instances: Vec<(Vec<s::Expr>, Vec<s::Expr>)> = instances
            .map(|arguments| {
                let others = keys.iter().filter(|(at, key)| !same(key, &arguments[*at]));
                let unlike = others.map(|(at, key)| eq(key.clone(), arguments[*at].clone()));
                (unlike.collect(), arguments)
            })
            .collect();
        // Instances that are visibly meant come first.
        instances.sort_by_key(|(unlike, _)| !unlike.is_empty());
        let mut values = Vec::new();
        for (at, local, hole) in open {
            let mut chosen: Option<s::Expr> = None;
            for (unlike, arguments) in instances.iter().rev() {
                let value = arguments[at].clone();
                chosen = Some(match chosen {
                    Some(rest) if !unlike.is_empty() => {
                        conditional(and(unlike.clone()), value, rest)
                    }
                    _ => value,
                });
            }
            if let Some(value) = chosen {
                draft.bindings.insert(hole, value.clone());
                values.push((local, Value::Term(value)));
            }
        }
        Ok(env.with(values))
    }
}
