//! Triggers in a form of which Z3 finds the matches.

use super::translate::Translator;
use crate::terms::{Quantifier, Sort, Substitution, Term, TermKind, Terms};

impl Translator {
    /// Returns the parts of a trigger. One in which something is applied to what is applied to a
    /// variable of another part is replaced: `{ p(x), q(y, e(x)) }` becomes `{ p(x), part(x, y) }`,
    /// where `part` holds of all x and y for which there is a `q(y, e(x))`. What nests deeper, as
    /// `q(y, e(d(x)))`, stays as it is.
    ///
    /// COMPLETENESS: Z3 4.8.12 misses matches of the first form when the term `p(a)` comes to be
    /// known, or to be equal to another one, after `q(b, e(a))`. SOUNDNESS: nothing says of a
    /// `part` that it does not hold, so that it holds of everything is a model.
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

    /// `part(…)` for a part, applied to its variables and to what has none of them.
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

/// Is the head of a part applied to something else that is applied to one of the variables?
fn nests(terms: &Terms, part: Term, variables: &[Term]) -> bool {
    let mut found = false;
    terms.kind(part).for_each_operand(|operand| {
        // PERFORMANCE: of laws of one function, such as `{ m(x, m(y, z)), m(w, z) }`, the matches
        // that Z3 misses are mostly about what the law itself has made: with all of them, 2vyper's
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

/// Tells whether only applications stand above the variables: Z3 has forms of its own for sums,
/// say.
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

/// The variables in a part, and the largest terms without any, but for literals.
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
