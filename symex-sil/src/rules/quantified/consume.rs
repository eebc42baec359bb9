//! Consuming quantified permissions, and removing permission from all locations of a resource at
//! once.

use sil::program::Expr;
use smt::terms::Term;

use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise::{self, QuantifiedConjunct};
use symex::Stop;
use symex::findings::blame::{Blame, Reason, unsupported_at};
use symex::rules::shape::assembled;

impl Sil<'_, '_> {
    /// Consumes an impure quantifier: consume(σ, ∀xs. A).
    pub(crate) fn consume_quantified(
        &mut self,
        quantifier: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let conjuncts = normalise::conjuncts(quantifier, self.frame.assertion.reading);
        let mut parts = Vec::with_capacity(conjuncts.len());
        for conjunct in &conjuncts {
            let blame = if conjunct.prefix.is_unchecked { self.other_side(blame)? } else { blame };
            let part = self.consume_conjunct(conjunct, blame)?;
            if !conjunct.body.is_pure() {
                parts.push(part);
            }
        }
        Ok(assembled(&mut self.terms, parts))
    }

    fn consume_conjunct(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        if conjunct.body.is_pure() {
            if !blame.is_silent() {
                let goal = self.eval_quantified_fact(conjunct, blame)?;
                self.prove(goal, blame, Reason::AssertionFalse, conjunct.body.span)?;
            }
            return Ok(self.terms.unit());
        }
        match Target::of(conjunct.body) {
            Some(target) => self.consume_quantified_access(conjunct, target, blame),
            None => unsupported_at(conjunct.body.span, "this assertion under a quantifier"),
        }
    }

    fn consume_quantified_access(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        target: Target<'_>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let Some(access) = self.eval_quantified_access(conjunct, target, blame)? else {
            let (resource, _) = self.pattern(target)?;
            return self.snapshot_of_none(resource);
        };
        self.consume_access(&access, target.missing(), conjunct.body.span, blame)
    }
}
