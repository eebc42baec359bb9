//! Back pointers: each object has, for each tracked field that may point to it, the set of the
//! objects whose field does.
//!
//! The set is a ghost field of the object pointed to; assigning the tracked field changes the sets
//! of the old and the new object. The tracked fields of a new object point nowhere, and nothing
//! points to it.

use chalice::program::{FieldId, Type};
use findings::ErrorId;
use sil::syntax as s;

use crate::build::*;
use crate::lower::annotations::Annotate;
use crate::lower::{Body, Lowering, Member};

impl Lowering<'_> {
    /// Returns the field that keeps the back pointers of a tracked field.
    pub(crate) fn back_pointers(&self, field: FieldId) -> Option<s::Member> {
        let declared = &self.program.fields[field];
        declared.is_tracked.then(|| {
            let name = self.names.borrow().back_pointers[field].clone();
            field_member(&name, self.objects_type()).with(self.at(declared.span))
        })
    }

    /// Returns the tracked fields that may point to objects of a type.
    pub(crate) fn pointing_to(&self, target: &Type) -> Vec<FieldId> {
        let fields = self.program.fields.iter();
        fields
            .filter(|(_, field)| field.is_tracked && field.ty == *target)
            .map(|(id, _)| id)
            .collect()
    }
}

impl Member<'_, '_> {
    /// Returns the objects whose tracked field points to an object.
    pub(crate) fn pointers_to(&self, object: s::Expr, tracked: FieldId) -> s::Expr {
        let name = self.lowering.names.borrow().back_pointers[tracked].clone();
        field(object, &name)
    }
}

impl Body<'_, '_> {
    /// Before a tracked field is assigned: the objects it pointed to and will point to learn of it.
    pub(crate) fn redirect(&mut self, tracked: FieldId, source: &s::Expr, target: &s::Expr) {
        let own = set_of(vec![source.clone()]);
        let of = self.field_of(source.clone(), chalice::program::FieldRef::Declared(tracked));
        for (object, op) in [(of, s::BinaryOp::Setminus), (target.clone(), s::BinaryOp::Union)] {
            let pointers = self.pointers_to(object.clone(), tracked);
            let changed = assign(pointers.clone(), binary(op, pointers, own.clone()));
            let then = self.block(|member| member.emit(changed));
            let renaming =
                crate::lower::annotations::renamed(ErrorId::IfFailed, ErrorId::AssignmentFailed);
            self.emit(branch(ne(object, null()), then, Vec::new()).with(renaming));
        }
    }

    /// A new object: its tracked fields point nowhere, and no field points to it.
    pub(crate) fn unconnected(&mut self, object: &s::Expr, ty: &Type, fields: &[FieldId]) {
        let program = self.program();
        let mut facts = Vec::new();
        for &id in fields.iter().filter(|&&id| program.fields[id].is_tracked) {
            let own = self.field_of(object.clone(), chalice::program::FieldRef::Declared(id));
            facts.push(eq(own, null()));
        }
        for tracked in self.lowering.pointing_to(ty) {
            let pointers = self.pointers_to(object.clone(), tracked);
            let none = literal(s::Collection::Set, crate::build::ty(s::TypeKind::Ref), Vec::new());
            facts.push(eq(pointers, none));
        }
        if !facts.is_empty() {
            self.emit_plain(inhale(and(facts)));
        }
    }
}
