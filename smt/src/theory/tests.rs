use super::*;
use crate::terms::TermKind;

/// The texts can be read, and each axiom can be instantiated: its triggers have its variables.
#[test]
fn triggers_have_all_variables() {
    let mut terms = Terms::default();
    let integers = terms.seq_sort(Sort::INT);
    let set = terms.set_sort(integers);
    let multiset = terms.multiset_sort(Sort::REF);
    let map = terms.map_sort(Sort::INT, set);
    for sort in [None, Some(integers), Some(set), Some(multiset), Some(map)] {
        for axiom in instance(&mut terms, sort) {
            let TermKind::Quantifier(formula) = terms.kind(axiom.formula) else { continue };
            assert!(!formula.triggers.is_empty(), "{}", formula.label);
            for trigger in &formula.triggers {
                let mut parts = trigger.to_vec();
                let mut at = 0;
                while at < parts.len() {
                    terms.kind(parts[at]).for_each_operand(|operand| parts.push(operand));
                    at += 1;
                }
                let is_variable = |part: &Term, variable| matches!(terms.kind(*part), TermKind::Apply(symbol, _) if *symbol == variable);
                for &variable in &formula.variables {
                    let is_there = parts.iter().any(|part| is_variable(part, variable));
                    assert!(is_there, "{}", formula.label);
                }
            }
        }
    }
}
