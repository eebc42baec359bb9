//! Values of an emitted program, and the operations on them that can fail.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::flaw::Flaw;
use crate::levels::Level;
use crate::object::Object;
use crate::trouble::{At, Res, Trouble, fail};

pub use crate::trouble::At as Place;

/// A value. Equality is that of the language: structural for sequences and sets, by identity for
/// references.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Arc<str>),
    /// No object.
    Null,
    /// An object, channel or token.
    Ref(Arc<Object>),
    /// A sequence.
    Seq(Seq),
    /// A set.
    Set(Arc<BTreeSet<Value>>),
    /// A lock level.
    Level(Level),
}

/// A sequence. A range of integers is kept as its bounds.
#[derive(Debug, Clone)]
pub enum Seq {
    /// Its elements.
    Items(Arc<[Value]>),
    /// From the first integer to the one before the second.
    Range(i64, i64),
}

impl Value {
    /// Returns the integer it is; the types of the program say that it is one.
    pub fn int(&self) -> i64 {
        match self {
            Self::Int(number) => *number,
            other => unreachable!("{other:?} is no integer"),
        }
    }

    /// Is it `true`?
    pub fn truth(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Returns the object it refers to.
    ///
    /// # Errors
    /// It is null.
    pub fn object(&self, at: At) -> Res<Arc<Object>> {
        match self {
            Self::Ref(object) => Ok(object.clone()),
            _ => fail(Flaw::Null, at, &[]),
        }
    }

    /// Returns the level it is.
    pub fn level(&self) -> Level {
        match self {
            Self::Level(level) => *level,
            _ => Level::BOTTOM,
        }
    }

    /// Returns a text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Returns a sequence of these values.
    pub fn seq(items: Vec<Value>) -> Self {
        Self::Seq(Seq::Items(items.into()))
    }

    /// Returns a set of these values.
    pub fn set(items: impl IntoIterator<Item = Value>) -> Self {
        Self::Set(Arc::new(items.into_iter().collect()))
    }

    /// Returns the elements of a sequence or set, in order.
    pub fn elements(&self) -> Vec<Value> {
        match self {
            Self::Seq(seq) => seq.iter().collect(),
            Self::Set(set) => set.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the distinct elements, in the order in which they occur first.
    #[expect(clippy::mutable_key_type, reason = "the order of objects is that of their numbers")]
    pub fn distinct(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let mut elements = self.elements();
        elements.retain(|one| seen.insert(one.clone()));
        elements
    }

    /// Returns how many elements it has.
    pub fn length(&self) -> i64 {
        match self {
            Self::Seq(seq) => seq.len(),
            Self::Set(set) => i64::try_from(set.len()).unwrap_or(i64::MAX),
            _ => 0,
        }
    }

    /// Is a value among its elements?
    pub fn contains(&self, element: &Value) -> bool {
        match (self, element) {
            (Self::Seq(Seq::Items(items)), element) => items.contains(element),
            (Self::Seq(Seq::Range(from, to)), Self::Int(number)) => from <= number && number < to,
            (Self::Set(set), element) => set.contains(element),
            _ => false,
        }
    }

    /// This sequence and then another.
    ///
    /// # Errors
    /// The sequence would not fit into memory.
    pub fn append(self, other: Value, at: At) -> Res<Value> {
        let (Self::Seq(one), Self::Seq(two)) = (&self, &other) else { return Ok(self) };
        if one.len().saturating_add(two.len()) > LONGEST {
            return Err(Box::new(Trouble::Bound("a sequence is too long", at)));
        }
        Ok(match (one.len(), two.len()) {
            (_, 0) => self,
            (0, _) => other,
            _ => Self::Seq(Seq::Items(one.iter().chain(two.iter()).collect())),
        })
    }

    /// Returns an element of a sequence.
    ///
    /// # Errors
    /// There is no such element.
    pub fn index(&self, index: i64, at: At) -> Res<Value> {
        let Self::Seq(seq) = self else { return Ok(Self::Null) };
        if index < 0 {
            return fail(Flaw::IndexNegative, at, &[&index]);
        }
        match seq.get(index) {
            Some(value) => Ok(value),
            None => fail(Flaw::IndexTooLarge, at, &[&index, &seq.len()]),
        }
    }

    /// Returns a bound of a slice, which is not below another, nor beyond the sequence.
    ///
    /// # Errors
    /// It is.
    pub fn bound(&self, bound: i64, least: i64, at: At) -> Res<i64> {
        let length = self.length();
        if (least..=length).contains(&bound) {
            return Ok(bound);
        }
        fail(Flaw::SliceBounds, at, &[&bound, &least, &length])
    }

    /// Returns the elements from one bound up to another.
    #[must_use]
    pub fn slice(&self, from: i64, to: i64) -> Value {
        match self {
            Self::Seq(Seq::Range(first, _)) => Self::Seq(Seq::Range(first + from, first + to)),
            Self::Seq(Seq::Items(items)) => {
                Self::Seq(Seq::Items(items[place(from)..place(to)].into()))
            }
            other => other.clone(),
        }
    }

    /// Returns the union of two sets.
    pub fn union(&self, other: &Value) -> Value {
        self.sets(other, |one, two| one.union(two).cloned().collect())
    }

    /// Returns the elements of one set that are not in the other.
    pub fn difference(&self, other: &Value) -> Value {
        self.sets(other, |one, two| one.difference(two).cloned().collect())
    }

    /// Returns the elements that two sets share.
    pub fn intersection(&self, other: &Value) -> Value {
        self.sets(other, |one, two| one.intersection(two).cloned().collect())
    }

    fn sets(
        &self,
        other: &Value,
        combine: impl Fn(&BTreeSet<Value>, &BTreeSet<Value>) -> BTreeSet<Value>,
    ) -> Value {
        match (self, other) {
            (Self::Set(one), Self::Set(two)) => Self::Set(Arc::new(combine(one, two))),
            _ => self.clone(),
        }
    }

    /// Is each element in the other set?
    pub fn is_subset(&self, other: &Value) -> bool {
        matches!((self, other), (Self::Set(one), Self::Set(two)) if one.is_subset(two))
    }
}

/// The number of elements that fit into memory.
const LONGEST: i64 = 50_000_000;

impl Seq {
    fn len(&self) -> i64 {
        match self {
            Self::Items(items) => i64::try_from(items.len()).unwrap_or(i64::MAX),
            Self::Range(from, to) => to - from,
        }
    }

    fn get(&self, index: i64) -> Option<Value> {
        match self {
            Self::Items(items) => items.get(place(index)).cloned(),
            Self::Range(from, to) => (index < to - from).then(|| Value::Int(from + index)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

fn place(index: i64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
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
            _ => self.iter().cmp(other.iter()),
        }
    }
}

/// As a program writes it out.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Bool(truth) => truth.fmt(f),
            Self::Text(text) => text.fmt(f),
            _ => Ok(()),
        }
    }
}

/// `one + two`
///
/// # Errors
/// The number is beyond those of a machine.
pub fn add(one: i64, two: i64, at: At) -> Res<i64> {
    fits(one.checked_add(two), at)
}

/// `one - two`
///
/// # Errors
/// The number is beyond those of a machine.
pub fn sub(one: i64, two: i64, at: At) -> Res<i64> {
    fits(one.checked_sub(two), at)
}

/// `one * two`
///
/// # Errors
/// The number is beyond those of a machine.
pub fn mul(one: i64, two: i64, at: At) -> Res<i64> {
    fits(one.checked_mul(two), at)
}

/// Returns the Euclidean quotient.
///
/// # Errors
/// The divisor, which stands at a place of its own, is zero, or the number is beyond those of a
/// machine.
pub fn div(one: i64, two: i64, divisor: At) -> Res<i64> {
    if two == 0 {
        fail(Flaw::DivisorZero, divisor, &[])
    } else {
        fits(one.checked_div_euclid(two), divisor)
    }
}

/// Returns the Euclidean remainder.
///
/// # Errors
/// The divisor, which stands at a place of its own, is zero.
pub fn rem(one: i64, two: i64, divisor: At) -> Res<i64> {
    if two == 0 { fail(Flaw::DivisorZero, divisor, &[]) } else { Ok(one.wrapping_rem_euclid(two)) }
}

fn fits(number: Option<i64>, at: At) -> Res<i64> {
    number.ok_or_else(|| Box::new(Trouble::Bound("a number is beyond those of a machine", at)))
}

/// Returns the integers from one up to another.
///
/// # Errors
/// The bounds are not in order, or too far apart.
pub fn range(from: i64, to: i64, at: At) -> Res<Value> {
    if to < from {
        return fail(Flaw::RangeBounds, at, &[&to, &from]);
    }
    if to.checked_sub(from).is_none() {
        let words = "a range is too long or too far from zero";
        return Err(Box::new(Trouble::Bound(words, at)));
    }
    Ok(Value::Seq(Seq::Range(from, to)))
}

/// Returns the integers between bounds.
///
/// # Errors
/// A bound has no value, or the integers are too many: a claim about all of them stays open.
pub fn interval(bounds: Res<(i64, i64)>, at: At) -> Res<std::ops::Range<i64>> {
    let unknown = || Box::new(Trouble::Unknown("quantifier.unbounded", at));
    match bounds {
        Ok((from, to)) if from > i64::MIN && to < i64::MAX && to.saturating_sub(from) <= MOST => {
            Ok(from..to)
        }
        Ok(_) => Err(unknown()),
        Err(trouble) if matches!(*trouble, Trouble::Fault(_)) => Err(unknown()),
        Err(trouble) => Err(trouble),
    }
}

/// The number of values of a variable that are tried.
const MOST: i64 = 20_000_000;

/// Returns the greatest of numbers.
///
/// # Errors
/// There are none.
pub fn greatest(known: Option<i64>, at: At) -> Res<i64> {
    known.map_or_else(|| fail(Flaw::MaximumOfNothing, at, &[]), Ok)
}

/// Assigns a constant once.
///
/// # Errors
/// It was assigned.
pub fn assign_once(is_assigned: &mut bool, at: At) -> Res<()> {
    if std::mem::replace(is_assigned, true) { fail(Flaw::AssignedTwice, at, &[]) } else { Ok(()) }
}

/// A constant has a value when it is read.
///
/// # Errors
/// It has none yet.
pub fn assigned(is_assigned: bool, at: At) -> Res<()> {
    if is_assigned { Ok(()) } else { Err(Box::new(Trouble::Unknown("constant.unforeseen", at))) }
}
