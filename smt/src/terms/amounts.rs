//! Permission amounts: the operations that only they have.
//!
//! An amount is often `condition ? amount : none`. Operations on such amounts keep that form, since
//! later questions about them are then mostly propositional.

use num_traits::Zero;

use super::{Sort, Term, TermKind, Terms};

/// The parts of an amount when some is taken from it.
pub struct Split {
    pub taken: Term,
    pub rest: Term,
    /// The amount that is still to be taken elsewhere.
    pub need: Term,
}

impl Terms {
    /// Makes the claim that an amount is none.
    pub fn is_none(&mut self, amount: Term) -> Term {
        match *self.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == Self::NONE => {
                let inner = self.is_none(then);
                let outside = self.not(condition);
                self.or([outside, inner])
            }
            _ => self.identical(amount, Self::NONE),
        }
    }

    /// Makes the claim that an amount is positive.
    pub fn is_some(&mut self, amount: Term) -> Term {
        match *self.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == Self::NONE => {
                let inner = self.is_some(then);
                self.and([condition, inner])
            }
            _ => self.lt(Self::NONE, amount),
        }
    }

    /// Takes as much as possible of `need` from `available`, neither being negative. Amounts under
    /// a condition stay so, since later questions about them are then mostly propositional.
    pub fn split_amount(&mut self, available: Term, need: Term) -> Split {
        let (there, p) = self.conditional(available);
        let (wanted, q) = self.conditional(need);
        let both = self.and([there, wanted]);
        let (not_there, not_wanted) = (self.not(there), self.not(wanted));
        let only_there = self.and([there, not_wanted]);
        let only_wanted = self.and([wanted, not_there]);
        if p == q {
            return Split {
                taken: self.ite(both, p, Self::NONE),
                rest: self.ite(only_there, p, Self::NONE),
                need: self.ite(only_wanted, q, Self::NONE),
            };
        }
        let part = self.perm_min(p, q);
        let (rest, need) = (self.sub(p, part), self.sub(q, part));
        let rest = self.ite(wanted, rest, p);
        let need = self.ite(there, need, q);
        Split {
            taken: self.ite(both, part, Self::NONE),
            rest: self.ite(there, rest, Self::NONE),
            need: self.ite(wanted, need, Self::NONE),
        }
    }

    /// Splits a need that is still open, and that will be less than the `available` amount. The need
    /// is taken wherever some amount is available. With `by_half`, half of the available amount is
    /// taken instead, which depends on nothing but the condition of the need.
    pub fn split_open(&mut self, available: Term, need: Term, by_half: bool) -> Split {
        let (there, p) = self.conditional(available);
        let (wanted, q) = self.conditional(need);
        let some = self.is_some(p);
        let there = self.and([there, some]);
        let both = self.and([there, wanted]);
        let part = if by_half {
            let half = self.fraction(1, 2);
            self.mul(half, p)
        } else {
            q
        };
        let taken = self.ite(both, part, Self::NONE);
        let rest = self.sub(p, part);
        let rest = self.ite(wanted, rest, p);
        let not_there = self.not(there);
        let open = self.and([wanted, not_there]);
        Split {
            taken,
            rest: self.ite(there, rest, Self::NONE),
            need: self.ite(open, q, Self::NONE),
        }
    }

    /// Returns an amount as a condition and the amount under it.
    fn conditional(&mut self, amount: Term) -> (Term, Term) {
        match *self.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == Self::NONE => {
                (condition, then)
            }
            TermKind::Ite(condition, then, otherwise) if then == Self::NONE => {
                (self.not(condition), otherwise)
            }
            _ => (Terms::TRUE, amount),
        }
    }

    /// Returns `condition ? amount : none`, in the form of one condition and the amount under it.
    pub fn only_if(&mut self, condition: Term, amount: Term) -> Term {
        if let TermKind::Ite(inner, then, otherwise) = *self.kind(amount) {
            if otherwise == Self::NONE {
                let both = self.and([condition, inner]);
                return self.ite(both, then, Self::NONE);
            }
            if then == Self::NONE {
                let outside = self.not(inner);
                let both = self.and([condition, outside]);
                return self.ite(both, otherwise, Self::NONE);
            }
        }
        self.ite(condition, amount, Self::NONE)
    }

    /// Returns an amount, or none where the amount is negative.
    pub fn at_least_none(&mut self, amount: Term) -> Term {
        if let TermKind::Ite(condition, then, otherwise) = *self.kind(amount) {
            let (then, otherwise) = (self.at_least_none(then), self.at_least_none(otherwise));
            return self.ite(condition, then, otherwise);
        }
        let is_amount = self.le(Self::NONE, amount);
        self.ite(is_amount, amount, Self::NONE)
    }

    /// Returns a product of amounts, and facts about it at which the prover is weak. Positive times
    /// positive is positive, and a part of an amount is at most the amount.
    pub fn scaled(&mut self, scale: Term, amount: Term) -> (Term, Vec<Term>) {
        let product = self.mul(scale, amount);
        if self.is_literal(scale) || self.is_literal(amount) {
            return (product, Vec::new());
        }
        let (s, a) = (self.lt(Self::NONE, scale), self.lt(Self::NONE, amount));
        let both = self.and([s, a]);
        let positive = self.lt(Self::NONE, product);
        let is_positive = self.implies(both, positive);
        let (small, less) = (self.le(amount, Self::WRITE), self.le(product, scale));
        let bounded = self.and([s, small]);
        let is_part = self.implies(bounded, less);
        (product, vec![is_positive, is_part])
    }

    /// Returns a quotient of permission amounts; the result for divisor 0 is unspecified.
    pub fn perm_div(&mut self, left: Term, right: Term) -> Term {
        match self.as_perm(right) {
            Some(divisor) if !divisor.is_zero() => {
                let inverse = divisor.recip();
                let inverse = self.perm(inverse);
                self.mul(inverse, left)
            }
            _ => self.intern(TermKind::PermDiv(left, right), Sort::PERM),
        }
    }

    /// Returns the smaller of two permission amounts.
    pub fn perm_min(&mut self, left: Term, right: Term) -> Term {
        let first_is_smaller = self.le(left, right);
        match self.as_bool(first_is_smaller) {
            Some(true) => left,
            Some(false) => right,
            None => {
                let (left, right) = (left.min(right), left.max(right));
                self.intern(TermKind::PermMin(left, right), Sort::PERM)
            }
        }
    }
}
