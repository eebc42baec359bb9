//! Producing quantified permissions.

use sil::program::Expr;
use smt::terms::Term;

use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::rules::quantified::access::Target;
use crate::engine::rules::quantified::normalise::{self, QuantifiedPart};
use crate::engine::state::heap::Resource;
use crate::engine::state::quantified::Access;
use crate::engine::state::quantified::QuantifiedChunk;
use crate::engine::{Engine, Stop};

impl Engine<'_> {
    /// produce(σ, s, ∀xs. A) for an impure A.
    pub(crate) fn produce_quantified(
        &mut self,
        quantifier: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let parts = normalise::parts(quantifier, self.state.assertion.reading);
        let mut rest = snapshot;
        for (position, part) in parts.iter().enumerate() {
            let own = if position + 1 == parts.len() {
                rest
            } else {
                let (first, others) = self.split(rest)?;
                rest = others;
                first
            };
            self.produce_part(part, own, blame)?;
        }
        Ok(())
    }

    fn produce_part(
        &mut self,
        part: &QuantifiedPart<'_>,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if part.body.is_pure() {
            let fact = self.eval_quantified_fact(part, blame)?;
            return self.assume(fact);
        }
        let Some(target) = Target::of(part.body) else {
            return self.unsupported(part.body, "this assertion under a quantifier");
        };
        let access = self.eval_quantified_access(part, target, blame)?;
        let Some(access) = access else { return Ok(()) };
        // A contract's own check is no reason to skip this one: where it failed, the axioms of the inverse functions
        // would contradict each other.
        // SOUNDNESS: an option may ask to take it for granted; it is named among what is trusted.
        if !blame.is_silent() && !self.context.options.assume_injectivity_on_inhale {
            self.prove_injective(&access, blame, Reason::NotInjective, part.body.span)?;
        }
        let footprint = self.footprint(&access)?;
        let map = self.map_of_snapshot(access.resource, snapshot)?;
        self.assume_access_facts(&access)?;
        self.touch_all(&access)?;
        let domain = self.is_some(footprint.amount);
        let mut chunk = QuantifiedChunk::new(&access, footprint, map);
        chunk.domain = Some(domain);
        self.add_quantified_chunk(access.resource, chunk)
    }

    /// Adds a chunk whose facts have been assumed.
    pub(crate) fn add_quantified_chunk(
        &mut self,
        resource: Resource,
        chunk: QuantifiedChunk,
    ) -> Result<(), Stop> {
        let none = self.terms.none();
        if chunk.amount == none {
            return Ok(());
        }
        self.use_touch(resource)?;
        self.heap_to_extend().push_quantified(resource, chunk);
        Ok(())
    }

    /// ∀xs {T}. c ⇒ 0 ≤ p, and for fields p ≤ 1 (where amounts mean something, trap T8) and c ∧ p > 0 ⇒ e ≠ null.
    fn assume_access_facts(&mut self, access: &Access) -> Result<(), Stop> {
        let none = self.terms.none();
        let mut bounds = vec![self.terms.le(none, access.amount)];
        let mut facts = Vec::new();
        if let Resource::Field(_) = access.resource {
            if self.extends_exactly() {
                let one = self.terms.write();
                bounds.push(self.terms.le(access.amount, one));
            }
            let active = self.active(access);
            let null = self.terms.null();
            let not_null = self.terms.differs(access.arguments[0], null);
            facts.push(self.terms.implies(active, not_null));
        }
        let bounds = self.terms.and(bounds);
        facts.push(self.terms.implies(access.guard, bounds));
        let triggers = self.access_triggers(access);
        for fact in facts {
            let fact =
                self.terms.forall(&access.variables, triggers.clone(), fact, "qp.receiver", 1);
            self.assume(fact)?;
        }
        Ok(())
    }
}
