//! Quantified formulas as the prover is told them: their triggers and forms.
//!
//! In reading order: [`one_point`] (variables that have one value), [`forms`] (triggers where nothing can be matched as it stands),
//! [`goals`] (the form of goals).

pub(crate) mod forms;
pub(crate) mod goals;
pub(crate) mod one_point;
