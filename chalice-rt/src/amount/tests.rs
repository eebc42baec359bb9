//! Tests of amounts and of their order, some of them against numbers chosen for the read fractions.

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

use super::*;

fn half() -> Amount {
    Amount::number(Rational::new(1, 2))
}

fn minus(mut amount: Amount, parts: &[&Amount]) -> Amount {
    for part in parts {
        amount = amount.minus(part);
    }
    amount
}

#[test]
fn what_was_taken_and_given_back_is_the_whole() {
    let mut fractions = Fractions::default();
    let first = Amount::read(fractions.fresh(None));
    let second = Amount::read(fractions.fresh(None));
    let rest = minus(Amount::FULL, &[&half(), &first, &second]);
    assert!(!rest.is_full());
    assert!(rest.plus(&second).plus(&half()).plus(&first).is_full());
}

#[test]
fn fractions_of_different_calls_are_not_equal() {
    let mut fractions = Fractions::default();
    let first = Amount::read(fractions.fresh(None));
    let second = Amount::read(fractions.fresh(None));
    assert_eq!(fractions.sign(&first.minus(&second)), Sign::Undetermined);
    assert_eq!(fractions.sign(&first.minus(&first)), Sign::Zero);
    assert!(!Amount::FULL.minus(&first).plus(&second).is_full());
}

#[test]
fn a_bound_decides() {
    let mut fractions = Fractions::default();
    let outer = fractions.fresh(None);
    let inner = fractions.fresh(Some(outer));
    let innermost = fractions.fresh(None);
    fractions.bound(innermost, &Amount::read(inner));
    let (outer, inner, innermost) =
        (Amount::read(outer), Amount::read(inner), Amount::read(innermost));
    for (high, low) in [(&outer, &inner), (&inner, &innermost), (&outer, &innermost)] {
        let thousand = Amount::number(Rational::new(1000, 1)).times(low).unwrap();
        assert_eq!(fractions.sign(&high.minus(&thousand)), Sign::Positive);
        assert_eq!(fractions.sign(&thousand.minus(high)), Sign::Negative);
    }
    let product = outer.times(&inner).unwrap();
    assert_eq!(fractions.sign(&inner.minus(&product)), Sign::Positive);
    assert_eq!(fractions.sign(&innermost.minus(&product)), Sign::Undetermined);
}

#[test]
fn a_fraction_of_a_sum_is_below_the_greater_part_only() {
    let mut fractions = Fractions::default();
    let first = Amount::read(fractions.fresh(None));
    let second = Amount::read(fractions.fresh(None));
    let kappa = fractions.fresh(None);
    fractions.bound(kappa, &first.plus(&second));
    let part = Amount::read(kappa);
    assert_eq!(fractions.sign(&first.plus(&second).minus(&part)), Sign::Positive);
    assert_eq!(fractions.sign(&first.minus(&part)), Sign::Undetermined);
}

#[test]
fn counting_permissions_allow_reading_but_not_dividing() {
    let mut fractions = Fractions::default();
    let kappa = Amount::read(fractions.fresh(None));
    let epsilon = Amount::epsilons(Rational::ONE);
    assert!(fractions.is_readable(&epsilon));
    assert!(!fractions.is_divisible(&epsilon));
    assert_eq!(fractions.sign(&kappa.minus(&epsilon)), Sign::Positive);
    assert_eq!(epsilon.times(&half()), Err(Indivisible));
    assert_eq!(epsilon.times(&kappa), Err(Indivisible));
    let two = Amount::number(Rational::new(2, 1));
    assert_eq!(epsilon.times(&two), Ok(Amount::epsilons(Rational::new(2, 1))));
}

#[test]
fn amounts_are_shown_in_hundredths() {
    let mut fractions = Fractions::default();
    let kappa = Amount::read(fractions.fresh(None));
    let rest = minus(Amount::FULL, &[&kappa, &Amount::epsilons(Rational::new(2, 1))]);
    assert_eq!(rest.to_string(), "100% - rd - 2·ε");
    assert_eq!(Amount::NONE.to_string(), "0%");
}

#[test]
fn numbers_leave_the_machine_word_and_come_back() {
    let tiny = (0..5).fold(Amount::FULL, |amount, _| {
        amount.times(&Amount::number(Rational::new(1, i64::from(u32::MAX)))).unwrap()
    });
    assert!(Amount::FULL.minus(&tiny).plus(&tiny).is_full());
    assert!(!Amount::FULL.minus(&tiny).is_full());
}

/// Fractions bounded as `parents` says, and numbers that fit: each far below those that bound it.
fn chosen(parents: &[Option<usize>], steps: &[u32]) -> (Fractions, Vec<BigRational>) {
    let mut fractions = Fractions::default();
    let mut numbers: Vec<BigRational> = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        let parent = parent.map(|parent| parent % (at + 1)).filter(|&parent| parent < at);
        fractions.fresh(parent.map(|parent| Kappa(parent as u32)));
        let above = parent.map_or_else(BigRational::one, |parent| numbers[parent].clone());
        let below = BigRational::from_integer((1_000_000_u64 + u64::from(steps[at])).into());
        numbers.push(above / below);
    }
    (fractions, numbers)
}

fn value(terms: &[(i64, usize)], numbers: &[BigRational]) -> (Amount, BigRational) {
    let mut amount = Amount::NONE;
    let mut sum = BigRational::zero();
    for &(coefficient, kappa) in terms {
        let kappa = kappa % numbers.len();
        let factor = Amount::number(Rational::new(coefficient, 1));
        amount = amount.plus(&factor.times(&Amount::read(Kappa(kappa as u32))).unwrap());
        sum += BigRational::from_integer(coefficient.into()) * &numbers[kappa];
    }
    (amount, sum)
}

proptest! {
    /// An answer is right for each choice that fits.
    #[test]
    fn signs_hold_for_numbers(
        parents in prop::collection::vec(prop::option::of(0_usize..6), 1..6),
        steps in prop::collection::vec(0_u32..1_000_000, 6),
        terms in prop::collection::vec((-3_i64..4, 0_usize..6), 0..5),
    ) {
        let (fractions, numbers) = chosen(&parents, &steps);
        let (amount, sum) = value(&terms, &numbers);
        match fractions.sign(&amount) {
            Sign::Positive => prop_assert!(sum.is_positive()),
            Sign::Negative => prop_assert!(sum.is_negative()),
            Sign::Zero => prop_assert!(sum.is_zero()),
            Sign::Undetermined => {}
        }
    }

    /// Adding and subtracting in any order loses nothing.
    #[test]
    fn sums_are_exact(terms in prop::collection::vec((-3_i64..4, 0_usize..4), 0..8)) {
        let numbers = vec![BigRational::one(); 4];
        let parts: Vec<_> =
            terms.iter().map(|&term| value(&[term], &numbers).0).collect();
        let sum = parts.iter().fold(Amount::FULL, |sum, part| sum.plus(part));
        let back = parts.iter().fold(sum, |sum, part| sum.minus(part));
        prop_assert!(back.is_full());
    }
}

#[test]
fn readers_share_what_is_counted() {
    let fractions = Fractions::default();
    let epsilon = Amount::epsilons(Rational::ONE);
    let share = epsilon.for_readers();
    assert!(fractions.is_readable(&share));
    assert!(!fractions.is_divisible(&share));
    let rest = minus(epsilon.clone(), &[&share, &share, &share]);
    assert_eq!(fractions.sign(&rest), Sign::Positive);
    assert_eq!(fractions.sign(&share.minus(&epsilon)), Sign::Negative);
    assert!(!minus(Amount::FULL, &[&epsilon]).plus(&share).plus(&share).is_full());
    assert_eq!(half().plus(&epsilon).for_readers(), epsilon);
}
