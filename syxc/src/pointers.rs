//! Back pointers: each object has, for each tracked field that may point to it, the set of the
//! objects whose field does. The set is a field of the object pointed to.
//!
//! SOUNDNESS: the set changes only where the tracked field is assigned, which needs full permission
//! to the sets of the old and of the new object.

use chalice::program::{ClassId, FieldId, Type};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use super::{Direct, Threads, renumbered};
use symex::Stop;
use symex::findings::blame::Blame;
use symex::state::heap::{Chunk, Resource};

impl Direct {
    /// Returns the field that keeps the back pointers of a tracked field.
    pub(super) fn pointers(&self, tracked: FieldId) -> sil::program::FieldId {
        self.pointers[tracked]
    }
}

impl Threads<'_, '_> {
    /// Returns the objects whose tracked field points to an object.
    pub(super) fn pointers_to(
        &mut self,
        object: Term,
        tracked: FieldId,
        at: Span,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let field = self.direct.pointers(tracked);
        let sort = self.resource_sort(Resource::Field(field));
        self.core.read_field(object, field, sort, at, blame)
    }

    /// Updates the back pointers before a tracked field is assigned: those of the old object, and
    /// those of the new one.
    pub(super) fn redirect(
        &mut self,
        tracked: FieldId,
        source: Term,
        target: Term,
        blame: Blame,
    ) -> Result<(), Stop> {
        let at = blame.span;
        let own = self.terms.set_explicit(Sort::REF, &[source]);
        let before = self.core.read_field(source, renumbered(tracked), Sort::REF, at, blame)?;
        for (object, gains) in [(before, false), (target, true)] {
            let exists = self.terms.differs(object, Terms::NULL);
            if !self.branch(exists)? {
                continue;
            }
            let pointers = self.pointers_to(object, tracked, at, blame)?;
            let changed = if gains {
                self.terms.set_union(pointers, own)
            } else {
                self.terms.set_difference(pointers, own)
            };
            let field = self.direct.pointers(tracked);
            self.core.write_field(object, field, changed, at, blame)?;
        }
        Ok(())
    }

    /// Adds the back pointers of a new object. They are empty.
    pub(super) fn unconnected(&mut self, object: Term, class: ClassId) -> Result<(), Stop> {
        let direct = self.direct;
        for (tracked, &pointers) in direct.pointers.iter() {
            if direct.tree.fields[tracked].ty != Type::Class(class) {
                continue;
            }
            let value = self.terms.set_explicit(Sort::REF, &[]);
            let chunk = Chunk { arguments: vec![object], value, amount: Terms::WRITE };
            self.core.add_chunk(Resource::Field(pointers), chunk)?;
        }
        Ok(())
    }
}
