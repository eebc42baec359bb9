//! Maps that are written down.

use rustc_hash::FxHashMap;

use crate::terms::{Term, Terms, TheoryOp, all_hold};

/// Keys with their values, the latest first.
type Entries = Vec<(Term, Term)>;

/// Returns the updates of a map, and the map below them unless it is the empty one.
pub(super) fn entries(terms: &Terms, map: Term) -> (Entries, Option<Term>) {
    let mut entries = Vec::new();
    let mut map = terms.meaning(map);
    while let Some((TheoryOp::MapUpdate, &[rest, key, value])) = terms.theory_op(map) {
        entries.push((key, value));
        map = terms.meaning(rest);
    }
    let is_empty = terms.is_op(map, TheoryOp::MapEmpty);
    (entries, (!is_empty).then_some(map))
}

/// Returns the value of a key, if an update gives it.
pub(in crate::terms) fn lookup(terms: &mut Terms, map: Term, key: Term) -> Option<Term> {
    let mut map = terms.meaning(map);
    while let Some((TheoryOp::MapUpdate, &[rest, other, value])) = terms.theory_op(map) {
        if terms.same(other, key)? {
            return Some(value);
        }
        map = terms.meaning(rest);
    }
    None
}

/// Returns the values of the keys, if all keys are values.
fn latest(terms: &mut Terms, map: Term) -> Option<FxHashMap<Term, Term>> {
    let (entries, None) = entries(terms, map) else { return None };
    let mut latest = FxHashMap::default();
    for (key, value) in entries {
        latest.entry(terms.value(key)?).or_insert(value);
    }
    Some(latest)
}

/// Returns the values that the keys are mapped to in the end.
pub(super) fn latest_values(terms: &mut Terms, map: Term) -> Option<Vec<Term>> {
    let mut values: Vec<Term> = latest(terms, map)?.into_values().collect();
    values.sort_unstable();
    Some(values)
}

pub(in crate::terms) fn size(terms: &mut Terms, map: Term) -> Option<usize> {
    let domain = terms.map_domain(map);
    super::sets::size(terms, domain)
}

pub(in crate::terms) fn are_equal(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    let (keys, others) = (terms.map_domain(left), terms.map_domain(right));
    if !super::sets::are_equal(terms, keys, others)? {
        return Some(false);
    }
    let (left, right) = (latest(terms, left)?, latest(terms, right)?);
    let mut keys: Vec<Term> = left.keys().copied().collect();
    keys.sort_unstable();
    all_hold(keys.into_iter().map(|key| terms.same(left[&key], *right.get(&key)?)))
}

pub(super) fn value(terms: &mut Terms, map: Term) -> Option<Term> {
    let mut latest: Vec<(Term, Term)> = latest(terms, map)?.into_iter().collect();
    latest.sort_unstable();
    let sort = terms.sort(map);
    let (key, value) = (terms.element_sort(sort), terms.value_sort(sort));
    let mut canonical = terms.map_empty(key, value);
    for (key, value) in latest {
        let value = terms.value(value)?;
        canonical = terms.map_update(canonical, key, value);
    }
    Some(canonical)
}
