//! State consolidation: learning from a heap before an obligation fails.
//!
//! An obligation that the prover does not show is asked again with facts about the shape of the
//! heap. Only then is it reported. The facts come in this order, each kind from a file of its own;
//! n is the number of chunks of a resource:
//!
//! | entry | learnt from | facts |
//! |---|---|---|
//! | [`quantified`] | the heap: sums and values of chunks of many locations | n², with quantifiers |
//! | [`nesting`] | the heap: instances of one predicate inside each other differ | n |
//! | [`pairs`] | the heap: different locations, equal values | n² |
//! | [`sums`] | the heap: portions of one location fit together | n, each a sum of up to n |
//! | [`past`] | the heaps from before something was given away | as above, for each heap once |
//! | [`together`] | instances opened side by side; obligations of rules only | as above |
//! | [`inside`] | heaps inside `unfolding`, `applying`, `old`; conditions only | as above |
//!
//! [`newborn`] learns about new objects where instances are opened.
//!
//! [`Configuration::learn_from_heap`] does the first five, also for the rest of a heap in the
//! middle of a consume, and for the heaps around a package. Nothing is learnt twice: a known fact
//! costs nothing.

mod inside;
pub(crate) mod nesting;
mod newborn;
mod pairs;
mod past;
mod prove;
mod quantified;
mod sums;
mod together;

use crate::state::heap::{Heap, Resource};
use crate::{Amounts, Configuration, Path, Stop};

impl Configuration<'_> {
    /// Assumes the consequences of the heap's shape. Locations with more than full permission in
    /// sum are different, and equal locations have equal values. Tells whether any fact was new.
    pub fn learn_from_heap(&mut self) -> Result<bool, Stop> {
        let before = self.facts_known();
        let heap = self.here.heap.clone();
        self.learn_from(&heap)?;
        self.learn_from_the_past()?;
        if let Some(left) = self.here.consuming.clone()
            && !left.same_version(&heap)
        {
            self.learn_from(&left)?;
        }
        // SOUNDNESS: each heap around a package alone, never together with the package's own (trap
        // T10f).
        for heap in self.here.package.reserve.clone() {
            self.learn_from(&heap)?;
        }
        Ok(self.facts_known() != before)
    }

    /// Learns from the shape of a heap: from chunks beside each other.
    pub fn learn_from(&mut self, heap: &Heap) -> Result<(), Stop> {
        self.learn_from_quantified(heap)?;
        self.note_instances_of(heap)?;
        for (resource, chunks) in heap.resources() {
            // The values of wands tell nothing (trap T10e).
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
}

impl Path<'_> {
    /// Returns the number of known facts. It grows when something is learnt.
    pub(crate) fn facts_known(&self) -> usize {
        self.knowledge.known.len()
    }
}
