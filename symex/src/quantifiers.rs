//! Quantified formulas in the form for the prover: their triggers and forms.
//!
//! In reading order: [`one_point`] (variables of permissions that have one value), [`forms`]
//! (triggers where no term can be matched as it stands).

pub(crate) mod forms;
pub(crate) mod one_point;

use smt::terms::Term;

/// Returns the variables that occur in some of the formulas.
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
