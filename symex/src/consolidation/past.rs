//! Consequences of the heaps of the past: facts about their shape stay true.

use crate::state::heap::{Heap, Resource};
use crate::{Configuration, Stop};

impl Configuration<'_> {
    /// Keeps the present heap, for the time when parts of it have been given away.
    pub fn remember_heap(&mut self) {
        let heap = self.here.heap.clone();
        let tells_of_locations = heap
            .resources()
            .any(|(resource, chunks)| matches!(resource, Resource::Field(_)) && chunks.len() > 1);
        let tells_of_maps = heap.quantified_resources().any(|(resource, chunks)| {
            let portions = chunks.len() + heap.of(resource).len();
            !matches!(resource, Resource::Wand(_)) && !chunks.is_empty() && portions > 1
        });
        let tells = tells_of_locations || tells_of_maps;
        if tells && self.run.is_live() {
            self.knowledge.scopes.last_mut().expect("there is a base scope").heaps.push(heap);
        }
    }

    /// Assumes the consequences of the shapes that the heap has had on this path. Each shape is
    /// learnt once, since a scope keeps its facts until it is left.
    pub(crate) fn learn_from_the_past(&mut self) -> Result<(), Stop> {
        let scopes = &self.knowledge.scopes;
        let learnt = scopes.iter().map(|scope| scope.learnt_heaps).max().unwrap_or(0);
        let heaps: Vec<Heap> =
            scopes.iter().flat_map(|scope| &scope.heaps).skip(learnt).cloned().collect();
        for heap in &heaps {
            self.learn_from(heap)?;
        }
        let innermost = self.knowledge.scopes.last_mut().expect("there is a base scope");
        innermost.learnt_heaps = learnt + heaps.len();
        Ok(())
    }
}
