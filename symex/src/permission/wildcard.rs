//! Wildcards: amounts that are positive and otherwise open.

use std::rc::Rc;

use smt::terms::{Sort, Term, TermKind, Terms};

use crate::{Amounts, Configuration, Stop};

impl Configuration<'_> {
    /// Makes a positive amount; full permission where amounts do not matter.
    pub fn wildcard(&mut self) -> Result<Term, Stop> {
        if self.frame.assertion.amounts == Amounts::SomeOrNone {
            return Ok(Terms::WRITE);
        }
        let amount = self.fresh("wildcard", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, amount);
        self.assume(positive)?;
        if let TermKind::Apply(symbol, _) = *self.terms.kind(amount) {
            Rc::make_mut(&mut self.frame.assertion.constrainable).push(symbol);
        }
        Ok(amount)
    }

    /// Tells whether an amount is fixed: it is not a wildcard that may still be constrained, and
    /// does not shrink with one.
    pub(crate) fn is_exact(&self, amount: Term) -> bool {
        if self.frame.assertion.constrainable.is_empty() {
            return true;
        }
        match *self.terms.kind(amount) {
            TermKind::Apply(..) => !self.is_open_wildcard(amount),
            TermKind::Mul(left, right) => self.is_exact(left) && self.is_exact(right),
            TermKind::Add(left, right) => self.is_exact(left) || self.is_exact(right),
            TermKind::Ite(_, then, otherwise) => self.is_exact(then) || self.is_exact(otherwise),
            _ => true,
        }
    }

    /// Tells whether an amount is a wildcard that may still be made smaller.
    pub fn is_open_wildcard(&self, amount: Term) -> bool {
        match *self.terms.kind(amount) {
            TermKind::Apply(symbol, _) => self.frame.assertion.constrainable.contains(&symbol),
            _ => false,
        }
    }
}
