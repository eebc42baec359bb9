//! What the shape of a heap tells: the third rung of the Viper engine reference, 25.1.
//!
//! SOUNDNESS: of the portions of one heap only (trap T23), and of what amounts say in sum only where they are exact
//! (trap T8).

use smt::terms::Terms;

use crate::engine::permission::heap::{Chunk, Heap, Resource};
use crate::engine::{Amounts, Engine, Stop};

/// So many portions are summed up with another one at most.
const SUMMED: usize = 8;

impl Engine<'_> {
    /// Assumes the consequences of the heap's shape: locations with more than full permission in sum are different,
    /// equal locations have equal values (the third rung). Whether anything was new.
    pub(crate) fn learn_from_heap(&mut self) -> Result<bool, Stop> {
        let before = self.facts_known();
        let heap = self.state.heap.clone();
        self.learn_from(&heap)?;
        self.learn_from_the_past()?;
        if let Some(left) = self.state.consuming.clone()
            && !left.same_version(&heap)
        {
            self.learn_from(&left)?;
        }
        // SOUNDNESS: each heap around a package alone, never together with the package's own (trap T10f).
        for heap in self.state.package.reserve.clone() {
            self.learn_from(&heap)?;
        }
        Ok(self.facts_known() != before)
    }

    /// How much is known, to see whether something was learnt.
    pub(crate) fn facts_known(&self) -> usize {
        self.knowledge.known.len()
    }

    pub(crate) fn learn_from(&mut self, heap: &Heap) -> Result<(), Stop> {
        self.learn_from_quantified(heap)?;
        self.note_instances_of(heap)?;
        for (resource, chunks) in heap.resources() {
            // Of the values of wands nothing is said (trap T10e).
            if matches!(resource, Resource::Wand(_)) {
                continue;
            }
            let is_bounded =
                matches!(resource, Resource::Field(_)) && heap.amounts == Amounts::Exact;
            for (index, left) in chunks.iter().enumerate() {
                for right in &chunks[index + 1..] {
                    self.learn_from_pair(is_bounded, left, right)?;
                }
            }
            if is_bounded {
                self.learn_from_sums(chunks)?;
            }
        }
        Ok(())
    }

    /// What pairs do not tell: three or more portions that fit in pairs need not fit together.
    ///
    /// COMPLETENESS: not of many, as each sum has a case for every two of them.
    fn learn_from_sums(&mut self, chunks: &[Chunk]) -> Result<(), Stop> {
        let one = self.terms.write();
        for (index, chunk) in chunks.iter().enumerate() {
            let mut fitting = Vec::new();
            for other in &chunks[index + 1..] {
                let sum = self.terms.add(chunk.amount, other.amount);
                let fits = self.terms.le(sum, one) != Terms::FALSE;
                if fits && self.same_arguments(&chunk.arguments, &other.arguments) != Terms::FALSE {
                    fitting.push(other.clone());
                }
            }
            if (2..=SUMMED).contains(&fitting.len()) {
                fitting.push(chunk.clone());
                let total = self.held(&fitting, &chunk.arguments);
                let bounded = self.terms.le(total, one);
                self.assume(bounded)?;
            }
        }
        Ok(())
    }

    fn learn_from_pair(
        &mut self,
        is_bounded: bool,
        left: &Chunk,
        right: &Chunk,
    ) -> Result<(), Stop> {
        let alias = self.same_arguments(&left.arguments, &right.arguments);
        if alias == Terms::FALSE {
            return Ok(());
        }
        if is_bounded {
            let sum = self.terms.add(left.amount, right.amount);
            let one = self.terms.write();
            let too_much = self.terms.lt(one, sum);
            let different = self.terms.not(alias);
            let fact = self.terms.implies(too_much, different);
            self.assume(fact)?;
        }
        let none = self.terms.none();
        let (l, r) = (self.terms.lt(none, left.amount), self.terms.lt(none, right.amount));
        let both = self.terms.and([alias, l, r]);
        let equal = self.terms.identical(left.value, right.value);
        let fact = self.terms.implies(both, equal);
        self.assume(fact)
    }
}
