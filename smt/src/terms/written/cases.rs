//! Values by cases of elements that are written down: equations that hold by the theory, for
//! collections so large that their axioms would need too many instances.

use super::sets::{self, Elements, Members};
use super::{maps, multisets, sequences};
use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

/// The axioms get on with collections of so many elements.
const FEW: usize = 8;

/// The most comparisons of elements in one value.
const COMPARISONS: usize = 10_000;

impl Terms {
    /// Returns a fact that computes an operation on a large collection by cases of its elements.
    /// Returns `None` for other terms, and where too little is written down.
    ///
    /// SOUNDNESS: the fact follows from the axioms of the theory and the definitions of names.
    pub(crate) fn by_cases(&mut self, term: Term) -> Option<Term> {
        let TermKind::Theory(op, args, _) = self.kind(term) else { return None };
        if self.is_open(term) {
            return None;
        }
        let value = match (*op, &**args) {
            (TheoryOp::SetContains, &[element, set]) => {
                let set = large(self, set, 1)?;
                among(self, element, &set)
            }
            (TheoryOp::SetCard, &[set]) => return self.size_by_cases(term, set),
            (TheoryOp::MapCard, &[map]) => {
                let domain = self.map_domain(map);
                return self.size_by_cases(term, domain);
            }
            (TheoryOp::SetSubset, &[left, right]) => self.part_by_cases(left, right)?,
            (TheoryOp::SetEqual, &[left, right]) => {
                let parts = [self.part_by_cases(left, right)?, self.part_by_cases(right, left)?];
                self.and(parts)
            }
            (TheoryOp::SeqContains, &[element, sequence]) => {
                let elements = sequences::elements(self, sequence).filter(|it| it.len() > FEW)?;
                let ways: Vec<Term> =
                    elements.into_iter().map(|other| self.equation(element, other)).collect();
                self.or(ways)
            }
            (TheoryOp::SeqLength, &[sequence]) => self.length_by_cases(sequence)?,
            (TheoryOp::SeqIndex, &[sequence, index]) => {
                self.element_by_cases(sequence, index, term)?
            }
            (TheoryOp::MultisetCount, &[element, multiset]) => {
                let numbers = multisets::numbers(self, multiset).filter(|it| it.len() > FEW)?;
                let none = self.int(0);
                let mut summands = Vec::with_capacity(numbers.len());
                for (other, number) in numbers {
                    let is_same = self.equation(element, other);
                    let number = self.int(number);
                    summands.push(self.ite(is_same, number, none));
                }
                self.sum(Sort::INT, summands)
            }
            (TheoryOp::MapLookup, &[map, _]) if maps::entries(self, map).0.len() > FEW => {
                self.lookup_by_cases(term)?
            }
            _ => return None,
        };
        (value != term).then(|| self.eq(term, value))
    }

    /// Returns the membership of an element as a disjunction: the element is one of those that are
    /// known, or is in one of the parts that are not.
    pub fn membership(&mut self, element: Term, set: Term) -> Term {
        match sets::parts(self, set) {
            Some(parts) => among(self, element, &parts),
            None => self.set_contains(element, set),
        }
    }

    /// Returns the value of a key by cases: the latest update of the key, else the value in the map
    /// below all updates. Returns `None` for other terms, and where nothing is updated.
    pub fn lookup_by_cases(&mut self, lookup: Term) -> Option<Term> {
        let Some((TheoryOp::MapLookup, &[map, key])) = self.theory_op(lookup) else { return None };
        let (entries, rest) = maps::entries(self, map);
        if entries.is_empty() {
            return None;
        }
        let mut value = rest.map_or(lookup, |rest| self.map_lookup(rest, key));
        for (other, updated) in entries.into_iter().rev() {
            let is_latest = self.equation(key, other);
            value = self.ite(is_latest, updated, value);
        }
        Some(value)
    }

    /// Returns the length of a part of a sequence by cases of where the part begins or ends.
    fn length_by_cases(&mut self, sequence: Term) -> Option<Term> {
        let (op, &[base, count]) = self.operator(sequence)? else { return None };
        if !matches!(op, TheoryOp::SeqTake | TheoryOp::SeqDrop) {
            return None;
        }
        let length = sequences::length(self, base).filter(|&length| length > FEW)?;
        let (zero, length) = (self.int(0), self.int(length));
        let (is_below, is_above) = (self.lt(count, zero), self.lt(length, count));
        let taken = self.ite(is_above, length, count);
        let taken = self.ite(is_below, zero, taken);
        Some(if op == TheoryOp::SeqTake { taken } else { self.sub(length, taken) })
    }

    /// Returns the element at an index by cases; `whole` where the index is at no position.
    fn element_by_cases(&mut self, sequence: Term, index: Term, whole: Term) -> Option<Term> {
        if let Some((TheoryOp::SeqUpdate, &[base, position, updated])) = self.operator(sequence) {
            let length = sequences::length(self, base).filter(|&length| length > FEW)?;
            let (first, end) = (self.int(0), self.int(length));
            let is_inside = [self.le(first, index), self.lt(index, end)];
            let is_inside = self.and(is_inside);
            let is_updated = self.equation(index, position);
            let kept = self.seq_at(base, index);
            let element = self.ite(is_updated, updated, kept);
            return Some(self.ite(is_inside, element, whole));
        }
        let elements = sequences::elements(self, sequence).filter(|it| it.len() > FEW)?;
        let mut value = whole;
        for (position, element) in elements.into_iter().enumerate() {
            let position = self.int(position);
            let is_there = self.equation(index, position);
            value = self.ite(is_there, element, value);
        }
        Some(value)
    }

    /// Tells the size of a set: that of its unknown parts, and one for each element that is not
    /// there. The set is not smaller than its known part.
    fn size_by_cases(&mut self, size: Term, set: Term) -> Option<Term> {
        if let Some((op, &[left, right])) = self.operator(set)
            && matches!(op, TheoryOp::SetDifference | TheoryOp::SetIntersection)
        {
            let Members { values, others, rest } = large(self, left, 1)?;
            if !rest.is_empty() {
                return None;
            }
            let mut number = self.number_of_new(&values, &others, vec![right]);
            if op == TheoryOp::SetIntersection {
                let all = self.number_of_new(&values, &others, Vec::new());
                number = self.sub(all, number);
            }
            return Some(self.eq(size, number));
        }
        let Members { values, others, rest } = large(self, set, 0)?;
        let known = self.number_of_new(&values, &others, Vec::new());
        let Some(unknown) = rest.iter().copied().reduce(|left, right| self.set_union(left, right))
        else {
            return Some(self.eq(size, known));
        };
        let unknown = self.set_card(unknown);
        let new = self.number_of_new(&values, &others, rest);
        let whole = self.add(unknown, new);
        let facts = [self.eq(size, whole), self.le(known, size)];
        Some(self.and(facts))
    }

    /// Counts the elements that are neither in the rest nor among those before them.
    fn number_of_new(&mut self, values: &Elements, others: &Elements, rest: Vec<Term>) -> Term {
        let (zero, one) = (self.int(0), self.int(1));
        let mut before = Members { rest, ..Members::default() };
        let mut summands = Vec::with_capacity(values.len() + others.len());
        for &value in values {
            let is_old = among(self, value, &before);
            summands.push(self.ite(is_old, zero, one));
        }
        before.values.clone_from(values);
        for &other in others {
            let is_old = among(self, other, &before);
            summands.push(self.ite(is_old, zero, one));
            before.others.insert(other);
        }
        self.sum(Sort::INT, summands)
    }

    /// Makes the claim that all elements of one set are in another.
    fn part_by_cases(&mut self, left: Term, right: Term) -> Option<Term> {
        let left = sets::members(self, left)?;
        let right = large(self, right, left.others.len())?;
        let all: Vec<Term> = left.elements().map(|element| among(self, element, &right)).collect();
        Some(self.and(all))
    }
}

/// Returns the parts of a set that is large. Those of its elements that are no values, and `more`
/// elements, can be compared with all.
fn large(terms: &mut Terms, set: Term, more: usize) -> Option<Members> {
    let members = sets::parts(terms, set).filter(|members| members.len() > FEW)?;
    let comparisons = members.len().saturating_mul(members.others.len() + more);
    (comparisons <= COMPARISONS).then_some(members)
}

/// Makes the claim that an element is in a set of these parts.
fn among(terms: &mut Terms, element: Term, set: &Members) -> Term {
    let value = terms.value(element);
    if value.is_some_and(|value| set.values.contains(&value)) {
        return Terms::TRUE;
    }
    // An element that is a value can be the same only as one that is no value.
    let values = set.values.iter().filter(|_| value.is_none());
    let mut ways: Vec<Term> =
        values.chain(&set.others).map(|&other| terms.equation(element, other)).collect();
    ways.extend(set.rest.iter().map(|&part| terms.set_contains(element, part)));
    terms.or(ways)
}
