//! Quantified chunks, and ordinary ones seen like them.

#[cfg(test)]
mod tests;

use smt::terms::{Sort, Term, TermKind, Terms};

use crate::engine::Engine;
use crate::engine::state::heap::{Chunk, Heap, Resource};

/// What one chunk, of either kind, says about every location of its resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Part {
    /// Over the formals of the resource.
    pub(crate) amount: Term,
    pub(crate) value: PartValue,
    /// See [`QuantifiedChunk::domain`].
    pub(crate) domain: Option<Term>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum PartValue {
    Map(Term),
    One { arguments: Vec<Term>, value: Term },
}

/// What becomes of an amount when some is taken from it.
pub(crate) struct Split {
    pub(crate) taken: Term,
    pub(crate) rest: Term,
    /// What is still to be taken elsewhere.
    pub(crate) need: Term,
}

impl Engine<'_> {
    /// r = arguments, over the formals.
    pub(crate) fn is_location(&mut self, resource: Resource, arguments: &[Term]) -> Term {
        let formals = self.formals(resource);
        self.same_arguments(&formals, arguments)
    }

    /// An ordinary chunk's amount as a function of the location.
    pub(crate) fn spread(&mut self, resource: Resource, chunk: &Chunk) -> Term {
        let is_it = self.is_location(resource, &chunk.arguments);
        let none = self.terms.none();
        self.terms.ite(is_it, chunk.amount, none)
    }

    /// All chunks of a resource, ordinary ones first.
    pub(crate) fn parts(&mut self, resource: Resource, heap: &Heap) -> Vec<Part> {
        let mut parts = Vec::new();
        for chunk in heap.of(resource) {
            let amount = self.spread(resource, chunk);
            let value = PartValue::One { arguments: chunk.arguments.clone(), value: chunk.value };
            parts.push(Part { amount, value, domain: None });
        }
        for chunk in heap.quantified(resource) {
            parts.push(Part {
                amount: chunk.amount,
                value: PartValue::Map(chunk.map),
                domain: chunk.domain,
            });
        }
        parts
    }

    /// The parts that the value of a location is read from, those to be tried first coming first: what an assertion that
    /// frames itself reads, it gives permission to, whatever else there is.
    pub(crate) fn readable_parts(&mut self, resource: Resource, heap: &Heap) -> Vec<Vec<Part>> {
        let all = self.parts(resource, heap);
        let Some(others) = self.state.without_own.clone() else { return vec![all] };
        let others = self.parts(resource, &others);
        let is_own = |part: &Part| match part.value {
            PartValue::Map(map) => others.iter().all(|other| other.value != PartValue::Map(map)),
            PartValue::One { .. } => !others.contains(part),
        };
        let own: Vec<Part> = all.iter().filter(|&part| is_own(part)).cloned().collect();
        if own.is_empty() || own.len() == all.len() { vec![all] } else { vec![own, all] }
    }

    /// Σ of the parts' amounts at the formals.
    pub(crate) fn total(&mut self, parts: &[Part]) -> Term {
        self.terms.sum(Sort::PERM, parts.iter().map(|part| part.amount))
    }

    /// Whether an amount is none.
    pub(crate) fn is_none(&mut self, amount: Term) -> Term {
        let none = self.terms.none();
        match *self.terms.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == none => {
                let inner = self.is_none(then);
                let outside = self.terms.not(condition);
                self.terms.or([outside, inner])
            }
            _ => self.terms.identical(amount, none),
        }
    }

    /// Whether an amount is positive.
    pub(crate) fn is_some(&mut self, amount: Term) -> Term {
        let none = self.terms.none();
        match *self.terms.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == none => {
                let inner = self.is_some(then);
                self.terms.and([condition, inner])
            }
            _ => self.terms.lt(none, amount),
        }
    }

    /// As much as possible of `need` taken from `available`, neither being negative. Amounts under a condition stay so:
    /// what is asked about them later is mostly propositional.
    pub(crate) fn split_amount(&mut self, available: Term, need: Term) -> Split {
        let none = self.terms.none();
        let (there, p) = self.conditional(available);
        let (wanted, q) = self.conditional(need);
        let both = self.terms.and([there, wanted]);
        let (not_there, not_wanted) = (self.terms.not(there), self.terms.not(wanted));
        let only_there = self.terms.and([there, not_wanted]);
        let only_wanted = self.terms.and([wanted, not_there]);
        if p == q {
            return Split {
                taken: self.terms.ite(both, p, none),
                rest: self.terms.ite(only_there, p, none),
                need: self.terms.ite(only_wanted, q, none),
            };
        }
        let part = self.terms.perm_min(p, q);
        let (rest, need) = (self.terms.sub(p, part), self.terms.sub(q, part));
        let rest = self.terms.ite(wanted, rest, p);
        let need = self.terms.ite(there, need, q);
        Split {
            taken: self.terms.ite(both, part, none),
            rest: self.terms.ite(there, rest, none),
            need: self.terms.ite(wanted, need, none),
        }
    }

    /// An amount as a condition and what there is under it.
    fn conditional(&mut self, amount: Term) -> (Term, Term) {
        let none = self.terms.none();
        match *self.terms.kind(amount) {
            TermKind::Ite(condition, then, otherwise) if otherwise == none => (condition, then),
            TermKind::Ite(condition, then, otherwise) if then == none => {
                (self.terms.not(condition), otherwise)
            }
            _ => (Terms::TRUE, amount),
        }
    }
}
