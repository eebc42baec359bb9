//! Quantified chunks, and ordinary ones in the same form.

use smt::terms::{Sort, Term, Terms};

use crate::permission::ordinary::same_arguments;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::{Configuration, Symbols};

/// The amount and the value that one chunk, of either kind, gives to every location of its
/// resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Portion {
    /// The amount, over the formals of the resource.
    pub(crate) amount: Term,
    pub(crate) value: PortionValue,
    /// See [`QuantifiedChunk::domain`].
    pub(crate) domain: Option<Term>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum PortionValue {
    Map(Term),
    One { arguments: Vec<Term>, value: Term },
}

impl Symbols<'_> {
    /// Makes the claim r = arguments, over the formals.
    pub fn is_location(&mut self, resource: Resource, arguments: &[Term]) -> Term {
        let formals = self.formals(resource);
        same_arguments(&mut self.terms, &formals, arguments)
    }

    /// Returns an ordinary chunk's amount as a function of the location.
    pub(crate) fn spread(&mut self, resource: Resource, chunk: &Chunk) -> Term {
        let is_it = self.is_location(resource, &chunk.arguments);
        self.terms.ite(is_it, chunk.amount, Terms::NONE)
    }

    /// Returns all chunks of a resource, ordinary ones first.
    pub(crate) fn portions(&mut self, resource: Resource, heap: &Heap) -> Vec<Portion> {
        let mut portions = Vec::new();
        for chunk in heap.of(resource) {
            let amount = self.spread(resource, chunk);
            let value =
                PortionValue::One { arguments: chunk.arguments.clone(), value: chunk.value };
            portions.push(Portion { amount, value, domain: None });
        }
        for chunk in heap.quantified(resource) {
            portions.push(Portion {
                amount: chunk.amount,
                value: PortionValue::Map(chunk.map),
                domain: chunk.domain,
            });
        }
        portions
    }
}

impl Configuration<'_> {
    /// Returns the portions from which the value of a location is read, the first choice first. An
    /// assertion that frames itself gives permission to everything that it reads, so its own
    /// portions come first.
    pub(crate) fn readable_portions(
        &mut self,
        resource: Resource,
        heap: &Heap,
    ) -> Vec<Vec<Portion>> {
        let all = self.portions(resource, heap);
        let Some(others) = self.frame.without_own.clone() else { return vec![all] };
        let others = self.portions(resource, &others);
        let is_own = |portion: &Portion| match portion.value {
            PortionValue::Map(map) => {
                others.iter().all(|other| other.value != PortionValue::Map(map))
            }
            PortionValue::One { .. } => !others.contains(portion),
        };
        let own: Vec<Portion> = all.iter().filter(|&portion| is_own(portion)).cloned().collect();
        if own.is_empty() || own.len() == all.len() { vec![all] } else { vec![own, all] }
    }
}

/// Returns Σ of the portions' amounts at the formals.
pub(crate) fn total(terms: &mut Terms, portions: &[Portion]) -> Term {
    terms.sum(Sort::PERM, portions.iter().map(|portion| portion.amount))
}
