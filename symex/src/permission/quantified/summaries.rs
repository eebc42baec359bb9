//! Values as maps: one sort of maps for each resource, and summaries of the values of several
//! chunks.

use std::collections::BTreeSet;

use smt::terms::{Sort, Term, TermKind, Terms};

use crate::permission::quantified;
use crate::permission::quantified::chunks::total;
use crate::permission::quantified::chunks::{Portion, PortionValue};
use crate::quantifiers::occurring;
use crate::state::heap::{Heap, Resource};
use crate::{Configuration, Path, Stop, Symbols};

/// The identity of a summary: the portions, and the domain of its definition, if it has one.
pub(crate) type Key = (Resource, Vec<Portion>, Option<Term>);

impl Symbols<'_> {
    /// Makes the claim arguments ∈ dom(map).
    fn map_defines(&mut self, resource: Resource, map: Term, arguments: &[Term]) -> Term {
        let mut sorts = vec![self.map_sort(resource)];
        sorts.extend(self.argument_sorts(resource));
        let name = format!("defined.{}", self.resource_name(resource));
        let symbol = self.terms.declare_function(&name, &sorts, Sort::BOOL);
        let operands: Vec<Term> = std::iter::once(map).chain(arguments.iter().copied()).collect();
        self.terms.apply(symbol, &operands)
    }

    /// Makes the claim that the map has a domain. Its values outside do not count.
    fn has_domain(&mut self, resource: Resource, map: Term) -> Term {
        let sort = self.map_sort(resource);
        let name = format!("partial.{}", self.resource_name(resource));
        let symbol = self.terms.declare_function(&name, &[sort], Sort::BOOL);
        self.terms.apply(symbol, &[map])
    }
}

impl Configuration<'_> {
    /// Returns a map with the values of all portions wherever these hold permission.
    pub(crate) fn summary(
        &mut self,
        resource: Resource,
        portions: &[Portion],
    ) -> Result<Term, Stop> {
        if let [Portion { value: PortionValue::Map(map), .. }] = *portions {
            return Ok(map);
        }
        let (map, _) = self.summary_symbol((resource, portions.to_vec(), None));
        self.use_touch(resource)?;
        self.assume_values(resource, map, portions, Terms::TRUE)?;
        self.export_values(resource, map, portions, Terms::TRUE);
        Ok(map)
    }

    /// Defines the summaries of some fields in several heaps, the present one first.
    pub fn summaries_of(&mut self, fields: BTreeSet<Resource>, heaps: &[Heap]) -> Result<(), Stop> {
        if self.mode.in_trigger {
            return Ok(());
        }
        for resource in fields {
            for (index, heap) in heaps.iter().enumerate() {
                if !heap.quantified(resource).is_empty() {
                    let portions = match index {
                        0 => self.readable_portions(resource, heap).swap_remove(0),
                        _ => self.portions(resource, heap),
                    };
                    self.summary(resource, &portions)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the value of a location, according to all portions.
    pub(crate) fn summary_at(
        &mut self,
        resource: Resource,
        portions: &[Portion],
        arguments: &[Term],
    ) -> Result<Term, Stop> {
        if let [Portion { value: PortionValue::One { value, .. }, .. }] = *portions {
            return Ok(value);
        }
        let map = self.summary(resource, portions)?;
        Ok(self.map_at(resource, map, arguments))
    }

    /// Returns the snapshot of a quantified permission: a map that is defined where `amount`, over
    /// the formals, is positive, and has the values of the portions there. Equal values there make
    /// equal maps.
    ///
    /// SOUNDNESS: a proof that the portions hold permission wherever the amount is positive comes
    /// before.
    pub(crate) fn partial_summary(
        &mut self,
        resource: Resource,
        portions: &[Portion],
        amount: Term,
    ) -> Result<Term, Stop> {
        let domain = self.terms.is_some(amount);
        if let Some(map) = self.own_map(resource, portions, domain)? {
            return Ok(map);
        }
        let (map, is_needed) = self.summary_symbol((resource, portions.to_vec(), Some(domain)));
        if !is_needed {
            return Ok(map);
        }
        self.assume_values(resource, map, portions, domain)?;
        self.export_values(resource, map, portions, domain);
        let formals = self.formals(resource);
        let value = self.map_at(resource, map, &formals);
        let total = total(&mut self.terms, portions);
        let held = self.terms.is_some(total);
        let held = self.terms.implies(domain, held);
        let axiom =
            self.terms.forall(&formals, vec![vec![value]], held, quantified::label("held"), 1);
        self.assume(axiom)?;
        for definition in self.define_domain(resource, map, domain)? {
            self.define_outside(map, definition);
        }
        Ok(map)
    }

    /// Returns the map of a portion that is still as it came, if it has exactly this domain. So a
    /// permission that is given away and received again, or given to several functions, has one
    /// snapshot.
    ///
    /// SOUNDNESS: the map came with the permission, and only its values there are known. So it may
    /// count as a map that is defined there and nowhere else, on the path on which it came. On
    /// another path the snapshot may be the map of other locations, so no such fact leaves the path
    /// (trap T26). Parts that hold permission to the same locations have the same values there,
    /// which those of wands need not (trap T10e).
    ///
    /// COMPLETENESS: of several maps, the one that came with the left-hand side of a wand is the
    /// last choice (see [`Path::is_known_outside`]).
    fn own_map(
        &mut self,
        resource: Resource,
        portions: &[Portion],
        domain: Term,
    ) -> Result<Option<Term>, Stop> {
        if matches!(resource, Resource::Wand(_)) {
            return Ok(None);
        }
        let mut candidates = Vec::new();
        for portion in portions {
            let PortionValue::Map(map) = portion.value else { continue };
            if portion.domain == Some(domain) && self.terms.is_some(portion.amount) == domain {
                candidates.push(map);
            }
        }
        let own = candidates
            .iter()
            .copied()
            .min_by_key(|&map| self.terms.mentions(map, &self.mode.roots));
        let Some(own) = own else { return Ok(None) };
        if self.here.may_transfer() && candidates.len() > 1 {
            let formals = self.formals(resource);
            let value = self.map_at(resource, own, &formals);
            for &map in candidates.iter().filter(|&&map| map != own) {
                let other = self.map_at(resource, map, &formals);
                let equal = self.terms.identical(value, other);
                let equal = self.terms.implies(domain, equal);
                let triggers = vec![vec![value], vec![other]];
                let fact =
                    self.terms.forall(&formals, triggers, equal, quantified::label("value"), 1);
                self.learn_agreement(fact)?;
            }
        }
        if self.frame.assertion.keeps_snapshots {
            self.define_domain(resource, own, domain)?;
        }
        Ok(Some(own))
    }

    /// Returns the symbol of a summary, applied to the bound variables that occur in it. Also tells
    /// whether its definition is needed.
    fn summary_symbol(&mut self, key: Key) -> (Term, bool) {
        let resource = key.0;
        let mut mentioned: Vec<Term> = key.2.into_iter().collect();
        for portion in &key.1 {
            mentioned.push(portion.amount);
            match &portion.value {
                PortionValue::Map(map) => mentioned.push(*map),
                PortionValue::One { arguments, value } => {
                    mentioned.extend(arguments);
                    mentioned.push(*value);
                }
            }
        }
        let sort = self.map_sort(resource);
        let outer = occurring(&self.terms, &self.mode.bound, &mentioned);
        let (number, _) = self.made.quantified.summaries.insert_full(key);
        let sorts: Vec<Sort> = outer.iter().map(|&term| self.terms.sort(term)).collect();
        let name = format!("{}.summary{number}@qp", self.resource_name(resource));
        let symbol = self.terms.declare_fresh(&name, &sorts, sort);
        (self.terms.apply(symbol, &outer), self.frame.assertion.keeps_snapshots)
    }

    /// Assumes ∀r. domain ∧ amount_i(r) > 0 ⇒ map@r = value_i(r), for each portion.
    ///
    /// SOUNDNESS: a value counts only where its amount is positive (trap T2).
    fn assume_values(
        &mut self,
        resource: Resource,
        map: Term,
        portions: &[Portion],
        domain: Term,
    ) -> Result<(), Stop> {
        let formals = self.formals(resource);
        let mut open = domain;
        for portion in portions {
            let some = self.terms.is_some(portion.amount);
            let counts = self.terms.and([open, some]);
            if matches!(resource, Resource::Wand(_)) {
                // The first portion with permission counts, since nothing equates the values of
                // wands (trap T10e).
                let nothing = self.terms.not(some);
                open = self.terms.and([open, nothing]);
            }
            match &portion.value {
                PortionValue::One { arguments, value } => {
                    let counts = self.at(resource, counts, arguments);
                    let own = self.map_at(resource, map, arguments);
                    let equal = self.terms.identical(own, *value);
                    let fact = self.terms.implies(counts, equal);
                    self.learn_agreement(fact)?;
                }
                PortionValue::Map(values) => {
                    let own = self.map_at(resource, map, &formals);
                    let value = self.map_at(resource, *values, &formals);
                    let equal = self.terms.identical(own, value);
                    let fact = self.terms.implies(counts, equal);
                    let triggers = vec![vec![own], vec![value]];
                    let fact =
                        self.terms.forall(&formals, triggers, fact, quantified::label("value"), 1);
                    self.learn_agreement(fact)?;
                }
            }
        }
        Ok(())
    }

    /// Exports the definition of a map to the packages around.
    ///
    /// SOUNDNESS: the agreement of several portions is a fact, not a definition, and stays inside
    /// (trap T10d). Each portion counts only where those before it hold nothing. COMPLETENESS: the
    /// portions of the left-hand side come last (see [`Path::is_known_outside`]).
    fn export_values(&mut self, resource: Resource, map: Term, portions: &[Portion], domain: Term) {
        if !self.here.may_transfer() && self.mode.bound.is_empty() {
            return;
        }
        let formals = self.formals(resource);
        let mut open = domain;
        let mut ordered: Vec<&Portion> = portions.iter().collect();
        if !matches!(resource, Resource::Wand(_)) {
            ordered.sort_by_key(|portion| {
                let (PortionValue::Map(value) | PortionValue::One { value, .. }) = portion.value;
                self.terms.mentions(value, &self.mode.roots)
            });
        }
        for portion in ordered {
            let some = self.terms.is_some(portion.amount);
            let counts = self.terms.and([open, some]);
            let nothing = self.terms.not(some);
            open = self.terms.and([open, nothing]);
            let own = self.map_at(resource, map, &formals);
            let value = match portion.value {
                PortionValue::Map(values) => self.map_at(resource, values, &formals),
                PortionValue::One { value, .. } => value,
            };
            let equal = self.terms.identical(own, value);
            let fact = self.terms.implies(counts, equal);
            let fact =
                self.terms.forall(&formals, vec![vec![own]], fact, quantified::label("value"), 1);
            self.define_outside(map, fact);
        }
    }

    /// Tells the definition of a map to the packages and quantifiers around.
    ///
    /// SOUNDNESS: `definition` has to be true of some value of the map, whatever holds around.
    fn define_outside(&mut self, map: Term, definition: Term) {
        self.export_definition(map, definition);
        if !self.mode.bound.is_empty() {
            self.gathered.below.push(definition);
        }
    }
}

impl Path<'_> {
    /// Assumes that a map is defined exactly where `domain`, over the formals, holds. Returns the
    /// assumed facts.
    fn define_domain(
        &mut self,
        resource: Resource,
        map: Term,
        domain: Term,
    ) -> Result<[Term; 2], Stop> {
        let formals = self.formals(resource);
        let defined = self.map_defines(resource, map, &formals);
        let definition = self.terms.iff(defined, domain);
        let axiom = self.terms.forall(
            &formals,
            vec![vec![defined]],
            definition,
            quantified::label("domain"),
            1,
        );
        self.assume(axiom)?;
        let partial = self.has_domain(resource, map);
        self.assume(partial)?;
        self.use_touch(resource)?;
        self.use_extensionality(resource)?;
        Ok([axiom, partial])
    }

    /// Tells whether a fact learnt below a quantifier is known without its premises.
    pub(crate) fn is_known_around(&self, fact: Term) -> bool {
        match *self.terms.kind(fact) {
            TermKind::Implies(_, fact) => self.is_known_around(fact),
            _ => self.knowledge.known.contains(&fact),
        }
    }

    /// Ends a quantifier over `variables`. The definitions made below it since `first` that do not
    /// depend on its variables hold around it too, even without an instance of its body.
    pub fn release_met_below(&mut self, first: usize, variables: &[Term]) -> Result<(), Stop> {
        let met = self.gathered.below.split_off(first);
        for definition in met {
            if !occurring(&self.terms, variables, &[definition]).is_empty() {
                continue;
            }
            self.assume(definition)?;
            if !self.mode.bound.is_empty() {
                self.gathered.below.push(definition);
            }
        }
        Ok(())
    }

    /// Adds the axiom that maps with the same domain and the same values there are equal.
    fn use_extensionality(&mut self, resource: Resource) -> Result<(), Stop> {
        let sort = self.map_sort(resource);
        let formals = self.formals(resource);
        let (a, b) =
            (self.terms.named_variable("map%0", sort), self.terms.named_variable("map%1", sort));
        let triggers = vec![vec![self.has_domain(resource, a), self.has_domain(resource, b)]];
        let (in_a, in_b) =
            (self.map_defines(resource, a, &formals), self.map_defines(resource, b, &formals));
        let (at_a, at_b) = (self.map_at(resource, a, &formals), self.map_at(resource, b, &formals));
        let same_domain = self.terms.iff(in_a, in_b);
        let same_value = self.terms.identical(at_a, at_b);
        let same_value = self.terms.implies(in_a, same_value);
        let same = self.terms.and([same_domain, same_value]);
        let alike = self.terms.forall(
            &formals,
            vec![vec![in_a, in_b], vec![at_a, at_b]],
            same,
            quantified::label("alike"),
            1,
        );
        let equal = self.terms.identical(a, b);
        let axiom = self.terms.implies(alike, equal);
        let axiom =
            self.terms.forall(&[a, b], triggers, axiom, quantified::label("extensional"), 1);
        self.prover.add_axiom(axiom);
        Ok(())
    }
}
