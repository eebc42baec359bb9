//! The axioms that the checks of a function justify: all under its precondition.

use rustc_hash::FxHashMap;
use smt::terms::{Term, TermKind, Terms};

use super::General;
use crate::Symbols;
use crate::knowledge::functions::FunctionAxioms;
use crate::knowledge::symbols::fresh_symbols;
use crate::run::explore::End;

impl Symbols<'_> {
    /// Makes the axiom ∀ s, xs {triggers}. pre(s, xs) ∧ literals of the path ⇒ `shown`, with the
    /// facts that make its terms meaningful. The precondition guards all of it (traps T5b, T5e,
    /// T5f).
    pub(super) fn path_axiom(
        &mut self,
        general: &General<'_>,
        path: &End<Term>,
        facts: &[Term],
        triggers: Vec<Vec<Term>>,
        shown: impl FnOnce(&mut Terms, Term) -> Term,
    ) -> Option<Term> {
        let operands = general.operands();
        let shown = shown(&mut self.terms, path.value);
        let precondition = self.terms.apply(general.symbols.precondition, &operands);
        let guard = self.terms.and(path.literals.iter().copied().chain([precondition]));
        let mut conclusions = vec![shown];
        conclusions.extend(
            facts
                .iter()
                .copied()
                .filter(|&fact| self.is_domain_fact(fact) || self.is_not_null(fact)),
        );
        // Definitions of fresh symbols, and of the symbols in them, until there are no more.
        let mut fresh = fresh_symbols(&self.terms, [&conclusions[..], &[guard]].concat());
        let mut rest: Vec<Term> =
            facts.iter().copied().filter(|fact| !conclusions.contains(fact)).collect();
        while !fresh.is_empty() {
            let (about, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|&fact| {
                fresh_symbols(&self.terms, vec![fact]).iter().any(|s| fresh.contains(s))
            });
            rest = others;
            if about.is_empty() {
                break;
            }
            conclusions.extend(about);
            fresh = fresh_symbols(&self.terms, [&conclusions[..], &[guard]].concat());
        }
        let conclusion = self.terms.and(conclusions);
        let body = self.terms.implies(guard, conclusion);
        let body = skolemised(&mut self.terms, general, body);
        if body == Terms::TRUE {
            return None;
        }
        Some(self.terms.forall(&operands, triggers, body, &*general.declaration.name, 1))
    }

    /// Tells whether a fact says that an application is in its function's domain.
    pub(super) fn is_domain_fact(&self, fact: Term) -> bool {
        match self.terms.kind(fact) {
            TermKind::Implies(_, conclusion) => self.is_domain_fact(*conclusion),
            TermKind::Quantifier(quantifier) => self.is_domain_fact(quantifier.body),
            TermKind::Apply(symbol, _) => self.is_precondition(*symbol),
            _ => false,
        }
    }

    /// Tells whether a fact says that a reference is not null, as permission to its fields implies.
    pub(super) fn is_not_null(&self, fact: Term) -> bool {
        match self.terms.kind(fact) {
            TermKind::Implies(_, conclusion) => self.is_not_null(*conclusion),
            TermKind::Not(inner) => match *self.terms.kind(*inner) {
                TermKind::Eq(left, right) => {
                    [left, right].iter().any(|&side| *self.terms.kind(side) == TermKind::Null)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the triggers {stateless(xs), trigP(s', args)} for the predicate instances that the
    /// body unfolds. The definition is unrolled wherever such an instance was folded or unfolded.
    pub(super) fn predicate_triggers(
        &mut self,
        general: &General<'_>,
        unfolded: Vec<(sil::program::PredicateId, Vec<Term>, Term)>,
    ) -> Vec<Vec<Term>> {
        let mut triggers = Vec::new();
        let stateless = self.terms.apply(general.symbols.stateless, &general.formals);
        for (predicate, arguments, snapshot) in unfolded {
            let symbol = self.predicate_trigger(predicate);
            let mut operands = vec![snapshot];
            operands.extend(arguments);
            let instance = self.terms.apply(symbol, &operands);
            let closed = fresh_symbols(&self.terms, vec![instance]).is_empty();
            let free = self.terms.free_variables(instance);
            let own: Vec<_> =
                general.operands().iter().flat_map(|&o| self.terms.free_variables(o)).collect();
            let covered = self.terms.free_variables(stateless);
            let complete = own.iter().all(|v| free.contains(v) || covered.contains(v));
            let trigger = vec![stateless, instance];
            if closed
                && complete
                && free.iter().all(|v| own.contains(v))
                && !triggers.contains(&trigger)
            {
                triggers.push(trigger);
            }
        }
        triggers
    }

    /// Returns axioms with just the terms that they need.
    pub(super) fn function_axioms(&mut self, axioms: Vec<Term>) -> FunctionAxioms {
        let mut terms = Terms::new();
        let axioms = axioms.into_iter().map(|axiom| terms.import(&self.terms, axiom)).collect();
        FunctionAxioms { terms, axioms, uses: self.domains.emitted.clone() }
    }
}

pub(super) fn limited_axiom(terms: &mut Terms, general: &General<'_>) -> Term {
    let operands = general.operands();
    let full = terms.apply(general.symbols.full, &operands);
    let limited = terms.apply(general.symbols.limited, &operands);
    let equal = terms.identical(limited, full);
    let name = format!("{}-limited", general.declaration.name);
    terms.forall(&operands, vec![vec![full]], equal, &*name, 1)
}

pub(super) fn stateless_axiom(terms: &mut Terms, general: &General<'_>) -> Term {
    let operands = general.operands();
    let limited = terms.apply(general.symbols.limited, &operands);
    let stateless = terms.apply(general.symbols.stateless, &general.formals);
    let evaluated = terms.apply(general.symbols.precondition, &operands);
    let name = format!("{}-stateless", general.declaration.name);
    terms.forall(&operands, vec![vec![limited], vec![evaluated]], stateless, &*name, 1)
}

/// Makes fresh symbols functions of the axiom's variables: two applications must not share them.
pub(super) fn skolemised(terms: &mut Terms, general: &General<'_>, body: Term) -> Term {
    let operands = general.operands();
    let sorts: Vec<_> = operands.iter().map(|&operand| terms.sort(operand)).collect();
    let mut map = FxHashMap::default();
    for symbol in fresh_symbols(terms, vec![body]) {
        let declaration = terms.declaration(symbol).clone();
        // Both phases number their symbols from the start.
        let name = format!(
            "{}%{}%{}",
            general.declaration.name,
            general.phase,
            declaration.name.replace('@', "%")
        );
        let sorts: Vec<_> = sorts.iter().chain(&declaration.args).copied().collect();
        let function = terms.declare_function(&name, &sorts, declaration.result);
        map.insert(symbol, function);
    }
    terms.extend_applications(body, &map, &operands)
}
