//! The assumptions of a program: axioms, and the contracts of `auto` lemmas.
//!
//! Both are free preconditions of the methods that may use them. An axiom is given to all. What an
//! `auto` lemma says is given to no method that the proof of an `auto` lemma leads to: it would be
//! its own reason.

use sil::build::*;
use sil::syntax as s;
use spl::program::{ProcedureId, ProcedureKind};

use super::Scope;
use crate::lower::expressions::Expressions;

impl Scope<'_, '_, '_> {
    /// Returns the facts that a method may assume.
    pub(super) fn granted(&mut self, id: ProcedureId) -> Vec<s::Expr> {
        let program = self.member.program();
        if program.procedures[id].body.is_none() {
            return Vec::new();
        }
        let mut granted: Vec<_> =
            program.axioms.iter().map(|axiom| self.expr(&axiom.condition)).collect();
        if !self.thesis.reasons.contains(&id) {
            for (_, lemma) in program.procedures.iter() {
                if lemma.kind == ProcedureKind::AutoLemma {
                    granted.extend(self.lemma_for_all(lemma));
                }
            }
        }
        granted
    }

    /// `forall parameters :: requires ==> ensures`, if the contract is pure and there are no
    /// results.
    fn lemma_for_all(&mut self, lemma: &spl::program::Procedure) -> Option<s::Expr> {
        let clauses = || lemma.requires.iter().chain(&lemma.ensures);
        if !lemma.results.is_empty() || clauses().any(|clause| clause.condition.is_permission()) {
            let message =
                format!("the `auto` lemma `{}` is no formula for all arguments", lemma.name);
            self.member.lowering.refuse(message, lemma.name_span);
            return None;
        }
        let formals = self.formals(&lemma.parameters);
        let requires: Vec<_> =
            lemma.requires.iter().map(|clause| self.expr(&clause.condition)).collect();
        let ensures: Vec<_> =
            lemma.ensures.iter().map(|clause| self.expr(&clause.condition)).collect();
        let body = implies(and(requires), and(ensures));
        Some(if formals.is_empty() { body } else { forall(formals, [], body) })
    }
}
