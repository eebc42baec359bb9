//! From what an assertion was collected into to formulas and sets: holes are filled, and what
//! waited for them is lowered.

use indexmap::IndexMap;
use sil::syntax as s;
use spl::program::{BinaryOp, Expr, ExprKind, Type};
use spl::source::Span;

use super::super::member::{Declaration, Env, Value};
use super::super::types::lowered;
use super::super::{Fallible, Stuck};
use super::{Case, Draft, Fact, Footprint, Piece};
use crate::build::*;

impl<'p> Declaration<'_, 'p> {
    /// Fills holes by equations, lowers the formulas and the sets.
    pub(super) fn finish(&mut self, draft: Draft<'p>, span: Span) -> Fallible<Case> {
        self.bindings = draft.bindings;
        let mut pending: Vec<Option<(Fact<'p>, Span)>> =
            draft.facts.into_iter().map(Some).collect();
        let mut done: Vec<Option<(s::Expr, Span)>> = vec![None; pending.len()];
        loop {
            let mut progress = false;
            for (at, entry) in pending.iter_mut().enumerate() {
                let Some((fact, span)) = entry else { continue };
                match self.fact(fact) {
                    Ok(formula) => done[at] = Some((formula, *span)),
                    Err(stuck) if stuck.unbound.is_some() => continue,
                    Err(stuck) => return Err(stuck),
                }
                (*entry, progress) = (None, true);
            }
            if !progress && !self.fill_with_rest(&draft.sets) {
                break;
            }
        }
        let left: Vec<(Fact<'p>, Span)> = pending.into_iter().flatten().collect();
        let mut formulas: Vec<(s::Expr, Span)> = done.into_iter().flatten().collect();
        let mut sets = IndexMap::new();
        for (sort, pieces) in draft.sets {
            // A set that is only said to exist could not be named where the assertion is used.
            let set = self.pieces(&sort, &pieces).map_err(|stuck| Stuck {
                span: if stuck.unbound.is_some() { span } else { stuck.span },
                ..stuck
            })?;
            sets.insert(sort, set);
        }
        if !left.is_empty() {
            formulas.push(self.exists_left(&left)?);
        }
        Ok(Case { formulas, sets, bindings: std::mem::take(&mut self.bindings) })
    }

    /// Fills a hole that is a footprint of its own with all that is owned besides the others:
    /// whoever hands over a footprint may choose it.
    fn fill_with_rest(&mut self, sets: &Footprint) -> bool {
        let Some(mut rests) = self.rests.take() else { return false };
        let mut found = false;
        for (sort, pieces) in sets {
            let is_open = |piece: &Piece| match piece {
                Piece::Hole(hole) => (!self.bindings.contains_key(hole)).then_some(*hole),
                Piece::Set(_) => None,
            };
            let open: Vec<usize> = pieces.iter().filter_map(is_open).collect();
            let (&[hole], Some(own)) = (&open[..], self.state.own.get(sort).cloned()) else {
                continue;
            };
            let others = pieces.iter().filter(|piece| is_open(piece).is_none());
            let others: Vec<Piece> = others.cloned().collect();
            let Ok(others) = self.pieces(sort, &others) else { continue };
            let rest = self.of_set("minus", sort, [own, others]);
            self.bindings.insert(hole, rest.clone());
            rests.insert(hole, rest);
            found = true;
        }
        self.rests = Some(rests);
        found
    }

    /// `exists` over the holes that nothing fills, where no footprint mentions them.
    fn exists_left(&mut self, left: &[(Fact<'p>, Span)]) -> Fallible<(s::Expr, Span)> {
        let known = self.bindings.clone();
        let mut bound = Vec::new();
        for hole in 0..self.holes.len() {
            if !self.bindings.contains_key(&hole) {
                let name = self.fresh("some$");
                let ty = self.holes[hole].clone();
                self.ty(&ty);
                bound.push(typed(&name, lowered(self.program, &ty)));
                self.bindings.insert(hole, var(&name));
            }
        }
        let mut formulas = Vec::new();
        for (fact, _) in left {
            if let Fact::Related(..) = fact {
                return self.stuck("a footprint that nothing determines", left[0].1);
            }
            formulas.push(self.fact(fact)?);
        }
        // Outside of this formula they are still unknown.
        self.bindings = known;
        let body = and(formulas);
        bound.retain(|one| super::super::triggers::mentions(&body, &one.name.name));
        let formula = if bound.is_empty() { body } else { exists(bound, body) };
        Ok((formula, left[0].1))
    }

    fn fact(&mut self, fact: &Fact<'p>) -> Fallible<s::Expr> {
        match fact {
            Fact::Ready(formula) => Ok(formula.clone()),
            Fact::Formula(e, env, true) => {
                if self.fill_by_equation(e, env)? {
                    Ok(truth(true))
                } else {
                    self.term(e, env)
                }
            }
            Fact::Formula(e, env, false) => Ok(not(self.term(e, env)?)),
            Fact::Related(relation, sort, left, right) => {
                let left = self.pieces(sort, left)?;
                let right = self.pieces(sort, right)?;
                Ok(self.of_set(relation, sort, [left, right]))
            }
        }
    }

    /// Fills holes by the equations of a draft, before an instance needs their values.
    pub(super) fn fill_from_facts(&mut self, draft: &mut Draft<'p>) {
        let others = std::mem::replace(&mut self.bindings, std::mem::take(&mut draft.bindings));
        for (fact, _) in &draft.facts {
            if let Fact::Formula(e, env, true) = fact {
                // What is not known yet is left to the end.
                let _ = self.fill_by_equation(e, env);
            }
        }
        draft.bindings = std::mem::replace(&mut self.bindings, others);
    }

    /// Fills the hole in `C == e`, if it is one.
    fn fill_by_equation(&mut self, e: &'p Expr, env: &Env) -> Fallible<bool> {
        let ExprKind::Binary { op: BinaryOp::Eq | BinaryOp::Iff, left, right } = &e.kind else {
            return Ok(false);
        };
        for (hole, value) in [(left, right), (right, left)] {
            if let ExprKind::Local(local) = &hole.kind
                && let Some(Value::Hole(number)) = env.values.get(local)
                && !self.bindings.contains_key(number)
            {
                let value = self.term_as(value, &hole.ty, env)?;
                self.bindings.insert(*number, value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn pieces(&mut self, sort: &Type, pieces: &[Piece]) -> Fallible<s::Expr> {
        let mut all = None;
        for piece in pieces {
            let set = match piece {
                Piece::Set(set) => set.clone(),
                Piece::Hole(hole) => match self.bindings.get(hole) {
                    Some(set) => set.clone(),
                    None => {
                        let construct = "a footprint that nothing determines";
                        return Err(Stuck {
                            unbound: Some(*hole),
                            ..Stuck::new(construct, Span::default())
                        });
                    }
                },
            };
            all = Some(match all {
                None => set,
                Some(others) => self.of_set("union", sort, [others, set]),
            });
        }
        Ok(all.unwrap_or_else(|| self.of_set("empty", sort, [])))
    }
}
