//! Producing quantified permissions.

use sil::program::Expr;
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::permission::quantified::inverse::active;
use crate::permission::quantified::{self, injectivity::Injective};
use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise::{self, QuantifiedConjunct};
use crate::state::heap::Resource;
use crate::state::quantified::Access;
use crate::state::quantified::QuantifiedChunk;
use crate::{Engine, Stop};

impl Sil<'_, '_> {
    /// produce(σ, s, ∀xs. A) for an impure A.
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
            return self.unsupported(conjunct.body, "this assertion under a quantifier");
        };
        let access = self.eval_quantified_access(conjunct, target, blame)?;
        let Some(access) = access else { return Ok(()) };
        self.produce_access(&access, snapshot, conjunct.body.span, blame)
    }
}

impl Engine<'_> {
    /// Adds a quantified permission, whose values are in the snapshot, if there is one.
    pub fn produce_access(
        &mut self,
        access: &Access,
        snapshot: Option<Term>,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        // A contract's own check is no reason to skip this one: where it failed, the axioms of the
        // inverse functions would contradict each other. SOUNDNESS: an option may ask to take it
        // for granted; it is named among what is trusted.
        let is_shown = !blame.is_silent() && !self.context.options.assume_injectivity_on_inhale;
        let injective = if is_shown {
            self.prove_injective(access, blame, Reason::NotInjective, at)?
        } else {
            Injective::taken_from_declaration()
        };
        let footprint = self.footprint(access, injective)?;
        let map = self.map_of_snapshot(access.resource, snapshot)?;
        self.assume_access_facts(access)?;
        self.touch_all(access)?;
        let domain = self.terms.is_some(footprint.amount);
        let mut chunk = QuantifiedChunk::new(access, footprint, map);
        chunk.domain = Some(domain);
        self.add_quantified_chunk(access.resource, chunk)
    }

    /// Adds a chunk whose facts have been assumed.
    pub(crate) fn add_quantified_chunk(
        &mut self,
        resource: Resource,
        chunk: QuantifiedChunk,
    ) -> Result<(), Stop> {
        if chunk.amount == Terms::NONE {
            return Ok(());
        }
        self.use_touch(resource)?;
        self.heap_to_extend().push_quantified(resource, chunk);
        Ok(())
    }

    /// ∀xs {T}. c ⇒ 0 ≤ p, and for fields p ≤ 1 (where amounts mean something, trap T8) and c ∧ p >
    /// 0 ⇒ e ≠ null.
    fn assume_access_facts(&mut self, access: &Access) -> Result<(), Stop> {
        let mut bounds = vec![self.terms.le(Terms::NONE, access.amount)];
        let mut facts = Vec::new();
        if let Resource::Field(_) = access.resource {
            if self.extends_exactly() {
                bounds.push(self.terms.le(access.amount, Terms::WRITE));
            }
            let active = active(&mut self.terms, access);
            let not_null = self.terms.differs(access.arguments[0], Terms::NULL);
            facts.push(self.terms.implies(active, not_null));
        }
        let bounds = self.terms.and(bounds);
        facts.push(self.terms.implies(access.guard, bounds));
        let triggers = self.access_triggers(access);
        for fact in facts {
            let fact = self.terms.forall(
                &access.variables,
                triggers.clone(),
                fact,
                quantified::label("receiver"),
                1,
            );
            self.assume(fact)?;
        }
        Ok(())
    }
}
