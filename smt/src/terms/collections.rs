//! Constructors of sequences, sets, multisets and maps.
//!
//! Lengths and elements of sequences given element by element are computed; all else is left to the axioms of the
//! theory, which need the terms as they are.

use num_traits::ToPrimitive;

use super::{Sort, SortKind, Term, TermKind, Terms, TheoryOp};

impl Terms {
    /// An operator of a theory, as it is.
    pub fn theory_term(&mut self, op: TheoryOp, args: &[Term], sort: Sort) -> Term {
        self.intern(TermKind::Theory(op, args.into(), sort), sort)
    }

    /// An operator of a theory, through the constructor that simplifies it.
    pub(super) fn theory(&mut self, op: TheoryOp, args: &[Term], sort: Sort) -> Term {
        use TheoryOp::*;
        match (op, args) {
            (SeqSingleton, &[e]) => self.seq_singleton(e),
            (SeqAppend, &[s, t]) => self.seq_append(s, t),
            (SeqLength, &[s]) => self.seq_len(s),
            (SeqIndex, &[s, i]) => self.seq_at(s, i),
            (SeqTake, &[s, n]) => self.seq_take(s, n),
            (SeqDrop, &[s, n]) => self.seq_drop(s, n),
            (SeqContains, &[e, s]) => self.seq_contains(e, s),
            (SeqEqual | SetEqual | MultisetEqual | MapEqual, &[a, b]) => self.eq(a, b),
            (SetContains, &[e, s]) => self.set_contains(e, s),
            (SetUnion, &[s, t]) => self.set_union(s, t),
            (SetIntersection, &[s, t]) => self.set_intersection(s, t),
            (SetDifference, &[s, t]) => self.set_difference(s, t),
            (SetSubset, &[s, t]) => self.set_subset(s, t),
            (SetCard, &[s]) => self.set_card(s),
            (MultisetCount, &[e, s]) => self.multiset_count(e, s),
            (MultisetCard, &[s]) => self.multiset_card(s),
            (MapLookup, &[m, k]) => self.map_lookup(m, k),
            _ => self.theory_term(op, args, sort),
        }
    }

    fn theory_op(&self, term: Term) -> Option<(TheoryOp, &[Term])> {
        match self.kind(term) {
            TermKind::Theory(op, args, _) => Some((*op, args)),
            _ => None,
        }
    }

    /// Whether a term is a collection whose elements are written down one by one, at least one.
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

    fn is_op(&self, term: Term, op: TheoryOp) -> bool {
        self.theory_op(term).is_some_and(|(other, _)| other == op)
    }

    /// The equality predicate of the theory of the operands' sort; they are different terms.
    pub(super) fn collection_eq(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "equation between different sorts");
        if let Some(equal) = self.decide_explicit(left, right) {
            return self.bool(equal);
        }
        let op = match self.sort_kind(self.sort(left)) {
            SortKind::Seq(_) => TheoryOp::SeqEqual,
            SortKind::Set(_) => TheoryOp::SetEqual,
            SortKind::Multiset(_) => TheoryOp::MultisetEqual,
            _ => TheoryOp::MapEqual,
        };
        let (left, right) = (left.min(right), left.max(right));
        self.theory_term(op, &[left, right], Sort::BOOL)
    }
}

/// Sequences.
impl Terms {
    pub fn seq_empty(&mut self, element: Sort) -> Term {
        let sort = self.seq_sort(element);
        let empty = self.theory_term(TheoryOp::SeqEmpty, &[], sort);
        self.explicit_lengths.insert(empty, 0);
        empty
    }

    pub fn seq_singleton(&mut self, element: Term) -> Term {
        let sort = self.seq_sort(self.sort(element));
        let singleton = self.theory_term(TheoryOp::SeqSingleton, &[element], sort);
        self.explicit_lengths.insert(singleton, 1);
        singleton
    }

    pub fn seq_append(&mut self, left: Term, right: Term) -> Term {
        if self.is_op(left, TheoryOp::SeqEmpty) {
            return right;
        }
        if self.is_op(right, TheoryOp::SeqEmpty) {
            return left;
        }
        let sort = self.sort(left);
        let append = self.theory_term(TheoryOp::SeqAppend, &[left, right], sort);
        if let (Some(m), Some(n)) = (self.explicit_length(left), self.explicit_length(right)) {
            self.explicit_lengths.insert(append, m + n);
        }
        append
    }

    /// The sequence of the given elements.
    pub fn seq_explicit(&mut self, element: Sort, elements: &[Term]) -> Term {
        let empty = self.seq_empty(element);
        elements.iter().fold(empty, |sequence, &element| {
            let single = self.seq_singleton(element);
            self.seq_append(sequence, single)
        })
    }

    /// Whether two sequences given element by element are equal, where their lengths or elements tell.
    fn decide_explicit(&mut self, left: Term, right: Term) -> Option<bool> {
        let (length, other) = (self.explicit_length(left)?, self.explicit_length(right)?);
        if length != other {
            return Some(false);
        }
        let mut equal = Some(true);
        for index in 0..length {
            let (left, right) =
                (self.explicit_element(left, index), self.explicit_element(right, index));
            match self.eq(left, right) {
                Self::TRUE => {}
                Self::FALSE => return Some(false),
                _ => equal = None,
            }
        }
        equal
    }

    fn explicit_length(&self, sequence: Term) -> Option<usize> {
        self.explicit_lengths.get(&sequence).copied()
    }

    pub fn seq_len(&mut self, sequence: Term) -> Term {
        match self.explicit_length(sequence) {
            Some(length) => self.int(length),
            None => self.theory_term(TheoryOp::SeqLength, &[sequence], Sort::INT),
        }
    }

    pub fn seq_at(&mut self, sequence: Term, index: Term) -> Term {
        if let (Some(length), Some(index)) =
            (self.explicit_length(sequence), self.as_int(index).and_then(ToPrimitive::to_usize))
            && index < length
        {
            return self.explicit_element(sequence, index);
        }
        let sort = self.element_sort(self.sort(sequence));
        self.theory_term(TheoryOp::SeqIndex, &[sequence, index], sort)
    }

    fn explicit_element(&self, mut sequence: Term, mut index: usize) -> Term {
        loop {
            match self.theory_op(sequence) {
                Some((TheoryOp::SeqSingleton, &[element])) => return element,
                Some((TheoryOp::SeqAppend, &[left, right])) => {
                    let length = self.explicit_length(left).expect("parts are explicit");
                    if index < length {
                        sequence = left;
                    } else {
                        index -= length;
                        sequence = right;
                    }
                }
                other => panic!("not an explicit sequence: {other:?}"),
            }
        }
    }

    pub fn seq_update(&mut self, sequence: Term, index: Term, value: Term) -> Term {
        let sort = self.sort(sequence);
        self.theory_term(TheoryOp::SeqUpdate, &[sequence, index, value], sort)
    }

    pub fn seq_take(&mut self, sequence: Term, count: Term) -> Term {
        let sort = self.sort(sequence);
        self.theory_term(TheoryOp::SeqTake, &[sequence, count], sort)
    }

    pub fn seq_drop(&mut self, sequence: Term, count: Term) -> Term {
        if self.as_int(count).is_some_and(|count| *count == 0.into()) {
            return sequence;
        }
        let sort = self.sort(sequence);
        self.theory_term(TheoryOp::SeqDrop, &[sequence, count], sort)
    }

    pub fn seq_contains(&mut self, element: Term, sequence: Term) -> Term {
        match self.theory_op(sequence) {
            Some((TheoryOp::SeqEmpty, _)) => Self::FALSE,
            _ => self.theory_term(TheoryOp::SeqContains, &[element, sequence], Sort::BOOL),
        }
    }

    /// Always true; stands for `element in sequence` in triggers, beside it.
    pub fn seq_contains_trigger(&mut self, element: Term, sequence: Term) -> Term {
        self.theory_term(TheoryOp::SeqContainsTrigger, &[element, sequence], Sort::BOOL)
    }

    /// The integers from `low` up to but not including `high`.
    pub fn seq_range(&mut self, low: Term, high: Term) -> Term {
        let sort = self.seq_sort(Sort::INT);
        self.theory_term(TheoryOp::SeqRange, &[low, high], sort)
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

    /// The set with one more element.
    pub fn set_add(&mut self, set: Term, element: Term) -> Term {
        let sort = self.sort(set);
        self.theory_term(TheoryOp::SetAdd, &[set, element], sort)
    }

    /// The set of the given elements.
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
        match self.theory_op(set) {
            Some((TheoryOp::SetEmpty, _)) => Self::FALSE,
            Some((TheoryOp::SetSingleton, &[other])) if other == element => Self::TRUE,
            Some((TheoryOp::SetAdd, &[_, other])) if other == element => Self::TRUE,
            _ => self.theory_term(TheoryOp::SetContains, &[element, set], Sort::BOOL),
        }
    }

    pub fn set_card(&mut self, set: Term) -> Term {
        match self.theory_op(set) {
            Some((TheoryOp::SetEmpty, _)) => self.int(0),
            Some((TheoryOp::SetSingleton, _)) => self.int(1),
            _ => self.theory_term(TheoryOp::SetCard, &[set], Sort::INT),
        }
    }

    pub fn set_subset(&mut self, left: Term, right: Term) -> Term {
        if left == right || self.is_op(left, TheoryOp::SetEmpty) {
            return Self::TRUE;
        }
        self.theory_term(TheoryOp::SetSubset, &[left, right], Sort::BOOL)
    }

    pub fn set_disjoint(&mut self, left: Term, right: Term) -> Term {
        self.theory_term(TheoryOp::SetDisjoint, &[left, right], Sort::BOOL)
    }
}

/// Multisets.
impl Terms {
    pub fn multiset_empty(&mut self, element: Sort) -> Term {
        let sort = self.multiset_sort(element);
        self.theory_term(TheoryOp::MultisetEmpty, &[], sort)
    }

    pub fn multiset_singleton(&mut self, element: Term) -> Term {
        let sort = self.multiset_sort(self.sort(element));
        self.theory_term(TheoryOp::MultisetSingleton, &[element], sort)
    }

    /// The multiset with one more occurrence of an element.
    pub fn multiset_add(&mut self, multiset: Term, element: Term) -> Term {
        let sort = self.sort(multiset);
        self.theory_term(TheoryOp::MultisetAdd, &[multiset, element], sort)
    }

    /// The multiset of the given elements.
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

    /// How often an element is in a multiset.
    pub fn multiset_count(&mut self, element: Term, multiset: Term) -> Term {
        match self.theory_op(multiset) {
            Some((TheoryOp::MultisetEmpty, _)) => self.int(0),
            _ => self.theory_term(TheoryOp::MultisetCount, &[element, multiset], Sort::INT),
        }
    }

    pub fn multiset_card(&mut self, multiset: Term) -> Term {
        match self.theory_op(multiset) {
            Some((TheoryOp::MultisetEmpty, _)) => self.int(0),
            Some((TheoryOp::MultisetSingleton, _)) => self.int(1),
            _ => self.theory_term(TheoryOp::MultisetCard, &[multiset], Sort::INT),
        }
    }

    pub fn multiset_subset(&mut self, left: Term, right: Term) -> Term {
        self.theory_term(TheoryOp::MultisetSubset, &[left, right], Sort::BOOL)
    }

    pub fn multiset_disjoint(&mut self, left: Term, right: Term) -> Term {
        self.theory_term(TheoryOp::MultisetDisjoint, &[left, right], Sort::BOOL)
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
        if let Some((TheoryOp::MapUpdate, &[_, other, value])) = self.theory_op(map)
            && other == key
        {
            return value;
        }
        let sort = self.value_sort(self.sort(map));
        self.theory_term(TheoryOp::MapLookup, &[map, key], sort)
    }

    /// The set of keys.
    pub fn map_domain(&mut self, map: Term) -> Term {
        let key = self.element_sort(self.sort(map));
        let sort = self.set_sort(key);
        self.theory_term(TheoryOp::MapDomain, &[map], sort)
    }

    /// The set of values.
    pub fn map_values(&mut self, map: Term) -> Term {
        let value = self.value_sort(self.sort(map));
        let sort = self.set_sort(value);
        self.theory_term(TheoryOp::MapValues, &[map], sort)
    }

    /// Whether a key is in the map.
    pub fn map_contains(&mut self, key: Term, map: Term) -> Term {
        let domain = self.map_domain(map);
        self.set_contains(key, domain)
    }

    pub fn map_card(&mut self, map: Term) -> Term {
        match self.theory_op(map) {
            Some((TheoryOp::MapEmpty, _)) => self.int(0),
            _ => self.theory_term(TheoryOp::MapCard, &[map], Sort::INT),
        }
    }

    pub fn map_disjoint(&mut self, left: Term, right: Term) -> Term {
        self.theory_term(TheoryOp::MapDisjoint, &[left, right], Sort::BOOL)
    }
}
