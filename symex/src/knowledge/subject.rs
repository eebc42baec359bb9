//! The subject of a question, for the statistics. The form of the goal tells it.

use rustc_hash::FxHashSet;
use smt::terms::{Sort, Symbol, Term, TermKind, Terms};

use crate::report::Subject;

/// Returns the subject of a goal. `domains`: the functions of domains.
pub(crate) fn of(terms: &Terms, goal: Term, domains: &FxHashSet<Symbol>) -> Subject {
    if goal == Terms::FALSE {
        return Subject::Contradiction;
    }
    let mut subject = Subject::Values;
    terms.visit(vec![goal], |term| {
        // The first of several subjects in this list counts.
        subject = subject.min(of_form(terms, term, domains));
        true
    });
    subject
}

/// Returns the subject that a term shows without its operands.
fn of_form(terms: &Terms, term: Term, domains: &FxHashSet<Symbol>) -> Subject {
    match terms.kind(term) {
        TermKind::Lt(left, _) | TermKind::Le(left, _) | TermKind::Eq(left, _)
            if terms.sort(*left) == Sort::PERM =>
        {
            Subject::Amounts
        }
        TermKind::Apply(symbol, _) if domains.contains(symbol) => Subject::Domains,
        TermKind::Theory(..) => Subject::Collections,
        TermKind::Unit
        | TermKind::Pair(..)
        | TermKind::First(_)
        | TermKind::Second(_)
        | TermKind::Wrap(_)
        | TermKind::Unwrap(..)
        | TermKind::IsWrapped(..)
        | TermKind::IsPair(_) => Subject::Snapshots,
        TermKind::Apply(_, operands)
            if operands.first().is_some_and(|&first| terms.sort(first) == Sort::SNAP) =>
        {
            Subject::Snapshots
        }
        TermKind::Eq(left, _) if terms.sort(*left) == Sort::REF => Subject::References,
        _ => Subject::Values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_about_what_comes_first_in_the_list() {
        let mut terms = Terms::new();
        let none = FxHashSet::default();
        let (x, s) = (terms.constant("x", Sort::REF), terms.constant("s", Sort::SNAP));
        let is_null = terms.eq(x, Terms::NULL);
        assert_eq!(of(&terms, is_null, &none), Subject::References);
        let inside = terms.snap_unwrap(s, Sort::REF);
        let part_is_null = terms.eq(inside, Terms::NULL);
        assert_eq!(of(&terms, part_is_null, &none), Subject::Snapshots);
        let p = terms.constant("p", Sort::PERM);
        let some = terms.lt(Terms::NONE, p);
        let both = terms.and([part_is_null, some]);
        assert_eq!(of(&terms, both, &none), Subject::Amounts);
        assert_eq!(of(&terms, Terms::FALSE, &none), Subject::Contradiction);
    }
}
