//! Taking permission from all locations of a resource at once.

use smt::terms::{Term, Terms};

use crate::permission::quantified;
use crate::permission::quantified::chunks::total;
use crate::permission::quantified::chunks::{Portion, PortionValue};
use crate::run::explore::Answer;
use crate::state::heap::{Chunk, Resource};
use crate::state::quantified::QuantifiedChunk;
use crate::state::quantified::{Access, Footprint};
use crate::{Amounts, Configuration, Engine, Stop};

impl Engine<'_> {
    /// Returns all chunks, if they hold some permission wherever a footprint asks for some; `None`
    /// if there is not enough.
    pub(crate) fn portions_if_some(
        &mut self,
        resource: Resource,
        footprint: &Footprint,
    ) -> Result<Option<Vec<Portion>>, Stop> {
        let left = self.here.left();
        let portions = self.portions(resource, &left);
        let total = total(&mut self.terms, &portions);
        let (wanted, held) = (self.terms.is_some(footprint.amount), self.terms.is_some(total));
        let enough = self.terms.implies(wanted, held);
        let enough = self.with_touch(resource, enough);
        let answer = self.ask_obligation(enough)?;
        Ok((answer == Answer::Yes).then_some(portions))
    }

    /// Takes as much as possible from each chunk in turn. Returns the chunks that may have given
    /// permission; `None` if there is not enough.
    pub(crate) fn take_from_portions(
        &mut self,
        access: &Access,
        mut need: Term,
    ) -> Result<Option<Vec<Portion>>, Stop> {
        let resource = access.resource;
        let left = self.here.left();
        let mut ordinary: Vec<Option<Chunk>> =
            left.of(resource).iter().cloned().map(Some).collect();
        let mut quantified: Vec<_> = left.quantified(resource).iter().cloned().map(Some).collect();
        let portions = self.portions(resource, &left);
        let single = portions.len() == 1;
        let mut touched = Vec::new();
        let mut done = need == Terms::NONE;
        for position in self.removal_order(access, need) {
            if done {
                break;
            }
            let portion = &portions[position];
            let split = self.terms.split_amount(portion.amount, need);
            let nothing = self.terms.is_none(split.taken);
            if nothing == Terms::TRUE || (!single && self.check(nothing)?) {
                continue;
            }
            touched.push(portion.clone());
            need = split.need;
            let depleted = self.terms.is_none(split.rest);
            let depleted = self.check(depleted)?;
            if position < ordinary.len() {
                let chunk = ordinary[position].take().expect("each position comes once");
                if !depleted {
                    let amount = self.at(resource, split.rest, &chunk.arguments);
                    ordinary[position] = Some(Chunk { amount, ..chunk });
                }
            } else {
                let index = position - ordinary.len();
                let chunk = quantified[index].take().expect("each position comes once");
                if !depleted {
                    let amount = split.rest;
                    quantified[index] = Some(QuantifiedChunk { amount, ..chunk });
                }
            }
            let satisfied = self.terms.is_none(need);
            done = self.check(satisfied)?;
        }
        if !done {
            let satisfied = self.terms.is_none(need);
            let satisfied = self.with_touch(resource, satisfied);
            if self.ask_obligation(satisfied)? != Answer::Yes {
                return Ok(None);
            }
        }
        drop(left);
        self.here.left_mut().set_both(
            resource,
            ordinary.into_iter().flatten().collect(),
            quantified.into_iter().flatten().collect(),
        );
        Ok(Some(touched))
    }
}

impl Configuration<'_> {
    /// Returns the positions of portions in the order of removal: the very same amount, then the
    /// same receiver, then the other quantified chunks, then single locations.
    fn removal_order(&mut self, access: &Access, need: Term) -> Vec<usize> {
        let left = self.here.left();
        let ordinary = left.of(access.resource).len();
        let quantified = left.quantified(access.resource);
        if let Some(index) = quantified.iter().position(|chunk| chunk.amount == need) {
            return vec![ordinary + index];
        }
        let mut order: Vec<usize> = (0..quantified.len()).collect();
        order.sort_by_key(|&index| quantified[index].shape != access.arguments);
        order.into_iter().map(|index| ordinary + index).chain(0..ordinary).collect()
    }

    /// Takes an amount that is still open: less than each portion holds (trap T9).
    pub(crate) fn take_less_of_all(
        &mut self,
        access: &Access,
        footprint: &Footprint,
    ) -> Result<(), Stop> {
        let resource = access.resource;
        let left = self.here.left();
        let mut open = self.terms.is_some(footprint.amount);
        let portions = self.portions(resource, &left);
        let (of_ordinary, of_quantified) = portions.split_at(left.of(resource).len());
        let mut ordinary = Vec::new();
        for (chunk, portion) in left.of(resource).iter().zip(of_ordinary) {
            self.assume_less_than(access, footprint, portion, &[])?;
            let need = self.at(resource, footprint.amount, &chunk.arguments);
            let some = self.terms.is_some(chunk.amount);
            let here = self.at(resource, open, &chunk.arguments);
            let takes = self.terms.and([here, some]);
            let taken = self.terms.ite(takes, need, Terms::NONE);
            let amount = self.terms.sub(chunk.amount, taken);
            let spread = self.terms.is_none(portion.amount);
            open = self.terms.and([open, spread]);
            ordinary.push(Chunk { amount, ..chunk.clone() });
        }
        let mut quantified = Vec::new();
        for (chunk, portion) in left.quantified(resource).iter().zip(of_quantified) {
            self.assume_less_than(access, footprint, portion, &chunk.triggers)?;
            let some = self.terms.is_some(chunk.amount);
            let takes = self.terms.and([open, some]);
            let rest = self.terms.sub(chunk.amount, footprint.amount);
            let amount = self.terms.ite(takes, rest, chunk.amount);
            let nothing = self.terms.is_none(chunk.amount);
            open = self.terms.and([open, nothing]);
            quantified.push(QuantifiedChunk { amount, ..chunk.clone() });
        }
        drop(left);
        self.here.left_mut().set_both(resource, ordinary, quantified);
        Ok(())
    }

    /// Makes an amount that is still open less than what a portion holds, wherever both are some.
    pub(crate) fn assume_less_than(
        &mut self,
        access: &Access,
        footprint: &Footprint,
        portion: &Portion,
        triggers: &[Vec<Term>],
    ) -> Result<(), Stop> {
        let resource = access.resource;
        let fact = self.is_less(footprint.amount, portion.amount);
        let map = match &portion.value {
            PortionValue::One { arguments, .. } => {
                let fact = self.at(resource, fact, arguments);
                return self.assume(fact);
            }
            PortionValue::Map(map) => *map,
        };
        let formals = self.formals(resource);
        let mut triggers = [&footprint.triggers, triggers].concat();
        triggers.push(vec![self.map_at(resource, map, &formals)]);
        for amount in [footprint.amount, portion.amount] {
            let mut matched = Vec::new();
            self.matchable_parts(amount, &formals, &mut matched);
            triggers.extend(matched.into_iter().map(|term| vec![term]));
        }
        let label = quantified::label("wildcard");
        let fact = self.terms.forall(&formals, triggers, fact, label, 1);
        self.assume(fact)?;
        // The same at the written receiver: over the formals the amount itself is no trigger where
        // a receiver has fixed parts, as in `P(x, i)` for each i.
        let mut matched = Vec::new();
        self.matchable_parts(access.amount, &access.variables, &mut matched);
        if matched.is_empty() {
            return Ok(());
        }
        let held = self.at(resource, portion.amount, &access.arguments);
        let fact = self.is_less(access.amount, held);
        let fact = self.terms.implies(access.guard, fact);
        let triggers = matched.into_iter().map(|term| vec![term]).collect();
        let label = quantified::label("wildcard");
        let fact = self.terms.forall(&access.variables, triggers, fact, label, 1);
        self.assume(fact)
    }

    /// Returns wanted > 0 ∧ held > 0 ⇒ wanted < held.
    fn is_less(&mut self, wanted: Term, held: Term) -> Term {
        let (some, there) = (self.terms.is_some(wanted), self.terms.is_some(held));
        let both = self.terms.and([some, there]);
        let less = self.terms.lt(wanted, held);
        self.terms.implies(both, less)
    }

    /// Forgets the permission that a failed consume asked for, as far as it is there.
    pub(crate) fn forget_quantified(
        &mut self,
        resource: Resource,
        amount: Term,
    ) -> Result<(), Stop> {
        if self.frame.assertion.amounts == Amounts::SomeOrNone {
            return Ok(());
        }
        let left = self.here.left();
        let gone = self.terms.is_some(amount);
        let mut ordinary = Vec::new();
        for chunk in left.of(resource) {
            let gone = self.at(resource, gone, &chunk.arguments);
            let amount = self.terms.ite(gone, Terms::NONE, chunk.amount);
            ordinary.push(Chunk { amount, ..chunk.clone() });
        }
        let mut quantified = Vec::new();
        for chunk in left.quantified(resource) {
            let amount = self.terms.ite(gone, Terms::NONE, chunk.amount);
            quantified.push(QuantifiedChunk { amount, ..chunk.clone() });
        }
        drop(left);
        self.here.left_mut().set_both(resource, ordinary, quantified);
        Ok(())
    }
}
