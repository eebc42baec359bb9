//! Signs and sizes of products of permission amounts, which the prover does not find by itself (Viper engine reference,
//! 25.2, issues 183 and 479).

use rustc_hash::FxHashSet;

use super::{Engine, Stop};
use crate::terms::{Sort, Term, TermKind};

/// So many products are looked at.
const PRODUCTS: usize = 16;

impl Engine<'_> {
    /// Assumes how products and quotients of amounts in a goal compare with their operands.
    pub(crate) fn learn_about_products(&mut self, goal: Term) -> Result<(), Stop> {
        let mut visited = FxHashSet::default();
        let mut pending = vec![goal];
        let mut found = Vec::new();
        while let Some(term) = pending.pop() {
            if !visited.insert(term) || found.len() == PRODUCTS {
                continue;
            }
            let kind = self.terms.kind(term);
            match *kind {
                TermKind::Quantifier(_) => continue,
                TermKind::Mul(left, right) | TermKind::PermDiv(left, right)
                    if self.terms.sort(term) == Sort::PERM
                        && !self.terms.is_open(term)
                        && !self.terms.is_literal(left)
                        && !self.terms.is_literal(right) =>
                {
                    found.push((term, left, right));
                }
                _ => {}
            }
            kind.for_each_operand(|operand| pending.push(operand));
        }
        for (term, left, right) in found {
            match self.terms.kind(term) {
                TermKind::Mul(..) => {
                    self.compare_product(term, left, right)?;
                    self.compare_product(term, right, left)?;
                }
                _ => self.compare_quotient(term, left, right)?,
            }
        }
        Ok(())
    }

    /// left · right beside left.
    fn compare_product(&mut self, product: Term, left: Term, right: Term) -> Result<(), Stop> {
        let (none, one) = (self.terms.none(), self.terms.write());
        let (some, held) = (self.terms.lt(none, left), self.terms.le(none, left));
        let (factor, small) = (self.terms.lt(none, right), self.terms.lt(right, one));
        let (zero, fits) = (self.terms.le(none, right), self.terms.le(right, one));
        let (more, large) = (self.terms.lt(one, right), self.terms.le(one, right));
        let conclusions = [
            (some, factor, self.terms.lt(none, product)),
            (held, zero, self.terms.le(none, product)),
            (some, small, self.terms.lt(product, left)),
            (held, fits, self.terms.le(product, left)),
            (some, more, self.terms.lt(left, product)),
            (held, large, self.terms.le(left, product)),
        ];
        self.assume_all(conclusions)
    }

    /// left / right, for a divisor that is positive.
    fn compare_quotient(&mut self, quotient: Term, left: Term, right: Term) -> Result<(), Stop> {
        let (none, one) = (self.terms.none(), self.terms.write());
        let (some, held) = (self.terms.lt(none, left), self.terms.le(none, left));
        let positive = self.terms.lt(none, right);
        let (more, large) = (self.terms.lt(one, right), self.terms.le(one, right));
        let product = self.terms.mul(quotient, right);
        let conclusions = [
            (positive, positive, self.terms.identical(product, left)),
            (some, positive, self.terms.lt(none, quotient)),
            (held, positive, self.terms.le(none, quotient)),
            (some, more, self.terms.lt(quotient, left)),
            (held, large, self.terms.le(quotient, left)),
        ];
        self.assume_all(conclusions)
    }

    fn assume_all(
        &mut self,
        rules: impl IntoIterator<Item = (Term, Term, Term)>,
    ) -> Result<(), Stop> {
        for (first, second, conclusion) in rules {
            let guard = self.terms.and([first, second]);
            let fact = self.terms.implies(guard, conclusion);
            self.assume(fact)?;
        }
        Ok(())
    }
}
