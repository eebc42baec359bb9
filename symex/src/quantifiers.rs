//! Quantified formulas as the prover is told them: their triggers and forms.
//!
//! In reading order: [`one_point`] (variables that have one value), [`forms`] (triggers where
//! nothing can be matched as it stands).

pub(crate) mod forms;
pub mod one_point;

use sil::program::{Expr, LocalId};
use smt::terms::Term;

/// Tells whether a term is one of those bound around the place where it stands.
pub(crate) fn occurring(
    terms: &smt::terms::Terms,
    variables: &[Term],
    formulas: &[Term],
) -> Vec<Term> {
    variables
        .iter()
        .copied()
        .filter(|&variable| formulas.iter().any(|&formula| terms.contains(formula, variable)))
        .collect()
}

/// Triggers for a quantifier written without any; none where that would take further variables.
pub(crate) fn inferred(variables: &[LocalId], body: &Expr) -> Vec<Vec<Expr>> {
    if variables.is_empty() {
        return Vec::new();
    }
    let mut further = false;
    let inferred = sil::triggers::infer_triggers(variables, body, &mut |_| {
        further = true;
        variables[0]
    });
    if further || !inferred.variables.is_empty() { Vec::new() } else { inferred.triggers }
}
