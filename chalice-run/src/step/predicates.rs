//! Folding and unfolding of predicate instances.

use chalice::Span;
use chalice_rt::flaw::Flaw;
use findings::{ErrorId, Reason};

use crate::amount::{Amount, Kappa, Sign};
use crate::code::{Access, AmountExpr, Expr, Kind, Method, Target};
use crate::fault::{Fault, Res, Trouble, blamed, reference_or_null};
use crate::heap::{Holder, Loc, Part};
use crate::machine::{Activation, COMMON, Evaluator, Folding, OldState};
use crate::transfer::Transfer;
use crate::value::{Ref, Value};

/// Folding or unfolding.
type Trade<'c> = dyn FnMut(&mut Evaluator<'c>, &Access, &mut [Value]) -> Res<()>;

impl<'c> Evaluator<'c> {
    /// Where folding is ignored, what is folded or unfolded has to be there, and stays.
    fn is_no_trade(&mut self, access: &Access, slots: &mut [Value]) -> Res<bool> {
        if self.config.checks && self.config.folding == Folding::Ignore {
            self.check_access(access, slots)?;
        }
        Ok(!self.config.checks || self.config.folding == Folding::Ignore)
    }

    /// Moves what a predicate stands for into an instance.
    pub(crate) fn fold_instance(
        &mut self,
        object: Ref,
        predicate: u32,
        amount: &Amount,
        fresh: Option<Kappa>,
        from: Holder,
        span: Span,
    ) -> Res<()> {
        let mut transfer = Transfer::give(from, Holder::Instance(object, predicate));
        transfer.scale = Some(amount.clone());
        transfer.fresh = fresh;
        self.move_body(object, predicate, transfer, from)?;
        let loc = Loc { object, part: Part::Predicate(predicate) };
        self.heap.holdings_mut(loc);
        let instances = &mut self.heap.object_mut(object).instances;
        if let Some(instance) = instances.iter_mut().find(|one| one.predicate == predicate) {
            instance.since = span;
        }
        Ok(())
    }

    /// Moves what the body asks for, judged with the permission of one holder.
    fn move_body(
        &mut self,
        object: Ref,
        predicate: u32,
        mut transfer: Transfer,
        reader: Holder,
    ) -> Res<()> {
        let code = self.code;
        let described = &code.predicates[predicate as usize];
        let mut slots = described.frame.initial.clone();
        slots[0] = Value::Ref(object);
        let outer = self.scope.clone();
        self.scope.kappa = COMMON;
        self.scope.old = OldState::Missing;
        self.scope.holder = reader;
        let result = self.collect(&described.body, &mut slots, &mut transfer);
        let result = result.and_then(|()| self.settle(transfer).map(|_| ()));
        self.scope = outer;
        result
    }

    /// Returns how much of an instance is folded or unfolded; a read fraction is chosen anew, below
    /// that of the context.
    fn traded(&mut self, access: &Access, slots: &mut [Value]) -> Res<(Amount, Option<Kappa>)> {
        if !access.amount.is_inexact(true) {
            return Ok((self.positive_amount(access, slots)?, None));
        }
        let outer = self.scope.kappa;
        let kappa = self.fractions.fresh(Some(outer));
        self.scope.kappa = kappa;
        let amount = self.positive_amount(access, slots);
        self.scope.kappa = outer;
        let amount = if access.amount.has_star() { Amount::read(kappa) } else { amount? };
        Ok((amount, Some(kappa)))
    }

    /// Opens the predicates of the receiver that the precondition of a method has given
    /// (`-defaults`).
    pub(crate) fn open_own(&mut self, activation: &mut Activation) -> Res<()> {
        let code = self.code;
        let method = &code.methods[activation.method as usize];
        if method.opened.is_empty() {
            return Ok(());
        }
        let outer = self.scope.clone();
        self.scope.holder = activation.holder;
        self.scope.kappa = activation.kappa;
        let mut slots = std::mem::take(&mut activation.slots);
        let mut result = Ok(());
        for predicate in &method.opened {
            result = result.and_then(|()| {
                self.own(predicate, &mut slots, &mut |machine, access, slots| {
                    machine.unfold(access, slots)
                })
            });
        }
        activation.slots = slots;
        self.scope = outer;
        blamed(result, ErrorId::UnfoldFailed, Some(method.span))
    }

    /// Closes the predicates of the receiver that the postcondition asks for (`-defaults`).
    pub(super) fn close_own(&mut self, method: &Method, slots: &mut [Value]) -> Res<()> {
        for predicate in &method.closed {
            let result = self
                .own(predicate, slots, &mut |machine, access, slots| machine.fold(access, slots));
            blamed(result, ErrorId::PostconditionViolated, Some(predicate.span))?;
        }
        Ok(())
    }

    fn own(&mut self, predicate: &Expr, slots: &mut [Value], action: &mut Trade<'c>) -> Res<()> {
        match &predicate.kind {
            Kind::Implies(parts) => {
                if self.truth(&parts.0, slots)? {
                    self.own(&parts.1, slots, action)?;
                }
                Ok(())
            }
            Kind::Access(access) => action(self, access, slots),
            _ => Ok(()),
        }
    }

    pub(super) fn fold(&mut self, access: &Access, slots: &mut [Value]) -> Res<()> {
        let Some((object, predicate)) = self.instance(access, slots)? else { return Ok(()) };
        if self.is_no_trade(access, slots)? {
            return Ok(());
        }
        let from = self.scope.holder;
        let loc = Loc { object, part: Part::Predicate(predicate) };
        if matches!(access.amount, AmountExpr::Read) {
            // The fraction of the surroundings if so much is there: what was unfolded is folded
            // again as a whole.
            let amount = Amount::read(self.scope.kappa);
            let folded = self.fold_instance(object, predicate, &amount, None, from, access.span);
            if !is_lacking(&folded) {
                folded?;
                self.heap.holdings_mut(loc).add(from, &amount);
                return Ok(());
            }
        }
        let (amount, fresh) = self.traded(access, slots)?;
        self.fold_instance(object, predicate, &amount, fresh, from, access.span)?;
        self.heap.holdings_mut(loc).add(from, &amount);
        Ok(())
    }

    pub(super) fn unfold(&mut self, access: &Access, slots: &mut [Value]) -> Res<()> {
        let Some((object, predicate)) = self.instance(access, slots)? else { return Ok(()) };
        if self.is_no_trade(access, slots)? {
            return Ok(());
        }
        let (mut amount, mut fresh) = self.traded(access, slots)?;
        let to = self.scope.holder;
        let loc = Loc { object, part: Part::Predicate(predicate) };
        let held = self.available(loc);
        if matches!(access.amount, AmountExpr::Read) {
            let outer = Amount::read(self.scope.kappa);
            let rest = self.fractions.sign(&held.minus(&outer));
            if matches!(rest, Sign::Positive | Sign::Zero) {
                (amount, fresh) = (outer, None);
            }
        }
        if let Some(kappa) = fresh {
            if !self.fractions.is_divisible(&held) {
                return Err(Fault::missing(Flaw::NotFolded, loc, None, access.span).into());
            }
            self.fractions.bound(kappa, &held.solid());
        }
        let rest = self.fractions.sign(&held.minus(&amount));
        if !matches!(rest, Sign::Positive | Sign::Zero) {
            return Err(Fault::missing(Flaw::NotFolded, loc, Some(amount), access.span).into());
        }
        let inner = Holder::Instance(object, predicate);
        let mut transfer = Transfer::receive(inner, to);
        transfer.scale = Some(amount.clone());
        transfer.fresh = fresh;
        self.move_body(object, predicate, transfer, inner)?;
        self.heap.holdings_mut(loc).add(to, &Amount::NONE.minus(&amount));
        Ok(())
    }

    fn instance(&mut self, access: &Access, slots: &mut [Value]) -> Res<Option<(Ref, u32)>> {
        let Target::Predicate { receiver, predicate } = &access.target else { return Ok(None) };
        let object = self.eval(receiver, slots)?;
        let object = reference_or_null(&object, receiver.span, |object| object)?;
        self.subject = Some(object);
        Ok(Some((object, *predicate)))
    }
}

/// Is permission missing, and nothing else wrong?
fn is_lacking<T>(result: &Res<T>) -> bool {
    let Err(trouble) = result else { return false };
    matches!(&**trouble, Trouble::Fault(fault) if fault.reason == Reason::InsufficientPermission)
}
