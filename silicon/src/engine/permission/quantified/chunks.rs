//! Quantified chunks, and ordinary ones seen like them.

#[cfg(test)]
mod tests;

use smt::terms::{Sort, Substitution, Term, TermKind, Terms};

use crate::engine::Engine;
use crate::engine::permission::heap::{Chunk, Heap, Resource};
use crate::engine::rules::quantified::access::{Access, Footprint};

/// `∀r. r.f ↦ map@r # amount(r)`, or the same for a predicate and its tuples of arguments.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QuantifiedChunk {
    /// Over the formals of the resource; `ite(condition, amount, none)` where there is a condition.
    ///
    /// Invariant: not negative.
    pub(crate) amount: Term,
    /// The values, where the amount is positive.
    pub(crate) map: Term,
    /// Over the formals: where the map is defined, if it was made for this permission and is nothing but its values.
    /// Such a map is the snapshot of all that is there.
    pub(crate) domain: Option<Term>,
    /// Terms over the formals that say that a location matters to the chunk.
    pub(crate) triggers: Vec<Vec<Term>>,
    /// The receiver expression as written: chunks with the same one are tried first.
    pub(crate) shape: Vec<Term>,
}

impl QuantifiedChunk {
    pub(crate) fn new(access: &Access, footprint: Footprint, map: Term) -> Self {
        Self {
            amount: footprint.amount,
            map,
            domain: None,
            triggers: footprint.triggers,
            shape: access.arguments.clone(),
        }
    }
}

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
    /// The sorts of a resource's receiver or arguments.
    pub(crate) fn argument_sorts(&mut self, resource: Resource) -> Vec<Sort> {
        match resource {
            Resource::Field(_) => vec![Sort::REF],
            Resource::Predicate(predicate) => {
                let program = self.program;
                let declaration = &program.predicates[predicate];
                declaration
                    .formals
                    .iter()
                    .map(|&formal| self.sort(&declaration.locals[formal].ty))
                    .collect()
            }
            Resource::Wand(index) => self.made.wands[index].clone(),
        }
    }

    /// The variables that stand for a location in quantified chunks.
    pub(crate) fn formals(&mut self, resource: Resource) -> Vec<Term> {
        let sorts = self.argument_sorts(resource);
        sorts
            .into_iter()
            .enumerate()
            .map(|(position, sort)| self.terms.named_variable(&format!("r%{position}"), sort))
            .collect()
    }

    /// A term over the formals, about one location.
    pub(crate) fn at(&mut self, resource: Resource, term: Term, arguments: &[Term]) -> Term {
        let formals = self.formals(resource);
        let map: Substitution = formals.into_iter().zip(arguments.iter().copied()).collect();
        self.terms.substitute(term, &map)
    }

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
