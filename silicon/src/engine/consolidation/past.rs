//! What the heaps of the past tell: what followed from their shape stays true.

use crate::engine::state::heap::{Heap, Resource};
use crate::engine::{Engine, Stop};

/// How many heaps of the past are looked at, the last ones.
const REMEMBERED: usize = 6;

impl Engine<'_> {
    /// Keeps the heap as it is now, for the time when something has been given away.
    pub(crate) fn remember_heap(&mut self) {
        let heap = self.state.heap.clone();
        let tells = heap
            .resources()
            .any(|(resource, chunks)| matches!(resource, Resource::Field(_)) && chunks.len() > 1);
        if tells && self.is_live() {
            self.knowledge.scopes.last_mut().expect("there is a base scope").heaps.push(heap);
        }
    }

    /// Assumes the consequences of the shapes that the heap has had on this path.
    pub(crate) fn learn_from_the_past(&mut self) -> Result<(), Stop> {
        let heaps: Vec<Heap> = self
            .knowledge
            .scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.heaps.iter().rev())
            .take(REMEMBERED)
            .cloned()
            .collect();
        heaps.iter().try_for_each(|heap| self.learn_from(heap))
    }
}
