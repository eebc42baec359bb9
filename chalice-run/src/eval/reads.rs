//! Reading, and the permission that it needs.

use chalice::Span;
use chalice_rt::flaw::Flaw;
use front::grow_stack;

use crate::amount::{Amount, Rational, Sign};
use crate::code::{Access, AmountExpr, Expr, Target};
use crate::fault::{Fault, Res, Trouble, reference_or_null};
use crate::heap::{Holder, Loc, Part};
use crate::machine::{COMMON, Evaluator, Folding, World};
use crate::value::{Ref, Value};

impl Evaluator<'_> {
    /// Returns the value of a cell, if it may be read.
    pub(crate) fn read(&mut self, object: Ref, cell: u32, span: Span) -> Res<Value> {
        let Some(target) = self.heap.objects.get(object.0 as usize) else {
            return Err(Fault::new(Flaw::NobodysObject, span, &[]).into());
        };
        let found = &target.cells[cell as usize];
        if let Some(state) = &self.scope.at {
            let epoch = state.epoch;
            if self.scope.checks {
                let loc = Loc { object, part: Part::Cell(cell) };
                let amount = self.available(loc);
                if !self.fractions.is_readable(&amount) {
                    return Err(Fault::missing(Flaw::NoReadThen, loc, None, span).into());
                }
            }
            let value = self.heap.value_at(object, cell, epoch).clone();
            return match value {
                Value::Open => self.decide(object, cell, Some(epoch)),
                Value::Unset(value) => Ok((*value).clone()),
                value => Ok(value),
            };
        }
        if self.scope.checks && !found.holdings.is_whole(self.scope.holder) {
            let loc = Loc { object, part: Part::Cell(cell) };
            let amount = self.available(loc);
            if !self.fractions.is_readable(&amount) {
                return Err(Fault::missing(Flaw::NoRead, loc, None, span).into());
            }
        }
        match &self.heap.object(object).cells[cell as usize].value {
            Value::Open => self.decide(object, cell, None),
            Value::Unset(value) => {
                let value = (**value).clone();
                self.unset.insert(span);
                self.heap.decide(object, cell, value.clone());
                Ok(value)
            }
            value => Ok(value.clone()),
        }
    }

    pub(super) fn unfolding(
        &mut self,
        access: &Access,
        body: &Expr,
        slots: &mut [Value],
    ) -> Res<Value> {
        let Target::Predicate { receiver, predicate } = &access.target else {
            return self.eval(body, slots);
        };
        let object = self.eval(receiver, slots)?;
        let object = reference_or_null(&object, receiver.span, |object| object)?;
        if !self.scope.checks || self.config.folding == Folding::Ignore {
            return self.eval(body, slots);
        }
        let loc = Loc { object, part: Part::Predicate(*predicate) };
        let available = self.available(loc);
        let amount = if access.amount.is_inexact(true) {
            if !self.fractions.is_divisible(&available) {
                return Err(Fault::missing(Flaw::NotOpened, loc, None, access.span).into());
            }
            if !access.amount.has_star() {
                self.positive_amount(access, slots)?;
            }
            available.clone()
        } else {
            self.positive_amount(access, slots)?
        };
        let rest = self.fractions.sign(&available.minus(&amount));
        if !matches!(rest, Sign::Positive | Sign::Zero) {
            let fault = Fault::missing(Flaw::NotEnoughToOpen, loc, Some(amount), access.span);
            return Err(fault.into());
        }
        let holder = Holder::Instance(object, *predicate);
        self.opened.push(holder, amount);
        let value = self.eval(body, slots);
        self.opened.pop();
        value
    }

    /// Returns the amount of an instance that is folded, unfolded or looked into. Folding less than
    /// nothing would take from what is inside of the instance.
    pub(crate) fn positive_amount(&mut self, access: &Access, slots: &mut [Value]) -> Res<Amount> {
        let amount = self.amount(&access.amount, slots)?;
        let flaw = match self.fractions.sign(&amount) {
            Sign::Positive => return Ok(amount),
            Sign::Zero | Sign::Negative => Flaw::NoAmount,
            Sign::Undetermined => Flaw::PerhapsNoAmount,
        };
        Err(Fault::new(flaw, access.span, &[&amount]).into())
    }

    /// Returns a permission amount.
    pub(crate) fn amount(&mut self, amount: &AmountExpr, slots: &mut [Value]) -> Res<Amount> {
        Ok(match amount {
            AmountExpr::Full => Amount::FULL,
            AmountExpr::Percentage(e) => {
                let number = self.eval(e, slots)?;
                Amount::number(Rational::hundredths(&number.big()))
            }
            AmountExpr::Read => Amount::read(self.scope.kappa),
            AmountExpr::Epsilons(e) => {
                let number = self.eval(e, slots)?;
                Amount::epsilons(Rational::whole(&number.big()))
            }
            AmountExpr::Star => {
                let kappa = self.fractions.fresh(None);
                Amount::read(kappa)
            }
            AmountExpr::Common(e) => {
                self.eval(e, slots)?;
                Amount::read(COMMON)
            }
            AmountExpr::Token(e) => {
                let token = self.eval(e, slots)?;
                let token = reference_or_null(&token, e.span, |token| token)?;
                match self.heap.token(token) {
                    Some(state) => Amount::read(state.kappa),
                    None => {
                        let what = "token.unknown";
                        return Err(Box::new(Trouble::Unknown { what, span: e.span }));
                    }
                }
            }
            AmountExpr::Add(parts) => grow_stack(|| {
                Res::Ok(self.amount(&parts.0, slots)?.plus(&self.amount(&parts.1, slots)?))
            })?,
            AmountExpr::Sub(parts) => grow_stack(|| {
                Res::Ok(self.amount(&parts.0, slots)?.minus(&self.amount(&parts.1, slots)?))
            })?,
            AmountExpr::Scale(parts) => {
                let factor = self.eval(&parts.0, slots)?;
                let factor = Amount::number(Rational::whole(&factor.big()));
                let amount = grow_stack(|| self.amount(&parts.1, slots))?;
                factor.times(&amount).unwrap_or(Amount::NONE)
            }
        })
    }
}

impl World<'_> {
    /// Returns how much the holder of the scope has of a location, with what is open.
    pub(crate) fn available(&self, loc: Loc) -> Amount {
        self.available_to(loc, self.scope.holder)
    }

    /// Returns how much somebody has of a location, with what is open.
    pub(crate) fn available_to(&self, loc: Loc, holder: Holder) -> Amount {
        let recorded = self.scope.at.as_ref().and_then(|state| state.permissions.as_ref());
        let (found, holder) = match recorded {
            Some(then) if holder == self.scope.holder => (then.holdings(loc), then.holder),
            Some(then) => (then.holdings(loc), holder),
            None => (self.heap.holdings(loc), holder),
        };
        let Some(holdings) = found else { return Amount::NONE };
        self.opened.available(holdings, holder)
    }
}
