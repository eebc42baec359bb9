//! Sequences that are written down. Their lengths are noted when they are built.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

use super::LONGEST;
use crate::terms::{Term, Terms, TheoryOp};

impl Terms {
    pub(in crate::terms) fn explicit_length(&self, sequence: Term) -> Option<usize> {
        self.explicit_lengths.get(&sequence).copied()
    }

    /// Notes the length of a sequence that has been built, if its form tells the length.
    pub(in crate::terms) fn note_length(&mut self, sequence: Term) {
        if let Some(length) = self.length_by_form(sequence) {
            self.explicit_lengths.insert(sequence, length);
        }
    }

    fn length_by_form(&self, sequence: Term) -> Option<usize> {
        use TheoryOp::*;
        let (op, operands) = self.theory_op(sequence)?;
        match (op, operands) {
            (SeqEmpty, _) => Some(0),
            (SeqSingleton, _) => Some(1),
            (SeqAppend, &[left, right]) => {
                self.explicit_length(left)?.checked_add(self.explicit_length(right)?)
            }
            // Of an index out of range the axioms say nothing.
            (SeqUpdate, &[base, index, _]) => {
                let length = self.explicit_length(base)?;
                self.position(index).is_some_and(|index| index < length).then_some(length)
            }
            (SeqTake, &[base, count]) => self.clamped(base, count),
            (SeqDrop, &[base, count]) => {
                Some(self.explicit_length(base)? - self.clamped(base, count)?)
            }
            (SeqRange, &[low, high]) => {
                let size = self.as_int(high)? - self.as_int(low)?;
                if size <= BigInt::zero() { Some(0) } else { size.to_usize() }
            }
            _ => None,
        }
    }

    fn position(&self, index: Term) -> Option<usize> {
        self.as_int(index).and_then(ToPrimitive::to_usize)
    }

    /// A number of elements, at least none and at most all of a sequence.
    fn clamped(&self, sequence: Term, count: Term) -> Option<usize> {
        let length = self.explicit_length(sequence)?;
        let count = self.as_int(count)?;
        if *count <= BigInt::zero() {
            return Some(0);
        }
        Some(count.to_usize().map_or(length, |count| count.min(length)))
    }

    /// The element at a position, which is within the sequence.
    pub(in crate::terms) fn explicit_element(&mut self, sequence: Term, index: usize) -> Term {
        use TheoryOp::*;
        let (mut sequence, mut index) = (sequence, index);
        loop {
            match self.operator(sequence) {
                Some((SeqSingleton, &[element])) => return element,
                Some((SeqAppend, &[left, right])) => {
                    let length = self.explicit_length(left).expect("parts are explicit");
                    if index < length {
                        sequence = left;
                    } else {
                        index -= length;
                        sequence = right;
                    }
                }
                Some((SeqUpdate, &[base, position, element])) => {
                    if self.position(position) == Some(index) {
                        return element;
                    }
                    sequence = base;
                }
                Some((SeqTake, &[base, _])) => sequence = base,
                Some((SeqDrop, &[base, count])) => {
                    index += self.clamped(base, count).expect("parts are explicit");
                    sequence = base;
                }
                Some((SeqRange, &[low, _])) => {
                    let low = self.as_int(low).expect("the length is known").clone();
                    return self.int(low + index);
                }
                other => panic!("not an explicit sequence: {other:?}"),
            }
        }
    }

    /// All elements of a sequence, unless some are unknown or there are too many.
    pub(super) fn elements(&mut self, sequence: Term) -> Option<Vec<Term>> {
        use TheoryOp::*;
        let length = self.explicit_length(sequence).filter(|&length| length <= LONGEST)?;
        let mut elements = Vec::with_capacity(length);
        let mut pending = vec![sequence];
        while let Some(part) = pending.pop() {
            match self.operator(part) {
                Some((SeqEmpty, _)) => {}
                Some((SeqSingleton, &[element])) => elements.push(element),
                Some((SeqAppend, &[left, right])) => pending.extend([right, left]),
                Some((SeqRange, &[low, _])) => {
                    let low = self.as_int(low)?.clone();
                    for offset in 0..self.explicit_length(part)? {
                        elements.push(self.int(&low + offset));
                    }
                }
                Some((SeqUpdate, &[base, position, element])) => {
                    let position = elements.len() + self.position(position)?;
                    elements.extend(super::grow_stack(|| self.elements(base))?);
                    elements[position] = element;
                }
                Some((SeqTake, &[base, count])) => {
                    let end = elements.len() + self.clamped(base, count)?;
                    elements.extend(super::grow_stack(|| self.elements(base))?);
                    elements.truncate(end);
                }
                Some((SeqDrop, &[base, count])) => {
                    let count = self.clamped(base, count)?;
                    let rest = super::grow_stack(|| self.elements(base))?;
                    elements.extend(&rest[count..]);
                }
                _ => return None,
            }
        }
        Some(elements)
    }

    pub(in crate::terms) fn written_sequence_has(
        &mut self,
        element: Term,
        sequence: Term,
    ) -> Option<bool> {
        if let Some((TheoryOp::SeqRange, &[low, high])) = self.operator(sequence) {
            let (low, high) = (self.le(low, element), self.lt(element, high));
            let within = self.and([low, high]);
            return self.as_bool(within);
        }
        let mut found = Some(false);
        for other in self.elements(sequence)? {
            match self.same(element, other) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => found = None,
            }
        }
        found
    }

    pub(in crate::terms) fn written_sequences_equal(
        &mut self,
        left: Term,
        right: Term,
    ) -> Option<bool> {
        if self.explicit_length(left)? != self.explicit_length(right)? {
            return Some(false);
        }
        let (left, right) = (self.elements(left)?, self.elements(right)?);
        let mut equal = Some(true);
        for (left, right) in left.into_iter().zip(right) {
            match self.same(left, right) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => equal = None,
            }
        }
        equal
    }

    pub(super) fn sequence_value(&mut self, sequence: Term) -> Option<Term> {
        let elements: Option<Vec<Term>> =
            self.elements(sequence)?.into_iter().map(|element| self.value(element)).collect();
        let element = self.element_sort(self.sort(sequence));
        Some(self.seq_explicit(element, &elements?))
    }
}
