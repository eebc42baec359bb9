//! Exact rational numbers, in machine words as long as they fit.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::{BigRational, Ratio};
use num_traits::{CheckedAdd, CheckedMul, CheckedSub, Signed, ToPrimitive, Zero};

/// A rational number. Equal numbers have equal representations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rational(Form);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    Small(Ratio<i64>),
    /// Only what does not fit into the other form.
    Big(Arc<BigRational>),
}

impl Rational {
    /// 0
    pub const ZERO: Self = Self(Form::Small(Ratio::new_raw(0, 1)));
    /// 1
    pub const ONE: Self = Self(Form::Small(Ratio::new_raw(1, 1)));

    /// `numerator / denominator`; the denominator is not zero.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        Self::from_big(BigRational::new(numerator.into(), denominator.into()))
    }

    /// A whole number.
    pub fn whole(number: &BigInt) -> Self {
        Self::from_big(BigRational::from_integer(number.clone()))
    }

    /// A whole number divided by 100.
    pub fn hundredths(number: &BigInt) -> Self {
        Self::from_big(BigRational::new(number.clone(), 100.into()))
    }

    fn from_big(big: BigRational) -> Self {
        match (big.numer().to_i64(), big.denom().to_i64()) {
            (Some(numerator), Some(denominator)) => {
                Self(Form::Small(Ratio::new_raw(numerator, denominator)))
            }
            _ => Self(Form::Big(Arc::new(big))),
        }
    }

    fn big(&self) -> BigRational {
        match &self.0 {
            Form::Small(small) => {
                BigRational::new_raw((*small.numer()).into(), (*small.denom()).into())
            }
            Form::Big(big) => (**big).clone(),
        }
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        matches!(&self.0, Form::Small(small) if small.is_zero())
    }

    /// Is it one?
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        match &self.0 {
            Form::Small(small) => *small.numer() > 0,
            Form::Big(big) => big.is_positive(),
        }
    }

    /// Is it a whole number?
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Form::Small(small) => *small.denom() == 1,
            Form::Big(big) => big.is_integer(),
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, CheckedAdd::checked_add, |a, b| a + b)
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.combine(other, CheckedSub::checked_sub, |a, b| a - b)
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        self.combine(other, CheckedMul::checked_mul, |a, b| a * b)
    }

    fn combine(
        &self,
        other: &Self,
        small: fn(&Ratio<i64>, &Ratio<i64>) -> Option<Ratio<i64>>,
        big: fn(BigRational, BigRational) -> BigRational,
    ) -> Self {
        if let (Form::Small(one), Form::Small(two)) = (&self.0, &other.0)
            && let Some(result) = small(one, two)
        {
            return Self(Form::Small(result));
        }
        Self::from_big(big(self.big(), other.big()))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(small) => small.fmt(f),
            Form::Big(big) => big.fmt(f),
        }
    }
}
