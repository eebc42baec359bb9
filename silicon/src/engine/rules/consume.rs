//! consume(σ, A): proves an assertion and takes its permissions away; yields the snapshot of what
//! was taken.
//!
//! Schwerhoff 2011, figure 6. Expressions are evaluated in σ's own heap, as it was when the consume
//! started; permissions are taken from `Here::consuming`, the h that consume' threads through.
//!
//! Invariants
//! - On success what is left plus what was taken is the incoming heap, as permission sums.
//! - The snapshot has the shape that `produce` expects for the same assertion.

use sil::program::{Expr, Location};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms, grow_stack};

use crate::engine::findings::blame::Blame;
use crate::engine::rules::Sil;
use crate::engine::rules::assertion::{Form, conjuncts};
use crate::engine::rules::shape::assembled;
use crate::engine::rules::shape::{has_part, is_mixed};
use crate::engine::state::heap::{Chunk, Resource};
use crate::engine::{Engine, Explore, Reading, Stop, View};

impl Sil<'_, '_> {
    /// Consumes the conjuncts of all clauses, left to right, and leaves the rest in σ's heap.
    pub(crate) fn consume_all(
        &mut self,
        clauses: &[&Expr],
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let (snapshot, left) = self.consuming_heap(|sil| sil.consume_parts(clauses, blame));
        self.here.heap = left;
        snapshot
    }

    /// Like [`Sil::consume_all`], from the heap that is being consumed already.
    pub(crate) fn consume_parts(
        &mut self,
        clauses: &[&Expr],
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let consume = |sil: &mut Self| sil.consume_clauses(clauses, blame);
        let snapshot =
            self.exchanging(|sil| &mut sil.frame.assertion.reading, Reading::Exhale, consume).0?;
        let is_kept = self.frame.assertion.keeps_snapshots;
        Ok(if is_kept { self.checked_snapshot(clauses, snapshot) } else { snapshot })
    }

    fn consume_clauses(
        &mut self,
        clauses: &[&Expr],
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let conjuncts = conjuncts(clauses);
        let mut parts = Vec::with_capacity(conjuncts.len());
        for (clause, conjunct) in conjuncts {
            let blame = blame(clauses[clause]);
            if !blame.is_of_application() {
                self.log.enter_part(blame.span);
            }
            let part = self.with_own_wildcards(|sil| sil.consume(conjunct, blame))?;
            if has_part(conjunct) {
                parts.push(part);
            }
        }
        Ok(assembled(&mut self.terms, parts))
    }

    fn consume(&mut self, assertion: &Expr, blame: Blame) -> Result<Term, Stop> {
        let snapshot = grow_stack(|| self.consume_kind(assertion, blame))?;
        // SOUNDNESS: who reads it would expect the shape of the other reading (trap T3).
        Ok(if is_mixed(assertion) { self.fresh("mixed", Sort::SNAP) } else { snapshot })
    }

    fn consume_kind(&mut self, assertion: &Expr, blame: Blame) -> Result<Term, Stop> {
        match Form::of(assertion) {
            Form::TwoReadings { exhale, .. } => {
                let blame = self.other_side(blame)?;
                self.consume_clauses(&[exhale], |_| blame)
            }
            Form::Pure => {
                if !blame.is_silent() {
                    let goal = self.eval(assertion, blame)?;
                    self.prove_condition(assertion, goal, blame, |engine| {
                        Sil::of(engine).eval(assertion, blame.silent())
                    })?;
                }
                Ok(self.terms.unit())
            }
            Form::All(_) => self.consume_clauses(&[assertion], |_| blame),
            Form::If { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                self.either(condition, |sil, holds| {
                    match if holds { Some(then) } else { otherwise } {
                        Some(side) => sil.consume_clauses(&[side], |_| blame),
                        None => Ok(sil.terms.unit()),
                    }
                })
            }
            Form::Let { variable, value, body } => {
                let value = self.eval(value, blame)?;
                self.frame.store.set(variable, value);
                self.consume_clauses(&[body], |_| blame)
            }
            Form::Access { location, amount } => {
                self.consume_access(assertion, location, amount, blame)
            }
            Form::Quantified { .. } => self.consume_quantified(assertion, blame),
            Form::Wand => {
                let function = self.consume_wand(assertion, blame)?;
                Ok(self.terms.snap_wrap(function))
            }
            Form::Other => self.unsupported(assertion, "this form of assertion"),
        }
    }

    /// consume(σ, acc(loc, p)).
    fn consume_access(
        &mut self,
        assertion: &Expr,
        location: &Location,
        amount: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (resource, arguments) = self.eval_location(location, blame)?;
        let loss = self.eval_amount(amount, blame)?;
        self.consume_location(resource, arguments, loss, assertion.span, blame)
    }
}

impl Engine<'_> {
    /// The same, of what has been evaluated; yields its snapshot.
    pub(crate) fn consume_location(
        &mut self,
        resource: Resource,
        arguments: Vec<Term>,
        loss: Term,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let sort = self.resource_sort(resource);
        if let Some(value) = self.take_location(resource, &arguments, loss)? {
            self.note_given(resource, &arguments, blame.span);
            return Ok(self.terms.snap_wrap(value));
        }
        let mut reported = None;
        if !blame.is_silent() {
            let (left, needed) = (self.here.left(), Some(loss));
            reported = Some(self.fail_permission(&left, resource, &arguments, needed, blame, at)?);
        }
        self.note_missing(reported);
        self.drop_aliases(resource, &arguments)?;
        let value = self.fresh("missing", sort);
        if let Some(reported) = reported {
            // What is said about the value in the same assertion fails for the same reason.
            self.taint(value, reported)?;
            let amount = Terms::WRITE;
            self.heap_to_extend().push(resource, Chunk { arguments, value, amount });
        }
        Ok(self.terms.snap_wrap(value))
    }
}
