//! Constructors of sequences, sets, multisets and maps.
//!
//! Constructors compute values that follow from the elements of a collection ([`super::written`]).
//! Other terms stay as they are, for the axioms of the theory.

use super::written::{maps, multisets, sequences, sets};
use num_traits::ToPrimitive;

use super::{Sort, SortKind, Term, TermKind, Terms, TheoryOp};

impl Terms {
    /// Makes a term with an operator of a theory, without simplification.
    pub(crate) fn theory_term(&mut self, op: TheoryOp, args: &[Term], sort: Sort) -> Term {
        self.intern(TermKind::Theory(op, args.into(), sort), sort)
    }

    /// Makes a term with an operator of a theory, through the constructor that simplifies it.
    pub(super) fn theory(&mut self, op: TheoryOp, args: &[Term], sort: Sort) -> Term {
        use TheoryOp::*;
        match (op, args) {
            (SeqSingleton, &[e]) => self.seq_singleton(e),
            (SeqAppend, &[s, t]) => self.seq_append(s, t),
            (SeqLength, &[s]) => self.seq_len(s),
            (SeqIndex, &[s, i]) => self.seq_at(s, i),
            (SeqUpdate, &[s, i, v]) => self.seq_update(s, i, v),
            (SeqRange, &[low, high]) => self.seq_range(low, high),
            (SeqTake, &[s, n]) => self.seq_take(s, n),
            (SeqDrop, &[s, n]) => self.seq_drop(s, n),
            (SeqContains, &[e, s]) => self.seq_contains(e, s),
            (SeqEqual | SetEqual | MultisetEqual | MapEqual, &[a, b]) => self.eq(a, b),
            (SetContains, &[e, s]) => self.set_contains(e, s),
            (SetUnion, &[s, t]) => self.set_union(s, t),
            (SetIntersection, &[s, t]) => self.set_intersection(s, t),
            (SetDifference, &[s, t]) => self.set_difference(s, t),
            (SetSubset, &[s, t]) => self.set_subset(s, t),
            (SetDisjoint, &[s, t]) => self.set_disjoint(s, t),
            (SetCard, &[s]) => self.set_card(s),
            (MultisetCount, &[e, s]) => self.multiset_count(e, s),
            (MultisetSubset, &[s, t]) => self.multiset_subset(s, t),
            (MultisetDisjoint, &[s, t]) => self.multiset_disjoint(s, t),
            (MultisetCard, &[s]) => self.multiset_card(s),
            (MapLookup, &[m, k]) => self.map_lookup(m, k),
            (MapCard, &[m]) => self.map_card(m),
            (MapDisjoint, &[m, n]) => self.map_disjoint(m, n),
            _ => self.theory_term(op, args, sort),
        }
    }

    pub(super) fn theory_op(&self, term: Term) -> Option<(TheoryOp, &[Term])> {
        match self.kind(term) {
            TermKind::Theory(op, args, _) => Some((*op, args)),
            _ => None,
        }
    }

    /// Tells whether a term is a collection of at least one element, written down one by one.
    pub fn is_explicit_collection(&self, term: Term) -> bool {
        use TheoryOp::*;
        let mut pending = vec![term];
        while let Some(part) = pending.pop() {
            match self.theory_op(part) {
                Some((SeqSingleton | SetSingleton | MultisetSingleton, _)) => {}
                Some((SeqAppend, parts)) => pending.extend(parts),
                Some((SetAdd | MultisetAdd | MapUpdate, &[rest, ..])) => pending.push(rest),
                Some((SetEmpty | MultisetEmpty | MapEmpty, [])) if part != term => {}
                _ => return false,
            }
        }
        true
    }

    pub(super) fn is_op(&self, term: Term, op: TheoryOp) -> bool {
        self.theory_op(term).is_some_and(|(other, _)| other == op)
    }

    /// Makes the claim that two different terms are equal, by the predicate of their theory.
    pub(super) fn collection_eq(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "equation between different sorts");
        let (op, decided) = match self.sort_kind(self.sort(left)) {
            SortKind::Seq(_) => (TheoryOp::SeqEqual, sequences::are_equal(self, left, right)),
            SortKind::Set(_) => (TheoryOp::SetEqual, sets::are_equal(self, left, right)),
            SortKind::Multiset(_) => {
                (TheoryOp::MultisetEqual, multisets::are_equal(self, left, right))
            }
            _ => (TheoryOp::MapEqual, maps::are_equal(self, left, right)),
        };
        let (left, right) = (left.min(right), left.max(right));
        self.decided_or(decided, op, &[left, right])
    }

    /// Returns the literal of a decided formula, or the relation of the theory.
    fn decided_or(&mut self, decided: Option<bool>, op: TheoryOp, operands: &[Term]) -> Term {
        match decided {
            Some(truth) => self.bool(truth),
            None => self.theory_term(op, operands, Sort::BOOL),
        }
    }

    /// Returns the literal of a computed number, or the function of the theory.
    fn computed_or(&mut self, number: Option<usize>, op: TheoryOp, operands: &[Term]) -> Term {
        match number {
            Some(number) => self.int(number),
            None => self.theory_term(op, operands, Sort::INT),
        }
    }
}

/// Sequences.
impl Terms {
    pub(crate) fn seq_empty(&mut self, element: Sort) -> Term {
        let sort = self.seq_sort(element);
        self.sequence(TheoryOp::SeqEmpty, &[], sort)
    }

    /// Makes a sequence, and notes its length.
    fn sequence(&mut self, op: TheoryOp, operands: &[Term], sort: Sort) -> Term {
        let sequence = self.theory_term(op, operands, sort);
        sequences::note_length(self, sequence);
        sequence
    }

    pub(crate) fn seq_singleton(&mut self, element: Term) -> Term {
        let sort = self.seq_sort(self.sort(element));
        self.sequence(TheoryOp::SeqSingleton, &[element], sort)
    }

    pub fn seq_append(&mut self, left: Term, right: Term) -> Term {
        if sequences::length(self, left) == Some(0) {
            return right;
        }
        if sequences::length(self, right) == Some(0) {
            return left;
        }
        let sort = self.sort(left);
        self.sequence(TheoryOp::SeqAppend, &[left, right], sort)
    }

    /// Returns the sequence of the given elements.
    pub fn seq_explicit(&mut self, element: Sort, elements: &[Term]) -> Term {
        let empty = self.seq_empty(element);
        elements.iter().fold(empty, |sequence, &element| {
            let single = self.seq_singleton(element);
            self.seq_append(sequence, single)
        })
    }

    pub fn seq_len(&mut self, sequence: Term) -> Term {
        let length = sequences::length(self, sequence);
        self.computed_or(length, TheoryOp::SeqLength, &[sequence])
    }

    pub fn seq_at(&mut self, sequence: Term, index: Term) -> Term {
        if let (Some(length), Some(index)) =
            (sequences::length(self, sequence), self.as_int(index).and_then(ToPrimitive::to_usize))
            && index < length
        {
            return sequences::element(self, sequence, index);
        }
        let sort = self.element_sort(self.sort(sequence));
        self.theory_term(TheoryOp::SeqIndex, &[sequence, index], sort)
    }

    pub fn seq_update(&mut self, sequence: Term, index: Term, value: Term) -> Term {
        let sort = self.sort(sequence);
        self.sequence(TheoryOp::SeqUpdate, &[sequence, index, value], sort)
    }

    pub fn seq_take(&mut self, sequence: Term, count: Term) -> Term {
        let sort = self.sort(sequence);
        self.sequence(TheoryOp::SeqTake, &[sequence, count], sort)
    }

    pub fn seq_drop(&mut self, sequence: Term, count: Term) -> Term {
        if self.as_int(count).is_some_and(|count| *count == 0.into()) {
            return sequence;
        }
        let sort = self.sort(sequence);
        self.sequence(TheoryOp::SeqDrop, &[sequence, count], sort)
    }

    pub fn seq_contains(&mut self, element: Term, sequence: Term) -> Term {
        let decided = sequences::has(self, element, sequence);
        self.decided_or(decided, TheoryOp::SeqContains, &[element, sequence])
    }

    /// Makes a formula that always holds. It stands for `element in sequence` in triggers, beside
    /// it.
    pub fn seq_contains_trigger(&mut self, element: Term, sequence: Term) -> Term {
        self.theory_term(TheoryOp::SeqContainsTrigger, &[element, sequence], Sort::BOOL)
    }

    /// Returns the integers from `low` up to but not including `high`.
    pub fn seq_range(&mut self, low: Term, high: Term) -> Term {
        let sort = self.seq_sort(Sort::INT);
        self.sequence(TheoryOp::SeqRange, &[low, high], sort)
    }
}

/// Sets.
impl Terms {
    pub fn set_empty(&mut self, element: Sort) -> Term {
        let sort = self.set_sort(element);
        self.theory_term(TheoryOp::SetEmpty, &[], sort)
    }

    pub fn set_singleton(&mut self, element: Term) -> Term {
        let sort = self.set_sort(self.sort(element));
        self.theory_term(TheoryOp::SetSingleton, &[element], sort)
    }

    /// Returns the set with one more element.
    pub(crate) fn set_add(&mut self, set: Term, element: Term) -> Term {
        let sort = self.sort(set);
        self.theory_term(TheoryOp::SetAdd, &[set, element], sort)
    }

    /// Returns the set of the given elements.
    pub fn set_explicit(&mut self, element: Sort, elements: &[Term]) -> Term {
        let Some((&first, rest)) = elements.split_first() else { return self.set_empty(element) };
        let single = self.set_singleton(first);
        rest.iter().fold(single, |set, &element| self.set_add(set, element))
    }

    pub fn set_union(&mut self, left: Term, right: Term) -> Term {
        if left == right || self.is_op(right, TheoryOp::SetEmpty) {
            return left;
        }
        if self.is_op(left, TheoryOp::SetEmpty) {
            return right;
        }
        let sort = self.sort(left);
        self.theory_term(TheoryOp::SetUnion, &[left, right], sort)
    }

    pub fn set_intersection(&mut self, left: Term, right: Term) -> Term {
        if left == right || self.is_op(left, TheoryOp::SetEmpty) {
            return left;
        }
        if self.is_op(right, TheoryOp::SetEmpty) {
            return right;
        }
        let sort = self.sort(left);
        self.theory_term(TheoryOp::SetIntersection, &[left, right], sort)
    }

    pub fn set_difference(&mut self, left: Term, right: Term) -> Term {
        if self.is_op(left, TheoryOp::SetEmpty) || self.is_op(right, TheoryOp::SetEmpty) {
            return left;
        }
        let sort = self.sort(left);
        self.theory_term(TheoryOp::SetDifference, &[left, right], sort)
    }

    pub fn set_contains(&mut self, element: Term, set: Term) -> Term {
        let decided = sets::has(self, element, set);
        self.decided_or(decided, TheoryOp::SetContains, &[element, set])
    }

    pub fn set_card(&mut self, set: Term) -> Term {
        let size = sets::size(self, set);
        self.computed_or(size, TheoryOp::SetCard, &[set])
    }

    pub fn set_subset(&mut self, left: Term, right: Term) -> Term {
        let decided = sets::is_subset(self, left, right);
        self.decided_or(decided, TheoryOp::SetSubset, &[left, right])
    }

    pub(crate) fn set_disjoint(&mut self, left: Term, right: Term) -> Term {
        let decided = sets::are_disjoint(self, left, right);
        self.decided_or(decided, TheoryOp::SetDisjoint, &[left, right])
    }
}

/// Multisets.
impl Terms {
    pub(crate) fn multiset_empty(&mut self, element: Sort) -> Term {
        let sort = self.multiset_sort(element);
        self.theory_term(TheoryOp::MultisetEmpty, &[], sort)
    }

    pub(crate) fn multiset_singleton(&mut self, element: Term) -> Term {
        let sort = self.multiset_sort(self.sort(element));
        self.theory_term(TheoryOp::MultisetSingleton, &[element], sort)
    }

    /// Returns the multiset with one more occurrence of an element.
    pub(crate) fn multiset_add(&mut self, multiset: Term, element: Term) -> Term {
        let sort = self.sort(multiset);
        self.theory_term(TheoryOp::MultisetAdd, &[multiset, element], sort)
    }

    /// Returns the multiset of the given elements.
    pub fn multiset_explicit(&mut self, element: Sort, elements: &[Term]) -> Term {
        let Some((&first, rest)) = elements.split_first() else {
            return self.multiset_empty(element);
        };
        let single = self.multiset_singleton(first);
        rest.iter().fold(single, |multiset, &element| self.multiset_add(multiset, element))
    }

    pub fn multiset_union(&mut self, left: Term, right: Term) -> Term {
        let sort = self.sort(left);
        self.theory_term(TheoryOp::MultisetUnion, &[left, right], sort)
    }

    pub fn multiset_intersection(&mut self, left: Term, right: Term) -> Term {
        let sort = self.sort(left);
        self.theory_term(TheoryOp::MultisetIntersection, &[left, right], sort)
    }

    pub fn multiset_difference(&mut self, left: Term, right: Term) -> Term {
        let sort = self.sort(left);
        self.theory_term(TheoryOp::MultisetDifference, &[left, right], sort)
    }

    /// Returns the number of occurrences of an element in a multiset.
    pub fn multiset_count(&mut self, element: Term, multiset: Term) -> Term {
        let count = multisets::count(self, element, multiset);
        self.computed_or(count, TheoryOp::MultisetCount, &[element, multiset])
    }

    pub fn multiset_card(&mut self, multiset: Term) -> Term {
        let size = multisets::size(self, multiset);
        self.computed_or(size, TheoryOp::MultisetCard, &[multiset])
    }

    pub fn multiset_subset(&mut self, left: Term, right: Term) -> Term {
        let decided = multisets::is_within(self, left, right);
        self.decided_or(decided, TheoryOp::MultisetSubset, &[left, right])
    }

    pub(crate) fn multiset_disjoint(&mut self, left: Term, right: Term) -> Term {
        let decided = multisets::are_disjoint(self, left, right);
        self.decided_or(decided, TheoryOp::MultisetDisjoint, &[left, right])
    }
}

/// Maps.
impl Terms {
    pub fn map_empty(&mut self, key: Sort, value: Sort) -> Term {
        let sort = self.map_sort(key, value);
        self.theory_term(TheoryOp::MapEmpty, &[], sort)
    }

    pub fn map_update(&mut self, map: Term, key: Term, value: Term) -> Term {
        let sort = self.sort(map);
        self.theory_term(TheoryOp::MapUpdate, &[map, key, value], sort)
    }

    pub fn map_lookup(&mut self, map: Term, key: Term) -> Term {
        if let Some(value) = maps::lookup(self, map, key) {
            return value;
        }
        let sort = self.value_sort(self.sort(map));
        self.theory_term(TheoryOp::MapLookup, &[map, key], sort)
    }

    /// Returns the set of keys.
    pub fn map_domain(&mut self, map: Term) -> Term {
        let key = self.element_sort(self.sort(map));
        let sort = self.set_sort(key);
        self.theory_term(TheoryOp::MapDomain, &[map], sort)
    }

    /// Returns the set of values.
    pub fn map_values(&mut self, map: Term) -> Term {
        let value = self.value_sort(self.sort(map));
        let sort = self.set_sort(value);
        self.theory_term(TheoryOp::MapValues, &[map], sort)
    }

    /// Makes the claim that a key is in the map.
    pub fn map_contains(&mut self, key: Term, map: Term) -> Term {
        let domain = self.map_domain(map);
        self.set_contains(key, domain)
    }

    pub fn map_card(&mut self, map: Term) -> Term {
        let size = maps::size(self, map);
        self.computed_or(size, TheoryOp::MapCard, &[map])
    }

    pub(crate) fn map_disjoint(&mut self, left: Term, right: Term) -> Term {
        let (keys, others) = (self.map_domain(left), self.map_domain(right));
        let decided = sets::are_disjoint(self, keys, others);
        self.decided_or(decided, TheoryOp::MapDisjoint, &[left, right])
    }
}
