//! Values of a running program.

use std::cmp::Ordering;
use std::sync::Arc;

use imbl::{OrdSet, Vector};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

pub use chalice_rt::levels::Level;

/// A reference to an object, channel or token: its place in the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(pub u32);

impl Ref {
    /// Stands for all objects that do not exist, which look the same to quantifiers over a class.
    pub(crate) const UNALLOCATED: Self = Self(u32::MAX);
}

/// A value. Equality is that of the language: structural for sequences and sets, by identity for
/// references.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// An integer that fits into a machine word.
    Int(i64),
    /// Any other integer.
    Big(Arc<BigInt>),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Arc<str>),
    /// No object.
    Null,
    /// An object, channel or token.
    Ref(Ref),
    /// A sequence.
    Seq(Seq),
    /// A set. What is made of it shares its elements.
    Set(Arc<OrdSet<Value>>),
    /// A lock level.
    Level(Level),
    /// A value that is chosen when it is first read.
    Open,
    /// A value that nobody gave, of which it is noted where it is first used.
    Unset(Arc<Self>),
}

/// A sequence. A range of integers is kept as its bounds, and a long sequence so that what is made
/// of it shares its elements: a program may append to one for ever.
#[derive(Debug, Clone)]
pub enum Seq {
    /// Its elements, if they are few.
    Items(Arc<[Value]>),
    /// Its elements, if they are many.
    Long(Arc<Vector<Value>>),
    /// From the first integer to the one before the second.
    Range(i64, i64),
}

/// The largest number of elements for which a copy costs less than sharing.
const FEW: usize = 64;

impl Seq {
    /// Returns how many elements it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Long(items) => items.len(),
            Self::Range(from, to) => usize::try_from(to - from).unwrap_or(0),
        }
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element; `at` is below the length.
    pub fn get(&self, at: usize) -> Value {
        match self {
            Self::Items(items) => items[at].clone(),
            Self::Long(items) => items[at].clone(),
            Self::Range(from, _) => Value::Int(from + place(at)),
        }
    }

    /// Returns its elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Is a value among its elements?
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Items(items), value) => items.contains(value),
            (Self::Long(items), value) => items.contains(value),
            (Self::Range(from, to), Value::Int(value)) => from <= value && value < to,
            _ => false,
        }
    }

    /// Returns the elements from one index up to another, which is not before it; both are at most
    /// the length.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> Self {
        match self {
            Self::Items(items) => Self::Items(items[from..to].into()),
            Self::Long(items) if to - from <= FEW => {
                Self::Items(items.focus().narrow(from..to).into_iter().cloned().collect())
            }
            Self::Long(items) => Self::Long(Arc::new(Vector::clone(items).slice(from..to))),
            Self::Range(first, _) => Self::Range(first + place(from), first + place(to)),
        }
    }

    /// This sequence and then another.
    #[must_use]
    pub fn append(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        if self.len() + other.len() <= FEW {
            return Self::Items(self.iter().chain(other.iter()).collect());
        }
        // Single elements are cheaper to add than to join sequences.
        let items = match (self, other) {
            (Self::Items(few), Self::Long(many)) => {
                let mut items = Vector::clone(many);
                few.iter().rev().for_each(|one| items.push_front(one.clone()));
                items
            }
            (_, Self::Long(others)) => {
                let mut items = self.shared();
                items.append(Vector::clone(others));
                items
            }
            _ => {
                let mut items = self.shared();
                items.extend(other.iter());
                items
            }
        };
        Self::Long(Arc::new(items))
    }

    /// Returns its elements as they are kept if they are many.
    fn shared(&self) -> Vector<Value> {
        match self {
            Self::Long(items) => Vector::clone(items),
            Self::Items(_) | Self::Range(..) => self.iter().collect(),
        }
    }
}

fn place(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

impl PartialEq for Seq {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Seq {}

impl PartialOrd for Seq {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Seq {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Items(one), Self::Items(two)) => one.cmp(two),
            (Self::Long(one), Self::Long(two)) if one.ptr_eq(two) => Ordering::Equal,
            _ => self.iter().cmp(other.iter()),
        }
    }
}

/// Operators on integers that always have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
}

impl Value {
    /// Returns an integer.
    pub fn int(number: BigInt) -> Self {
        match number.to_i64() {
            Some(small) => Self::Int(small),
            None => Self::Big(Arc::new(number)),
        }
    }

    /// Returns a set of these values.
    pub fn set(values: impl IntoIterator<Item = Self>) -> Self {
        Self::Set(Arc::new(values.into_iter().collect()))
    }

    /// Returns the integer it is.
    ///
    /// # Panics
    /// If it is none: the resolver has checked types.
    pub fn big(&self) -> BigInt {
        match self {
            Self::Int(small) => (*small).into(),
            Self::Big(big) => (**big).clone(),
            other => unreachable!("{other:?} is no integer"),
        }
    }

    /// Is it `true`?
    pub fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Returns the object it refers to, unless it is null.
    pub fn reference(&self) -> Option<Ref> {
        match self {
            Self::Ref(reference) => Some(*reference),
            _ => None,
        }
    }

    /// Returns the elements of a sequence or set.
    pub fn elements(&self) -> Box<dyn Iterator<Item = Value> + '_> {
        match self {
            Self::Seq(seq) => Box::new(seq.iter()),
            Self::Set(set) => Box::new(set.iter().cloned()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// `+`, `-` or `*` on integers.
    #[must_use]
    pub fn arithmetic(&self, op: Arithmetic, other: &Self) -> Self {
        if let (Self::Int(one), Self::Int(two)) = (self, other) {
            let result = match op {
                Arithmetic::Add => one.checked_add(*two),
                Arithmetic::Sub => one.checked_sub(*two),
                Arithmetic::Mul => one.checked_mul(*two),
            };
            if let Some(result) = result {
                return Self::Int(result);
            }
        }
        let (one, two) = (self.big(), other.big());
        Self::int(match op {
            Arithmetic::Add => one + two,
            Arithmetic::Sub => one - two,
            Arithmetic::Mul => one * two,
        })
    }

    /// Euclidean quotient and remainder; nothing if the divisor is zero.
    pub fn divide(&self, other: &Self) -> Option<(Self, Self)> {
        if let (Self::Int(one), Self::Int(two)) = (self, other)
            && let (Some(quotient), Some(rest)) =
                (one.checked_div_euclid(*two), one.checked_rem_euclid(*two))
        {
            return Some((Self::Int(quotient), Self::Int(rest)));
        }
        let (one, two) = (self.big(), other.big());
        if two.is_zero() {
            return None;
        }
        let (quotient, rest) = one.div_rem(&two);
        if !rest.is_negative() {
            return Some((Self::int(quotient), Self::int(rest)));
        }
        let (step, more) =
            if two.is_negative() { (BigInt::from(1), -two) } else { (BigInt::from(-1), two) };
        Some((Self::int(quotient + step), Self::int(rest + more)))
    }

    /// Compares two integers.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one.cmp(two),
            _ => self.big().cmp(&other.big()),
        }
    }

    /// Returns an integer, if it is not too large for a machine.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Self::Int(small) => Some(*small),
            _ => None,
        }
    }

    /// Returns an integer as a number of steps; what is too large for that is the largest.
    pub(crate) fn to_i64_saturating(&self) -> i64 {
        match self {
            Self::Int(small) => *small,
            Self::Big(big) if big.is_negative() => i64::MIN,
            _ => i64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_never_negative() {
        for (one, two, quotient, rest) in
            [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1)]
        {
            let expected = Some((Value::Int(quotient), Value::Int(rest)));
            assert_eq!(Value::Int(one).divide(&Value::Int(two)), expected);
            let scale = Value::Int(i64::MAX);
            let (big_one, big_two) = (
                Value::Int(one).arithmetic(Arithmetic::Mul, &scale),
                Value::Int(two).arithmetic(Arithmetic::Mul, &scale),
            );
            let (big_quotient, big_rest) = big_one.divide(&big_two).unwrap();
            assert_eq!(big_quotient, Value::Int(quotient));
            assert_eq!(big_rest, Value::Int(rest).arithmetic(Arithmetic::Mul, &scale));
        }
        assert_eq!(Value::Int(1).divide(&Value::Int(0)), None);
        let overflow = Value::Int(i64::MIN).divide(&Value::Int(-1)).unwrap();
        assert_eq!(overflow.0, Value::int(BigInt::from(i64::MIN) * -1));
    }

    #[test]
    fn integers_leave_the_machine_word_and_come_back() {
        let large = Value::Int(i64::MAX).arithmetic(Arithmetic::Add, &Value::Int(1));
        assert!(matches!(large, Value::Big(_)));
        assert_eq!(large.arithmetic(Arithmetic::Sub, &Value::Int(1)), Value::Int(i64::MAX));
    }

    #[test]
    fn a_range_is_the_sequence_of_its_elements() {
        let range = Seq::Range(2, 5);
        let items = Seq::Items([2, 3, 4].map(Value::Int).into());
        assert_eq!(range, items);
        assert_eq!(range.append(&Seq::Range(0, 0)), items);
        assert_eq!(range.slice(1, 3), items.slice(1, 3));
        assert_eq!(Seq::Range(5, 2).len(), 0);
    }

    #[test]
    fn a_long_sequence_is_the_sequence_of_its_elements() {
        let short = |numbers: std::ops::Range<i64>| Seq::Items(numbers.map(Value::Int).collect());
        let mut grown = short(0..1);
        for number in 1..1_000 {
            grown = grown.append(&short(number..number + 1));
        }
        assert_eq!(grown, Seq::Range(0, 1_000));
        assert_eq!(short(0..1_000), grown);
        assert_eq!(Seq::Range(-500, 0).append(&grown), Seq::Range(-500, 1_000));
        assert_eq!(short(-5..0).append(&grown), Seq::Range(-5, 1_000));
        assert_eq!(grown.append(&grown.slice(0, 0)), grown);
        for (from, to) in [(0, 1_000), (1, 999), (500, 510), (77, 78), (3, 3)] {
            let part = grown.slice(from, to);
            assert_eq!(part, Seq::Range(place(from), place(to)));
            assert_eq!(part.slice(0, part.len()), part);
        }
        assert_eq!(grown.get(700), Value::Int(700));
        assert!(grown.contains(&Value::Int(999)) && !grown.contains(&Value::Int(1_000)));
        assert_ne!(grown, grown.append(&grown));
        assert!(grown.slice(0, 900) < grown);
    }
}
