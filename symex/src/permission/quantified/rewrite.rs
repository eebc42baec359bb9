//! Writing a location in place, for resources with quantified chunks that have been split often.
//!
//! A field assignment gives full permission away and receives it again. So the amounts of all
//! chunks may stay as they are, and the value changes wherever the location may be.
//!
//! PERFORMANCE: otherwise each written location is split off as one more chunk, which may be the
//! same location as every later one. The sum that a write has to show then grows with each write
//! before it.

use smt::terms::{Term, Terms};

use crate::permission::ordinary::same_arguments;
use crate::permission::quantified;
use crate::run::explore::Answer;
use crate::state::heap::{Chunk, Resource};
use crate::state::quantified::QuantifiedChunk;
use crate::{Amounts, Engine, Path, Stop};

/// The number of ordinary chunks beside quantified ones from which nothing more is split off.
/// COMPLETENESS: values of ordinary chunks are found without a proof.
const MANY: usize = 8;

/// The number of ordinary chunks below which locations are always split off. Between the two
/// numbers they are split off if a quantified chunk has all of the location.
///
/// PERFORMANCE: behind a first write in place, all others are made in place, too. The prover would
/// have more to look at with each write, before it finds that the location may be that of an
/// ordinary chunk.
const FEW: usize = 3;

impl Engine<'_> {
    /// Gives a field of a receiver a new value in all chunks that may hold it, if there are many
    /// and full permission is shown. Tells whether the value is written.
    ///
    /// SOUNDNESS: the chunks together hold full permission before and after. A map that differs
    /// from another one in one value always exists. The value of a chunk of another location, or of
    /// an empty one, says nothing (trap T2).
    pub(crate) fn rewrite(
        &mut self,
        resource: Resource,
        receiver: Term,
        value: Term,
    ) -> Result<bool, Stop> {
        let heap = self.here.left();
        let arguments = [receiver];
        let ordinary = heap.of(resource);
        if heap.quantified(resource).is_empty()
            || ordinary.len() < FEW
            || ordinary.iter().any(|chunk| chunk.arguments == arguments)
            || heap.amounts != Amounts::Exact
            || self.here.may_transfer()
        {
            return Ok(false);
        }
        self.touch(resource, &arguments)?;
        // A map with a changed value has no domain.
        let is_first = heap.quantified(resource).iter().all(|chunk| chunk.domain.is_some());
        if ordinary.len() < MANY && is_first {
            for chunk in heap.quantified(resource) {
                let here = self.at(resource, chunk.amount, &arguments);
                let is_whole = self.terms.le(Terms::WRITE, here);
                if self.check(is_whole)? {
                    return Ok(false);
                }
            }
        }
        let portions = self.portions(resource, &heap);
        let total = self.held_in_portions(resource, &portions, &arguments);
        let enough = self.terms.le(Terms::WRITE, total);
        if self.ask_obligation(enough)? != Answer::Yes {
            return Ok(false);
        }
        self.note_exists(resource, &arguments)?;
        let mut chunks = Vec::with_capacity(ordinary.len());
        for chunk in ordinary {
            let is_it = same_arguments(&mut self.terms, &chunk.arguments, &arguments);
            // PERFORMANCE: the value has no name, since Z3 would split cases by its definition.
            let value = self.terms.ite(is_it, value, chunk.value);
            chunks.push(Chunk { value, ..chunk.clone() });
        }
        let mut quantified = Vec::with_capacity(heap.quantified(resource).len());
        for chunk in heap.quantified(resource) {
            let amount = self.at(resource, chunk.amount, &arguments);
            if self.terms.is_some(amount) == Terms::FALSE {
                quantified.push(chunk.clone());
                continue;
            }
            let map = self.changed_map(resource, chunk.map, &arguments, value)?;
            quantified.push(QuantifiedChunk { map, domain: None, ..chunk.clone() });
        }
        drop(heap);
        self.here.left_mut().set_both(resource, chunks, quantified);
        Ok(true)
    }
}

impl Path<'_> {
    /// Makes a map with one value changed.
    fn changed_map(
        &mut self,
        resource: Resource,
        map: Term,
        arguments: &[Term],
        value: Term,
    ) -> Result<Term, Stop> {
        let sort = self.map_sort(resource);
        let hint = format!("{}.map", self.resource_name(resource));
        let changed = self.fresh(&hint, sort);
        let here = self.map_at(resource, changed, arguments);
        let is_written = self.terms.identical(here, value);
        self.assume(is_written)?;
        let formals = self.formals(resource);
        let is_it = self.is_location(resource, arguments);
        let (new, old) =
            (self.map_at(resource, changed, &formals), self.map_at(resource, map, &formals));
        let kept = self.terms.identical(new, old);
        let fact = self.terms.or([is_it, kept]);
        // PERFORMANCE: with a trigger of the old map, each value would be copied to all later maps.
        let fact =
            self.terms.forall(&formals, vec![vec![new]], fact, quantified::label("written"), 1);
        self.assume(fact)?;
        Ok(changed)
    }
}
