//! Gaining and giving away permission to many locations, whose parts have been evaluated.

use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, ErrorId, Reason};
use crate::findings::incidents::Missing;
use crate::permission::quantified::injectivity::Injective;
use crate::permission::quantified::inverse::active;
use crate::permission::quantified::label;
use crate::permission::take::OfAll;
use crate::quantifiers::one_point::remove_fixed_variables;
use crate::run::explore::Answer;
use crate::state::heap::Resource;
use crate::state::quantified::{Access, Footprint, QuantifiedChunk};
use crate::{Amounts, Configuration, Engine, Explore, Path, Stop};

/// A value for arbitrary values of variables, and its triggers; `None` if its condition cannot
/// hold.
pub type Evaluated<T> = Option<(T, Vec<Vec<Term>>)>;

/// Evaluation below quantifiers, in every language.
pub trait BelowQuantifiers<'p>: Explore<'p> {
    /// Evaluates for arbitrary values of the variables. The facts learnt on the way stay,
    /// quantified.
    fn for_arbitrary_values<T>(
        &mut self,
        variables: &[Term],
        evaluate: impl FnOnce(&mut Self) -> Result<Evaluated<T>, Stop>,
    ) -> Result<Evaluated<T>, Stop> {
        let engine = self.core();
        let store = engine.frame.store.clone();
        let applications = engine.gathered.applications.len();
        let met_below = engine.gathered.below.len();
        let outcome = self.binding(variables, |view| view.scoped(None, evaluate));
        let engine = self.core();
        let (result, facts) = outcome?;
        engine.gathered.applications.truncate(applications);
        engine.frame.store = store;
        if result.is_err() {
            engine.gathered.below.truncate(met_below);
        }
        let value = result?;
        engine.release_met_below(met_below, variables)?;
        let triggers = value.as_ref().map_or(&[][..], |(_, triggers)| triggers);
        for fact in facts {
            if engine.is_known_around(fact) {
                continue;
            }
            let fact = engine.quantified_fact(variables, triggers, fact, label("aux"));
            engine.assume(fact)?;
        }
        let matched: Vec<Term> = triggers.iter().flatten().copied().collect();
        engine.mention_collections(&matched)?;
        Ok(value)
    }
}

impl<'p, V: Explore<'p>> BelowQuantifiers<'p> for V {}

impl Path<'_> {
    /// Makes the next variable of a quantifier that is evaluated, by its position. Its name tells
    /// the depth, so that the same quantifier gives the same terms when it is evaluated again.
    pub fn variable_below(&mut self, position: usize, sort: Sort) -> Term {
        let depth = self.mode.bound.len() + position;
        self.terms.named_variable(&format!("x%{depth}"), sort)
    }

    /// Removes variables with one value and offsets from a new access.
    pub fn simplify(&mut self, access: &mut Access) -> Result<(), Stop> {
        remove_fixed_variables(&mut self.terms, access);
        self.remove_offsets(access);
        let mut mentioned = access.arguments.clone();
        mentioned.extend([access.guard, access.amount]);
        self.mention_explicit_collections(&mentioned)
    }
}

impl Engine<'_> {
    /// Adds a quantified permission. The snapshot has its values; without a snapshot they are
    /// fresh.
    pub fn produce_access(
        &mut self,
        access: &Access,
        snapshot: Option<Term>,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        // A contract's own check does not replace this one. Where that check failed, the axioms of
        // the inverse functions would contradict each other. SOUNDNESS: an option may grant
        // injectivity; it is named among the trusted claims.
        let is_shown = !blame.is_silent() && !self.context.options.assume_injectivity_on_inhale;
        let injective = if is_shown {
            self.prove_injective(access, blame, Reason::NotInjective, at)?
        } else {
            Injective::taken_from_declaration()
        };
        let footprint = self.footprint(access, injective)?;
        let sort = self.map_sort(access.resource);
        let name = |path: &Path<'_>| format!("{}.map", path.resource_name(access.resource));
        let map = self.value_of_snapshot(snapshot, sort, name)?;
        self.assume_access_facts(access)?;
        self.touch_all(access)?;
        let domain = self.terms.is_some(footprint.amount);
        let mut chunk = QuantifiedChunk::new(access, footprint, map);
        chunk.domain = Some(domain);
        self.add_quantified_chunk(access.resource, chunk)
    }

    /// Takes a quantified permission away, or reports that it is `missing`. Returns its snapshot.
    pub fn consume_access(
        &mut self,
        access: &Access,
        missing: Reason,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let resource = access.resource;
        // If inhaled permissions are not checked, contracts and bodies have not been checked at
        // their declarations.
        let is_unchecked = self.context.options.assume_injectivity_on_inhale && !blame.is_silent();
        // Ill-formed contracts are used, too, and must not end the paths of their users.
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
                self.incidents.missing = Some(Missing { reported });
                self.forget_quantified(resource, footprint.amount)?;
                let sort = self.map_sort(resource);
                let map = self.fresh("missing", sort);
                if let Some(reported) = reported {
                    // Claims about the values in the same assertion fail for the same reason.
                    self.taint(map, reported)?;
                    let chunk = QuantifiedChunk::new(access, footprint, map);
                    self.heap_to_extend().push_quantified(resource, chunk);
                }
                map
            }
        };
        Ok(self.terms.snap_wrap(map))
    }

    /// Assumes after a reported failure of a consume that the rest of the heap holds enough, if it
    /// can.
    fn assume_enough(&mut self, access: &Access) -> Result<(), Stop> {
        if !self.here.package.reserve.is_empty() {
            return Ok(());
        }
        let left = self.here.left();
        let held = self.held_in(&left, access.resource, &access.arguments);
        let enough = self.is_enough(access.amount, held);
        let enough = self.terms.implies(access.guard, enough);
        let triggers = self.access_triggers(access);
        let enough = self.terms.forall(&access.variables, triggers, enough, label("enough"), 1);
        self.assume_failed(enough).map(|_| ())
    }

    /// Returns the permission of an access as a function of the location.
    pub fn footprint(&mut self, access: &Access, _injective: Injective) -> Result<Footprint, Stop> {
        let inverse = self.inverse(access)?;
        let condition = self.terms.substitute(access.guard, &inverse.of);
        let condition = self.terms.and([inverse.image, condition]);
        let mut amount = self.terms.substitute(access.amount, &inverse.of);
        if self.frame.assertion.amounts == Amounts::SomeOrNone && !self.terms.is_literal(amount) {
            // Any positive amount will do.
            let some = self.terms.is_some(amount);
            amount = self.terms.ite(some, Terms::WRITE, Terms::NONE);
        }
        let amount = self.terms.ite(condition, amount, Terms::NONE);
        Ok(Footprint { amount, triggers: inverse.triggers })
    }
}

impl Configuration<'_> {
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

    /// Assumes ∀xs {T}. c ⇒ 0 ≤ p, and for fields p ≤ 1 (where amounts are exact, trap T8) and c ∧
    /// p > 0 ⇒ e ≠ null.
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
            let fact =
                self.terms.forall(&access.variables, triggers.clone(), fact, label("receiver"), 1);
            self.assume(fact)?;
        }
        Ok(())
    }

    /// Returns the snapshot for an access whose condition cannot hold, so that nothing is taken.
    pub fn snapshot_of_none(&mut self, resource: Resource) -> Result<Term, Stop> {
        let map = self.partial_summary(resource, &[], Terms::NONE)?;
        Ok(self.terms.snap_wrap(map))
    }
}
