//! A formula in the light of what is known, and formulas that the facts cannot decide.

use rustc_hash::FxHashSet;

use super::Facts;
use crate::terms::{Sort, Substitution, SymbolKind, Term, TermKind, Terms, TheoryOp};

/// Larger formulas are left to the prover.
const NODES: usize = 400;

impl Facts {
    /// The formula with the parts replaced whose values are known, simplified. Under the facts both
    /// are equivalent.
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
            // What is bound in there is nothing that facts are about.
            if !matches!(terms.kind(term), TermKind::Quantifier(_)) {
                terms.kind(term).for_each_operand(|operand| pending.push(operand));
            }
        }
        if values.is_empty() { formula } else { terms.substitute(formula, &values) }
    }

    /// The literal that a term is known to equal, if it is none itself.
    fn value_of(&self, terms: &Terms, term: Term) -> Option<Term> {
        if terms.is_literal(term) {
            return None;
        }
        match terms.sort(term) {
            Sort::BOOL => self.known(terms, term).map(|truth| terms.bool(truth)),
            Sort::INT | Sort::PERM => self.classes.get(self.classes.find(term))?.literal,
            _ => None,
        }
    }

    /// Tells whether the formula depends on a symbol that no fact is about. Such a formula does not
    /// follow from the facts, unless they contradict each other. For questions to which a wrong
    /// "no" does no harm.
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

    /// Tells whether a term can have any value, whatever value the other one has.
    fn is_movable(&self, terms: &Terms, term: Term, other: Term) -> bool {
        let free = match *terms.kind(term) {
            TermKind::Add(rest, literal) if terms.is_literal(literal) => rest,
            _ => term,
        };
        self.is_free(terms, free) && !terms.contains(other, free)
    }

    /// Tells whether a term is a symbol made by the engine that no fact mentions.
    fn is_free(&self, terms: &Terms, term: Term) -> bool {
        let TermKind::Apply(symbol, operands) = terms.kind(term) else { return false };
        let declaration = terms.declaration(*symbol);
        operands.is_empty()
            && match declaration.kind {
                SymbolKind::Variable | SymbolKind::Bound(_) | SymbolKind::Fresh => true,
                SymbolKind::Uninterpreted | SymbolKind::Constructor | SymbolKind::Backend(_) => {
                    false
                }
            }
            && !self.mentioned.contains(&term)
    }

    /// Notes what a fact is about.
    pub(super) fn mention(&mut self, terms: &Terms, fact: Term) {
        let mut pending = vec![fact];
        while let Some(term) = pending.pop() {
            if self.mentioned.insert(term) {
                self.trail.push(super::Undo::Mention(term));
                terms.kind(term).for_each_operand(|operand| pending.push(operand));
            }
        }
    }
}
