//! Sets that are written down.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::LONGEST;
use crate::terms::{Term, Terms, TheoryOp, all_hold, some_holds};

/// The elements of a set, all of which are known.
#[derive(Default)]
pub(super) struct Members {
    /// Elements that are values: pairwise different.
    pub(super) values: IndexSet<Term, FxBuildHasher>,
    /// Other elements, any of which may be the same.
    pub(super) others: IndexSet<Term, FxBuildHasher>,
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

impl Terms {
    /// Returns the membership of an element as a disjunction. The element is one of those that are
    /// added one by one, or is in one of the parts that are not written down.
    pub fn membership(&mut self, element: Term, set: Term) -> Term {
        use TheoryOp::*;
        let mut visited = FxHashSet::default();
        let (mut ways, mut pending) = (Vec::new(), vec![set]);
        while let Some(part) = pending.pop() {
            let part = self.meaning(part);
            if !visited.insert(part) {
                continue;
            }
            let added = match self.theory_op(part) {
                Some((SetEmpty, _)) => continue,
                Some((SetSingleton, &[added])) => added,
                Some((SetAdd, &[others, added])) => {
                    pending.push(others);
                    added
                }
                Some((SetUnion, &[left, right])) => {
                    pending.extend([right, left]);
                    continue;
                }
                Some((MapDomain, &[map])) => {
                    let (entries, rest) = super::maps::entries(self, map);
                    for (key, _) in entries {
                        ways.push(self.equation(element, key));
                    }
                    if let Some(rest) = rest {
                        let domain = self.map_domain(rest);
                        ways.push(self.set_contains(element, domain));
                    }
                    continue;
                }
                _ => {
                    ways.push(self.set_contains(element, part));
                    continue;
                }
            };
            ways.push(self.equation(element, added));
        }
        self.or(ways)
    }
}

/// Returns the elements of a set; `None` if a part is unknown, or there are too many.
///
/// COMPLETENESS: terms about sets with an unknown part stay as they are also where their form tells
/// their truth, since they may match triggers of the program.
pub(super) fn members(terms: &mut Terms, set: Term) -> Option<Members> {
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
            Some((SetAdd, &[rest, element])) => {
                members.insert(terms, element);
                pending.push(rest);
            }
            Some((SetUnion, &[left, right])) => pending.extend([right, left]),
            Some((op @ (SetIntersection | SetDifference), &[left, right])) => {
                let kept = super::grow_stack(|| filtered(terms, left, right, op))?;
                kept.into_iter().for_each(|element| members.insert(terms, element));
            }
            Some((MapDomain, &[map])) => {
                let (entries, None) = super::maps::entries(terms, map) else { return None };
                entries.into_iter().for_each(|(key, _)| members.insert(terms, key));
            }
            Some((MapValues, &[map])) => {
                let values = super::maps::latest_values(terms, map)?;
                values.into_iter().for_each(|value| members.insert(terms, value));
            }
            _ => return None,
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
    let Members { values, others } = members(terms, set)?;
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
