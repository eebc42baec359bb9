//! Folding and unfolding of predicate instances.

use std::sync::Arc;

use super::transfer::{Mode, Transfer};
use super::{COMMON, Clauses, Holding, Place, Thread, missing};
use crate::amount::{Amount, Kappa, Sign};
use crate::flaw::Flaw;
use crate::object::{Object, Part, locked};
use crate::trouble::{At, Res, Trouble, fail};

/// How much of an instance is folded, unfolded or looked into.
pub struct Trade<'a> {
    /// Is it the read fraction of the context?
    pub is_read: bool,
    /// May it be chosen?
    pub is_chosen: bool,
    /// Is any amount part of it?
    pub has_star: bool,
    /// The amount.
    pub amount: &'a mut dyn FnMut(&mut Thread) -> Res<Amount>,
}

impl Thread {
    /// Returns the amount of a trade, which is positive.
    fn positive(&mut self, trade: &mut Trade<'_>, at: At) -> Res<Amount> {
        let amount = (trade.amount)(self)?;
        match self.sign(&amount) {
            Sign::Positive => Ok(amount),
            Sign::Zero | Sign::Negative => fail(Flaw::NoAmount, at, &[&amount]),
            Sign::Undetermined => fail(Flaw::PerhapsNoAmount, at, &[]),
        }
    }

    /// Returns how much is traded; a read fraction is chosen anew, below that of the context.
    fn traded(&mut self, trade: &mut Trade<'_>, at: At) -> Res<(Amount, Option<Kappa>)> {
        if !trade.is_chosen {
            return Ok((self.positive(trade, at)?, None));
        }
        let outer = self.kappa;
        let kappa = self.fresh(Some(outer));
        self.kappa = kappa;
        let amount = self.positive(trade, at);
        self.kappa = outer;
        let amount = if trade.has_star { Amount::read(kappa) } else { amount? };
        Ok((amount, Some(kappa)))
    }

    /// Takes what the body of a predicate asks for from a holder.
    fn take_body(
        &mut self,
        (amount, fresh): (&Amount, Option<Kappa>),
        body: Clauses<'_>,
        (mode, from): (Mode, Place),
    ) -> Res<Holding> {
        let scale = Some(amount.clone());
        let mut ask = Transfer { mode, scale, fresh, ..Transfer::give() };
        self.on_behalf(from, COMMON, |thread| {
            body(thread, &mut ask)?;
            thread.settle(ask)
        })
    }

    /// `fold`
    ///
    /// # Errors
    /// The body of the predicate does not hold.
    pub fn fold(
        &mut self,
        (object, predicate): (&Arc<Object>, u32),
        mut trade: Trade<'_>,
        body: Clauses<'_>,
        at: At,
    ) -> Res<()> {
        let loc = object.loc(Part::Predicate(predicate));
        let from = (Mode::Give, self.reader.clone());
        // The fraction of the surroundings if so much is there: what was unfolded is folded again as
        // a whole.
        let whole = trade.is_read.then(|| Amount::read(self.kappa));
        let again = whole.map(|amount| {
            let taken = self.take_body((&amount, None), body, from.clone());
            (amount, taken)
        });
        let (amount, taken) = match again {
            Some((amount, Ok(taken))) => (amount, taken),
            Some((_, Err(trouble))) if !is_lacking(&trouble) => return Err(trouble),
            _ => {
                let (amount, fresh) = self.traded(&mut trade, at)?;
                let taken = self.take_body((&amount, fresh), body, from)?;
                (amount, taken)
            }
        };
        locked(&object.instance(predicate)).add_all(taken);
        self.with_holding(|holding| holding.add(loc, &amount));
        Ok(())
    }

    /// `unfold`
    ///
    /// # Errors
    /// The instance is not held.
    pub fn unfold(
        &mut self,
        (object, predicate): (&Arc<Object>, u32),
        mut trade: Trade<'_>,
        body: Clauses<'_>,
        at: At,
    ) -> Res<()> {
        let part = Part::Predicate(predicate);
        let loc = object.loc(part);
        let (mut amount, mut fresh) = self.traded(&mut trade, at)?;
        let held = self.available(loc);
        if trade.is_read {
            let outer = Amount::read(self.kappa);
            if matches!(self.sign(&held.minus(&outer)), Sign::Positive | Sign::Zero) {
                (amount, fresh) = (outer, None);
            }
        }
        if let Some(kappa) = fresh {
            let fractions = self.world.fractions.write();
            let mut fractions = fractions.unwrap_or_else(std::sync::PoisonError::into_inner);
            if !fractions.is_divisible(&held) {
                return missing(Flaw::NotFolded, object, part, None, at);
            }
            fractions.bound(kappa, &held.solid());
        }
        if !matches!(self.sign(&held.minus(&amount)), Sign::Positive | Sign::Zero) {
            return missing(Flaw::NotFolded, object, part, Some(&amount), at);
        }
        let inside = (Mode::Receive, Place::Kept(object.instance(predicate)));
        let taken = self.take_body((&amount, fresh), body, inside)?;
        self.with_holding(|holding| {
            holding.add_all(taken);
            holding.add(loc, &Amount::NONE.minus(&amount));
        });
        Ok(())
    }

    /// `unfolding`
    ///
    /// # Errors
    /// The instance is not held, or what is evaluated has no value.
    pub fn unfolding<T>(
        &mut self,
        (object, predicate): (&Arc<Object>, u32),
        mut trade: Trade<'_>,
        at: At,
        evaluate: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        if !self.reads_checked {
            return evaluate(self);
        }
        let part = Part::Predicate(predicate);
        let available = self.available(object.loc(part));
        let amount = if trade.is_chosen {
            let fractions = self.world.fractions.read();
            let is_divisible = fractions
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .is_divisible(&available);
            if !is_divisible {
                return missing(Flaw::NotOpened, object, part, None, at);
            }
            if !trade.has_star {
                self.positive(&mut trade, at)?;
            }
            available.clone()
        } else {
            self.positive(&mut trade, at)?
        };
        if !matches!(self.sign(&available.minus(&amount)), Sign::Positive | Sign::Zero) {
            return missing(Flaw::NotEnoughToOpen, object, part, Some(&amount), at);
        }
        self.opened.push((Place::Kept(object.instance(predicate)), amount));
        let value = evaluate(self);
        self.opened.pop();
        value
    }
}

/// Is permission missing, and nothing else wrong?
fn is_lacking(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Fault(fault) if fault.reason == Flaw::NotEnough.reason())
}
