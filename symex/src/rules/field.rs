//! Reading a field, writing it, and new objects.

use sil::program::FieldId;
use sil::source::Span;
use smt::terms::{Sort, Term, TermKind, Terms};

use crate::findings::blame::Blame;
use crate::permission::ordinary::Lack;
use crate::state::heap::{Chunk, Resource};
use crate::{Configuration, Engine, Stop};

/// The result for a field that could not be read.
enum Unread {
    /// The value, if the only defect is that the receiver might be null.
    Read(Term),
    Missing(Lack),
}

impl Engine<'_> {
    /// Reads `e.f`, for an evaluated receiver. This needs some permission (Schwerhoff 2011, figure
    /// 4).
    pub fn read_field(
        &mut self,
        receiver: Term,
        field: FieldId,
        sort: Sort,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let resource = Resource::Field(field);
        if let Some(value) = self.lookup(resource, &[receiver], blame)? {
            return Ok(value);
        }
        if let Some(hole) = self.trigger_hole(sort, &[receiver]) {
            return Ok(hole);
        }
        let value = self.fresh("unread", sort);
        self.incidents.unread = true;
        if blame.is_trusted() {
            return Ok(value);
        }
        let is_inside = self.run.explorers.len() > 1;
        let lack = match self.report_read(resource, receiver, blame, at) {
            Ok(Unread::Read(value)) => return Ok(value),
            Ok(Unread::Missing(lack)) => lack,
            // The path may go on without this part of the expression. SOUNDNESS: nothing has been
            // reported, so failures that depend on the value are reported.
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            Err(stop) => return Err(stop),
        };
        self.taint(value, lack.reported)?;
        match self.assume_no_lack(lack) {
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            missing => _ = missing?,
        }
        // The permission is assumed, so that consequences of its absence are not reported as well.
        let amount = self.fresh("assumed", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, amount);
        self.assume(positive)?;
        self.add_missing(resource, Chunk { arguments: vec![receiver], value, amount })?;
        Ok(value)
    }

    /// Reports why a field cannot be read.
    fn report_read(
        &mut self,
        resource: Resource,
        receiver: Term,
        blame: Blame,
        at: Span,
    ) -> Result<Unread, Stop> {
        if self.fail_receiver(receiver, blame, at)?
            && let Some(value) = self.lookup(resource, &[receiver], blame)?
        {
            return Ok(Unread::Read(value));
        }
        let heap = self.here.heap.clone();
        let lack = self.report_lack(&heap, resource, &[receiver], None, blame, at)?;
        Ok(Unread::Missing(lack))
    }

    /// Gives a field a new value. This needs full permission.
    pub fn write_field(
        &mut self,
        receiver: Term,
        field: FieldId,
        value: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let resource = Resource::Field(field);
        if self.rewrite(resource, receiver, value)? {
            return Ok(());
        }
        let mut taken = self.take_location(resource, &[receiver], Terms::WRITE)?;
        if taken.is_none() && self.fail_receiver(receiver, blame, at)? {
            taken = self.take_location(resource, &[receiver], Terms::WRITE)?;
        }
        if taken.is_none() {
            let (heap, needed) = (self.here.heap.clone(), Some(Terms::WRITE));
            self.fail_permission(&heap, resource, &[receiver], needed, blame, at)?;
            self.drop_aliases(resource, &[receiver])?;
            let chunk = Chunk { arguments: vec![receiver], value, amount: Terms::WRITE };
            return self.add_missing(resource, chunk);
        }
        let chunk = Chunk { arguments: vec![receiver], value, amount: Terms::WRITE };
        self.add_chunk(resource, chunk)
    }

    /// Gives a large value a name, so that later terms stay small.
    pub fn named(&mut self, hint: &str, value: Term) -> Result<Term, Stop> {
        let small = match self.terms.kind(value) {
            TermKind::Apply(_, arguments) => arguments.is_empty(),
            TermKind::Null | TermKind::Bool(_) | TermKind::Int(_) | TermKind::Perm(_) => true,
            _ => false,
        };
        if small {
            return Ok(value);
        }
        let sort = self.terms.sort(value);
        let name = self.fresh(hint, sort);
        self.terms.define(name, value);
        let definition = self.terms.identical(name, value);
        self.made.defining.insert(definition);
        self.assume(definition)?;
        self.export_definition(name, definition);
        if self.is_tainted(value)? {
            let reported = self.log.rely_on_earlier_report();
            self.log.taint(name, reported);
        }
        Ok(name)
    }
}

impl Configuration<'_> {
    /// Makes a reference that differs from every value of the state (trap T11).
    pub fn new_object(&mut self, hint: &str) -> Result<Term, Stop> {
        let object = self.fresh_object(hint);
        for (value, held) in self.values_of_state() {
            self.is_younger(object, value, held)?;
        }
        Ok(object)
    }

    /// Returns the values of variables, and the arguments and values of chunks, each once, with the
    /// condition for being a value of the state: the amount of the chunk is positive. Values that
    /// are unique by their form are left out.
    fn values_of_state(&mut self) -> Vec<(Term, Term)> {
        let mut values = indexmap::IndexSet::<_, rustc_hash::FxBuildHasher>::default();
        for (local, _) in self.frame.locals.iter() {
            let value = self.frame.store.get(local).filter(|&value| !self.terms.is_unique(value));
            values.extend(value.map(|value| (value, Terms::TRUE)));
        }
        for heap in std::iter::once(&self.here.heap).chain(&self.here.framed) {
            for (_, chunks) in heap.resources() {
                for chunk in chunks {
                    let held = self.path.symbols.terms.lt(Terms::NONE, chunk.amount);
                    let of_chunk = chunk.arguments.iter().copied().chain([chunk.value]);
                    let of_chunk =
                        of_chunk.filter(|&value| !self.path.symbols.terms.is_unique(value));
                    values.extend(of_chunk.map(|value| (value, held)));
                }
            }
        }
        values.into_iter().collect()
    }
}
