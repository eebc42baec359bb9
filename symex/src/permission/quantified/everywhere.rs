//! Taking permission from all locations of a resource at once.

use smt::terms::{Term, Terms};

use crate::permission::quantified;
use crate::permission::quantified::chunks::Portion;
use crate::permission::quantified::chunks::total;
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
        resource: Resource,
        footprint: &Footprint,
    ) -> Result<(), Stop> {
        let left = self.here.left();
        let formals = self.formals(resource);
        let wanted = self.terms.is_some(footprint.amount);
        let mut open = wanted;
        let mut ordinary = Vec::new();
        for chunk in left.of(resource) {
            let need = self.at(resource, footprint.amount, &chunk.arguments);
            let (wanted, some) =
                (self.at(resource, wanted, &chunk.arguments), self.terms.is_some(chunk.amount));
            let both = self.terms.and([wanted, some]);
            let less = self.terms.lt(need, chunk.amount);
            let fact = self.terms.implies(both, less);
            self.assume(fact)?;
            let here = self.at(resource, open, &chunk.arguments);
            let takes = self.terms.and([here, some]);
            let taken = self.terms.ite(takes, need, Terms::NONE);
            let amount = self.terms.sub(chunk.amount, taken);
            let spread = self.spread(resource, chunk);
            let spread = self.terms.is_none(spread);
            open = self.terms.and([open, spread]);
            ordinary.push(Chunk { amount, ..chunk.clone() });
        }
        let mut quantified = Vec::new();
        for chunk in left.quantified(resource) {
            let some = self.terms.is_some(chunk.amount);
            let both = self.terms.and([wanted, some]);
            let less = self.terms.lt(footprint.amount, chunk.amount);
            let fact = self.terms.implies(both, less);
            let mut triggers = footprint.triggers.clone();
            triggers.extend(chunk.triggers.iter().cloned());
            triggers.push(vec![self.map_at(resource, chunk.map, &formals)]);
            for amount in [footprint.amount, chunk.amount] {
                let mut matched = Vec::new();
                self.matchable_parts(amount, &formals, &mut matched);
                triggers.extend(matched.into_iter().map(|term| vec![term]));
            }
            let fact =
                self.terms.forall(&formals, triggers, fact, quantified::label("wildcard"), 1);
            self.assume(fact)?;
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
