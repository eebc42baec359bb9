//! Instances of quantified facts, where their triggers match.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::graph::Head;
use super::matching::Binding;
use super::{Entered, Rule, Trigger, normal, size};
use crate::terms::{Quantifier, Substitution, Term, TermKind, Terms};

/// Rules whose bodies have more nodes are left to the prover.
const NODES: usize = 120;

impl Entered {
    /// Enters a quantified formula that says something of all values.
    pub(super) fn add_rule(&mut self, terms: &mut Terms, quantifier: &Quantifier, truth: bool) {
        if size(terms, quantifier.body, NODES) > NODES {
            return;
        }
        let index = self.rules.len();
        let heads = heads(terms, quantifier);
        for &head in &heads {
            self.rules_of.entry(head).or_default().push(index);
        }
        let variables: Vec<Term> =
            quantifier.variables.iter().map(|&variable| terms.apply(variable, &[])).collect();
        let triggers = quantifier.triggers.iter().map(|parts| trigger(terms, &variables, parts));
        let triggers = triggers.collect();
        let body = quantifier.body;
        self.rules.push(Arc::new(Rule { variables, triggers, body, truth, heads }));
    }

    /// Enters a quantified formula that says something of some values. Constants stand for these
    /// values, the same ones whenever the same formula is entered.
    pub(super) fn add_witnesses(&mut self, terms: &mut Terms, formula: Term, truth: bool) {
        let TermKind::Quantifier(quantifier) = terms.kind(formula) else { return };
        if size(terms, quantifier.body, NODES) > NODES {
            return;
        }
        let Quantifier { variables, body, .. } = (**quantifier).clone();
        let mut values = Substitution::default();
        for (index, &variable) in variables.iter().enumerate() {
            let variable = terms.apply(variable, &[]);
            let name = format!("witness%{formula:?}%{index}");
            values.insert(variable, terms.constant(&name, terms.sort(variable)));
        }
        let instance = terms.substitute(body, &values);
        crate::terms::grow_stack(|| self.assert_active(terms, instance, truth));
    }

    /// Takes back the latest rule.
    pub(super) fn forget_rule(&mut self) {
        let Some(rule) = self.rules.pop() else { return };
        for head in rule.heads.iter().rev() {
            self.rules_of.get_mut(head).and_then(Vec::pop);
        }
    }

    /// Makes the instances for which a part of a trigger matches a term. For a term that has been
    /// looked at before, `grown` has the classes that have grown since.
    pub(super) fn instantiate_for(
        &mut self,
        terms: &mut Terms,
        term: Term,
        grown: Option<&FxHashSet<Term>>,
    ) {
        let Some(rules) = self.rules_of.get(&Head::of(terms, term)) else { return };
        for index in rules.clone() {
            let rule = Arc::clone(&self.rules[index]);
            for Trigger { parts, deep } in &rule.triggers {
                for (part, deep) in deep.iter().enumerate() {
                    if grown.is_some_and(|grown| !self.has_grown(terms, term, deep, grown)) {
                        continue;
                    }
                    let found = self.graph.matches(terms, parts, part, term, &mut self.fuel);
                    for binding in found {
                        self.instantiate(terms, index, &rule, &binding);
                    }
                }
            }
        }
    }

    /// Tells whether one of these operands of a term is in a class that has grown.
    fn has_grown(
        &self,
        terms: &Terms,
        term: Term,
        operands: &[usize],
        grown: &FxHashSet<Term>,
    ) -> bool {
        let mut index = 0;
        let mut found = false;
        terms.kind(term).for_each_operand(|operand| {
            found |= operands.contains(&index) && grown.contains(&self.graph.find(operand));
            index += 1;
        });
        found
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

/// Returns a trigger of a formula with these variables.
fn trigger(terms: &Terms, variables: &[Term], parts: &[Term]) -> Trigger {
    let operands: Vec<Vec<Term>> = parts.iter().map(|&part| terms.kind(part).operands()).collect();
    let occurs_once = |variable: Term| {
        let mut direct = operands.iter().flatten();
        direct.clone().filter(|&&operand| operand == variable).count() == 1
            && !direct.any(|&operand| operand != variable && terms.contains(operand, variable))
    };
    let is_deep = |operand: Term| !variables.contains(&operand) || !occurs_once(operand);
    let deep_of = |operands: &Vec<Term>| {
        let all = operands.iter().enumerate();
        all.filter(|&(_, &operand)| is_deep(operand)).map(|(index, _)| index).collect()
    };
    Trigger { parts: parts.into(), deep: operands.iter().map(deep_of).collect() }
}

/// Returns the heads of the parts of triggers, each once.
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
