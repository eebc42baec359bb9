//! produce(σ, A) and consume(σ, A): gaining an assertion, and giving it away (Schwerhoff 2011,
//! sections 3.6 and 3.7).
//!
//! The snapshot of an assertion has the same shape on both sides: a pair for each conjunct but the
//! last, the unit where there is no permission.

use chalice::program::{Access, AccessTarget, Expr, ExprKind, Type};
use smt::terms::{Term, Terms, grow_stack};

use super::{Chalice, is_pure, renumbered, span};
use crate::direct::eval::unknown;
use crate::engine::findings::blame::unsupported_at;
use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::rules::shape::assembled;
use crate::engine::state::heap::Resource;
use crate::engine::{Stop, View};

/// The conjuncts of clauses, each with its clause.
pub(super) fn conjuncts<'e>(
    clauses: impl IntoIterator<Item = &'e Expr>,
) -> Vec<(&'e Expr, &'e Expr)> {
    fn collect<'e>(clause: &'e Expr, part: &'e Expr, all: &mut Vec<(&'e Expr, &'e Expr)>) {
        match &part.kind {
            ExprKind::And(parts) => {
                parts.iter().for_each(|part| grow_stack(|| collect(clause, part, all)));
            }
            _ => all.push((clause, part)),
        }
    }
    let mut all = Vec::new();
    clauses.into_iter().for_each(|clause| collect(clause, clause, &mut all));
    all
}

fn is_of_channel(access: &Access) -> bool {
    matches!(&access.target, AccessTarget::Field { receiver, .. } if matches!(receiver.ty, Type::Channel(_)))
}

impl Chalice<'_, '_> {
    /// Gains all clauses, from left to right; `blame` gives each its error. Values come from the
    /// snapshot, if there is one.
    pub(super) fn produce_all<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
        snapshot: Option<Term>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<(), Stop> {
        let conjuncts = conjuncts(clauses);
        let mut rest = self.rest(snapshot, conjuncts.len())?;
        for (clause, conjunct) in conjuncts {
            let own = self.next_part(&mut rest)?;
            let blame = blame(clause);
            self.with_own_wildcards(|chalice| {
                grow_stack(|| chalice.produce(conjunct, own, blame))
            })?;
        }
        Ok(())
    }

    fn produce(
        &mut self,
        assertion: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if is_pure(assertion) {
            self.assume_unit(snapshot)?;
            let fact = self.eval(assertion, blame)?;
            self.assume(fact)?;
            return match &assertion.kind {
                ExprKind::Holds { target, .. } => self.is_shared(target),
                _ => Ok(()),
            };
        }
        match &assertion.kind {
            ExprKind::And(_) => self.produce_all([assertion], snapshot, |_| blame),
            ExprKind::Implies { guard, body } => {
                if self.decide(guard, blame)? {
                    self.produce_all([&**body], snapshot, |_| blame)
                } else {
                    self.assume_unit(snapshot)
                }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let holds = self.decide(condition, blame)?;
                let side = if holds { then } else { otherwise };
                self.produce_all([&**side], snapshot, |_| blame)
            }
            ExprKind::Access(access) => {
                let amount = self.scaled(access, blame)?;
                let locations = self.locations(access, blame)?;
                let mut rest = self.rest(snapshot, locations.len())?;
                for (resource, arguments) in locations {
                    let own = self.next_part(&mut rest)?;
                    let object = arguments[0];
                    self.produce_location(resource, arguments, amount, own)?;
                    if matches!(access.target, AccessTarget::Predicate { .. }) {
                        self.has_receiver(object, amount)?;
                    }
                    if resource == self.direct.mu() {
                        if is_of_channel(access) {
                            self.learn_channel(object)?;
                        } else {
                            self.learn_level(object)?;
                        }
                    }
                }
                Ok(())
            }
            ExprKind::Eval { state, body } => {
                self.assume_unit(snapshot)?;
                self.learn_of_state(assertion, state, body, blame)
            }
            ExprKind::Credit { channel, amount } => {
                self.assume_unit(snapshot)?;
                self.credit_makes_sense((channel, amount.as_deref()), blame)
            }
            _ => unknown(assertion),
        }
    }

    /// Learns that an instance that is held has a receiver.
    ///
    /// SOUNDNESS: to fold one asks for it, and of no amount nothing is learnt.
    fn has_receiver(&mut self, object: Term, amount: Term) -> Result<(), Stop> {
        let held = self.terms.lt(Terms::NONE, amount);
        let exists = self.terms.differs(object, Terms::NULL);
        let fact = self.terms.implies(held, exists);
        self.assume(fact)
    }

    /// Gives all clauses away, from left to right, and yields the snapshot of what they took.
    pub(super) fn consume_all<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let (snapshot, left) = self.consuming_heap(|chalice| chalice.consume_parts(clauses, blame));
        self.here.heap = left;
        snapshot
    }

    fn consume_parts<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let mut parts = Vec::new();
        for (clause, conjunct) in conjuncts(clauses) {
            let blame = blame(clause);
            parts.push(
                self.with_own_wildcards(|chalice| grow_stack(|| chalice.consume(conjunct, blame)))?,
            );
        }
        Ok(assembled(&mut self.terms, parts))
    }

    fn consume(&mut self, assertion: &Expr, blame: Blame) -> Result<Term, Stop> {
        if is_pure(assertion) {
            if blame.is_silent() {
                return Ok(self.terms.unit());
            }
            let goal = self.eval(assertion, blame)?;
            self.prove(goal, blame, Reason::AssertionFalse, span(assertion.span))?;
            return Ok(self.terms.unit());
        }
        match &assertion.kind {
            ExprKind::And(_) => self.consume_parts([assertion], |_| blame),
            ExprKind::Implies { guard, body } => {
                if self.decide(guard, blame)? {
                    self.consume_parts([&**body], |_| blame)
                } else {
                    Ok(self.terms.unit())
                }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let holds = self.decide(condition, blame)?;
                let side = if holds { then } else { otherwise };
                self.consume_parts([&**side], |_| blame)
            }
            ExprKind::Access(access) => {
                let amount = self.scaled(access, blame)?;
                let at = span(access.span);
                let mut parts = Vec::new();
                for (resource, arguments) in self.locations(access, blame)? {
                    parts.push(self.consume_location(resource, arguments, amount, at, blame)?);
                }
                Ok(assembled(&mut self.terms, parts))
            }
            ExprKind::Eval { state, body } => {
                self.show_of_state(assertion, state, body, blame)?;
                Ok(self.terms.unit())
            }
            ExprKind::Credit { channel, amount } => {
                self.credit_makes_sense((channel, amount.as_deref()), blame)?;
                Ok(self.terms.unit())
            }
            _ => unknown(assertion),
        }
    }

    /// Which way this run goes at a condition of an assertion.
    pub(super) fn decide(&mut self, condition: &Expr, blame: Blame) -> Result<bool, Stop> {
        let condition = self.eval(condition, blame)?;
        self.branch(condition)
    }

    /// Returns the locations of an access: one location, or all fields of an object.
    pub(super) fn locations(
        &mut self,
        access: &Access,
        blame: Blame,
    ) -> Result<Vec<(Resource, Vec<Term>)>, Stop> {
        let AccessTarget::AllFields { receiver, class } = &access.target else {
            return Ok(vec![self.location(access, blame)?]);
        };
        let receiver = self.eval(receiver, blame)?;
        let fields = self.direct.tree.classes[*class].fields();
        Ok(fields.map(|field| (Resource::Field(renumbered(field)), vec![receiver])).collect())
    }

    /// The same, of an access to one location.
    pub(super) fn location(
        &mut self,
        access: &Access,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        let (resource, receiver) = match &access.target {
            AccessTarget::Field { receiver, field } => {
                (Resource::Field(self.direct.field(*field)), receiver)
            }
            AccessTarget::Predicate { receiver, predicate } => {
                (Resource::Predicate(renumbered(*predicate)), receiver)
            }
            _ => return unsupported_at(span(access.span), "this form of permission"),
        };
        Ok((resource, vec![self.eval(receiver, blame)?]))
    }
}
