//! The symbolic heap h: chunks of permission, grouped by resource.

use std::collections::BTreeMap;
use std::rc::Rc;

use sil::program::{FieldId, PredicateId};
use smt::terms::Term;

use crate::Amounts;
use crate::state::quantified::QuantifiedChunk;

/// A resource to which permission can be held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Resource {
    Field(FieldId),
    Predicate(PredicateId),
    /// An index into the wand structures of the engine.
    Wand(usize),
}

/// A chunk: `r.f ↦ v # p` or `P(args; s) # p`.
///
/// SOUNDNESS: the value means something only where the amount is positive (trap T2).
#[derive(Clone, PartialEq, Debug)]
pub struct Chunk {
    /// The receiver, or the arguments of the predicate.
    pub arguments: Vec<Term>,
    /// The field's value, or the snapshot of the predicate instance.
    pub value: Term,
    pub amount: Term,
}

/// A multiset of chunks: two equal chunks are two portions (trap T13). Cloning is cheap.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Heap {
    /// The name of the time during which no location of the heap changes its value; `None` if this
    /// time is not tracked.
    pub(crate) epoch: Option<Term>,
    /// The reading of the amounts. Sums tell something only about exact ones (trap T8).
    pub amounts: Amounts,
    chunks: Rc<BTreeMap<Resource, Rc<Vec<Chunk>>>>,
    quantified: Rc<BTreeMap<Resource, Rc<Vec<QuantifiedChunk>>>>,
}

impl Heap {
    /// Makes an empty heap in which sums of amounts tell nothing.
    pub fn inexact() -> Self {
        Self { amounts: Amounts::SomeOrNone, ..Self::default() }
    }

    /// Makes an empty heap for chunks of both heaps.
    pub fn for_parts_of(left: &Self, right: &Self) -> Self {
        Self { amounts: left.amounts.weaker(right.amounts), ..Self::default() }
    }

    /// Returns the chunks of a resource, in the order they came.
    pub fn of(&self, resource: Resource) -> &[Chunk] {
        self.chunks.get(&resource).map_or(&[], |chunks| chunks.as_slice())
    }

    /// Lists the resources that have chunks, with these.
    pub fn resources(&self) -> impl Iterator<Item = (Resource, &[Chunk])> {
        self.chunks.iter().map(|(resource, chunks)| (*resource, chunks.as_slice()))
    }

    /// Replaces all chunks of a resource.
    pub fn set(&mut self, resource: Resource, chunks: Vec<Chunk>) {
        Rc::make_mut(&mut self.chunks).insert(resource, Rc::new(chunks));
    }

    /// Takes over the chunks of a resource, if two heaps share them. Tells whether they do.
    pub(crate) fn shares(&mut self, resource: Resource, left: &Self, right: &Self) -> bool {
        match (left.chunks.get(&resource), right.chunks.get(&resource)) {
            (Some(chunks), Some(others)) if Rc::ptr_eq(chunks, others) => {
                Rc::make_mut(&mut self.chunks).insert(resource, Rc::clone(chunks));
                true
            }
            _ => false,
        }
    }

    /// Returns the quantified chunks of a resource, in the order they came.
    pub fn quantified(&self, resource: Resource) -> &[QuantifiedChunk] {
        self.quantified.get(&resource).map_or(&[], |chunks| chunks.as_slice())
    }

    /// Lists the resources that have quantified chunks, with these.
    pub fn quantified_resources(&self) -> impl Iterator<Item = (Resource, &[QuantifiedChunk])> {
        self.quantified.iter().map(|(resource, chunks)| (*resource, chunks.as_slice()))
    }

    /// Replaces all quantified chunks of a resource.
    pub fn set_quantified(&mut self, resource: Resource, chunks: Vec<QuantifiedChunk>) {
        Rc::make_mut(&mut self.quantified).insert(resource, Rc::new(chunks));
    }

    /// Replaces all chunks of a resource, of both kinds.
    pub fn set_both(
        &mut self,
        resource: Resource,
        chunks: Vec<Chunk>,
        quantified: Vec<QuantifiedChunk>,
    ) {
        self.set(resource, chunks);
        self.set_quantified(resource, quantified);
    }

    /// Adds a quantified chunk, as the last one.
    pub fn push_quantified(&mut self, resource: Resource, chunk: QuantifiedChunk) {
        let chunks = Rc::make_mut(&mut self.quantified).entry(resource).or_default();
        Rc::make_mut(chunks).push(chunk);
    }

    /// Adds a chunk, as the last one.
    pub fn push(&mut self, resource: Resource, chunk: Chunk) {
        let chunks = Rc::make_mut(&mut self.chunks).entry(resource).or_default();
        Rc::make_mut(chunks).push(chunk);
    }

    /// Replaces the chunk at `index`, or removes it if `chunk` is `None`.
    pub(crate) fn replace(&mut self, resource: Resource, index: usize, chunk: Option<Chunk>) {
        let chunks = Rc::make_mut(&mut self.chunks).entry(resource).or_default();
        let chunks = Rc::make_mut(chunks);
        match chunk {
            Some(chunk) => chunks[index] = chunk,
            None => {
                chunks.remove(index);
            }
        }
    }

    /// Tells whether both heaps are the same version, so that facts about one are facts about the
    /// other.
    pub fn same_version(&self, other: &Self) -> bool {
        self.epoch == other.epoch
            && self.amounts == other.amounts
            && Rc::ptr_eq(&self.chunks, &other.chunks)
            && Rc::ptr_eq(&self.quantified, &other.quantified)
    }
}
