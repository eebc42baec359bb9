//! Consequences of more than two chunks of one field: all portions of one location fit into full
//! permission.

use smt::terms::Terms;

use crate::permission::ordinary::same_arguments;
use crate::state::heap::Chunk;
use crate::{Path, Stop};

impl Path<'_> {
    /// Learns the facts that pairs do not tell. Three or more portions that fit in pairs need not
    /// fit together.
    ///
    /// PERFORMANCE: each chunk is summed up with those before it, so that one more chunk is one
    /// more sum.
    pub(super) fn learn_from_sums(&mut self, chunks: &[Chunk]) -> Result<(), Stop> {
        for (index, chunk) in chunks.iter().enumerate() {
            let mut fitting = Vec::new();
            for other in &chunks[..index] {
                let sum = self.terms.add(chunk.amount, other.amount);
                let fits = self.terms.le(sum, Terms::WRITE) != Terms::FALSE;
                if fits
                    && same_arguments(&mut self.terms, &chunk.arguments, &other.arguments)
                        != Terms::FALSE
                {
                    fitting.push(other.clone());
                }
            }
            if fitting.len() >= 2 {
                fitting.push(chunk.clone());
                let total = self.held(&fitting, &chunk.arguments);
                let bounded = self.terms.le(total, Terms::WRITE);
                self.assume(bounded)?;
            }
        }
        Ok(())
    }
}
