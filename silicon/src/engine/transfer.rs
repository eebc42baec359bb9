//! Taking permission inside a package: from the heap of the package, then from the heaps around it, nearest first
//! (Viper engine reference, 15.3). What comes from around is the wand's footprint: gone until the wand is applied.

use super::explore::Answer;
use super::heap::{Chunk, Heap, Resource};
use super::{Engine, Stop};
use crate::terms::{Term, Terms};

impl Engine<'_> {
    /// Takes `loss` of a location from the heap being consumed and the heaps around the package together.
    pub(crate) fn transfer(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Term>, Stop> {
        let none = self.terms.none();
        let mut need = loss;
        let mut value: Option<Term> = None;
        for level in 0..=self.state.reserve.len() {
            let heap = self.level(level).clone();
            let chunks = heap.of(resource).to_vec();
            // From the last to the first, so that what is removed moves nothing that is still to come.
            for (index, chunk) in chunks.iter().enumerate().rev() {
                let done = self.terms.le(need, none);
                if self.check(done)? {
                    break;
                }
                let alias = self.same_arguments(&chunk.arguments, arguments);
                if alias == Terms::FALSE || !self.check(alias)? {
                    continue;
                }
                let positive = self.terms.lt(none, chunk.amount);
                if !self.check(positive)? {
                    continue;
                }
                let enough = self.terms.le(need, chunk.amount);
                let part = if self.check(enough)? {
                    need
                } else {
                    self.terms.perm_min(chunk.amount, need)
                };
                need = self.terms.sub(need, part);
                self.keep_rest(level, resource, index, chunk, part)?;
                self.note_value(resource, &mut value, chunk, part)?;
                if level > 0 {
                    let arguments = chunk.arguments.clone();
                    self.state
                        .moved
                        .push((resource, Chunk { arguments, value: chunk.value, amount: part }));
                }
            }
        }
        let done = self.terms.le(need, none);
        if self.ask(|engine| engine.obligation(done))? != Answer::Yes {
            return Ok(None);
        }
        Ok(value)
    }

    /// Heap 0 is the one being consumed, the others are the reserve.
    fn level(&mut self, level: usize) -> &mut Heap {
        match (level.checked_sub(1), &mut self.state.consuming) {
            (Some(index), _) => &mut self.state.reserve[index],
            (None, Some(left)) => left,
            (None, None) => &mut self.state.heap,
        }
    }

    fn keep_rest(
        &mut self,
        level: usize,
        resource: Resource,
        index: usize,
        chunk: &Chunk,
        part: Term,
    ) -> Result<(), Stop> {
        let none = self.terms.none();
        let rest = self.terms.sub(chunk.amount, part);
        let depleted = self.terms.identical(rest, none);
        let kept = if self.check(depleted)? {
            None
        } else {
            Some(Chunk { amount: rest, ..chunk.clone() })
        };
        self.level(level).replace(resource, index, kept);
        Ok(())
    }

    /// Portions of one location have one value; of wands nothing is said (trap T10e).
    fn note_value(
        &mut self,
        resource: Resource,
        value: &mut Option<Term>,
        chunk: &Chunk,
        part: Term,
    ) -> Result<(), Stop> {
        match *value {
            None => *value = Some(chunk.value),
            Some(first) if !matches!(resource, Resource::Wand(_)) => {
                let none = self.terms.none();
                let taken = self.terms.lt(none, part);
                let equal = self.terms.identical(first, chunk.value);
                let fact = self.terms.implies(taken, equal);
                self.assume(fact)?;
            }
            Some(_) => {}
        }
        Ok(())
    }
}
