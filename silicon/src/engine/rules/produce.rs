//! produce(σ, s, A): assumes an assertion and adds its permissions to the heap.
//!
//! Schwerhoff 2011, figure 5. `snapshot` is s: where the values of the locations come from. `None`
//! stands for "nobody knows": each location gets a fresh value of its own.

use sil::program::{BinaryOp, Expr, ExprKind, Location, Quantifier};
use smt::terms::{Term, Terms, grow_stack};

use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::rules::Sil;
use crate::engine::rules::assertion::{Form, conjuncts};
use crate::engine::rules::shape::{has_part, is_mixed};
use crate::engine::state::heap::{Chunk, Resource};
use crate::engine::{Engine, Explore, Reading, Stop, View};

impl Sil<'_, '_> {
    /// Produces the conjuncts of all clauses, left to right; `blame` gives each clause its error.
    pub(crate) fn produce_all(
        &mut self,
        clauses: &[&Expr],
        snapshot: Option<Term>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<(), Stop> {
        let frames_itself = clauses.iter().all(|clause| blame(clause).is_trusted());
        if !frames_itself || self.frame.without_own.is_some() {
            return self.produce_conjuncts(clauses, snapshot, blame);
        }
        self.frame.without_own = Some(self.here.heap.clone());
        let result = self.produce_conjuncts(clauses, snapshot, blame);
        self.frame.without_own = None;
        result
    }

    fn produce_conjuncts(
        &mut self,
        clauses: &[&Expr],
        snapshot: Option<Term>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<(), Stop> {
        let conjuncts = conjuncts(clauses);
        let parts = conjuncts.iter().filter(|(_, conjunct)| has_part(conjunct)).count();
        let mut rest = self.rest(snapshot, parts)?;
        for (clause, conjunct) in conjuncts {
            let own = if has_part(conjunct) { self.next_part(&mut rest)? } else { None };
            let blame = blame(clauses[clause]);
            self.with_own_wildcards(|sil| sil.produce(conjunct, own, blame))?;
        }
        Ok(())
    }

    fn produce(
        &mut self,
        assertion: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        grow_stack(|| self.produce_kind(assertion, snapshot, blame))
    }

    fn produce_kind(
        &mut self,
        assertion: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let snapshot = snapshot.filter(|_| !is_mixed(assertion));
        match Form::of(assertion) {
            Form::TwoReadings { inhale, exhale } => {
                let is_inhaled = self.frame.assertion.reading == Reading::Inhale;
                let side = if is_inhaled { inhale } else { exhale };
                self.produce_all(&[side], snapshot, |_| blame)
            }
            Form::Pure => self.produce_pure(assertion, blame),
            Form::All(_) => self.produce_all(&[assertion], snapshot, |_| blame),
            Form::If { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                self.either(condition, |sil, holds| {
                    match if holds { Some(then) } else { otherwise } {
                        Some(side) => sil.produce_all(&[side], snapshot, |_| blame)?,
                        None => sil.assume_unit(snapshot)?,
                    }
                    Ok(Terms::TRUE)
                })?;
                Ok(())
            }
            Form::Let { variable, value, body } => {
                let value = self.eval(value, blame)?;
                self.frame.store.set(variable, value);
                self.produce_all(&[body], snapshot, |_| blame)
            }
            Form::Access { location, amount } => {
                self.produce_access(location, amount, snapshot, blame)
            }
            Form::Quantified { .. } => self.produce_quantified(assertion, snapshot, blame),
            Form::Wand => self.produce_wand(assertion, snapshot, blame),
            Form::Other => self.unsupported(assertion, "this form of assertion"),
        }
    }

    fn produce_pure(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        // COMPLETENESS: Z3 need not look at what is in the instances of a formula that stands below
        // another one, so that they trigger nothing: a guard that holds is left out.
        if let ExprKind::Binary { op: BinaryOp::Implies, left, right } = &assertion.kind
            && is_about_all(right)
        {
            let guard = self.eval(left, blame)?;
            if self.check(guard)? {
                self.assume(guard)?;
                return self.produce(right, None, blame);
            }
        }
        let fact = self.eval(assertion, blame)?;
        // A written `false` ends the path in any case.
        if matches!(assertion.kind, ExprKind::Bool(false)) {
            return self.assume(fact);
        }
        self.assume_produced(fact)
    }

    /// produce(σ, s, acc(loc, p)).
    fn produce_access(
        &mut self,
        location: &Location,
        amount: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let (resource, arguments) = self.eval_location(location, blame)?;
        let gain = self.eval_amount(amount, blame)?;
        self.produce_location(resource, arguments, gain, snapshot)
    }

    /// An amount, not negative, times the factor of the predicate around.
    pub(crate) fn eval_amount(&mut self, amount: &Expr, blame: Blame) -> Result<Term, Stop> {
        let mut value = self.eval(amount, blame)?;
        // SOUNDNESS: consuming a negative amount would add permission. That the contract is
        // well-formed is no guarantee, since its other reading may have been what ruled the amount
        // out (trap T17e).
        let consuming = self.here.consuming.is_some();
        let checked = if consuming { !blame.is_silent() } else { !blame.is_trusted() };
        if checked && !self.is_open_wildcard(value) {
            let not_negative = |terms: &mut Terms, value| terms.le(Terms::NONE, value);
            let claim = not_negative(&mut self.terms, value);
            let may_wait = self.mode.leaves_out_amounts && !consuming;
            if may_wait && !self.terms.is_literal(claim) && !self.check(claim)? {
                self.gathered.open_amounts = true;
                self.assume(claim)?;
            } else {
                let reason = Reason::NegativePermission;
                value = self.prove_of(value, not_negative, blame, reason, amount.span)?;
            }
        }
        Ok(match self.frame.assertion.scale {
            Some(scale) => {
                let (product, lemmas) = self.terms.scaled(scale, value);
                for lemma in lemmas {
                    self.assume(lemma)?;
                }
                product
            }
            None => value,
        })
    }
}

impl Engine<'_> {
    /// The same, of what has been evaluated.
    pub(crate) fn produce_location(
        &mut self,
        resource: Resource,
        arguments: Vec<Term>,
        gain: Term,
        snapshot: Option<Term>,
    ) -> Result<(), Stop> {
        let sort = self.resource_sort(resource);
        let value = match snapshot {
            Some(snapshot) => {
                let wrapped = self.terms.is_wrapped(snapshot, sort);
                self.assume(wrapped)?;
                self.terms.snap_unwrap(snapshot, sort)
            }
            None => {
                let hint = self.resource_name(resource);
                self.fresh(&hint, sort)
            }
        };
        self.add_chunk(resource, Chunk { arguments, value, amount: gain })
    }
}

/// Tells whether a part of a pure assertion is about all values of something.
fn is_about_all(assertion: &Expr) -> bool {
    match &assertion.kind {
        ExprKind::And(parts) => parts.iter().any(is_about_all),
        ExprKind::Binary { op: BinaryOp::Implies, right, .. } => is_about_all(right),
        ExprKind::Quantified { quantifier, .. } => *quantifier == Quantifier::Forall,
        _ => false,
    }
}
