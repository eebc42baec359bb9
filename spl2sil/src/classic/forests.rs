//! Ghost fields that lead from objects to objects of their own sort, as those to parents do.
//!
//! Such a field has an implicit invariant at the begin and at the end of each procedure and of each
//! pass through a loop: from every object it leads to null in the end, and on the way there it
//! leads to and from objects that exist only. So nothing leads to a new object. Callers show it of
//! the state at the call, who is called shows it of the state at the end.
//!
//! SOUNDNESS: what `auto` lemmas say holds in all states, so there nobody may take it for granted
//! (`auto lemmas do not know where ghost fields lead`).

use findings::Pattern;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Procedure, ProcedureKind, Type};

use super::member::{Declaration, State};
use super::prelude::Part;
use super::types::Slot;
use crate::build::*;

impl Declaration<'_, '_> {
    /// Is the part of the state such a field, of a sort along whose fields the program follows
    /// paths?
    pub(super) fn is_forest(&self, slot: &Slot) -> bool {
        let Slot::Field(field) = slot else { return false };
        let declared = &self.program.fields[*field];
        let sort = Type::Struct(declared.parent);
        declared.is_ghost && declared.ty == sort && self.lowering.uses.paths.contains(&sort)
    }

    /// Is the part of the state such a field, where the invariant may be taken for granted?
    pub(super) fn is_kept_forest(&self, slot: &Slot) -> bool {
        let procedure = self.procedure.map(|id| &self.program.procedures[id]);
        procedure.is_some_and(keeps_forests) && self.is_forest(slot)
    }

    /// Returns the invariants of these parts of the state, in the contract of a procedure.
    pub(super) fn kept_forests<'s>(
        &mut self,
        procedure: &Procedure,
        state: &State,
        slots: impl IntoIterator<Item = &'s Slot>,
    ) -> Vec<s::Expr> {
        if !keeps_forests(procedure) {
            return Vec::new();
        }
        let forests = self.forests(state, slots);
        forests.into_iter().map(|forest| self.placed(procedure.name_span, forest)).collect()
    }

    /// Returns the invariants of these parts of the state.
    pub(super) fn forests<'s>(
        &mut self,
        state: &State,
        slots: impl IntoIterator<Item = &'s Slot>,
    ) -> Vec<s::Expr> {
        let slots: Vec<&Slot> = slots.into_iter().filter(|slot| self.is_forest(slot)).collect();
        slots.into_iter().flat_map(|slot| self.forest(slot, state)).collect()
    }

    fn forest(&mut self, slot: &Slot, state: &State) -> Vec<s::Expr> {
        let Some(sort) = slot.sort(self.program) else { return Vec::new() };
        self.lowering.prelude.want(Part::Forest(sort.clone()));
        let (field, exist) = (state.slots[slot].clone(), state.alloc[&sort].clone());
        let (ty, null) = (self.ty(&sort), self.null(&sort));
        let [from, to] = ["from$", "to$"].map(|name| typed(&self.fresh(name), ty.clone()));
        let [start, end] = [&from, &to].map(|one| var(&one.name.name));
        let path = [field.clone(), start.clone(), end.clone(), end.clone()];
        let leads = self.of_type("btwn", &sort, path);
        let [starts, ends] =
            [&start, &end].map(|one| self.of_set("mem", &sort, [one.clone(), exist.clone()]));
        let inside = implies(
            leads.clone(),
            or([eq(start, end.clone()), eq(end, null), and([starts, ends])]),
        );
        let ending = self.of_type("forest", &sort, [field]);
        let inside = forall([from, to], [vec![leads]], inside);
        let name = slot.name(self.program);
        let ending_text =
            format!("from some object the ghost field `{name}` might not lead to null");
        let inside_text =
            format!("the ghost field `{name}` might lead to or from an object that does not exist");
        vec![
            ending.with(said(Pattern::ANY, &ending_text)),
            inside.with(said(Pattern::ANY, &inside_text)),
        ]
    }
}

/// Does the invariant hold where the procedure begins and ends?
fn keeps_forests(procedure: &Procedure) -> bool {
    procedure.kind != ProcedureKind::AutoLemma
}
