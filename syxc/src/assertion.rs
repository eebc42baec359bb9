//! The meaning of the parts of assertions, for produce(σ, s, A) and consume(σ, A) (Schwerhoff 2011,
//! sections 3.6 and 3.7).
//!
//! The snapshot of an assertion has the same shape on both sides: a pair for each conjunct but the
//! last, the unit for a part without permission.

use chalice::program::{Access, AccessTarget, Expr, ExprKind, Type};
use sil::program::PredicateId;
use sil::source::Span;
use smt::terms::{Term, Terms, grow_stack};

use super::many::{is_many, is_to_elements};
use super::{Chalice, Threads, renumbered, span};
use crate::eval::unknown;
use symex::Stop;
use symex::findings::blame::{Blame, Reason, unsupported_at};
use symex::rules::assertion::{Assertions, Form};
use symex::rules::language::{Accessed, Language};
use symex::state::Frame;
use symex::state::heap::Resource;

fn is_of_channel(access: &Access) -> bool {
    matches!(&access.target, AccessTarget::Field { receiver, .. } if matches!(receiver.ty, Type::Channel(_)))
}

impl Assertions for Chalice<'_, '_> {
    type Expr = Expr;

    fn operands(assertion: &Expr) -> Option<&[Expr]> {
        match &assertion.kind {
            ExprKind::And(operands) => Some(operands),
            _ => None,
        }
    }

    fn has_part(_: &Expr) -> bool {
        true
    }

    fn span(assertion: &Expr) -> Span {
        span(assertion.span)
    }
}

impl<'p> Language<'p> for Chalice<'_, 'p> {
    type Access<'e> = &'e Access;
    /// The expression itself tells its form.
    type Own<'e> = ();

    const NAMES_CLAUSES: bool = false;

    fn form(assertion: &Expr) -> Form<'_, Expr, &Access, ()> {
        if assertion.is_pure() {
            return Form::Pure;
        }
        match &assertion.kind {
            ExprKind::And(operands) => Form::All(operands),
            ExprKind::Implies { guard, body } => {
                Form::If { condition: guard, then: body, otherwise: None }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                Form::If { condition, then, otherwise: Some(otherwise) }
            }
            ExprKind::Access(access) if !is_to_elements(access) => Form::Access(access),
            _ => Form::Own(()),
        }
    }

    fn eval(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        self.eval(expr, blame)
    }

    fn accessed(&mut self, _: &Expr, access: &Access, blame: Blame) -> Result<Accessed, Stop> {
        let at = span(access.span);
        if self.threads.is_any_fraction(&access.amount) {
            let places = self.locations(access, blame)?;
            let amount = self.threads.any_fraction(&places)?;
            return Ok(Accessed { places, amount, at });
        }
        let amount = self.scaled(access, blame)?;
        let places = self.locations(access, blame)?;
        Ok(Accessed { places, amount, at })
    }

    fn produce_pure(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        let fact = self.eval(assertion, blame)?;
        self.assume(fact)?;
        match &assertion.kind {
            ExprKind::Holds { target, .. } => self.is_shared(target),
            _ => Ok(()),
        }
    }

    fn consume_pure(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        let goal = self.eval(assertion, blame)?;
        self.prove(goal, blame, Reason::AssertionFalse, span(assertion.span))
    }

    fn produce_own(
        &mut self,
        assertion: &Expr,
        (): (),
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if is_many(assertion) {
            return self.produce_many(assertion, snapshot, blame);
        }
        self.assume_unit(snapshot)?;
        match &assertion.kind {
            ExprKind::Eval { state, body } => self.learn_of_state(assertion, state, body, blame),
            ExprKind::Credit { channel, amount } => {
                self.credit_makes_sense((channel, amount.as_deref()), blame)
            }
            _ => unknown(assertion),
        }
    }

    fn consume_own(&mut self, assertion: &Expr, (): (), blame: Blame) -> Result<Term, Stop> {
        match &assertion.kind {
            _ if is_many(assertion) => return self.consume_many(assertion, blame),
            ExprKind::Eval { state, body } => {
                self.show_of_state(assertion, state, body, blame)?;
            }
            ExprKind::Credit { channel, amount } => {
                self.credit_makes_sense((channel, amount.as_deref()), blame)?;
            }
            _ => return unknown(assertion),
        }
        Ok(self.terms.unit())
    }

    fn gained(&mut self, access: &Access, accessed: &Accessed) -> Result<(), Stop> {
        for (resource, arguments) in &accessed.places {
            let object = arguments[0];
            if matches!(access.target, AccessTarget::Predicate { .. }) {
                self.threads.has_receiver(object, accessed.amount)?;
            }
            if *resource == self.direct.mu() {
                if is_of_channel(access) {
                    self.threads.learn_channel(object)?;
                } else {
                    self.threads.learn_level(object)?;
                }
            }
        }
        Ok(())
    }

    fn body(&self, predicate: PredicateId) -> Option<&'p Expr> {
        Some(&self.direct.tree.predicates[renumbered(predicate)].body)
    }

    fn body_frame(
        &mut self,
        _: PredicateId,
        arguments: &[Term],
        amount: Term,
    ) -> Result<Frame<'p>, Stop> {
        let direct = self.direct;
        let common = self.threads.common()?;
        let mut frame = Frame { store: self.threads.store(), ..self.frame.clone() };
        frame.store.set(direct.this, arguments[0]);
        frame.store.set(direct.fraction, common);
        if self.threads.whole().is_none() {
            frame.assertion.scale = (amount != Terms::WRITE).then_some(amount);
        }
        Ok(frame)
    }

    fn body_blame(&mut self, _: PredicateId, _: Term, blame: Blame) -> Blame {
        blame.trusted()
    }
}

impl Threads<'_, '_> {
    /// Learns that a held instance has a receiver.
    ///
    /// SOUNDNESS: a fold asks for the receiver, and an amount of none tells nothing.
    fn has_receiver(&mut self, object: Term, amount: Term) -> Result<(), Stop> {
        let held = self.terms.lt(Terms::NONE, amount);
        let exists = self.terms.differs(object, Terms::NULL);
        let fact = self.terms.implies(held, exists);
        self.assume(fact)
    }
}

impl Chalice<'_, '_> {
    /// Runs a rule on each part of an assertion, on the sides of conditions that this run takes. A
    /// conditional without `split` counts as one part.
    pub(super) fn each_part(
        &mut self,
        assertion: &Expr,
        split: fn(&Expr) -> bool,
        blame: Blame,
        rule: &mut dyn FnMut(&mut Self, &Expr) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        grow_stack(|| match &assertion.kind {
            ExprKind::And(parts) => {
                parts.iter().try_for_each(|part| self.each_part(part, split, blame, rule))
            }
            ExprKind::Implies { guard, body } if split(assertion) => {
                let holds = self.decide(guard, blame)?;
                if holds { self.each_part(body, split, blame, rule) } else { Ok(()) }
            }
            ExprKind::Conditional { condition, then, otherwise } if split(assertion) => {
                let side = if self.decide(condition, blame)? { then } else { otherwise };
                self.each_part(side, split, blame, rule)
            }
            _ => rule(self, assertion),
        })
    }

    /// Decides a condition of an assertion for this run.
    fn decide(&mut self, condition: &Expr, blame: Blame) -> Result<bool, Stop> {
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

    /// Returns the location of an access to one location.
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
            AccessTarget::BackPointers { receiver, field, .. } => {
                (Resource::Field(self.direct.pointers(*field)), receiver)
            }
            _ => return unsupported_at(span(access.span), "this form of permission"),
        };
        Ok((resource, vec![self.eval(receiver, blame)?]))
    }
}
