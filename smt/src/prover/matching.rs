//! Triggers in a form of which Z3 finds the matches.

use super::translate::Translator;
use crate::terms::{Quantifier, Sort, Substitution, Term, TermKind, Terms};

impl Translator {
    /// Returns the parts of a trigger, in a form whose matches Z3 finds.
    ///
    /// A part is replaced if something in it is applied to a term over a variable of another part.
    /// `{ p(x), q(y, e(x)) }` becomes `{ p(x), part(x, y) }`, where `part` holds of all x and y for
    /// which there is a `q(y, e(x))`. Deeper nests, as in `q(y, e(d(x)))`, stay as they are.
    ///
    /// COMPLETENESS: Z3 4.8.12 misses matches of the first form when the term `p(a)` becomes known,
    /// or equal to another one, after `q(b, e(a))`. SOUNDNESS: no formula denies a `part`, so a
    /// model in which it holds everywhere exists.
    pub(super) fn parts_to_match(
        &mut self,
        terms: &mut Terms,
        quantifier: &Quantifier,
        trigger: &[Term],
    ) -> Vec<Term> {
        if trigger.len() < 2 {
            return trigger.to_vec();
        }
        let variables: Vec<Term> =
            quantifier.variables.iter().map(|&variable| terms.apply(variable, &[])).collect();
        let mut parts = Vec::with_capacity(trigger.len());
        for (index, &part) in trigger.iter().enumerate() {
            let mut shared = variables.clone();
            shared.retain(|&variable| {
                let mut others = trigger.iter().enumerate().filter(|&(other, _)| other != index);
                others.any(|(_, &other)| terms.contains(other, variable))
            });
            let is_replaced = nests(terms, part, &shared) && is_plain(terms, part, &variables);
            parts.push(if is_replaced { self.flat_part(terms, part, &variables) } else { part });
        }
        parts
    }

    /// Returns `part(…)` for a part, applied to its variables and to the largest terms without any.
    fn flat_part(&mut self, terms: &mut Terms, part: Term, variables: &[Term]) -> Term {
        let mut arguments = Vec::new();
        collect_arguments(terms, part, variables, &mut arguments);
        let sorts: Vec<Sort> = arguments.iter().map(|&argument| terms.sort(argument)).collect();
        let mut formals = Vec::with_capacity(arguments.len());
        for (index, &sort) in sorts.iter().enumerate() {
            formals.push(terms.named_variable(&format!("argument%{index}"), sort));
        }
        let map: Substitution = arguments.iter().copied().zip(formals.iter().copied()).collect();
        let general = terms.rename(part, &map);
        let function = match self.parts.get(&general) {
            Some(&known) => known,
            None => {
                let name = format!("part%{}", self.parts.len());
                let function = terms.declare_function(&name, &sorts, Sort::BOOL);
                let body = terms.apply(function, &formals);
                let axiom = terms.forall(&formals, vec![vec![general]], body, "trigger.part", 0);
                self.axioms.push(axiom);
                self.parts.insert(general, function);
                function
            }
        };
        terms.apply(function, &arguments)
    }
}

/// Tells whether the head of a part is applied to another head that is applied to a variable.
fn nests(terms: &Terms, part: Term, variables: &[Term]) -> bool {
    let mut found = false;
    terms.kind(part).for_each_operand(|operand| {
        // PERFORMANCE: of laws of one function, such as `{ m(x, m(y, z)), m(w, z) }`, Z3 mostly
        // misses matches with terms that the law itself has made. With all of them, 2vyper's
        // products take four times as long.
        if !have_one_head(terms, part, operand) {
            terms.kind(operand).for_each_operand(|inner| found |= variables.contains(&inner));
        }
    });
    found
}

fn have_one_head(terms: &Terms, a: Term, b: Term) -> bool {
    match (terms.kind(a), terms.kind(b)) {
        (TermKind::Apply(a, _), TermKind::Apply(b, _)) => a == b,
        (TermKind::Theory(a, ..), TermKind::Theory(b, ..)) => a == b,
        _ => false,
    }
}

/// Tells whether only applications stand above the variables. Z3 has forms of its own for sums, for
/// example.
fn is_plain(terms: &Terms, part: Term, variables: &[Term]) -> bool {
    if variables.contains(&part) || !terms.mentions(part, variables) {
        return true;
    }
    let is_application = matches!(
        terms.kind(part),
        TermKind::Apply(..)
            | TermKind::Theory(..)
            | TermKind::First(_)
            | TermKind::Second(_)
            | TermKind::Wrap(_)
            | TermKind::Unwrap(..)
            | TermKind::Pair(..)
    );
    let mut plain = is_application;
    terms.kind(part).for_each_operand(|operand| plain &= is_plain(terms, operand, variables));
    plain
}

/// Collects the variables in a part, and the largest terms without any, but for literals.
fn collect_arguments(terms: &Terms, part: Term, variables: &[Term], arguments: &mut Vec<Term>) {
    if variables.contains(&part) || !terms.mentions(part, variables) {
        if !arguments.contains(&part) && !terms.is_literal(part) {
            arguments.push(part);
        }
        return;
    }
    terms
        .kind(part)
        .for_each_operand(|operand| collect_arguments(terms, operand, variables, arguments));
}
