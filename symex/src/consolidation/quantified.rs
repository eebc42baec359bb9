//! Consequences of the shape of a heap with quantified chunks.

use smt::terms::{Term, Terms};

use crate::permission::quantified;
use crate::permission::quantified::chunks::PortionValue;
use crate::permission::quantified::chunks::total;
use crate::state::heap::{Heap, Resource};
use crate::{Amounts, Configuration, Path, Stop};

impl Configuration<'_> {
    /// Learns from quantified chunks. All amounts of a field together are at most full permission.
    /// Two chunks agree on the values of the locations that they share.
    ///
    /// SOUNDNESS: the sum is over the chunks of one heap (trap T23).
    pub(crate) fn learn_from_quantified(&mut self, heap: &Heap) -> Result<(), Stop> {
        let resources: Vec<Resource> =
            heap.quantified_resources().map(|(resource, _)| resource).collect();
        for resource in resources {
            self.assume_sum_bounded(resource, heap)?;
            self.assume_agreement(resource, heap)?;
        }
        Ok(())
    }

    fn assume_agreement(&mut self, resource: Resource, heap: &Heap) -> Result<(), Stop> {
        // The values of wands tell nothing (trap T10e).
        if matches!(resource, Resource::Wand(_)) {
            return Ok(());
        }
        let portions = self.portions(resource, heap);
        for (index, left) in portions.iter().enumerate() {
            for right in &portions[index + 1..] {
                let PortionValue::Map(other) = right.value else { continue };
                match &left.value {
                    PortionValue::One { arguments, value } => {
                        let q = self.at(resource, right.amount, arguments);
                        let other = self.map_at(resource, other, arguments);
                        let p = self.at(resource, left.amount, arguments);
                        let fact = agree(&mut self.terms, (p, *value), (q, other));
                        self.learn_agreement(fact)?;
                    }
                    PortionValue::Map(map) if *map != other => {
                        let formals = self.formals(resource);
                        let own = self.map_at(resource, *map, &formals);
                        let other = self.map_at(resource, other, &formals);
                        let fact =
                            agree(&mut self.terms, (left.amount, own), (right.amount, other));
                        let triggers = vec![vec![own, other]];
                        let fact = self.terms.forall(
                            &formals,
                            triggers,
                            fact,
                            quantified::label("agree"),
                            1,
                        );
                        self.learn_agreement(fact)?;
                    }
                    PortionValue::Map(_) => {}
                }
            }
        }
        Ok(())
    }
}

impl Path<'_> {
    fn assume_sum_bounded(&mut self, resource: Resource, heap: &Heap) -> Result<(), Stop> {
        if !matches!(resource, Resource::Field(_)) || heap.amounts != Amounts::Exact {
            return Ok(());
        }
        let portions = self.portions(resource, heap);
        let total = total(&mut self.terms, &portions);
        let bounded = self.terms.le(total, Terms::WRITE);
        for chunk in heap.of(resource) {
            let fact = self.at(resource, bounded, &chunk.arguments);
            self.assume(fact)?;
        }
        let formals = self.formals(resource);
        // The lookup of a value is a trigger only if there is no other choice. Conditions read
        // values at inverses, and each of these would be a new location.
        let mut triggers: Vec<Vec<Term>> = Vec::new();
        for chunk in heap.quantified(resource) {
            if chunk.triggers.is_empty() {
                triggers.push(vec![self.map_at(resource, chunk.map, &formals)]);
            }
            triggers.extend(chunk.triggers.iter().cloned());
        }
        let fact = self.terms.forall(&formals, triggers, bounded, quantified::label("bounded"), 1);
        self.assume(fact)
    }
}

/// Makes the claim that portions of one location, each an amount and a value, have one value where
/// both amounts are positive (trap T2).
fn agree(terms: &mut Terms, left: (Term, Term), right: (Term, Term)) -> Term {
    let (p, q) = (terms.is_some(left.0), terms.is_some(right.0));
    let both = terms.and([p, q]);
    let equal = terms.identical(left.1, right.1);
    terms.implies(both, equal)
}
