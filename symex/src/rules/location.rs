//! Gaining and giving away permission to one location, whose parts have been evaluated.

use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::findings::blame::Blame;
use crate::findings::incidents::Missing;
use crate::state::heap::{Chunk, Resource};
use crate::{Configuration, Engine, Stop};

impl Configuration<'_> {
    /// Returns an amount, times the factor of the predicate around.
    pub fn times_scale(&mut self, amount: Term) -> Result<Term, Stop> {
        let Some(scale) = self.frame.assertion.scale else { return Ok(amount) };
        let (product, lemmas) = self.terms.scaled(scale, amount);
        for lemma in lemmas {
            self.assume(lemma)?;
        }
        Ok(product)
    }
}

impl Engine<'_> {
    /// Adds permission to a location. The snapshot has the location's value; without a snapshot the
    /// value is fresh.
    pub(crate) fn produce_location(
        &mut self,
        resource: Resource,
        arguments: Vec<Term>,
        gain: Term,
        snapshot: Option<Term>,
    ) -> Result<(), Stop> {
        let sort = self.resource_sort(resource);
        let value = self.value_of_snapshot(snapshot, sort, |path| path.resource_name(resource))?;
        self.add_chunk(resource, Chunk { arguments, value, amount: gain })
    }

    /// Takes permission to a location away, and returns its snapshot.
    pub fn consume_location(
        &mut self,
        resource: Resource,
        arguments: Vec<Term>,
        loss: Term,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let sort = self.resource_sort(resource);
        if let Some(value) = self.take_location(resource, &arguments, loss)? {
            self.note_given(resource, &arguments, loss, blame.span);
            return Ok(self.terms.snap_wrap(value));
        }
        let mut reported = None;
        if !blame.is_silent() {
            let (left, needed) = (self.here.left(), Some(loss));
            reported = Some(self.fail_permission(&left, resource, &arguments, needed, blame, at)?);
        }
        self.incidents.missing = Some(Missing { reported });
        self.drop_aliases(resource, &arguments)?;
        let value = self.fresh("missing", sort);
        if let Some(reported) = reported {
            // Claims about the value in the same assertion fail for the same reason.
            self.taint(value, reported)?;
            let amount = Terms::WRITE;
            self.heap_to_extend().push(resource, Chunk { arguments, value, amount });
        }
        Ok(self.terms.snap_wrap(value))
    }
}
