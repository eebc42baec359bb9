//! Bounds on a number by literals.

use num_rational::BigRational;
use num_traits::One;

use crate::terms::{Term, TermKind, Terms};

/// A literal, and whether it is excluded.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bound {
    value: BigRational,
    strict: bool,
}

/// An interval; a missing bound is infinite.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Bounds {
    low: Option<Bound>,
    high: Option<Bound>,
}

/// Returns the value of a literal of sort Int or Perm.
pub(super) fn literal(terms: &Terms, term: Term) -> Option<BigRational> {
    match terms.kind(term) {
        TermKind::Int(value) => Some(BigRational::from_integer(value.clone())),
        TermKind::Perm(value) => Some(value.clone()),
        _ => None,
    }
}

impl Bounds {
    /// Returns the interval of one value.
    pub(super) fn exactly(value: BigRational) -> Bounds {
        let bound = Bound { value, strict: false };
        Bounds { low: Some(bound.clone()), high: Some(bound) }
    }

    /// Learns `value < number` or `value ≤ number`.
    pub(super) fn raise(&mut self, value: BigRational, strict: bool, is_int: bool) {
        // Between integers, `<` is `≤` of the next one.
        let bound = if strict && is_int {
            Bound { value: value + BigRational::one(), strict: false }
        } else {
            Bound { value, strict }
        };
        self.low = tighter(self.low.take(), Some(bound), |a, b| a > b);
    }

    /// Learns `number < value` or `number ≤ value`.
    pub(super) fn lower(&mut self, value: BigRational, strict: bool, is_int: bool) {
        let bound = if strict && is_int {
            Bound { value: value - BigRational::one(), strict: false }
        } else {
            Bound { value, strict }
        };
        self.high = tighter(self.high.take(), Some(bound), |a, b| a < b);
    }

    /// Returns the numbers within both.
    pub(super) fn meet(self, other: Bounds) -> Bounds {
        Bounds {
            low: tighter(self.low, other.low, |a, b| a > b),
            high: tighter(self.high, other.high, |a, b| a < b),
        }
    }

    /// Tells whether no number is within.
    pub(super) fn is_empty(&self) -> bool {
        self.is_below(self)
    }

    /// Tells whether every number within is less than every number within `other`.
    pub(super) fn is_below(&self, other: &Bounds) -> bool {
        match (&self.high, &other.low) {
            (Some(high), Some(low)) => {
                high.value < low.value || (high.value == low.value && (high.strict || low.strict))
            }
            _ => false,
        }
    }

    /// Tells whether every number within is less than or equal to every number within `other`.
    pub(super) fn is_not_above(&self, other: &Bounds) -> bool {
        match (&self.high, &other.low) {
            (Some(high), Some(low)) => high.value <= low.value,
            _ => false,
        }
    }
}

fn tighter(
    first: Option<Bound>,
    second: Option<Bound>,
    is_tighter: impl Fn(&BigRational, &BigRational) -> bool,
) -> Option<Bound> {
    match (first, second) {
        (Some(a), Some(b)) => {
            let first_wins = is_tighter(&a.value, &b.value) || (a.value == b.value && a.strict);
            Some(if first_wins { a } else { b })
        }
        (first, second) => first.or(second),
    }
}
