//! Instances of quantified facts, where their triggers match.

use std::sync::Arc;

use super::{Binding, Entered, Head, Rule, normal};
use crate::terms::{Quant, Quantifier, Substitution, Term, Terms};

/// Rules whose bodies have more nodes are left to the prover.
const NODES: usize = 120;

impl Entered {
    /// Enters a quantified formula with its truth: as a rule, if it says something of all values.
    pub(super) fn add_rule(&mut self, terms: &mut Terms, quantifier: &Quantifier, truth: bool) {
        let is_for_all = (quantifier.quant == Quant::Forall) == truth;
        if !is_for_all || !has_at_most(terms, quantifier.body, NODES) {
            return;
        }
        let index = self.rules.len();
        let heads = heads(terms, quantifier);
        for &head in &heads {
            self.rules_of.entry(head).or_default().push(index);
        }
        let variables =
            quantifier.variables.iter().map(|&variable| terms.apply(variable, &[])).collect();
        let triggers = quantifier.triggers.clone();
        let body = quantifier.body;
        self.rules.push(Arc::new(Rule { variables, triggers, body, truth, heads }));
    }

    /// Takes back the latest rule.
    pub(super) fn forget_rule(&mut self) {
        let Some(rule) = self.rules.pop() else { return };
        for head in rule.heads.iter().rev() {
            self.rules_of.get_mut(head).and_then(Vec::pop);
        }
    }

    /// Makes the instances for which a part of a trigger matches a term.
    pub(super) fn instantiate_for(&mut self, terms: &mut Terms, term: Term) {
        let Some(rules) = self.rules_of.get(&Head::of(terms, term)) else { return };
        for index in rules.clone() {
            let rule = Arc::clone(&self.rules[index]);
            for trigger in &rule.triggers {
                for at in 0..trigger.len() {
                    let first = self.graph.matches_term(
                        terms,
                        trigger[at],
                        term,
                        &Binding::default(),
                        &mut self.fuel,
                    );
                    for binding in first {
                        for binding in self.complete(terms, trigger, at, binding) {
                            self.instantiate(terms, index, &rule, &binding);
                        }
                    }
                }
            }
        }
    }

    /// The ways in which the other parts of a trigger match terms.
    fn complete(
        &mut self,
        terms: &Terms,
        trigger: &[Term],
        done: usize,
        binding: Binding,
    ) -> Vec<Binding> {
        let mut bindings = vec![binding];
        for (index, &part) in trigger.iter().enumerate() {
            if index == done {
                continue;
            }
            let mut next = Vec::new();
            for binding in &bindings {
                for &candidate in self.graph.with_head(Head::of(terms, part)) {
                    next.extend(self.graph.matches_term(
                        terms,
                        part,
                        candidate,
                        binding,
                        &mut self.fuel,
                    ));
                }
            }
            bindings = next;
        }
        bindings
    }

    fn instantiate(&mut self, terms: &mut Terms, index: usize, rule: &Rule, binding: &Binding) {
        let mut values = Substitution::default();
        let mut key = Vec::with_capacity(rule.variables.len());
        for &variable in &rule.variables {
            // A variable that no part of the trigger has is left to the prover.
            let Some(value) = binding.value(variable) else { return };
            key.push(self.graph.find(value));
            values.insert(variable, value);
        }
        if !self.instances.insert((index, key)) || !self.spend(5) {
            return;
        }
        let instance = terms.substitute(rule.body, &values);
        self.candidates.extend(normal(terms, instance, rule.truth).disjunctions);
    }
}

/// The heads of the parts of triggers, each once.
fn heads(terms: &Terms, quantifier: &Quantifier) -> Vec<Head> {
    let mut heads = Vec::new();
    for &part in quantifier.triggers.iter().flatten() {
        let head = Head::of(terms, part);
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    heads
}

/// Whether a term has at most so many nodes.
fn has_at_most(terms: &Terms, term: Term, most: usize) -> bool {
    let mut count = 0;
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        count += 1;
        if count > most {
            return false;
        }
        terms.kind(term).for_each_operand(|operand| pending.push(operand));
    }
    true
}
