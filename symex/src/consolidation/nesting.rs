//! Consequences for references of nested predicate instances, and of permission held before.
//!
//! An instance that is folded or unfolded still exists, with its contents, until a location changes
//! its value or is given away. For that time, an EPOCH, the snapshot of each instance is a function
//! of the predicate's arguments. An instance inside another one of the same predicate has a
//! snapshot that is a proper part of the other's. Datatypes are acyclic, so the arguments are
//! different.
//!
//! SOUNDNESS: the function takes the epoch, so that no fact is about two moments together. The
//! epoch of a merged heap is that of the side taken. Two references of which more than full
//! permission was held together stay different, even after the permission is given away.

use sil::program::PredicateId;
use smt::terms::{Sort, Term, Terms};

use crate::permission::ordinary::same_arguments;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::whole::Fact;
use crate::{Configuration, Path, Stop};

impl Configuration<'_> {
    /// Begins a time in which locations may have new values.
    pub fn begin_epoch(&mut self) {
        if self.of_program(Fact::SomeAreRecursive) {
            self.here.heap.epoch = Some(self.fresh("epoch", Sort::INT));
        }
    }

    /// Notes that an instance is part of the heap in this epoch, folded or not, where the amount is
    /// positive.
    pub(crate) fn note_instance(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        snapshot: Term,
        amount: Term,
    ) -> Result<(), Stop> {
        let epoch = self.here.heap.epoch;
        self.note_instance_at(epoch, predicate, arguments, snapshot, amount)
    }

    /// Notes the instances that an unfolding has brought to light. `before`: the heap without the
    /// body.
    pub(crate) fn note_opened(
        &mut self,
        before: &Heap,
        predicate: PredicateId,
        arguments: &[Term],
        snapshot: Term,
    ) -> Result<(), Stop> {
        if !self.of_program(Fact::IsRecursive(predicate)) {
            return Ok(());
        }
        for (inner, chunk) in instances(&self.here.heap) {
            if !self.terms.contains(chunk.value, snapshot) {
                continue;
            }
            self.note_instance(inner, &chunk.arguments, chunk.value, chunk.amount)?;
            if inner == predicate && chunk.value == snapshot {
                // The body is just another instance, whose snapshot is no smaller.
                let resource = Resource::Predicate(inner);
                let rest = before.of(resource).iter().find(|it| it.arguments == chunk.arguments);
                // SOUNDNESS: the rest of the unfolded instance is not inside of it.
                let inside =
                    self.terms.sub(chunk.amount, rest.map_or(Terms::NONE, |rest| rest.amount));
                let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
                let held = self.terms.lt(Terms::NONE, inside);
                let different = self.terms.not(alias);
                let fact = self.terms.implies(held, different);
                self.assume(fact)?;
            }
        }
        Ok(())
    }

    /// Notes the instances that were in a heap and are inside others now.
    pub(crate) fn note_enclosed(&mut self, before: &Heap) -> Result<(), Stop> {
        for (predicate, chunk) in instances(before) {
            if !self.here.heap.of(Resource::Predicate(predicate)).contains(&chunk) {
                let Chunk { arguments, value, amount } = chunk;
                self.note_instance(predicate, &arguments, value, amount)?;
            }
        }
        Ok(())
    }
}

impl Path<'_> {
    fn note_instance_at(
        &mut self,
        epoch: Option<Term>,
        predicate: PredicateId,
        arguments: &[Term],
        snapshot: Term,
        amount: Term,
    ) -> Result<(), Stop> {
        let Some(epoch) = epoch else { return Ok(()) };
        if !self.of_program(Fact::IsRecursive(predicate)) {
            return Ok(());
        }
        let mut operands = vec![epoch];
        operands.extend(arguments);
        let sorts: Vec<_> = operands.iter().map(|&operand| self.terms.sort(operand)).collect();
        let name = format!("{}%in", self.program.predicates[predicate].name);
        let symbol = self.terms.declare_mark(&name, &sorts, Sort::SNAP);
        let own = self.terms.apply(symbol, &operands);
        let equal = self.terms.identical(own, snapshot);
        let held = self.terms.lt(Terms::NONE, amount);
        let fact = self.terms.implies(held, equal);
        self.assume(fact)
    }

    /// Notes all instances that are chunks of a heap.
    pub(crate) fn note_instances_of(&mut self, heap: &Heap) -> Result<(), Stop> {
        for (predicate, chunk) in instances(heap) {
            let Chunk { arguments, value, amount } = chunk;
            self.note_instance_at(heap.epoch, predicate, &arguments, value, amount)?;
        }
        Ok(())
    }
}

/// Returns the predicate instances among the chunks of a heap.
fn instances(heap: &Heap) -> Vec<(PredicateId, Chunk)> {
    let mut all = Vec::new();
    for (resource, chunks) in heap.resources() {
        if let Resource::Predicate(predicate) = resource {
            all.extend(chunks.iter().map(|chunk| (predicate, chunk.clone())));
        }
    }
    all
}
