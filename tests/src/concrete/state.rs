//! Heaps with what is held of them.

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};
use sil::source::Name;
use sil::syntax::Expr;

use super::{Amount, Stuck, Value};

/// The target of permission.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    Field(u32, Name),
    Predicate(Name, Vec<Value>),
}

/// A magic wand that is held.
#[derive(Clone, Debug)]
pub(super) struct Wand {
    /// The wand's text without places. Variables in it never change.
    pub(super) shape: String,
    /// The permissions that were put into it.
    pub(super) footprint: Vec<(Target, Amount)>,
}

/// A value in every field of every object, and what is held.
#[derive(Clone, Default, Debug)]
pub struct Heap {
    pub(super) values: BTreeMap<(u32, Name), Value>,
    /// Positive amounts only.
    pub(super) held: BTreeMap<Target, Amount>,
    pub(super) wands: Vec<Wand>,
}

impl Heap {
    /// How much of something is held, not counting what is in predicates.
    pub fn amount(&self, target: &Target) -> Amount {
        self.held.get(target).cloned().unwrap_or_else(Amount::zero)
    }

    /// All that is held, in a fixed order.
    pub fn held(&self) -> impl Iterator<Item = (&Target, &Amount)> {
        self.held.iter()
    }

    /// A field's value, whether it may be read or not.
    pub fn value(&self, object: u32, field: &str) -> Option<&Value> {
        self.values.get(&(object, field.into()))
    }

    pub fn set_value(&mut self, object: u32, field: &Name, value: Value) {
        self.values.insert((object, field.clone()), value);
    }

    pub(super) fn add(&mut self, target: Target, amount: &Amount) -> Result<(), Stuck> {
        if amount.is_negative() {
            return Err(Stuck::new("a negative amount"));
        }
        if amount.is_zero() {
            return Ok(());
        }
        if matches!(target, Target::Field(0, _)) {
            return Err(Stuck::new("permission to a field of null"));
        }
        *self.held.entry(target).or_insert_with(Amount::zero) += amount;
        Ok(())
    }

    pub(super) fn take(&mut self, target: &Target, amount: &Amount) -> Result<(), Stuck> {
        if amount.is_negative() {
            return Err(Stuck::new("a negative amount"));
        }
        let left = self.amount(target) - amount;
        if left.is_negative() {
            return Err(Stuck(format!("not enough of {target:?}")));
        }
        if left.is_zero() {
            self.held.remove(target);
        } else {
            self.held.insert(target.clone(), left);
        }
        Ok(())
    }

    /// Returns the permissions here beyond those in `rest`, as another heap with the same values.
    pub(super) fn without(&self, rest: &Self) -> Self {
        let mut difference = Self { values: self.values.clone(), ..Self::default() };
        for (target, amount) in &self.held {
            let left = amount - rest.amount(target);
            if left.is_positive() {
                difference.held.insert(target.clone(), left);
            }
        }
        difference
    }

    /// Adds what is held in another heap.
    pub(super) fn add_all(&mut self, other: &Self) -> Result<(), Stuck> {
        other.held.iter().try_for_each(|(target, amount)| self.add(target.clone(), amount))
    }

    /// Tells whether a field may be read.
    pub(super) fn readable(&self, object: u32, field: &Name) -> bool {
        self.held.contains_key(&Target::Field(object, field.clone()))
    }

    /// Tells whether a field may be written.
    pub(super) fn writable(&self, object: u32, field: &Name) -> bool {
        self.amount(&Target::Field(object, field.clone())) >= Amount::one()
    }
}

/// Variables, the heap, and the heaps that `old` speaks about.
#[derive(Clone, Default, Debug)]
pub struct State {
    pub store: BTreeMap<Name, Value>,
    pub heap: Heap,
    pub(super) entry: Heap,
    pub(super) labels: BTreeMap<Name, Heap>,
    pub(super) lhs: Option<Heap>,
    /// The heaps that the loops around the current statement set aside, the outermost first.
    pub(super) aside: Vec<Heap>,
    /// Objects have the numbers from 1 to this.
    pub objects: u32,
}

impl State {
    /// A state in which nothing is held yet: the start of a method.
    pub fn new(objects: u32) -> Self {
        Self { objects, ..Self::default() }
    }
}

/// Amounts as they are written: by `wildcard`, some positive one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Portion {
    Exactly(Amount),
    Some,
}

/// A part of an assertion: what it asks for, or a wand.
pub(super) enum Part<'e> {
    Access(Target, Portion),
    Wand(&'e Expr),
}
