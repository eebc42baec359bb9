//! Producing quantified permissions.

use sil::program::Expr;
use smt::terms::Term;

use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise::{self, QuantifiedConjunct};
use symex::Stop;
use symex::findings::blame::{Blame, unsupported_at};

impl Sil<'_, '_> {
    /// Produces an impure quantifier: produce(σ, s, ∀xs. A).
    pub(crate) fn produce_quantified(
        &mut self,
        quantifier: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let conjuncts = normalise::conjuncts(quantifier, self.frame.assertion.reading);
        let parts = conjuncts.iter().filter(|conjunct| !conjunct.body.is_pure()).count();
        let mut rest = self.rest(snapshot, parts)?;
        for conjunct in &conjuncts {
            let own = if !conjunct.body.is_pure() { self.next_part(&mut rest)? } else { None };
            self.produce_conjunct(conjunct, own, blame)?;
        }
        Ok(())
    }

    fn produce_conjunct(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if conjunct.body.is_pure() {
            let fact = self.eval_quantified_fact(conjunct, blame)?;
            return self.assume(fact);
        }
        let Some(target) = Target::of(conjunct.body) else {
            return unsupported_at(conjunct.body.span, "this assertion under a quantifier");
        };
        let access = self.eval_quantified_access(conjunct, target, blame)?;
        let Some(access) = access else { return Ok(()) };
        self.produce_access(&access, snapshot, conjunct.body.span, blame)
    }
}
