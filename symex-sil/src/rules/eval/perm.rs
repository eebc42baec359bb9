//! `perm(r)` and `forperm`: held permission, in the rest of the heap.

use sil::program::{Expr, ExprKind, LocalId, Resource as Asked};
use smt::terms::{Term, Terms};

use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use symex::findings::blame::{Blame, unsupported_at};
use symex::state::heap::{Heap, Resource};
use symex::{Explore, Stop, View};

impl Sil<'_, '_> {
    /// Evaluates `perm(r)`: the sum over the chunks that may be r, in the rest of the heap (trap
    /// T22).
    pub(crate) fn eval_perm(&mut self, resource: &Asked, blame: Blame) -> Result<Term, Stop> {
        let (resource, arguments) = self.eval_resource(resource, blame)?;
        let heap = self.here.consuming.clone().unwrap_or_else(|| self.here.heap.clone());
        self.touch(resource, &arguments)?;
        Ok(self.held_in(&heap, resource, &arguments))
    }

    /// Evaluates `forperm xs [r(args)] :: e`: a conjunct for each chunk, with the variables bound
    /// to its arguments.
    pub(crate) fn eval_forperm(
        &mut self,
        expr: &Expr,
        variables: &[LocalId],
        resource: &Asked,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (resource, patterns) = self.pattern(Target::asked(resource))?;
        let stands_for = |pattern: &Expr, variable| matches!(&pattern.kind, ExprKind::Local(local) if *local == variable);
        if !variables.iter().all(|&v| patterns.iter().any(|pattern| stands_for(pattern, v))) {
            return unsupported_at(
                expr.span,
                "a `forperm` whose resource does not determine its variables",
            );
        }
        let heap = self.here.consuming.clone().unwrap_or_else(|| self.here.heap.clone());
        let mut conjuncts =
            self.forperm_quantified(resource, &heap, variables, &patterns, body, blame)?;
        for chunk in heap.of(resource).to_vec() {
            let mut conditions = vec![self.terms.lt(Terms::NONE, chunk.amount)];
            for &variable in variables {
                let position = patterns.iter().position(|pattern| stands_for(pattern, variable));
                let position = position.expect("every variable is one of the arguments");
                self.frame.store.set(variable, chunk.arguments[position]);
            }
            for (pattern, &argument) in patterns.iter().zip(&chunk.arguments) {
                let value = self.eval(pattern, blame)?;
                conditions.push(self.terms.eq(value, argument));
            }
            let condition = self.terms.and(conditions);
            // The body, too, is evaluated in the rest of the heap.
            let value =
                self.in_heap(heap.clone(), |sil| sil.under(condition, |sil| sil.eval(body, blame)));
            if let Some(value) = value? {
                conjuncts.push(self.terms.implies(condition, value));
            }
        }
        Ok(self.terms.and(conjuncts))
    }

    /// Evaluates `forperm xs [r(args)] :: e` over quantified chunks: for all values of the
    /// variables at whose location a chunk holds permission.
    fn forperm_quantified(
        &mut self,
        resource: Resource,
        heap: &Heap,
        variables: &[LocalId],
        patterns: &[&Expr],
        body: &Expr,
        blame: Blame,
    ) -> Result<Vec<Term>, Stop> {
        let chunks = heap.quantified(resource);
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let store = self.frame.store.clone();
        let mut bound = Vec::with_capacity(variables.len());
        for (position, &variable) in variables.iter().enumerate() {
            let locals = self.frame.locals;
            let sort = self.sort(&locals[variable].ty);
            let value = self.variable_below(position, sort);
            self.frame.store.set(variable, value);
            bound.push(value);
        }
        let outcome = self.binding(&bound, |sil| {
            sil.scoped(None, |sil| {
                let mut arguments = Vec::with_capacity(patterns.len());
                for pattern in patterns {
                    arguments.push(sil.eval(pattern, blame)?);
                }
                let mut conjuncts = Vec::with_capacity(chunks.len());
                for chunk in chunks {
                    let some = sil.terms.is_some(chunk.amount);
                    let some = sil.at(resource, some, &arguments);
                    let Some(value) = sil.under(some, |sil| sil.eval(body, blame))? else {
                        continue;
                    };
                    let conjunct = sil.terms.implies(some, value);
                    let value = sil.map_at(resource, chunk.map, &arguments);
                    let mut triggers = vec![vec![value]];
                    for trigger in &chunk.triggers {
                        let here = trigger.iter().map(|&t| sil.at(resource, t, &arguments));
                        triggers.push(here.collect());
                    }
                    conjuncts.push((conjunct, triggers));
                }
                Ok(conjuncts)
            })
        });
        let (result, facts) = outcome?;
        self.frame.store = store;
        let mut quantified = Vec::new();
        for (conjunct, triggers) in result? {
            quantified.push(self.terms.forall(&bound, triggers, conjunct, "forperm", 1));
        }
        for fact in facts {
            let fact = self.quantified_fact(&bound, &[], fact, "forperm.aux");
            self.assume(fact)?;
        }
        Ok(quantified)
    }
}
