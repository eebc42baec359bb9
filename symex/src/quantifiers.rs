//! Quantified formulas as the prover is told them: their triggers and forms.
//!
//! In reading order: [`one_point`] (variables of permissions that have one value), [`forms`] (triggers where
//! nothing can be matched as it stands).

pub(crate) mod forms;
pub(crate) mod one_point;

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
