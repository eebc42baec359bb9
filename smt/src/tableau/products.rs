//! Products of numbers. Each is a sum of products of two variables, and an inequality still holds
//! when it is multiplied by a positive number.
//!
//! So `(n - i) · c` is `n · c - i · c`. Where `i < n` holds of integers and `0 ≤ c`, it is at least
//! `c`.

use std::collections::BTreeMap;

use num_traits::{CheckedMul, One, Signed};
use rustc_hash::FxHashMap;

use super::linear::{Elimination, Number, Product, ROWS, Row, Sum, spend};

/// So often numbers are looked for that are bounded by others.
const ROUNDS: usize = 2;

/// The products of two variables, the smaller one first, each as a variable.
struct Monomials {
    variables: FxHashMap<(u32, u32), u32>,
    /// The variable of the next product.
    next: u32,
}

impl Monomials {
    /// Returns the variable of a product; a new one unless it is known.
    fn variable(&mut self, left: u32, right: u32) -> u32 {
        *self.variables.entry((left.min(right), left.max(right))).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Tells whether the product of two variables occurs in a known fact.
    fn has(&self, left: u32, right: u32) -> bool {
        self.variables.contains_key(&(left.min(right), left.max(right)))
    }

    /// Returns `left · right`; `None` if a number has become too large.
    fn product(&mut self, left: &Sum, right: &Sum) -> Option<Sum> {
        let mut product = Sum::default().plus(&left.literal, right)?;
        for &(variable, ref factor) in &left.factors {
            product =
                product.plus(&factor.checked_mul(&right.literal)?, &Sum::variable(variable))?;
            for &(other, ref of_other) in &right.factors {
                let both = Sum::variable(self.variable(variable, other));
                product = product.plus(&factor.checked_mul(of_other)?, &both)?;
            }
        }
        Some(product)
    }
}

impl Elimination {
    /// Replaces the products by equations between variables, and adds inequalities about these
    /// variables. Expects solved equations, so that a factor with a known value is a literal.
    /// Returns `None` if a number has become too large, or if there are too many inequalities.
    pub(super) fn expand_products(&mut self, fuel: &mut u32) -> Option<()> {
        let mut monomials = Monomials { variables: FxHashMap::default(), next: self.variables };
        for Product { own, left, right } in std::mem::take(&mut self.products) {
            let product = monomials.product(&left, &right)?;
            spend(fuel, left.factors.len() * right.factors.len());
            self.equations.push(product.plus(&-Number::one(), &own)?);
        }
        let mut multiplied = Vec::new();
        for (multiplier, is_strict) in self.multipliers(&monomials) {
            for row in &self.rows {
                let is_known = row
                    .sum
                    .factors
                    .iter()
                    .all(|&(variable, _)| monomials.has(variable, multiplier));
                if !is_known || row.sum.factors.is_empty() {
                    continue;
                }
                let sum = monomials.product(&row.sum, &Sum::variable(multiplier))?;
                multiplied.push(Row { sum, is_strict: row.is_strict && is_strict });
            }
            spend(fuel, self.rows.len());
        }
        self.rows.extend(multiplied);
        self.variables = monomials.next;
        (self.rows.len() <= ROWS).then_some(())
    }

    /// Returns the factors of products that are known to be at least 0, in ascending order. Each
    /// comes with the answer whether it is known not to be 0. Some follow from others: `n` where
    /// `0 ≤ i < n`.
    fn multipliers(&self, monomials: &Monomials) -> Vec<(u32, bool)> {
        let mut natural: BTreeMap<u32, bool> = BTreeMap::new();
        for _ in 0..ROUNDS {
            for Row { sum, is_strict } in &self.rows {
                let (above, below): (Vec<_>, Vec<_>) =
                    sum.factors.iter().partition(|(_, factor)| factor.is_positive());
                let [&(variable, _)] = above[..] else { continue };
                let mut is_strict = *is_strict || sum.literal.is_negative();
                let is_bounded = below.iter().all(|(other, _)| {
                    natural.get(other).inspect(|&&is_some| is_strict |= is_some).is_some()
                });
                if is_bounded && !sum.literal.is_positive() {
                    *natural.entry(variable).or_default() |= is_strict;
                }
            }
        }
        natural.retain(|&variable, _| {
            monomials.variables.keys().any(|&(a, b)| variable == a || variable == b)
        });
        natural.into_iter().collect()
    }
}
