//! Objects that are younger than the contents of predicate instances.
//!
//! A new object differs from every value of the state (trap T11). The contents of instances are
//! parts of their snapshots. These values come to light when an instance is opened, perhaps inside
//! another.
//!
//! SOUNDNESS: only snapshots of instances that were held with permission when the object was made
//! count. Of their parts, only values of locations that are held with permission where they come to
//! light count. The rest of a snapshot may be anything, even the object.

use smt::terms::{Sort, SortKind, Term, TermKind, Terms};

use crate::run::scopes::Older;
use crate::state::heap::{Heap, Resource};
use crate::{Configuration, Stop};

impl Configuration<'_> {
    /// Assumes that a new object differs from a value of the state, where `held`. The unknown parts
    /// of a snapshot are remembered.
    pub(crate) fn is_younger(&mut self, object: Term, value: Term, held: Term) -> Result<(), Stop> {
        let fact = match *self.terms.sort_kind(self.terms.sort(value)) {
            SortKind::Ref => self.terms.differs(object, value),
            SortKind::Set(element) if element == Sort::REF => {
                let member = self.terms.set_contains(object, value);
                self.terms.not(member)
            }
            SortKind::Seq(element) if element == Sort::REF => {
                let member = self.terms.seq_contains(object, value);
                self.terms.not(member)
            }
            SortKind::Snap => return self.is_younger_than_parts(object, value, held),
            _ => return Ok(()),
        };
        let fact = self.terms.implies(held, fact);
        self.assume(fact)
    }

    fn is_younger_than_parts(
        &mut self,
        object: Term,
        snapshot: Term,
        held: Term,
    ) -> Result<(), Stop> {
        match *self.terms.kind(snapshot) {
            TermKind::Unit => {}
            TermKind::Wrap(value) => self.is_younger(object, value, held)?,
            TermKind::Pair(first, second) => {
                self.is_younger(object, first, held)?;
                self.is_younger(object, second, held)?;
            }
            _ if self.run.is_live() => {
                let scope = self.knowledge.scopes.last_mut().expect("there is a base scope");
                scope.older.push(Older { object, snapshot, held });
            }
            _ => {}
        }
        Ok(())
    }

    /// Assumes that the values in an opened instance differ from younger objects. `before`: the
    /// heap without the body.
    pub(crate) fn compare_with_younger(&mut self, before: &Heap) -> Result<(), Stop> {
        let older = self.knowledge.scopes.iter().flat_map(|scope| &scope.older);
        let older: Vec<Older> = older.copied().collect();
        if older.is_empty() {
            return Ok(());
        }
        let heap = self.here.heap.clone();
        for (resource, chunks) in heap.resources() {
            if !matches!(resource, Resource::Field(_)) {
                continue;
            }
            for chunk in chunks.iter().filter(|chunk| !before.of(resource).contains(chunk)) {
                let around = snapshots_around(&self.terms, chunk.value);
                for older in older.iter().filter(|older| around.contains(&older.snapshot)) {
                    let is_held = self.terms.lt(Terms::NONE, chunk.amount);
                    let held = self.terms.and([older.held, is_held]);
                    self.is_younger(older.object, chunk.value, held)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the snapshots that a value is part of, as the form of the value tells.
fn snapshots_around(terms: &Terms, value: Term) -> Vec<Term> {
    let mut around = Vec::new();
    let mut part = value;
    while let TermKind::Unwrap(whole, _) | TermKind::First(whole) | TermKind::Second(whole) =
        *terms.kind(part)
    {
        around.push(whole);
        part = whole;
    }
    around
}
