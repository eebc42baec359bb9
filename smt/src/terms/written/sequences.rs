//! Sequences that are written down. Their lengths are noted when they are built.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

use super::LONGEST;
use crate::terms::{Term, Terms, TheoryOp, all_hold, some_holds};

pub(in crate::terms) fn length(terms: &Terms, sequence: Term) -> Option<usize> {
    terms.explicit_lengths.get(&sequence).copied()
}

/// Notes the length of a sequence that has been built, if its form tells the length.
pub(in crate::terms) fn note_length(terms: &mut Terms, sequence: Term) {
    if let Some(length) = length_by_form(terms, sequence) {
        terms.explicit_lengths.insert(sequence, length);
    }
}

fn length_by_form(terms: &Terms, sequence: Term) -> Option<usize> {
    use TheoryOp::*;
    let (op, operands) = terms.theory_op(sequence)?;
    match (op, operands) {
        (SeqEmpty, _) => Some(0),
        (SeqSingleton, _) => Some(1),
        (SeqAppend, &[left, right]) => length(terms, left)?.checked_add(length(terms, right)?),
        // The axioms say nothing about an index out of range.
        (SeqUpdate, &[base, index, _]) => {
            let length = length(terms, base)?;
            position_at(terms, index).is_some_and(|index| index < length).then_some(length)
        }
        (SeqTake, &[base, count]) => clamped(terms, base, count),
        (SeqDrop, &[base, count]) => Some(length(terms, base)? - clamped(terms, base, count)?),
        (SeqRange, &[low, high]) => {
            let size = terms.as_int(high)? - terms.as_int(low)?;
            if size <= BigInt::zero() { Some(0) } else { size.to_usize() }
        }
        _ => None,
    }
}

fn position_at(terms: &Terms, index: Term) -> Option<usize> {
    terms.as_int(index).and_then(ToPrimitive::to_usize)
}

/// Returns a number of elements, limited to those of a sequence.
fn clamped(terms: &Terms, sequence: Term, count: Term) -> Option<usize> {
    let length = length(terms, sequence)?;
    let count = terms.as_int(count)?;
    if *count <= BigInt::zero() {
        return Some(0);
    }
    Some(count.to_usize().map_or(length, |count| count.min(length)))
}

/// Returns the element at a position, which is within the sequence.
pub(in crate::terms) fn element(terms: &mut Terms, sequence: Term, index: usize) -> Term {
    use TheoryOp::*;
    let (mut sequence, mut index) = (sequence, index);
    loop {
        match terms.operator(sequence) {
            Some((SeqSingleton, &[element])) => return element,
            Some((SeqAppend, &[left, right])) => {
                let length = length(terms, left).expect("parts are explicit");
                if index < length {
                    sequence = left;
                } else {
                    index -= length;
                    sequence = right;
                }
            }
            Some((SeqUpdate, &[base, position, element])) => {
                if position_at(terms, position) == Some(index) {
                    return element;
                }
                sequence = base;
            }
            Some((SeqTake, &[base, _])) => sequence = base,
            Some((SeqDrop, &[base, count])) => {
                index += clamped(terms, base, count).expect("parts are explicit");
                sequence = base;
            }
            Some((SeqRange, &[low, _])) => {
                let low = terms.as_int(low).expect("the length is known").clone();
                return terms.int(low + index);
            }
            other => panic!("not an explicit sequence: {other:?}"),
        }
    }
}

/// Returns all elements of a sequence, unless some are unknown or there are too many.
pub(super) fn elements(terms: &mut Terms, sequence: Term) -> Option<Vec<Term>> {
    use TheoryOp::*;
    let expected = length(terms, sequence).filter(|&length| length <= LONGEST)?;
    let mut found = Vec::with_capacity(expected);
    let mut pending = vec![sequence];
    while let Some(part) = pending.pop() {
        match terms.operator(part) {
            Some((SeqEmpty, _)) => {}
            Some((SeqSingleton, &[element])) => found.push(element),
            Some((SeqAppend, &[left, right])) => pending.extend([right, left]),
            Some((SeqRange, &[low, _])) => {
                let low = terms.as_int(low)?.clone();
                for offset in 0..length(terms, part)? {
                    found.push(terms.int(&low + offset));
                }
            }
            Some((SeqUpdate, &[base, position, element])) => {
                let position = found.len() + position_at(terms, position)?;
                found.extend(super::grow_stack(|| elements(terms, base))?);
                found[position] = element;
            }
            Some((SeqTake, &[base, count])) => {
                let end = found.len() + clamped(terms, base, count)?;
                found.extend(super::grow_stack(|| elements(terms, base))?);
                found.truncate(end);
            }
            Some((SeqDrop, &[base, count])) => {
                let count = clamped(terms, base, count)?;
                let rest = super::grow_stack(|| elements(terms, base))?;
                found.extend(&rest[count..]);
            }
            _ => return None,
        }
    }
    Some(found)
}

pub(in crate::terms) fn has(terms: &mut Terms, element: Term, sequence: Term) -> Option<bool> {
    if let Some((TheoryOp::SeqRange, &[low, high])) = terms.operator(sequence) {
        let (low, high) = (terms.le(low, element), terms.lt(element, high));
        let within = terms.and([low, high]);
        return terms.as_bool(within);
    }
    some_holds(elements(terms, sequence)?.into_iter().map(|other| terms.same(element, other)))
}

pub(in crate::terms) fn are_equal(terms: &mut Terms, left: Term, right: Term) -> Option<bool> {
    if length(terms, left)? != length(terms, right)? {
        return Some(false);
    }
    let (left, right) = (elements(terms, left)?, elements(terms, right)?);
    all_hold(left.into_iter().zip(right).map(|(left, right)| terms.same(left, right)))
}

pub(super) fn value(terms: &mut Terms, sequence: Term) -> Option<Term> {
    let elements: Option<Vec<Term>> =
        elements(terms, sequence)?.into_iter().map(|element| terms.value(element)).collect();
    let element = terms.element_sort(terms.sort(sequence));
    Some(terms.seq_explicit(element, &elements?))
}
