//! Classes of terms that differ, as pairs of terms that were their representatives.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::terms::Term;

/// The pairs, and the terms beside each. The latter serve when a class is merged into another.
#[derive(Default)]
pub(super) struct Apart {
    pairs: FxHashSet<(Term, Term)>,
    of: FxHashMap<Term, Vec<Term>>,
}

impl Apart {
    /// Enters a pair. Tells whether it is new.
    pub(super) fn insert(&mut self, left: Term, right: Term) -> bool {
        let is_new = left != right && self.pairs.insert(ordered(left, right));
        if is_new {
            self.of.entry(left).or_default().push(right);
            self.of.entry(right).or_default().push(left);
        }
        is_new
    }

    /// Takes back the pair that was entered last.
    pub(super) fn remove_latest(&mut self, left: Term, right: Term) {
        self.pairs.remove(&ordered(left, right));
        for term in [left, right] {
            self.of.get_mut(&term).and_then(Vec::pop).expect("inserted before");
        }
    }

    pub(super) fn contains(&self, left: Term, right: Term) -> bool {
        self.pairs.contains(&ordered(left, right))
    }

    /// Returns the terms that were entered beside this one.
    pub(super) fn beside(&self, term: Term) -> &[Term] {
        self.of.get(&term).map_or(&[], Vec::as_slice)
    }
}

fn ordered(left: Term, right: Term) -> (Term, Term) {
    if left <= right { (left, right) } else { (right, left) }
}
