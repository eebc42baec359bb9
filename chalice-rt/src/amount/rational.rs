//! Exact rational numbers, in machine words as long as they fit.

use std::fmt;
#[cfg(feature = "crates")]
use std::sync::Arc;

#[cfg(feature = "crates")]
use num_bigint::BigInt;
#[cfg(feature = "crates")]
use num_rational::BigRational;
#[cfg(feature = "crates")]
use num_traits::{Signed, ToPrimitive};

/// A rational number. Equal numbers have equal representations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rational(Form);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    /// Numerator, and denominator above zero, without a common factor.
    Small(i64, i64),
    /// Only what does not fit into the other form.
    #[cfg(feature = "crates")]
    Big(Arc<BigRational>),
}

impl Rational {
    /// 0
    pub const ZERO: Self = Self(Form::Small(0, 1));
    /// 1
    pub const ONE: Self = Self(Form::Small(1, 1));

    /// `numerator / denominator`; the denominator is not zero.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        match reduced(numerator.into(), denominator.into()) {
            Some(small) => Self(small),
            None => Self::ratio_beyond(numerator, denominator),
        }
    }

    #[cfg(feature = "crates")]
    fn ratio_beyond(numerator: i64, denominator: i64) -> Self {
        Self::from_big(BigRational::new(numerator.into(), denominator.into()))
    }

    #[cfg(not(feature = "crates"))]
    fn ratio_beyond(_: i64, _: i64) -> Self {
        std::panic::resume_unwind(Box::new(crate::Beyond))
    }

    /// Returns a whole number.
    #[cfg(feature = "crates")]
    pub fn whole(number: &BigInt) -> Self {
        Self::from_big(BigRational::from_integer(number.clone()))
    }

    /// Returns a whole number divided by 100.
    #[cfg(feature = "crates")]
    pub fn hundredths(number: &BigInt) -> Self {
        Self::from_big(BigRational::new(number.clone(), 100.into()))
    }

    #[cfg(feature = "crates")]
    fn from_big(big: BigRational) -> Self {
        match (big.numer().to_i64(), big.denom().to_i64()) {
            (Some(numerator), Some(denominator)) => Self(Form::Small(numerator, denominator)),
            _ => Self(Form::Big(Arc::new(big))),
        }
    }

    #[cfg(feature = "crates")]
    fn big(&self) -> BigRational {
        match &self.0 {
            Form::Small(numerator, denominator) => {
                BigRational::new_raw((*numerator).into(), (*denominator).into())
            }
            Form::Big(big) => (**big).clone(),
        }
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        matches!(&self.0, Form::Small(0, _))
    }

    /// Is it one?
    pub fn is_one(&self) -> bool {
        matches!(&self.0, Form::Small(1, 1))
    }

    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        match &self.0 {
            Form::Small(numerator, _) => *numerator > 0,
            #[cfg(feature = "crates")]
            Form::Big(big) => big.is_positive(),
        }
    }

    /// Is it a whole number?
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Form::Small(_, denominator) => *denominator == 1,
            #[cfg(feature = "crates")]
            Form::Big(big) => big.is_integer(),
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, Operation::Plus)
    }

    /// Returns the difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.combine(other, Operation::Minus)
    }

    /// Returns the product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        self.combine(other, Operation::Times)
    }

    fn combine(&self, other: &Self, operation: Operation) -> Self {
        #[cfg_attr(not(feature = "crates"), allow(irrefutable_let_patterns, reason = "one form"))]
        if let (Form::Small(one, below_one), Form::Small(two, below_two)) = (&self.0, &other.0)
            && let Some(small) = operation.small((*one, *below_one), (*two, *below_two))
        {
            return Self(small);
        }
        self.beyond(other, operation)
    }

    /// Computes a result beyond machine words.
    #[cfg(feature = "crates")]
    fn beyond(&self, other: &Self, operation: Operation) -> Self {
        let (one, two) = (self.big(), other.big());
        Self::from_big(match operation {
            Operation::Plus => one + two,
            Operation::Minus => one - two,
            Operation::Times => one * two,
        })
    }

    /// Ends the run: the result is beyond machine words.
    #[cfg(not(feature = "crates"))]
    fn beyond(&self, _: &Self, _: Operation) -> Self {
        std::panic::resume_unwind(Box::new(crate::Beyond))
    }
}

/// Operations on two numbers.
#[derive(Clone, Copy)]
enum Operation {
    Plus,
    Minus,
    Times,
}

impl Operation {
    /// Returns the result, if it fits.
    fn small(self, one: (i64, i64), two: (i64, i64)) -> Option<Form> {
        if let (Self::Plus | Self::Minus, (1, 1)) = (self, (one.1, two.1)) {
            let whole = match self {
                Self::Plus => one.0.checked_add(two.0),
                _ => one.0.checked_sub(two.0),
            };
            return whole.map(|whole| Form::Small(whole, 1));
        }
        let product = |one: i64, two: i64| i128::from(one) * i128::from(two);
        let (left, right) = (product(one.0, two.1), product(two.0, one.1));
        let numerator = match self {
            Self::Plus => left.checked_add(right)?,
            Self::Minus => left.checked_sub(right)?,
            Self::Times => product(one.0, two.0),
        };
        reduced(numerator, product(one.1, two.1))
    }
}

/// Returns a fraction without a common factor, if it fits. The denominator is not zero.
fn reduced(numerator: i128, denominator: i128) -> Option<Form> {
    let factor = common(numerator.unsigned_abs(), denominator.unsigned_abs());
    let factor = i128::try_from(factor).ok()? * denominator.signum();
    let numerator = i64::try_from(numerator / factor).ok()?;
    Some(Form::Small(numerator, i64::try_from(denominator / factor).ok()?))
}

/// Returns the greatest common factor (Euclid).
fn common(mut one: u128, mut two: u128) -> u128 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(whole, 1) => whole.fmt(f),
            Form::Small(numerator, denominator) => write!(f, "{numerator}/{denominator}"),
            #[cfg(feature = "crates")]
            Form::Big(big) => big.fmt(f),
        }
    }
}
