//! Locations: their meaning, and reading a field.

use sil::program::{Expr, FieldId, Location, Resource as Asked};
use smt::terms::Term;

use crate::rules::Sil;
use symex::Stop;
use symex::findings::blame::Blame;
use symex::state::heap::Resource;

impl Sil<'_, '_> {
    /// Evaluates `e.f`. This needs some permission (Schwerhoff 2011, figure 4).
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

    /// Returns the resource and the arguments of a location.
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
