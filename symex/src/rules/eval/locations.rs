//! Locations: what they mean, and reading a field.

use sil::program::{Expr, FieldId, Location, Resource as Asked};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::Blame;
use crate::permission::ordinary::Lack;
use crate::rules::Sil;
use crate::state::heap::{Chunk, Resource};
use crate::{Engine, Stop};

/// The result for a field that could not be read.
enum Unread {
    /// All that was wrong is that its receiver might be null; otherwise it has this value.
    Read(Term),
    Missing(Lack),
}

impl Sil<'_, '_> {
    /// `e.f`: needs some permission (Schwerhoff 2011, figure 4).
    pub(crate) fn eval_field_read(
        &mut self,
        expr: &Expr,
        receiver: &Expr,
        field: FieldId,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let receiver = self.eval(receiver, blame)?;
        let sort = self.sort(&expr.ty);
        self.read_field(receiver, field, sort, expr.span, blame)
    }

    /// Evaluates a mention of a resource, with the values of its arguments.
    pub(crate) fn eval_resource(
        &mut self,
        resource: &Asked,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        match resource {
            Asked::Location(location) => self.eval_location(location, blame),
            Asked::Wand(wand) => self.eval_wand(wand, blame),
        }
    }

    /// Resource and arguments of a location.
    pub(crate) fn eval_location(
        &mut self,
        location: &Location,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        match location {
            Location::Field { receiver, field } => {
                Ok((Resource::Field(*field), vec![self.eval(receiver, blame)?]))
            }
            Location::Predicate { predicate, arguments } => {
                Ok((Resource::Predicate(*predicate), self.eval_all(arguments, blame)?))
            }
        }
    }
}

impl Engine<'_> {
    /// The same, of a receiver that has been evaluated.
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
        self.note_unread();
        if blame.is_trusted() {
            return Ok(value);
        }
        let is_inside = self.run.explorers.len() > 1;
        let lack = match self.report_read(resource, receiver, blame, at) {
            Ok(Unread::Read(value)) => return Ok(value),
            Ok(Unread::Missing(lack)) => lack,
            // The path may go on without this part of the expression. SOUNDNESS: nothing has been
            // reported, so what depends on the value fails like anything else.
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            Err(stop) => return Err(stop),
        };
        self.taint(value, lack.reported)?;
        match self.assume_no_lack(lack) {
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            missing => _ = missing?,
        }
        // Assume the permission, so that what follows from its absence is not reported as well.
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
}
