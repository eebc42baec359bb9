//! Collecting the axioms of a theory, with what they wait for.

use rustc_hash::FxHashSet;

use super::{Use, subject};
use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

/// An axiom that has not been emitted.
pub(super) struct Axiom {
    pub(super) formula: Term,
    /// Alternatives, from the triggers: it can be instantiated when all operators of one of them
    /// occur.
    needs: Vec<Vec<Use>>,
}

impl Axiom {
    pub(super) fn is_ready(&self, occurs: impl Fn(Use) -> bool) -> bool {
        self.needs.iter().any(|alternative| alternative.iter().all(|&needed| occurs(needed)))
    }
}

/// The axioms of one theory, being written down.
pub(super) struct Axioms<'a> {
    pub(super) terms: &'a mut Terms,
    axioms: Vec<Axiom>,
}

impl<'a> Axioms<'a> {
    pub(super) fn new(terms: &'a mut Terms) -> Self {
        Axioms { terms, axioms: Vec::new() }
    }

    pub(super) fn finish(self) -> Vec<Axiom> {
        self.axioms
    }

    /// Returns a variable of an axiom.
    pub(super) fn var(&mut self, name: &str, sort: Sort) -> Term {
        self.terms.named_variable(name, sort)
    }

    /// Returns an operator applied, without simplification: triggers need the terms as they stand.
    pub(super) fn op(&mut self, op: TheoryOp, args: &[Term], sort: Sort) -> Term {
        self.terms.theory_term(op, args, sort)
    }

    /// ∀ variables {triggers}. body
    pub(super) fn forall(
        &mut self,
        name: &str,
        variables: &[Term],
        triggers: &[&[Term]],
        body: Term,
    ) {
        let needs = triggers.iter().map(|trigger| self.uses(trigger)).collect();
        let triggers = triggers.iter().map(|trigger| trigger.to_vec()).collect();
        let formula = self.terms.forall(variables, triggers, body, name, 1);
        self.axioms.push(Axiom { formula, needs });
    }

    /// ∀ variables {triggers}. guard ⇒ body
    pub(super) fn rule(
        &mut self,
        name: &str,
        variables: &[Term],
        triggers: &[&[Term]],
        guard: Term,
        body: Term,
    ) {
        let implication = self.terms.implies(guard, body);
        self.forall(name, variables, triggers, implication);
    }

    /// Returns an equation, by the equality that axioms are written with.
    pub(super) fn same(&mut self, a: Term, b: Term) -> Term {
        self.terms.identical(a, b)
    }

    /// As [`Self::forall`], but only when an operator occurs that is not in the triggers.
    pub(super) fn forall_once(
        &mut self,
        needed: Use,
        name: &str,
        variables: &[Term],
        triggers: &[&[Term]],
        body: Term,
    ) {
        self.forall(name, variables, triggers, body);
        let axiom = self.axioms.last_mut().expect("just added");
        axiom.needs.iter_mut().for_each(|alternative| alternative.push(needed));
    }

    /// A formula without variables, useful when the operators of `about` occur.
    pub(super) fn fact(&mut self, about: &[Term], formula: Term) {
        let needs = vec![self.uses(about)];
        self.axioms.push(Axiom { formula, needs });
    }

    fn uses(&self, roots: &[Term]) -> Vec<Use> {
        let mut uses = Vec::new();
        let mut visited = FxHashSet::default();
        let mut pending = roots.to_vec();
        while let Some(term) = pending.pop() {
            if !visited.insert(term) {
                continue;
            }
            if let TermKind::Theory(op, args, sort) = self.terms.kind(term) {
                let args: Vec<Sort> = args.iter().map(|&arg| self.terms.sort(arg)).collect();
                uses.push((*op, subject(*op, &args, *sort)));
            }
            self.terms.kind(term).for_each_operand(|operand| pending.push(operand));
        }
        uses
    }
}
