//! Simplification of formulas by facts, and formulas that facts cannot decide.

use rustc_hash::FxHashSet;

use super::{Facts, Undo};
use crate::terms::{Sort, Substitution, SymbolKind, Term, TermKind, Terms, TheoryOp};

/// Larger formulas are left to the prover.
const NODES: usize = 400;

impl Facts {
    /// Replaces the parts whose values are known, and simplifies. Under the facts the result is
    /// equivalent to the formula.
    pub fn reduce(&self, terms: &mut Terms, formula: Term) -> Term {
        let mut values = Substitution::default();
        let mut visited = FxHashSet::default();
        let mut pending = vec![formula];
        while let Some(term) = pending.pop() {
            if !visited.insert(term) {
                continue;
            }
            if visited.len() > NODES {
                return formula;
            }
            if term != formula
                && let Some(value) = self.value_of(terms, term)
            {
                values.insert(term, value);
                continue;
            }
            // No fact is about bound variables.
            if !matches!(terms.kind(term), TermKind::Quantifier(_)) {
                terms.kind(term).for_each_operand(|operand| pending.push(operand));
            }
        }
        if values.is_empty() { formula } else { terms.substitute(formula, &values) }
    }

    /// Returns the literal that a term is known to equal. `None` if the term is a literal.
    fn value_of(&self, terms: &Terms, term: Term) -> Option<Term> {
        if terms.is_literal(term) {
            return None;
        }
        match terms.sort(term) {
            Sort::BOOL => self.known(terms, term).map(|truth| terms.bool(truth)),
            Sort::INT | Sort::PERM => self.classes.get(self.classes.find(term))?.unique,
            _ => None,
        }
    }

    /// Tells whether the formula depends on a symbol that no fact is about. Such a formula does not
    /// follow from the facts, unless these contradict each other.
    ///
    /// This serves only questions to which a wrong "no" does no harm.
    pub fn leaves_open(&self, terms: &Terms, formula: Term) -> bool {
        match terms.kind(formula) {
            TermKind::Apply(..) => self.is_free(terms, formula),
            &TermKind::Eq(left, right)
            | &TermKind::Lt(left, right)
            | &TermKind::Le(left, right) => {
                self.is_movable(terms, left, right) || self.is_movable(terms, right, left)
            }
            TermKind::Theory(TheoryOp::SetContains | TheoryOp::SeqContains, operands, _) => {
                self.is_movable(terms, operands[1], operands[0])
            }
            TermKind::And(parts) => parts.iter().any(|&part| self.leaves_open(terms, part)),
            &TermKind::Not(inner) => match terms.kind(inner) {
                TermKind::And(_) | TermKind::Not(_) => false,
                TermKind::Or(parts) => parts.iter().any(|&part| self.leaves_open(terms, part)),
                _ => self.leaves_open(terms, inner),
            },
            _ => false,
        }
    }

    /// Tells whether a term can have any value, for each value of the other one.
    fn is_movable(&self, terms: &Terms, term: Term, other: Term) -> bool {
        let free = match *terms.kind(term) {
            TermKind::Add(rest, literal) if terms.is_literal(literal) => rest,
            _ => term,
        };
        self.is_free(terms, free) && !terms.contains(other, free)
    }

    /// Tells whether no fact mentions the term, and the engine made it: as a symbol, or as a value
    /// in a snapshot that is one.
    fn is_free(&self, terms: &Terms, term: Term) -> bool {
        if self.mentioned.contains(&term) {
            return false;
        }
        match terms.kind(term) {
            TermKind::Apply(..) => is_made(terms, term),
            &TermKind::Unwrap(mut around, _) => loop {
                match *terms.kind(around) {
                    _ if self.whole.contains(&around) => return false,
                    TermKind::First(snapshot) | TermKind::Second(snapshot) => around = snapshot,
                    _ => return is_made(terms, around),
                }
            },
            _ => false,
        }
    }

    /// Notes the terms that a fact is about.
    pub(super) fn mention(&mut self, terms: &Terms, fact: Term) {
        let mut pending = vec![fact];
        while let Some(term) = pending.pop() {
            if !self.mentioned.insert(term) {
                continue;
            }
            self.trail.push(Undo::Mention(term));
            let is_about_parts = is_about_parts(terms, term);
            terms.kind(term).for_each_operand(|operand| {
                pending.push(operand);
                if !is_about_parts
                    && terms.sort(operand) == Sort::SNAP
                    && self.whole.insert(operand)
                {
                    self.trail.push(Undo::Whole(operand));
                }
            });
        }
    }
}

/// Tells whether a term is a symbol made by the engine whose value facts may choose freely.
fn is_made(terms: &Terms, term: Term) -> bool {
    let TermKind::Apply(symbol, operands) = terms.kind(term) else { return false };
    operands.is_empty()
        && match terms.declaration(*symbol).kind {
            SymbolKind::Variable | SymbolKind::Bound(_) | SymbolKind::Fresh => true,
            SymbolKind::Uninterpreted
            | SymbolKind::Mark
            | SymbolKind::Object
            | SymbolKind::Constructor
            | SymbolKind::Backend(_) => false,
        }
}

/// Tells whether a term says nothing about those of its operands that are snapshots, but for their
/// parts and their shape.
fn is_about_parts(terms: &Terms, term: Term) -> bool {
    let is_mark = |term| match terms.kind(term) {
        TermKind::Apply(symbol, _) => terms.declaration(*symbol).kind == SymbolKind::Mark,
        _ => false,
    };
    let is_shape = |term| is_mark(term) || *terms.kind(term) == TermKind::Unit;
    match *terms.kind(term) {
        TermKind::First(_)
        | TermKind::Second(_)
        | TermKind::Unwrap(..)
        | TermKind::IsPair(_)
        | TermKind::IsWrapped(..) => true,
        TermKind::Eq(left, right) => is_shape(left) || is_shape(right),
        _ => is_mark(term),
    }
}
