//! Consuming quantified permissions, and removing permission from all locations of a resource at
//! once.

use sil::program::Expr;
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::findings::blame::{Blame, ErrorId, Reason};
use crate::permission::quantified::{self, injectivity::Injective};
use crate::permission::take::OfAll;
use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise::{self, QuantifiedConjunct};
use crate::rules::shape::assembled;
use crate::run::explore::Answer;
use crate::state::heap::Resource;
use crate::state::quantified::Access;
use crate::state::quantified::QuantifiedChunk;
use crate::{Engine, Stop};

impl Sil<'_, '_> {
    /// consume(σ, ∀xs. A) for an impure A.
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
            None => self.unsupported(conjunct.body, "this assertion under a quantifier"),
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

impl Engine<'_> {
    /// The snapshot where the condition of an access cannot hold: nothing is taken.
    pub fn snapshot_of_none(&mut self, resource: Resource) -> Result<Term, Stop> {
        let map = self.partial_summary(resource, &[], Terms::NONE)?;
        Ok(self.terms.snap_wrap(map))
    }

    /// Takes a quantified permission away, or reports that it is `missing`; yields the snapshot.
    pub fn consume_access(
        &mut self,
        access: &Access,
        missing: Reason,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let resource = access.resource;
        // Where what is inhaled is not checked, contracts and bodies have not been checked at their
        // declarations.
        let is_unchecked = self.context.options.assume_injectivity_on_inhale && !blame.is_silent();
        // Contracts that turned out to be ill-formed are used, too, and must not end the paths of
        // their users.
        let is_use = blame.error == ErrorId::CallPrecondition
            || blame.error == ErrorId::ApplicationPrecondition && !blame.is_silent();
        let injective = if !blame.is_trusted() || is_use || is_unchecked {
            self.prove_injective(access, blame, Reason::NotInjective, at)?
        } else {
            Injective::taken_from_declaration()
        };
        let footprint = self.footprint(access, injective)?;
        let map = match self.take(&OfAll { access, footprint: &footprint })? {
            Some(touched) => self.partial_summary(resource, &touched, footprint.amount)?,
            None => {
                let mut reported = None;
                if !blame.is_silent() {
                    if self.is_dead()? {
                        return Err(Stop::Infeasible);
                    }
                    reported = Some(self.fail(Answer::No, blame, missing, at));
                    self.assume_enough(access)?;
                }
                self.note_missing(reported);
                self.forget_quantified(resource, footprint.amount)?;
                let sort = self.map_sort(resource);
                let map = self.fresh("missing", sort);
                if let Some(reported) = reported {
                    // What is said about the values in the same assertion fails for the same
                    // reason.
                    self.taint(map, reported)?;
                    let chunk = QuantifiedChunk::new(access, footprint, map);
                    self.heap_to_extend().push_quantified(resource, chunk);
                }
                map
            }
        };
        Ok(self.terms.snap_wrap(map))
    }

    /// After a failed consume has been reported: what is left of the heap holds what was asked for,
    /// if it can.
    fn assume_enough(&mut self, access: &Access) -> Result<(), Stop> {
        if !self.here.package.reserve.is_empty() {
            return Ok(());
        }
        let left = self.here.left();
        let held = self.held_in(&left, access.resource, &access.arguments);
        let enough = self.is_enough(access.amount, held);
        let enough = self.terms.implies(access.guard, enough);
        let triggers = self.access_triggers(access);
        let enough =
            self.terms.forall(&access.variables, triggers, enough, quantified::label("enough"), 1);
        self.assume_failed(enough).map(|_| ())
    }
}
