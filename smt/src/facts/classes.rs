//! Classes of terms known to be equal: union-find without path compression, so that unions can be
//! undone.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::bounds::{self, Bounds};
use crate::terms::{Term, Terms};

/// The knowledge about the terms of a class; kept with its representative.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The term whose class this one has been merged into.
    pub(super) parent: Option<Term>,
    size: u32,
    /// A member that differs from those of other classes: see [`Terms::is_unique`].
    pub(super) unique: Option<Term>,
    /// Groups of pairwise different terms that members belong to.
    pub(super) groups: Vec<u32>,
    pub(super) bounds: Bounds,
}

impl Class {
    /// Returns the class of one term.
    fn single(terms: &Terms, term: Term) -> Class {
        let bounds = bounds::literal(terms, term).map(Bounds::exactly).unwrap_or_default();
        let unique = terms.is_unique(term).then_some(term);
        Class { parent: None, size: 1, unique, groups: Vec::new(), bounds }
    }

    /// Returns the class with the members of both.
    pub(super) fn join(mut self, other: Class) -> Class {
        self.size += other.size;
        self.unique = self.unique.or(other.unique);
        self.groups.extend(other.groups);
        self.bounds = self.bounds.meet(other.bounds);
        self
    }
}

/// The classes; terms without an entry are alone.
#[derive(Default)]
pub(super) struct Classes(FxHashMap<Term, Class>);

impl Classes {
    /// Returns the representative of a term.
    pub(super) fn find(&self, mut term: Term) -> Term {
        while let Some(parent) = self.0.get(&term).and_then(|class| class.parent) {
            term = parent;
        }
        term
    }

    pub(super) fn get(&self, representative: Term) -> Option<&Class> {
        self.0.get(&representative)
    }

    /// Returns the class of a representative, a new one if there is no entry.
    pub(super) fn of(&self, terms: &Terms, representative: Term) -> Cow<'_, Class> {
        match self.get(representative) {
            Some(class) => Cow::Borrowed(class),
            None => Cow::Owned(Class::single(terms, representative)),
        }
    }

    /// Returns the two representatives, that of the smaller class first.
    pub(super) fn by_size(&self, left: Term, right: Term) -> (Term, Term) {
        let size = |term| self.get(term).map_or(1, |class| class.size);
        if size(left) <= size(right) { (left, right) } else { (right, left) }
    }

    /// Changes the class of a representative. Returns its earlier state, for `restore`.
    pub(super) fn change(
        &mut self,
        terms: &Terms,
        representative: Term,
        change: impl FnOnce(&mut Class),
    ) -> Option<Class> {
        let before = self.0.get(&representative).cloned();
        change(
            self.0.entry(representative).or_insert_with(|| Class::single(terms, representative)),
        );
        before
    }

    pub(super) fn restore(&mut self, representative: Term, class: Option<Box<Class>>) {
        match class {
            Some(class) => {
                self.0.insert(representative, *class);
            }
            None => {
                self.0.remove(&representative);
            }
        }
    }
}
