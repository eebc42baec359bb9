//! `auto` lemmas: their contracts hold for all arguments in all states, and are given as free
//! preconditions to the members that are no reasons for them.

use sil::syntax as s;
use spl::program::{Procedure, ProcedureId, ProcedureKind, Type};

use crate::build::*;
use crate::classic::Fallible;
use crate::classic::frames::assumed;
use crate::classic::member::Declaration;
use crate::classic::types::Slot;
use crate::classic::uses::Uses;

impl<'p> Declaration<'_, 'p> {
    /// Returns the `auto` lemmas that a member may assume.
    pub(in crate::classic) fn granted(&mut self, id: ProcedureId) -> Fallible<Vec<s::Expr>> {
        let program = self.program;
        if program.procedures[id].body.is_none() || self.lowering.reasons.contains(&id) {
            return Ok(Vec::new());
        }
        let lemmas = program.procedures.iter().map(|(_, lemma)| lemma);
        lemmas
            .filter(|lemma| lemma.kind == ProcedureKind::AutoLemma && is_formula(lemma))
            .map(|lemma| self.lemma_for_all(lemma).map(assumed))
            .collect()
    }

    /// `forall parameters, state :: requires ==> ensures`
    fn lemma_for_all(&mut self, lemma: &'p Procedure) -> Fallible<s::Expr> {
        let mut uses = Uses::default();
        for clause in lemma.requires.iter().chain(&lemma.ensures) {
            self.lowering.uses.expr(self.program, &clause.condition, &mut uses);
        }
        let slots: Vec<Slot> = uses.slots.iter().cloned().collect();
        let header = self.header("", &lemma.parameters, &slots)?;
        let mut parts = [Vec::new(), Vec::new()];
        for (part, clauses) in parts.iter_mut().zip([&lemma.requires, &lemma.ensures]) {
            for clause in clauses {
                part.push(self.term(&clause.condition, &header.env)?);
            }
        }
        let [requires, ensures] = parts;
        let requires = self.nothing_at_null(&header.env.now).into_iter().chain(requires);
        Ok(self.for_all(&header.formals, None, implies(and(requires), and(ensures))))
    }
}

/// Is its contract a formula of its parameters and the state?
fn is_formula(lemma: &Procedure) -> bool {
    let mut clauses = lemma.requires.iter().chain(&lemma.ensures);
    lemma.results.is_empty() && clauses.all(|clause| clause.condition.ty == Type::Bool)
}
