//! Collections that are written down: what their forms tell about their elements, without axioms.
//!
//! Literals, unions, appends, updates and the like make a collection of elements. Its size and its
//! members are computed where the elements tell them, each in time linear in the length of the
//! collection. Where the elements leave it open, the term stays as it is, for the axioms of the
//! theory.
//!
//! Invariants
//! - SOUNDNESS: two elements are the same or different only if their forms imply it
//!   ([`Terms::same`]). Two symbols may always be the same. Elements that may coincide are kept
//!   aside, as are unknown parts.
//! - A name given by [`Terms::define`] means its value.

mod cases;
pub(super) mod maps;
pub(super) mod multisets;
pub(super) mod sequences;
pub(super) mod sets;

use super::{SortKind, Term, TermKind, Terms, TheoryOp, grow_stack};

/// The most elements that are looked at. The theory gets larger collections: a sequence that is
/// appended to itself again and again does not fit into memory.
const LONGEST: usize = 100_000;

impl Terms {
    /// Defines a symbol that was made to stand for a value. The symbol does not occur in the value.
    pub fn define(&mut self, name: Term, value: Term) {
        debug_assert!(value < name, "a name is younger than its value");
        if self.is_collection(self.sort(value)) {
            if let Some(length) = sequences::length(self, value) {
                self.explicit_lengths.insert(name, length);
            }
        } else if self.value(value).is_none() {
            return;
        }
        self.definitions.insert(name, value);
    }

    /// Returns the elements of a collection, or the keys of a map, each at least once; `None`
    /// unless all of them are written down.
    pub fn written_elements(&mut self, collection: Term) -> Option<Vec<Term>> {
        match self.sort_kind(self.sort(collection)) {
            SortKind::Seq(_) => sequences::elements(self, collection),
            SortKind::Set(_) => {
                sets::members(self, collection).map(|members| members.elements().collect())
            }
            SortKind::Multiset(_) => {
                let numbers = multisets::numbers(self, collection)?;
                Some(numbers.into_iter().map(|(element, _)| element).collect())
            }
            SortKind::Map(..) => match maps::entries(self, collection) {
                (entries, None) => Some(entries.into_iter().map(|(key, _)| key).collect()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the meaning of a name; any other term stands for itself.
    fn meaning(&self, mut term: Term) -> Term {
        while let Some(&value) = self.definitions.get(&term) {
            term = value;
        }
        term
    }

    /// Returns the operator of a theory that a term applies, or that its meaning applies.
    fn operator(&self, term: Term) -> Option<(TheoryOp, &[Term])> {
        self.theory_op(self.meaning(term))
    }

    /// Compares two terms of one sort, as far as their forms tell.
    fn same(&mut self, left: Term, right: Term) -> Option<bool> {
        if left == right {
            return Some(true);
        }
        if let (Some(left), Some(right)) = (self.value(left), self.value(right)) {
            return Some(left == right);
        }
        let equal = grow_stack(|| self.eq(left, right));
        self.as_bool(equal)
    }

    /// Makes an equation of two terms of one sort, decided as far as their forms tell.
    fn equation(&mut self, left: Term, right: Term) -> Term {
        match self.same(left, right) {
            Some(same) => self.bool(same),
            None => self.eq(left, right),
        }
    }

    /// Returns the one term for the value of a term, if its form tells the value. Values are equal
    /// only if their terms are the same.
    fn value(&mut self, term: Term) -> Option<Term> {
        match self.kind(term) {
            TermKind::Bool(_) | TermKind::Int(_) | TermKind::Perm(_) | TermKind::Null => Some(term),
            TermKind::Apply(..) | TermKind::Theory(..) => {
                if let Some(&known) = self.values.get(&term) {
                    return known;
                }
                let value = grow_stack(|| self.compute_value(term));
                self.values.insert(term, value);
                value
            }
            _ => None,
        }
    }

    fn compute_value(&mut self, term: Term) -> Option<Term> {
        let meaning = self.meaning(term);
        if meaning != term {
            return self.value(meaning);
        }
        match self.kind(term).clone() {
            TermKind::Apply(symbol, args) if self.declaration(symbol).is_constructor() => {
                let args: Option<Vec<Term>> = args.iter().map(|&arg| self.value(arg)).collect();
                Some(self.apply(symbol, &args?))
            }
            TermKind::Theory(op, ..) if op.makes_sequence() => sequences::value(self, term),
            TermKind::Theory(op, ..) if op.makes_set() => sets::value(self, term),
            TermKind::Theory(op, ..) if op.makes_multiset() => multisets::value(self, term),
            TermKind::Theory(TheoryOp::MapEmpty | TheoryOp::MapUpdate, ..) => {
                maps::value(self, term)
            }
            _ => None,
        }
    }
}

impl TheoryOp {
    fn makes_sequence(self) -> bool {
        use TheoryOp::*;
        matches!(
            self,
            SeqEmpty | SeqSingleton | SeqAppend | SeqUpdate | SeqTake | SeqDrop | SeqRange
        )
    }

    fn makes_set(self) -> bool {
        use TheoryOp::*;
        matches!(
            self,
            SetEmpty
                | SetSingleton
                | SetAdd
                | SetUnion
                | SetIntersection
                | SetDifference
                | MapDomain
                | MapValues
        )
    }

    fn makes_multiset(self) -> bool {
        use TheoryOp::*;
        matches!(
            self,
            MultisetEmpty
                | MultisetSingleton
                | MultisetAdd
                | MultisetUnion
                | MultisetIntersection
                | MultisetDifference
        )
    }
}
