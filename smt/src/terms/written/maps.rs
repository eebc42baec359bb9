//! Maps that are written down.

use rustc_hash::FxHashMap;

use crate::terms::{Term, Terms, TheoryOp};

/// Keys with their values, the latest first.
type Entries = Vec<(Term, Term)>;

impl Terms {
    /// The updates of a map, and the map that they begin with, if that is not the empty one.
    pub(super) fn entries(&self, map: Term) -> (Entries, Option<Term>) {
        let mut entries = Vec::new();
        let mut map = self.meaning(map);
        while let Some((TheoryOp::MapUpdate, &[rest, key, value])) = self.theory_op(map) {
            entries.push((key, value));
            map = self.meaning(rest);
        }
        let is_empty = self.is_op(map, TheoryOp::MapEmpty);
        (entries, (!is_empty).then_some(map))
    }

    /// The value of a key, if an update gives it.
    pub(in crate::terms) fn written_lookup(&mut self, map: Term, key: Term) -> Option<Term> {
        let mut map = self.meaning(map);
        while let Some((TheoryOp::MapUpdate, &[rest, other, value])) = self.theory_op(map) {
            if self.same(other, key)? {
                return Some(value);
            }
            map = self.meaning(rest);
        }
        None
    }

    /// The values of the keys, where all keys are values.
    fn latest(&mut self, map: Term) -> Option<FxHashMap<Term, Term>> {
        let (entries, None) = self.entries(map) else { return None };
        let mut latest = FxHashMap::default();
        for (key, value) in entries {
            latest.entry(self.value(key)?).or_insert(value);
        }
        Some(latest)
    }

    /// The values that the keys are mapped to in the end.
    pub(super) fn latest_values(&mut self, map: Term) -> Option<Vec<Term>> {
        let mut values: Vec<Term> = self.latest(map)?.into_values().collect();
        values.sort_unstable();
        Some(values)
    }

    pub(in crate::terms) fn written_map_size(&mut self, map: Term) -> Option<usize> {
        let domain = self.map_domain(map);
        self.written_set_size(domain)
    }

    pub(in crate::terms) fn written_maps_equal(&mut self, left: Term, right: Term) -> Option<bool> {
        let (keys, others) = (self.map_domain(left), self.map_domain(right));
        if !self.written_sets_equal(keys, others)? {
            return Some(false);
        }
        let (left, right) = (self.latest(left)?, self.latest(right)?);
        let mut keys: Vec<Term> = left.keys().copied().collect();
        keys.sort_unstable();
        let mut equal = Some(true);
        for key in keys {
            match self.same(left[&key], *right.get(&key)?) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => equal = None,
            }
        }
        equal
    }

    pub(super) fn map_value(&mut self, map: Term) -> Option<Term> {
        let mut latest: Vec<(Term, Term)> = self.latest(map)?.into_iter().collect();
        latest.sort_unstable();
        let sort = self.sort(map);
        let (key, value) = (self.element_sort(sort), self.value_sort(sort));
        let mut canonical = self.map_empty(key, value);
        for (key, value) in latest {
            let value = self.value(value)?;
            canonical = self.map_update(canonical, key, value);
        }
        Some(canonical)
    }
}
