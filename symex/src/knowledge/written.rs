//! Universal goals about the elements of written collections. The goal is shown for each element,
//! which mostly takes a computation and no prover.
//!
//! A variable has finitely many values if the premise of the goal says that it is an element of
//! such a collection, or an integer between two numbers. Numbers count only where they look into
//! such a collection, so that there are no more instances than a program has elements.
//!
//! SOUNDNESS: for other values the premise is false, so the instances imply the goal.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashSet;
use smt::terms::{Sort, Substitution, Term, TermKind, Terms, TheoryOp};

use crate::Configuration;
use crate::knowledge::goals::arbitrary;

impl Configuration<'_> {
    /// Returns a universal goal as the conjunction of its instances for the written values of its
    /// variables; `None` where there are none. Other variables are arbitrary.
    pub(super) fn for_written(
        &mut self,
        bound: &[Term],
        body: Term,
        depth: usize,
        budget: &mut usize,
    ) -> Option<Term> {
        let mut known = Substitution::default();
        let mut maps = vec![Substitution::default()];
        let mut is_written = false;
        for (index, &variable) in bound.iter().enumerate() {
            let Some(values) = written_values(&mut self.terms, variable, body, bound) else {
                known.insert(variable, arbitrary(&mut self.terms, variable, depth, index));
                continue;
            };
            is_written = true;
            if maps.len().saturating_mul(values.len()) > *budget {
                return None;
            }
            maps = maps
                .iter()
                .flat_map(|map| {
                    values.iter().map(|&value| {
                        let mut map = map.clone();
                        map.insert(variable, value);
                        map
                    })
                })
                .collect();
        }
        if !is_written {
            return None;
        }
        *budget -= maps.len();
        let mut instances = Vec::new();
        for mut map in maps {
            map.extend(known.iter().map(|(&variable, &constant)| (variable, constant)));
            let instance = self.terms.substitute(body, &map);
            let instance = self.opened_at(instance, depth + 1, budget);
            let is_known = self.knowledge.known.contains(&instance)
                || self.knowledge.facts.known(&self.terms, instance) == Some(true);
            if !is_known {
                instances.push(instance);
            }
        }
        Some(self.terms.and(instances))
    }
}

/// Tells whether a comparison says that a term is greater than a number that is not negative.
fn is_not_negative_number(terms: &Terms, comparison: Term) -> bool {
    let TermKind::Lt(number, _) = *terms.kind(comparison) else { return false };
    terms.as_int(number).is_some_and(|number| *number >= BigInt::ZERO)
}

/// Returns the size of the largest written collection that a formula looks into with a variable.
fn looked_into(terms: &mut Terms, variable: Term, body: Term, bound: &[Term]) -> Option<usize> {
    let mut largest = None;
    let mut visited = FxHashSet::default();
    let mut pending = vec![body];
    while let Some(term) = pending.pop() {
        if !visited.insert(term) || !terms.mentions(term, &[variable]) {
            continue;
        }
        let kind = terms.kind(term).clone();
        if let TermKind::Theory(_, operands, _) = &kind {
            for &operand in operands {
                if terms.is_collection(terms.sort(operand)) && !terms.mentions(operand, bound) {
                    let size = terms.written_elements(operand).map(|all| all.len());
                    largest = largest.max(size);
                }
            }
        }
        kind.for_each_operand(|operand| pending.push(operand));
    }
    largest
}

/// Returns the numbers between the bounds of a variable, if a collection of as many elements is
/// looked into with it.
fn positions(
    terms: &mut Terms,
    variable: Term,
    body: Term,
    bound: &[Term],
    premises: &[Term],
) -> Option<Vec<Term>> {
    let (mut low, mut high) = (None, None);
    for &premise in premises {
        let (left, right, step) = match *terms.kind(premise) {
            TermKind::Le(left, right) => (left, right, 0),
            TermKind::Lt(left, right) => (left, right, 1),
            _ => continue,
        };
        if right == variable
            && let Some(number) = terms.as_int(left)
        {
            low = low.max(Some(number + step));
        } else if left == variable
            && let Some(number) = terms.as_int(right)
        {
            let number: BigInt = number + (1 - step);
            high = Some(high.map_or(number.clone(), |high: BigInt| high.min(number)));
        }
    }
    let (low, high): (BigInt, BigInt) = (low?, high?);
    let count = if low < high { (&high - &low).to_usize()? } else { 0 };
    if count > looked_into(terms, variable, body, bound)? {
        return None;
    }
    Some((0..count).map(|offset| terms.int(&low + offset)).collect())
}

/// Returns the only values of a variable for which the premise of a formula may hold.
fn written_values(
    terms: &mut Terms,
    variable: Term,
    body: Term,
    bound: &[Term],
) -> Option<Vec<Term>> {
    let mut premises = Vec::new();
    let mut rest = body;
    while let TermKind::Implies(premise, conclusion) = *terms.kind(rest) {
        premises.extend(terms.conjuncts(premise));
        rest = conclusion;
    }
    for &premise in &premises {
        let collection = match terms.kind(premise).clone() {
            TermKind::Theory(TheoryOp::SeqContains | TheoryOp::SetContains, operands, _)
                if operands[0] == variable =>
            {
                operands[1]
            }
            TermKind::Lt(_, count) => match terms.kind(count) {
                TermKind::Theory(TheoryOp::MultisetCount, operands, _)
                    if operands[0] == variable && is_not_negative_number(terms, premise) =>
                {
                    operands[1]
                }
                _ => continue,
            },
            _ => continue,
        };
        if !terms.mentions(collection, bound)
            && let Some(values) = terms.written_elements(collection)
            && !values.iter().any(|&value| terms.mentions(value, bound))
        {
            return Some(values);
        }
    }
    if terms.sort(variable) == Sort::INT {
        return positions(terms, variable, body, bound, &premises);
    }
    None
}
