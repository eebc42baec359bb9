//! The order between read fractions and amounts, as far as it is known, and the signs of amounts.

use std::collections::BTreeSet;
use std::iter::once;

use super::{Amount, Few, Kappa, Monomial, Rational};

/// The read fractions of a run with their bounds.
///
/// A bound is a set of products: the fraction is far below (smaller than every rational multiple
/// of) the greatest of them, whichever that is. Bounds speak of older fractions only, so the
/// relation has no cycles.
#[derive(Debug, Clone, Default)]
pub struct Fractions {
    bounds: Vec<Few<Bound>>,
    /// So many stay, whatever is forgotten.
    kept: usize,
}

type Product = Few<Kappa>;
type Bound = Few<Product>;

/// The sign of an amount under every admissible choice of the read fractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Below nothing.
    Negative,
    /// Exactly nothing.
    Zero,
    /// Above nothing.
    Positive,
    /// The sign depends on the choice.
    Undetermined,
}

impl Fractions {
    /// Returns a new read fraction, far below another one if there is one.
    pub fn fresh(&mut self, below: Option<Kappa>) -> Kappa {
        let kappa = Kappa(self.bounds.len() as u32);
        let bound = below.map(|above| -> Bound { once(once(above).collect()).collect() });
        self.bounds.push(bound.into_iter().collect());
        kappa
    }

    /// Returns how many there are, as a place to come back to.
    pub fn mark(&self) -> usize {
        self.bounds.len()
    }

    /// Returns a new read fraction of something that is found to have been there before.
    pub fn fresh_for_good(&mut self) -> Kappa {
        let kappa = self.fresh(None);
        self.kept = self.bounds.len();
        kappa
    }

    /// Drops the fractions chosen since a mark, of which no amount is left.
    pub fn forget_since(&mut self, mark: usize) {
        self.bounds.truncate(mark.max(self.kept));
    }

    /// Notes that a fraction was chosen far below a positive amount.
    pub fn bound(&mut self, kappa: Kappa, amount: &Amount) {
        if !amount.rational().is_zero() {
            return;
        }
        let products = products(amount);
        let greatest: Bound = self.maximal(&products).map(|(product, _)| product.clone()).collect();
        let is_older = greatest.iter().flatten().all(|other| other.0 < kappa.0);
        let bounds = &mut self.bounds[kappa.0 as usize];
        if !greatest.is_empty() && is_older && !bounds.contains(&greatest) {
            bounds.push(greatest);
        }
    }

    /// Returns the sign of an amount.
    pub fn sign(&self, amount: &Amount) -> Sign {
        let rational = amount.rational();
        if !rational.is_zero() {
            return sign_of(&rational);
        }
        if let Some(sign) = amount.sign_of_all() {
            return sign;
        }
        let products = products(amount);
        let mut signs = self.maximal(&products).map(|(_, coefficient)| sign_of(coefficient));
        match signs.next() {
            None => sign_of(&amount.counted()),
            Some(first) if signs.all(|sign| sign == first) => first,
            Some(_) => Sign::Undetermined,
        }
    }

    /// Does it allow to read?
    pub fn is_readable(&self, amount: &Amount) -> bool {
        amount.is_full() || self.sign(amount) == Sign::Positive
    }

    /// Has it a part that a read fraction can be taken from?
    pub fn is_divisible(&self, amount: &Amount) -> bool {
        amount.is_full() || self.sign(&amount.solid()) == Sign::Positive
    }

    /// Returns the terms that none or several of the others together exceed.
    fn maximal<'p>(
        &'p self,
        products: &'p [(Product, Rational)],
    ) -> impl Iterator<Item = (&'p Product, &'p Rational)> + 'p {
        let is_maximal = move |(product, _): &&(Product, Rational)| {
            let others: Vec<_> =
                products.iter().map(|(other, _)| other).filter(|other| *other != product).collect();
            !self.is_exceeded(product, &others)
        };
        products.iter().filter(is_maximal).map(|(product, coefficient)| (product, coefficient))
    }

    /// Is `low` equal to or far below the greatest of `high`, whatever is chosen?
    fn is_exceeded(&self, low: &Product, high: &[&Product]) -> bool {
        let high: Few<&Product> =
            high.iter().copied().filter(|high| newest(high) <= newest(low)).collect();
        if high.iter().any(|high| self.is_at_most(low, high)) {
            return true;
        }
        high.len() > 1
            && (0..low.len()).any(|at| {
                let bounds = &self.bounds[low[at].0 as usize];
                bounds.iter().any(|bound| {
                    bound.iter().all(|product| self.is_exceeded(&raised(low, at, product), &high))
                })
            })
    }

    /// Is `low` equal to `high` or far below it, whatever is chosen?
    fn is_at_most(&self, low: &Product, high: &Product) -> bool {
        if let ([low], [high]) = (&low[..], &high[..]) {
            return self.is_fraction_at_most(*low, *high);
        }
        // Parts that both amounts have do not count. The rest of `low` makes `low` smaller.
        let mut low = low.clone();
        let mut high = high.clone();
        high.retain_mut(|factor| match low.iter().position(|other| other == factor) {
            Some(at) => {
                low.remove(at);
                false
            }
            None => true,
        });
        if high.is_empty() {
            return true;
        }
        if newest(&high) > newest(&low) {
            return false;
        }
        (0..low.len()).any(|at| {
            self.bounds[low[at].0 as usize].iter().any(|bound| {
                bound.iter().all(|product| self.is_at_most(&raised(&low, at, product), &high))
            })
        })
    }

    /// Returns the common case, without recursion: chains of calls make chains of bounds.
    fn is_fraction_at_most(&self, low: Kappa, high: Kappa) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![low];
        while let Some(kappa) = open.pop() {
            if kappa == high {
                return true;
            }
            if kappa.0 < high.0 || !seen.insert(kappa) {
                continue;
            }
            for bound in &self.bounds[kappa.0 as usize] {
                match &bound[..] {
                    // Below a product is below each of its factors.
                    [product] => open.extend(product.iter().copied()),
                    several => {
                        let high: Product = once(high).collect();
                        if several.iter().all(|product| self.is_at_most(product, &high)) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

/// Returns the youngest factor of a product. Bounds speak of older ones, so nothing is known to be
/// below a product with a factor that is younger than all of its own.
fn newest(product: &Product) -> Option<Kappa> {
    product.iter().max().copied()
}

/// Returns a product with what bounds one of its factors instead of that factor.
fn raised(product: &Product, at: usize, bound: &Product) -> Product {
    let mut raised = product.clone();
    raised.remove(at);
    raised.extend(bound.iter().copied());
    raised.sort_unstable();
    raised
}

fn products(amount: &Amount) -> Few<(Product, Rational)> {
    let terms = amount.terms().into_iter();
    terms
        .filter_map(|term| match term.monomial {
            Monomial::Product(factors) => Some((factors, term.coefficient)),
            Monomial::One | Monomial::Epsilon | Monomial::Share => None,
        })
        .collect()
}

fn sign_of(number: &Rational) -> Sign {
    if number.is_zero() {
        Sign::Zero
    } else if number.is_positive() {
        Sign::Positive
    } else {
        Sign::Negative
    }
}
