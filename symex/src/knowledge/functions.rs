//! The axioms of the functions verified so far.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sil::program::{Function, FunctionId, Program};
use smt::terms::{Term, Terms};

use crate::knowledge::symbols::Emitted;
use crate::{Amounts, Symbols};

/// The two parts of a function's verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Phase {
    Contract,
    Body,
}

/// The axioms of each function verified so far, by phase.
#[derive(Debug)]
pub struct FunctionTable(FxHashMap<FunctionId, [OnceLock<Arc<FunctionAxioms>>; 2]>);

impl FunctionTable {
    pub(crate) fn new(program: &Program) -> Self {
        Self(program.functions.iter().map(|(id, _)| (id, Default::default())).collect())
    }

    /// Makes the results of a phase available to the members that come later.
    pub fn insert(&self, function: FunctionId, phase: Phase, axioms: Arc<FunctionAxioms>) {
        let first = self.0[&function][phase as usize].set(axioms).is_ok();
        debug_assert!(first, "a phase is over once");
    }

    /// Returns the axioms of a phase, if it is over and has shown anything.
    pub fn get(&self, function: FunctionId, phase: Phase) -> Option<&Arc<FunctionAxioms>> {
        self.0[&function][phase as usize].get()
    }
}

/// Axioms that the checks so far justify (trap T5a), with their terms.
#[derive(Debug, Serialize, Deserialize)]
pub struct FunctionAxioms {
    pub(crate) terms: Terms,
    pub(crate) axioms: Vec<Term>,
    /// The symbols that the function and its axioms mention.
    pub(crate) uses: Emitted,
}

/// Tells whether a function is opaque: its definition is used only where an application is marked
/// `@reveal`.
pub fn is_opaque(function: &Function) -> bool {
    function.annotations.iter().any(|annotation| &*annotation.key == "opaque")
}

impl Symbols<'_> {
    /// Returns the reading of amounts in preconditions of functions (trap T8: everywhere the same).
    pub fn amounts_of_functions(&self) -> Amounts {
        if self.context.options.exact_amounts_in_functions {
            Amounts::Exact
        } else {
            Amounts::SomeOrNone
        }
    }
}
