//! One location of a resource that has quantified chunks: reading it, and taking permission to it.

use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::Blame;
use crate::permission::ordinary::Taken;
use crate::permission::quantified::chunks::{Portion, PortionValue};
use crate::run::explore::Answer;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::state::quantified::QuantifiedChunk;
use crate::{Configuration, Engine, Path, Stop, Symbols};

impl Engine<'_> {
    /// Returns the value of a location, if some permission to it is held.
    ///
    /// SOUNDNESS: permission that a trusted expression needs has been shown elsewhere, so it need
    /// not be shown at any cost again. But if the question stays open, the value must be unknown
    /// wherever no permission is held. A map of several portions says nothing there. One portion
    /// alone may tell the value from before the permission was given away.
    pub(crate) fn lookup_quantified(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        let heap = self.here.heap.clone();
        if let Some(chunk) = self.same_chunk(&heap, resource, arguments)? {
            return Ok(Some(chunk.value));
        }
        let alternatives = self.readable_portions(resource, &heap);
        let count = alternatives.len();
        for (index, portions) in alternatives.into_iter().enumerate() {
            let is_last = index + 1 == count;
            let may_stay_open = blame.is_trusted() && (!is_last || portions.len() > 1);
            let answer = if self.mode.in_trigger {
                Answer::Yes
            } else {
                self.is_held_in(resource, &portions, arguments, may_stay_open)?
            };
            if answer == Answer::Yes {
                self.note_exists(resource, arguments)?;
                return self.summary_at(resource, &portions, arguments).map(Some);
            }
            if answer == Answer::GaveUp && may_stay_open && is_last {
                return self.summary_at(resource, &portions, arguments).map(Some);
            }
        }
        Ok(None)
    }

    /// Tells whether portions of a heap hold some permission to a location. `may_stay_open`: a long
    /// search may stop.
    fn is_held_in(
        &mut self,
        resource: Resource,
        portions: &[Portion],
        arguments: &[Term],
        may_stay_open: bool,
    ) -> Result<Answer, Stop> {
        let held = self.held_in_portions(resource, portions, arguments);
        let some = self.terms.is_some(held);
        if may_stay_open {
            let answer = self.ask_quick(some)?;
            if answer != Answer::No {
                return Ok(answer);
            }
        }
        self.ask_obligation(some)
    }

    /// Returns an ordinary chunk with exactly these arguments that holds permission.
    fn same_chunk(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
    ) -> Result<Option<Chunk>, Stop> {
        for chunk in heap.of(resource) {
            if chunk.arguments == arguments {
                let some = self.terms.is_some(chunk.amount);
                if self.check(some)? {
                    return Ok(Some(chunk.clone()));
                }
            }
        }
        Ok(None)
    }

    /// Returns the value of a location of which at least `loss` is held, in any chunks; `None` if
    /// there is not enough.
    pub(crate) fn value_if_enough(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let left = self.here.left();
        let portions = self.portions(resource, &left);
        let total = self.held_in_portions(resource, &portions, arguments);
        let goal = self.is_enough(loss, total);
        if self.ask_obligation(goal)? != Answer::Yes {
            return Ok(None);
        }
        let value = self.summary_at(resource, &portions, arguments)?;
        Ok(Some(Taken(value)))
    }

    /// Takes all from one chunk: an ordinary one with the same arguments, or any quantified one.
    pub(crate) fn take_quantified_from_one(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let left = self.here.left();
        for (index, chunk) in left.of(resource).iter().enumerate() {
            let enough = self.terms.le(loss, chunk.amount);
            if chunk.arguments != arguments || !self.check(enough)? {
                continue;
            }
            let chunk = chunk.clone();
            drop(left);
            let value = chunk.value;
            let amount = self.terms.sub(chunk.amount, loss);
            let depleted = self.terms.is_none(amount);
            let kept = (!self.check(depleted)?).then_some(Chunk { amount, ..chunk });
            self.here.left_mut().replace(resource, index, kept);
            return Ok(Some(Taken(value)));
        }
        for (index, chunk) in left.quantified(resource).iter().enumerate() {
            let here = self.at(resource, chunk.amount, arguments);
            let enough = self.terms.le(loss, here);
            if enough == Terms::FALSE || !self.check(enough)? {
                continue;
            }
            let need = self.need_of(resource, arguments, loss);
            let amount = self.terms.split_amount(chunk.amount, need).rest;
            let mut chunks = left.quantified(resource).to_vec();
            chunks[index] = QuantifiedChunk { amount, ..chunk.clone() };
            self.here.left_mut().set_quantified(resource, chunks);
            return Ok(Some(Taken(self.map_at(resource, chunk.map, arguments))));
        }
        Ok(None)
    }
}

impl Path<'_> {
    /// Assumes that the receiver of a held field is not null.
    ///
    /// COMPLETENESS: under a guard that says nothing about the receiver, Z3 has no trigger for this
    /// fact.
    pub(super) fn note_exists(
        &mut self,
        resource: Resource,
        arguments: &[Term],
    ) -> Result<(), Stop> {
        let (Resource::Field(_), &[receiver]) = (resource, arguments) else { return Ok(()) };
        if self.mode.in_trigger || !self.mode.bound.is_empty() {
            return Ok(());
        }
        let equal = self.terms.eq(receiver, Terms::NULL);
        let exists = self.terms.not(equal);
        self.assume(exists)
    }
}

impl Symbols<'_> {
    /// Returns Σ of the portions' amounts at a location.
    pub(crate) fn held_in_portions(
        &mut self,
        resource: Resource,
        portions: &[Portion],
        arguments: &[Term],
    ) -> Term {
        let amounts: Vec<Term> =
            portions.iter().map(|portion| self.at(resource, portion.amount, arguments)).collect();
        self.terms.sum(Sort::PERM, amounts)
    }

    /// Returns `loss` at one location, as a function of the location.
    pub fn need_of(&mut self, resource: Resource, arguments: &[Term], loss: Term) -> Term {
        let is_it = self.is_location(resource, arguments);
        self.terms.ite(is_it, loss, Terms::NONE)
    }
}

impl Configuration<'_> {
    /// Takes from every portion in turn. A proof that there is enough comes before.
    pub(crate) fn take_portions(&mut self, resource: Resource, arguments: &[Term], loss: Term) {
        let left = self.here.left();
        let portions = self.portions(resource, &left);
        let mut need = self.need_of(resource, arguments, loss);
        let mut rests = Vec::with_capacity(portions.len());
        for portion in &portions {
            let split = self.terms.split_amount(portion.amount, need);
            need = split.need;
            rests.push(split.rest);
        }
        self.set_rests(resource, &portions, &rests);
    }

    /// Sets new amounts for all portions that are left of a resource, in order.
    fn set_rests(&mut self, resource: Resource, portions: &[Portion], rests: &[Term]) {
        let left = self.here.left();
        let mut ordinary = Vec::new();
        for (index, chunk) in left.of(resource).iter().enumerate() {
            debug_assert!(matches!(portions[index].value, PortionValue::One { .. }));
            let amount = self.at(resource, rests[index], &chunk.arguments);
            if amount != Terms::NONE {
                ordinary.push(Chunk { amount, ..chunk.clone() });
            }
        }
        let first = left.of(resource).len();
        let mut quantified = Vec::new();
        for (index, chunk) in left.quantified(resource).iter().enumerate() {
            let amount = rests[first + index];
            if amount != Terms::NONE {
                quantified.push(QuantifiedChunk { amount, ..chunk.clone() });
            }
        }
        drop(left);
        self.here.left_mut().set_both(resource, ordinary, quantified);
    }

    /// Takes an amount that is still open from the first portion that holds permission: less than
    /// every portion holds there (trap T9).
    pub(crate) fn take_less_of(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<(), Stop> {
        let left = self.here.left();
        let portions = self.portions(resource, &left);
        let is_it = self.is_location(resource, arguments);
        let mut open = is_it;
        let mut rests = Vec::with_capacity(portions.len());
        for portion in &portions {
            let here = self.at(resource, portion.amount, arguments);
            let some = self.terms.is_some(here);
            let less = self.terms.lt(loss, here);
            let fact = self.terms.implies(some, less);
            self.assume(fact)?;
            let takes = self.terms.and([open, some]);
            let rest = self.terms.sub(portion.amount, loss);
            rests.push(self.terms.ite(takes, rest, portion.amount));
            let nothing = self.terms.not(some);
            open = self.terms.and([open, nothing]);
        }
        self.set_rests(resource, &portions, &rests);
        Ok(())
    }
}
