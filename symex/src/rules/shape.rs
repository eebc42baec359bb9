//! The shape of snapshots, for `produce` and `consume` alike.
//!
//! `produce` takes snapshots apart as `consume` puts them together. Both ask here. No other module
//! makes pairs or assumes that a snapshot is one.

use smt::terms::{Sort, Term, Terms};

use crate::{Path, Stop};

/// A snapshot that is being taken apart.
pub struct Rest {
    snapshot: Option<Term>,
    parts: usize,
}

impl Path<'_> {
    /// Begins to take apart a snapshot of `parts` parts.
    pub fn rest(&mut self, snapshot: Option<Term>, parts: usize) -> Result<Rest, Stop> {
        if parts == 0 {
            self.assume_unit(snapshot)?;
        }
        Ok(Rest { snapshot, parts })
    }

    /// Returns the next part of a snapshot, by the shape that [`assembled`] gives it.
    pub fn next_part(&mut self, rest: &mut Rest) -> Result<Option<Term>, Stop> {
        rest.parts = rest.parts.checked_sub(1).expect("there are as many parts as counted");
        let Some(snapshot) = rest.snapshot.take() else { return Ok(None) };
        if rest.parts == 0 {
            return Ok(Some(snapshot));
        }
        let is_pair = self.terms.is_pair(snapshot);
        self.assume(is_pair)?;
        rest.snapshot = Some(self.terms.snd(snapshot));
        Ok(Some(self.terms.fst(snapshot)))
    }

    /// Returns the value that a snapshot holds; without a snapshot, a fresh value with that name.
    pub fn value_of_snapshot(
        &mut self,
        snapshot: Option<Term>,
        sort: Sort,
        name: impl FnOnce(&Self) -> String,
    ) -> Result<Term, Stop> {
        let Some(snapshot) = snapshot else {
            let name = name(self);
            return Ok(self.fresh(&name, sort));
        };
        let wrapped = self.terms.is_wrapped(snapshot, sort);
        self.assume(wrapped)?;
        Ok(self.terms.snap_unwrap(snapshot, sort))
    }

    /// Assumes that a snapshot is that of an assertion without permission.
    pub fn assume_unit(&mut self, snapshot: Option<Term>) -> Result<(), Stop> {
        let Some(snapshot) = snapshot else { return Ok(()) };
        let fact = self.terms.is_unit(snapshot);
        self.assume(fact)
    }
}

/// Returns the snapshot that has these parts.
pub fn assembled(terms: &mut Terms, mut parts: Vec<Term>) -> Term {
    let Some(last) = parts.pop() else { return terms.unit() };
    parts.into_iter().rev().fold(last, |rest, part| terms.pair(part, rest))
}
