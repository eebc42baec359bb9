//! Objects that are made and freed.

use findings::{ErrorId, Pattern, Reason};
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Expr, ExprKind, NewObject, Place, Stmt, StmtKind, Type, Variable};
use spl::source::Span;

use super::Fallible;
use super::member::Declaration;
use super::prelude::Part;
use super::terms::cell_type;
use super::types::Slot;
use super::uses::{Uses, slots_of};
use crate::build::*;

impl<'p> Declaration<'_, 'p> {
    /// `target := new object`, with the statements behind it.
    pub(super) fn new_object(
        &mut self,
        target: Variable,
        object: &'p NewObject,
        span: Span,
        rest: &'p [Stmt],
    ) -> Fallible<()> {
        match object {
            NewObject::Struct(id) => {
                let sort = Type::Struct(*id);
                let fresh = self.fresh_object(&sort);
                self.any_contents(&sort, &fresh, target, rest, span);
                self.set_variable(target, fresh, span)
            }
            NewObject::Array { element, length } => {
                self.check(length)?;
                let env = self.env();
                let length_value = self.term(length, &env)?;
                let check = assert(le(int(0), length_value.clone()))
                    .with(renamed(Pattern::ANY, (ErrorId::NewFailed, Reason::NegativeLength)))
                    .with(said(Pattern::ANY, "the length might be negative"));
                self.emit_at(length.span, check);
                let sort = Type::Array(Box::new(element.clone()));
                self.lowering.prelude.want(Part::Array(element.clone()));
                let array = self.fresh_object(&sort);
                let stated = self.of_type("length", element, [array.clone()]);
                self.emit(inhale(eq(stated, length_value)));
                let cell = cell_type(&sort);
                let cells = self.of_type("cells", element, [array.clone()]);
                let alloc = self.state.alloc[&cell].clone();
                let new = self.of_set("disjoint", &cell, [cells.clone(), alloc]);
                self.emit(inhale(new));
                self.resize("union", &cell, cells);
                self.set_variable(target, array, span)
            }
        }
    }

    /// Returns a new object of a sort, which is owned.
    fn fresh_object(&mut self, sort: &Type) -> s::Expr {
        let object = self.variable("new$", sort, None);
        let alloc = self.state.alloc[sort].clone();
        let exists = self.of_set("mem", sort, [object.clone(), alloc]);
        let null = self.null(sort);
        self.emit(inhale(and([not(exists), ne(object.clone(), null)])));
        let single = self.of_set("single", sort, [object.clone()]);
        self.resize("union", sort, single);
        object
    }

    /// Adds objects to what exists and is owned, or takes them away.
    fn resize(&mut self, operation: &str, sort: &Type, objects: s::Expr) {
        for set in [self.state.alloc[sort].clone(), self.state.own[sort].clone()] {
            let changed = self.of_set(operation, sort, [set.clone(), objects.clone()]);
            self.emit(assign(set, changed));
        }
    }

    /// A new object has any contents. It may be one that was freed, so what is known of that one
    /// has to be forgotten, in programs that free objects of the sort. A field that is written
    /// before anything reads it needs no other value before: each write makes paths longer to
    /// reason about. A ghost field that is known to lead nowhere from what does not exist is no
    /// part of the memory.
    fn any_contents(
        &mut self,
        sort: &Type,
        fresh: &s::Expr,
        target: Variable,
        rest: &'p [Stmt],
        span: Span,
    ) {
        if !self.lowering.uses.frees.contains(sort) {
            return;
        }
        for slot in slots_of(self.program, sort) {
            let Type::Map(_, to) = slot.ty(self.program) else { continue };
            if !self.is_forest(&slot) && !self.is_overwritten(&slot, target, rest) {
                let any = self.variable("any$", &to, None);
                self.store(&slot, fresh.clone(), any, span);
            }
        }
    }

    /// Do the statements write this part of the object in the variable before they read that part
    /// of any object?
    fn is_overwritten(&self, slot: &Slot, object: Variable, stmts: &[Stmt]) -> bool {
        let reads = |e: &Expr| {
            let mut uses = Uses::default();
            self.lowering.uses.expr(self.program, e, &mut uses);
            uses.slots.contains(slot)
        };
        for stmt in stmts {
            let (places, values) = match &stmt.kind {
                StmtKind::Declare(_) => continue,
                StmtKind::Assign { places, values } => (places, values),
                _ => return false,
            };
            if values.iter().any(reads) {
                return false;
            }
            for place in places {
                match place {
                    Place::Field { receiver, field } => {
                        let is_object = matches!(
                            (&receiver.kind, object),
                            (ExprKind::Local(local), Variable::Local(new)) if *local == new
                        );
                        if is_object && Slot::Field(*field) == *slot {
                            return true;
                        }
                        if reads(receiver) {
                            return false;
                        }
                    }
                    Place::Variable(Variable::Local(_)) if *place != Place::Variable(object) => {}
                    _ => return false,
                }
            }
        }
        false
    }

    /// `free e`: the object is owned.
    pub(super) fn free(&mut self, e: &'p Expr, span: Span) -> Fallible<()> {
        self.check(e)?;
        let env = self.env();
        let object = self.term(e, &env)?;
        let object = self.variable("freed$", &e.ty, Some(object));
        let own = self.state.own[&e.ty].clone();
        let is_owned = self.of_set("mem", &e.ty, [object.clone(), own]);
        let text = self.might_be_lost(&e.ty, e.span, "freed");
        self.freed(&text, is_owned, span);
        let single = self.of_set("single", &e.ty, [object.clone()]);
        self.resize("minus", &e.ty, single);
        if let Type::Array(element) = &e.ty {
            let cell = cell_type(&e.ty);
            self.lowering.prelude.want(Part::Array((**element).clone()));
            let cells = self.of_type("cells", element, [object.clone()]);
            let own = self.state.own[&cell].clone();
            let are_owned = self.of_set("subset", &cell, [cells.clone(), own]);
            let text = format!("{} might be freed here that is not owned", self.objects(&cell));
            self.freed(&text, are_owned, span);
            let slot = Slot::Cells((**element).clone());
            let before = self.state.slots[&slot].clone();
            let after = self.variable("cells$freed", &slot.ty(self.program), None);
            let alloc = self.state.alloc[&cell].clone();
            let framed =
                self.frame((&cell, element), [cells.clone(), alloc, before.clone(), after.clone()]);
            self.emit(inhale(framed));
            let at_null = self.null_at_null(&slot, &after);
            at_null.into_iter().for_each(|fact| self.emit(inhale(fact)));
            self.emit(assign(before, after));
            self.resize("minus", &cell, cells);
        }
        Ok(())
    }

    /// Checks that what is freed of a sort is owned.
    fn freed(&mut self, text: &str, is_owned: s::Expr, span: Span) {
        let check = assert(is_owned)
            .with(renamed(Pattern::ANY, (ErrorId::FreeFailed, Reason::InsufficientPermission)));
        self.emit_at(span, check.with(said(Pattern::ANY, text)));
    }
}
