//! Sets that are written down.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::LONGEST;
use crate::terms::{Term, Terms, TheoryOp, all_hold, some_holds};

/// Elements in the order in which they are found.
pub(super) type Elements = IndexSet<Term, FxBuildHasher>;

/// The parts of a set.
#[derive(Default)]
pub(super) struct Members {
    /// Elements that are values: pairwise different.
    pub(super) values: Elements,
    /// Other elements, any of which may be the same.
    pub(super) others: Elements,
    /// Sets whose elements are unknown.
    pub(super) rest: Vec<Term>,
}

impl Members {
    pub(super) fn insert(&mut self, terms: &mut Terms, element: Term) {
        match terms.value(element) {
            Some(value) => self.values.insert(value),
            None => self.others.insert(element),
        };
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() + self.others.len()
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Term> {
        self.values.iter().chain(&self.others).copied()
    }
}

/// Returns the elements of a set; `None` if a part is unknown, or there are too many.
///
/// COMPLETENESS: terms about sets with an unknown part stay as they are also where their form tells
/// their truth, since they may match triggers of the program.
pub(super) fn members(terms: &mut Terms, set: Term) -> Option<Members> {
    parts(terms, set).filter(|members| members.rest.is_empty())
}

/// Returns the parts of a set; `None` if there are too many elements.
pub(super) fn parts(terms: &mut Terms, set: Term) -> Option<Members> {
    use TheoryOp::*;
    let mut members = Members::default();
    let mut visited = FxHashSet::default();
    let mut pending = vec![set];
    while let Some(part) = pending.pop() {
        let part = terms.meaning(part);
        if !visited.insert(part) {
            continue;
        }
        if members.len() > LONGEST {
            return None;
        }
        match terms.theory_op(part) {
            Some((SetEmpty, _)) => {}
            Some((SetSingleton, &[element])) => members.insert(terms, element),
            Some((SetAdd, &[others, element])) => {
                members.insert(terms, element);
                pending.push(others);
            }
            Some((SetUnion, &[left, right])) => pending.extend([right, left]),
            Some((op @ (SetIntersection | SetDifference), &[left, right])) => {
                match super::grow_stack(|| filtered(terms, left, right, op)) {
                    Some(kept) => kept.into_iter().for_each(|it| members.insert(terms, it)),
                    None => members.rest.push(part),
                }
            }
            Some((MapDomain, &[map])) => {
                let (entries, below) = super::maps::entries(terms, map);
                entries.into_iter().for_each(|(key, _)| members.insert(terms, key));
                members.rest.extend(below.map(|map| terms.map_domain(map)));
            }
            Some((MapValues, &[map])) => match super::maps::latest_values(terms, map) {
                Some(values) => values.into_iter().for_each(|it| members.insert(terms, it)),
                None => members.rest.push(part),
            },
            _ => members.rest.push(part),
        }
    }
    Some(members)
}

/// Returns the elements of a set that are in another one, or those that are not.
fn filtered(terms: &mut Terms, left: Term, right: Term, op: TheoryOp) -> Option<Vec<Term>> {
    let (left, right) = (members(terms, left)?, members(terms, right)?);
    let mut kept = Vec::new();
    for element in left.elements() {
        if is_among(terms, element, &right)? == (op == TheoryOp::SetIntersection) {
            kept.push(element);
        }
    }
    Some(kept)
}

/// Looks for an element among those of a set.
fn is_among(terms: &mut Terms, element: Term, set: &Members) -> Option<bool> {
    if set.others.contains(&element) {
        return Some(true);
    }
    let value = terms.value(element);
    if value.is_some_and(|value| set.values.contains(&value)) {
        return Some(true);
    }
    // An element that is a value can be the same only as one that is no value.
    let values = set.values.iter().filter(|_| value.is_none());
    for &other in values.chain(&set.others) {
        match terms.same(element, other) {
            Some(false) => {}
            same => return same,
        }
    }
    Some(false)
}

pub(in crate::terms) fn has(terms: &mut Terms, element: Term, set: Term) -> Option<bool> {
    let members = members(terms, set)?;
    is_among(terms, element, &members)
}

pub(in crate::terms) fn size(terms: &mut Terms, set: Term) -> Option<usize> {
    let Members { values, others, .. } = members(terms, set)?;
    for (index, &element) in others.iter().enumerate() {
        for &other in values.iter().chain(others.iter().take(index)) {
            if terms.same(element, other)? {
                return None;
            }
        }
    }
    Some(values.len() + others.len())
}

fn is_part(terms: &mut Terms, left: &Members, right: &Members) -> Option<bool> {
    all_hold(left.elements().map(|element| is_among(terms, element, right)))
}

pub(in crate::terms) fn is_subset(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (members(terms, left)?, members(terms, right)?);
    is_part(terms, &left, &right)
}

pub(in crate::terms) fn are_disjoint(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (members(terms, left)?, members(terms, right)?);
    some_holds(left.elements().map(|element| is_among(terms, element, &right))).map(|some| !some)
}

pub(in crate::terms) fn are_equal(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (left, right) = (members(terms, left)?, members(terms, right)?);
    all_hold([is_part(terms, &left, &right), is_part(terms, &right, &left)])
}

pub(super) fn value(terms: &mut Terms, set: Term) -> Option<Term> {
    let members = members(terms, set)?;
    if !members.others.is_empty() {
        return None;
    }
    let mut values: Vec<Term> = members.values.into_iter().collect();
    values.sort_unstable();
    let element = terms.element_sort(terms.sort(set));
    Some(terms.set_explicit(element, &values))
}
