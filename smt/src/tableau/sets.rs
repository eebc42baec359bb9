//! Membership of sets: the axioms of `theory::set` about elements, where a question needs them.

use super::Entered;
use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

impl Entered {
    /// Asserts the consequences of the truth of a theory's relation.
    pub(super) fn assert_relation(
        &mut self,
        terms: &mut Terms,
        op: TheoryOp,
        operands: &[Term],
        truth: bool,
    ) {
        // The graph knows that equal sets are one.
        if op != TheoryOp::SetEqual || truth {
            return;
        }
        let sort = terms.sort(operands[0]);
        let element = terms.element_sort(sort);
        let witness = terms.theory_term(TheoryOp::SetDiffer, operands, element);
        let in_first = terms.set_contains(witness, operands[0]);
        let in_second = terms.set_contains(witness, operands[1]);
        let same = terms.iff(in_first, in_second);
        self.assert_active(terms, same, false);
    }

    /// Asserts the axioms about an element of a set that is made of other sets.
    pub(super) fn open_membership(&mut self, terms: &mut Terms, atom: Term) {
        let TermKind::Theory(TheoryOp::SetContains, operands, _) = terms.kind(atom) else { return };
        let (element, set) = (operands[0], operands[1]);
        let members: Vec<Term> = self.graph.members(set).collect();
        for member in members {
            let TermKind::Theory(op, parts, _) = terms.kind(member).clone() else { continue };
            let meaning = match (op, &parts[..]) {
                (TheoryOp::SetEmpty, []) => Terms::FALSE,
                (TheoryOp::SetSingleton, &[single]) => terms.identical(element, single),
                (TheoryOp::SetAdd, &[rest, single]) => {
                    let is_single = terms.identical(element, single);
                    let in_rest = terms.set_contains(element, rest);
                    terms.or([is_single, in_rest])
                }
                (TheoryOp::SetUnion, &[left, right]) => {
                    let (left, right) =
                        (terms.set_contains(element, left), terms.set_contains(element, right));
                    terms.or([left, right])
                }
                (TheoryOp::SetIntersection, &[left, right]) => {
                    let (left, right) =
                        (terms.set_contains(element, left), terms.set_contains(element, right));
                    terms.and([left, right])
                }
                (TheoryOp::SetDifference, &[left, right]) => {
                    let left = terms.set_contains(element, left);
                    let right = terms.set_contains(element, right);
                    let outside = terms.not(right);
                    terms.and([left, outside])
                }
                _ => continue,
            };
            if self.derived.insert((atom, member)) && self.spend(5) {
                let definition = terms.iff(atom, meaning);
                self.assert_active(terms, definition, true);
            }
        }
    }

    /// Asserts the facts about a number that is one of two, by its form.
    pub(super) fn open_number(&mut self, terms: &mut Terms, term: Term) {
        match *terms.kind(term) {
            TermKind::Ite(condition, then, otherwise) if terms.sort(term) != Sort::BOOL => {
                match self.graph.truth(terms, condition) {
                    Some(true) => self.graph.merge(terms, term, then),
                    Some(false) => self.graph.merge(terms, term, otherwise),
                    None if self.derived.insert((term, term)) => {
                        let (is_then, is_otherwise) =
                            (terms.identical(term, then), terms.identical(term, otherwise));
                        let outside = terms.not(condition);
                        for (guard, equation) in [(condition, is_then), (outside, is_otherwise)] {
                            let fact = terms.implies(guard, equation);
                            self.assert_active(terms, fact, true);
                        }
                    }
                    None => {}
                }
            }
            TermKind::PermMin(left, right) if self.derived.insert((term, term)) => {
                let (is_left, is_right) =
                    (terms.identical(term, left), terms.identical(term, right));
                let one = terms.or([is_left, is_right]);
                self.assert_active(terms, one, true);
                for bound in [left, right] {
                    let below = terms.le(term, bound);
                    self.assert_active(terms, below, true);
                }
            }
            // One of two different numbers is the smaller.
            TermKind::Eq(left, right)
                if self.distance == 0
                    && matches!(terms.sort(left), Sort::INT | Sort::PERM)
                    && self.graph.truth(terms, term) == Some(false)
                    && self.derived.insert((term, term)) =>
            {
                let (less, greater) = (terms.lt(left, right), terms.lt(right, left));
                let one = terms.or([less, greater]);
                self.assert_active(terms, one, true);
            }
            _ => {}
        }
    }
}
