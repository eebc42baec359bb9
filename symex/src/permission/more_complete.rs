//! The more complete exhale: permission is taken from all chunks that may be the location,
//! together.

use smt::terms::{Term, Terms};

use crate::permission::ordinary::Taken;
use crate::permission::ordinary::same_arguments;
use crate::state::heap::{Chunk, Resource};
use crate::{Configuration, Path, Stop};

impl Configuration<'_> {
    /// Takes from every chunk that may be the location until there is enough ("more complete
    /// exhale"). A proof that there is enough comes before.
    pub(super) fn take_from_all(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Taken, Stop> {
        let left = self.here.left();
        let chunks = left.of(resource);
        let value = self.summarised_value(resource, chunks, arguments)?;
        let mut need = loss;
        let mut kept = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            let part = self.terms.perm_min(chunk.amount, need);
            let part = self.terms.ite(alias, part, Terms::NONE);
            need = self.terms.sub(need, part);
            let rest = self.terms.sub(chunk.amount, part);
            if rest != Terms::NONE {
                let rest = Chunk { amount: rest, ..chunk.clone() };
                self.assume_chunk_facts(resource, &rest)?;
                kept.push(rest);
            }
        }
        drop(left);
        self.here.left_mut().set(resource, kept);
        Ok(Taken(value))
    }
}

impl Path<'_> {
    /// Returns a fresh value, which equals that of every chunk that is the location and holds
    /// permission.
    pub(super) fn summarised_value(
        &mut self,
        resource: Resource,
        chunks: &[Chunk],
        arguments: &[Term],
    ) -> Result<Term, Stop> {
        let sort = self.resource_sort(resource);
        let value = self.fresh("summary", sort);
        if matches!(resource, Resource::Wand(_)) {
            // The first chunk that is taken counts, since nothing equates the values of wands (trap
            // T10e).
            let mut first = value;
            for chunk in chunks.iter().rev() {
                let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
                let positive = self.terms.lt(Terms::NONE, chunk.amount);
                let meant = self.terms.and([alias, positive]);
                first = self.terms.ite(meant, chunk.value, first);
            }
            return Ok(first);
        }
        for chunk in chunks {
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            let positive = self.terms.lt(Terms::NONE, chunk.amount);
            let meant = self.terms.and([alias, positive]);
            let equal = self.terms.identical(value, chunk.value);
            let fact = self.terms.implies(meant, equal);
            self.assume(fact)?;
        }
        Ok(value)
    }
}
