//! Multisets that are written down.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::LONGEST;
use crate::terms::{Term, Terms, TheoryOp};

/// Numbers of occurrences.
type Numbers = IndexMap<Term, usize, FxBuildHasher>;

/// The parts of a multiset.
#[derive(Default, PartialEq)]
struct Occurrences {
    /// Elements that are values: pairwise different.
    values: Numbers,
    /// Other elements, any of which may be the same.
    others: Numbers,
    /// Multisets whose elements are unknown.
    rest: Numbers,
}

impl Occurrences {
    fn are_values(&self) -> bool {
        self.others.is_empty() && self.rest.is_empty()
    }

    fn insert(&mut self, terms: &mut Terms, element: Term) {
        let (numbers, element) = match terms.value(element) {
            Some(value) => (&mut self.values, value),
            None => (&mut self.others, element),
        };
        *numbers.entry(element).or_default() += 1;
    }

    fn is_within(&self, other: &Occurrences) -> bool {
        let within = |left: &Numbers, right: &Numbers| {
            left.iter().all(|(element, number)| right.get(element).is_some_and(|n| number <= n))
        };
        within(&self.values, &other.values)
            && within(&self.others, &other.others)
            && within(&self.rest, &other.rest)
    }
}

/// Returns the elements of a multiset with their numbers, if all of them are known. Those that are
/// no values may be the same as others.
pub(super) fn numbers(terms: &mut Terms, multiset: Term) -> Option<Vec<(Term, usize)>> {
    let Occurrences { values, others, rest } = occurrences(terms, multiset)?;
    rest.is_empty().then(|| values.into_iter().chain(others).collect())
}

/// Returns the parts of a multiset; `None` if there are too many.
fn occurrences(terms: &mut Terms, multiset: Term) -> Option<Occurrences> {
    use TheoryOp::*;
    let mut occurrences = Occurrences::default();
    let mut pending = vec![multiset];
    let mut steps = 0;
    while let Some(part) = pending.pop() {
        steps += 1;
        if steps > LONGEST {
            return None;
        }
        let part = terms.meaning(part);
        match terms.theory_op(part) {
            Some((MultisetEmpty, _)) => {}
            Some((MultisetSingleton, &[element])) => occurrences.insert(terms, element),
            Some((MultisetAdd, &[rest, element])) => {
                occurrences.insert(terms, element);
                pending.push(rest);
            }
            Some((MultisetUnion, &[left, right])) => pending.extend([right, left]),
            Some((op @ (MultisetIntersection | MultisetDifference), &[left, right])) => {
                match super::grow_stack(|| combined(terms, left, right, op)) {
                    Some(values) => {
                        for (value, number) in values {
                            *occurrences.values.entry(value).or_default() += number;
                        }
                    }
                    None => *occurrences.rest.entry(part).or_default() += 1,
                }
            }
            _ => *occurrences.rest.entry(part).or_default() += 1,
        }
    }
    Some(occurrences)
}

/// Returns the intersection or difference of two multisets of values.
fn combined(terms: &mut Terms, left: Term, right: Term, op: TheoryOp) -> Option<Numbers> {
    let (left, right) = (occurrences(terms, left)?, occurrences(terms, right)?);
    if !left.are_values() || !right.are_values() {
        return None;
    }
    let mut combined = Numbers::default();
    for (value, number) in left.values {
        let other = right.values.get(&value).copied().unwrap_or(0);
        let number = match op {
            TheoryOp::MultisetIntersection => number.min(other),
            _ => number.saturating_sub(other),
        };
        if number > 0 {
            combined.insert(value, number);
        }
    }
    Some(combined)
}

pub(in crate::terms) fn count(terms: &mut Terms, element: Term, multiset: Term) -> Option<usize> {
    let Occurrences { values, others, rest } = occurrences(terms, multiset)?;
    if !rest.is_empty() {
        return None;
    }
    if let Some(value) = terms.value(element)
        && others.is_empty()
    {
        return Some(values.get(&value).copied().unwrap_or(0));
    }
    let mut count = 0;
    for (&other, number) in values.iter().chain(&others) {
        if terms.same(element, other)? {
            count += number;
        }
    }
    Some(count)
}

pub(in crate::terms) fn size(terms: &mut Terms, multiset: Term) -> Option<usize> {
    let Occurrences { values, others, rest } = occurrences(terms, multiset)?;
    rest.is_empty().then(|| values.values().chain(others.values()).sum())
}

pub(in crate::terms) fn is_within(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (occurrences(terms, left)?, occurrences(terms, right)?);
    if left.is_within(&right) {
        return Some(true);
    }
    (left.are_values() && right.are_values()).then_some(false)
}

pub(in crate::terms) fn are_disjoint(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (occurrences(terms, left)?, occurrences(terms, right)?);
    if left.values.keys().any(|value| right.values.contains_key(value)) {
        return Some(false);
    }
    (left.are_values() && right.are_values()).then_some(true)
}

pub(in crate::terms) fn are_equal(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (occurrences(terms, left)?, occurrences(terms, right)?);
    if left == right {
        return Some(true);
    }
    (left.are_values() && right.are_values()).then_some(false)
}

pub(super) fn value(terms: &mut Terms, multiset: Term) -> Option<Term> {
    let mut occurrences = occurrences(terms, multiset)?;
    if !occurrences.are_values() {
        return None;
    }
    occurrences.values.sort_unstable_keys();
    let elements: Vec<Term> = occurrences
        .values
        .iter()
        .flat_map(|(&value, &number)| std::iter::repeat_n(value, number))
        .collect();
    let element = terms.element_sort(terms.sort(multiset));
    Some(terms.multiset_explicit(element, &elements))
}
