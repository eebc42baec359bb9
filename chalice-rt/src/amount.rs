//! Permission amounts: sums of rationals, read fractions and counting permissions.
//!
//! A verifier chooses each read fraction so that it fits; all that programs may rely on is that it
//! is positive and far below certain other amounts. So a read fraction is no number here but an
//! infinitesimal, known by what it is below ([`order`]). A question about an amount is answered
//! "yes" only if that is the answer for every admissible choice. The thesis this follows (Hegi
//! 2013, section 3.2.2) has one unit for all read fractions, so that different ones may be equal by
//! luck.

pub mod order;
mod rational;

use std::fmt;
use std::iter::once;
use std::sync::Arc;

#[cfg(feature = "crates")]
use smallvec::SmallVec;

pub use order::{Fractions, Sign};
pub use rational::Rational;

/// A list of a few elements.
#[cfg(feature = "crates")]
pub(crate) type Few<T> = SmallVec<[T; 2]>;
#[cfg(not(feature = "crates"))]
pub(crate) type Few<T> = Vec<T>;

/// A read fraction: a positive amount below every positive rational.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kappa(pub u32);

/// The factor of a rational.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Monomial {
    /// Nothing: the term is the rational.
    One,
    /// One read fraction or the product of several, sorted.
    Product(Few<Kappa>),
    /// A counting permission, below every product of read fractions.
    Epsilon,
    /// A reader's share of what a monitor counts, below every counting permission.
    Share,
}

impl Monomial {
    /// Is it, or is it a part of, what is counted?
    fn is_counted(&self) -> bool {
        matches!(self, Self::Epsilon | Self::Share)
    }
}

/// `coefficient · monomial`; the coefficient is not zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// How often.
    pub coefficient: Rational,
    /// The monomial that the coefficient belongs to.
    pub monomial: Monomial,
}

/// An amount of permission. Equal amounts have equal representations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Amount(Form);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    Number(Rational),
    /// Sorted by monomial, with at least one that is not [`Monomial::One`].
    Sum(Arc<[Term]>),
}

/// Counting permissions cannot be divided, nor multiplied with read fractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indivisible;

impl Amount {
    /// No permission.
    pub const NONE: Self = Self(Form::Number(Rational::ZERO));
    /// All of it.
    pub const FULL: Self = Self(Form::Number(Rational::ONE));

    /// Returns a rational part of the whole.
    pub fn number(number: Rational) -> Self {
        Self(Form::Number(number))
    }

    /// Returns a read fraction.
    pub fn read(kappa: Kappa) -> Self {
        Self::of(vec![Term {
            coefficient: Rational::ONE,
            monomial: Monomial::Product(once(kappa).collect()),
        }])
    }

    /// So many counting permissions.
    pub fn epsilons(count: Rational) -> Self {
        Self::of(vec![Term { coefficient: count, monomial: Monomial::Epsilon }])
    }

    /// Returns the part of a positive amount in a monitor that each of its readers gets: one
    /// counting permission of a fraction, and a share of what is counted. However many get it,
    /// something is left.
    #[must_use]
    pub fn for_readers(&self) -> Self {
        let is_counted = self.terms().iter().all(|term| term.monomial.is_counted());
        let monomial = if is_counted { Monomial::Share } else { Monomial::Epsilon };
        Self::of(vec![Term { coefficient: Rational::ONE, monomial }])
    }

    /// Returns the sum of terms whose monomials are sorted and all different.
    fn of(mut terms: Vec<Term>) -> Self {
        terms.retain(|term| !term.coefficient.is_zero());
        match &terms[..] {
            [] => Self::NONE,
            [Term { coefficient, monomial: Monomial::One }] => Self::number(coefficient.clone()),
            _ => Self(Form::Sum(terms.into())),
        }
    }

    /// Returns its terms, sorted by monomial.
    pub fn terms(&self) -> Few<Term> {
        match &self.0 {
            Form::Number(number) if number.is_zero() => Few::new(),
            Form::Number(number) => {
                once(Term { coefficient: number.clone(), monomial: Monomial::One }).collect()
            }
            Form::Sum(terms) => terms.iter().cloned().collect(),
        }
    }

    /// Is it nothing at all?
    pub fn is_none(&self) -> bool {
        matches!(&self.0, Form::Number(number) if number.is_zero())
    }

    /// Is it exactly the whole?
    pub fn is_full(&self) -> bool {
        matches!(&self.0, Form::Number(number) if number.is_one())
    }

    /// Returns its sign if it is a number.
    pub(crate) fn plain_sign(&self) -> Option<Sign> {
        match &self.0 {
            Form::Number(number) if number.is_zero() => Some(Sign::Zero),
            Form::Number(number) if number.is_positive() => Some(Sign::Positive),
            Form::Number(_) => Some(Sign::Negative),
            Form::Sum(_) => None,
        }
    }

    /// Returns its rational part.
    pub fn rational(&self) -> Rational {
        match &self.0 {
            Form::Number(number) => number.clone(),
            Form::Sum(terms) => match &terms[0] {
                Term { coefficient, monomial: Monomial::One } => coefficient.clone(),
                _ => Rational::ZERO,
            },
        }
    }

    /// Returns the part of its counts that decides its sign: the number of counting permissions or,
    /// without those, of shares of them.
    fn counted(&self) -> Rational {
        let counted = |term: &Term| term.monomial.is_counted().then(|| term.coefficient.clone());
        self.terms().iter().find_map(counted).unwrap_or(Rational::ZERO)
    }

    /// Returns its sign if all its terms have the same one: then it does not matter which of them
    /// is the greatest.
    fn sign_of_all(&self) -> Option<Sign> {
        let Form::Sum(terms) = &self.0 else { return None };
        let mut signs = terms.iter().map(|term| term.coefficient.is_positive());
        let first = signs.next()?;
        let sign = if first { Sign::Positive } else { Sign::Negative };
        signs.all(|other| other == first).then_some(sign)
    }

    /// Returns the amount without its counting permissions.
    #[must_use]
    pub fn solid(&self) -> Self {
        match &self.0 {
            Form::Number(_) => self.clone(),
            Form::Sum(terms) => {
                Self::of(terms.iter().filter(|term| !term.monomial.is_counted()).cloned().collect())
            }
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if let (Form::Number(one), Form::Number(two)) = (&self.0, &other.0) {
            return Self::number(one.plus(two));
        }
        self.merge(other, Rational::plus)
    }

    /// Returns the difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        if let (Form::Number(one), Form::Number(two)) = (&self.0, &other.0) {
            return Self::number(one.minus(two));
        }
        self.merge(other, Rational::minus)
    }

    fn merge(&self, other: &Self, combine: fn(&Rational, &Rational) -> Rational) -> Self {
        let (one, two) = (self.terms(), other.terms());
        let (mut one, mut two) = (one.into_iter().peekable(), two.into_iter().peekable());
        let mut sum = Vec::new();
        loop {
            let order = match (one.peek(), two.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(left), Some(right)) => left.monomial.cmp(&right.monomial),
            };
            let left = if order.is_le() { one.next() } else { None };
            let right = if order.is_ge() { two.next() } else { None };
            let zero = Rational::ZERO;
            let coefficient = combine(
                left.as_ref().map_or(&zero, |term| &term.coefficient),
                right.as_ref().map_or(&zero, |term| &term.coefficient),
            );
            if let Some(term) = left.or(right) {
                sum.push(Term { coefficient, monomial: term.monomial });
            }
        }
        Self::of(sum)
    }

    /// Returns the product.
    ///
    /// # Errors
    /// A counting permission times anything but a number that leaves whole counting permissions.
    pub fn times(&self, other: &Self) -> Result<Self, Indivisible> {
        if self.is_full() {
            return Ok(other.clone());
        }
        if other.is_full() {
            return Ok(self.clone());
        }
        let mut product = Self::NONE;
        for left in self.terms() {
            for right in other.terms() {
                let monomial = left.monomial.times(&right.monomial).ok_or(Indivisible)?;
                let coefficient = left.coefficient.times(&right.coefficient);
                if monomial.is_counted() && !coefficient.is_whole() {
                    return Err(Indivisible);
                }
                product = product.plus(&Self::of(vec![Term { coefficient, monomial }]));
            }
        }
        Ok(product)
    }
}

impl Monomial {
    fn times(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::One, other) | (other, Self::One) => Some(other.clone()),
            (Self::Product(left), Self::Product(right)) => {
                let mut factors = left.clone();
                factors.extend(right.iter().copied());
                factors.sort_unstable();
                Some(Self::Product(factors))
            }
            (Self::Epsilon | Self::Share, _) | (_, Self::Epsilon | Self::Share) => None,
        }
    }
}

/// In hundredths where it is a number, read fractions as `rd`, counting permissions as `ε`,
/// readers' shares in words.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = self.terms();
        if terms.is_empty() {
            return f.write_str("0%");
        }
        for (at, term) in terms.iter().enumerate() {
            let is_positive = term.coefficient.is_positive();
            match (at, is_positive) {
                (0, true) => {}
                (0, false) => f.write_str("-")?,
                (_, true) => f.write_str(" + ")?,
                (_, false) => f.write_str(" - ")?,
            }
            let size = if is_positive {
                term.coefficient.clone()
            } else {
                Rational::ZERO.minus(&term.coefficient)
            };
            let name = match &term.monomial {
                Monomial::One => {
                    write!(f, "{}%", size.times(&Rational::new(100, 1)))?;
                    continue;
                }
                Monomial::Product(factors) => vec!["rd"; factors.len()].join("·"),
                Monomial::Epsilon => "ε".to_owned(),
                Monomial::Share => "(share of ε)".to_owned(),
            };
            if size.is_one() { f.write_str(&name)? } else { write!(f, "{size}·{name}")? }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "crates"))]
mod tests;
