//! The consequences of how programs are lowered, stated in the one-sided assertions of SIL: their
//! receivers may use them, and nobody proves them.
//!
//! Each form is sound because of how statements are lowered: a write is checked against `Own`, a
//! new object is outside of `Alloc`, an object that is freed is in `Own` and leaves both. Calls and
//! loops hand over a subset of `Own`.

use sil::syntax as s;
use spl::program::Type;

use super::member::{Declaration, State};
use super::prelude::Part;
use super::types::Slot;
use crate::build::*;

impl Declaration<'_, '_> {
    /// Makes the claim that owned objects exist, and null does not.
    pub(super) fn owned_exists(&mut self, state: &State) -> Vec<s::Expr> {
        let sorts: Vec<Type> = state.own.keys().cloned().collect();
        let mut facts = Vec::new();
        for sort in sorts {
            let (own, alloc) = (state.own[&sort].clone(), state.alloc[&sort].clone());
            let null = self.null(&sort);
            let is_part = self.of_set("subset", &sort, [own, alloc.clone()]);
            let is_null = self.of_set("mem", &sort, [null, alloc]);
            facts.push(assumed(and([is_part, not(is_null)])));
        }
        facts.extend(self.begins(state).into_iter().map(assumed));
        facts
    }

    /// Makes the claim about changes from `before` to `after` where `before.own` was handed over:
    /// fields may change of objects in it, and of objects that did not exist; objects that are
    /// owned afterwards are of it or new.
    pub(super) fn framed(
        &mut self,
        before: &State,
        after: &State,
        resized: &indexmap::IndexSet<Type>,
        written: &indexmap::IndexSet<Slot>,
    ) -> Vec<s::Expr> {
        let mut facts = Vec::new();
        for sort in resized {
            let [own, alloc] = [&before.own, &before.alloc].map(|sets| sets[sort].clone());
            let [new_own, new_alloc] = [&after.own, &after.alloc].map(|sets| sets[sort].clone());
            let others = self.of_set("minus", sort, [alloc, own]);
            let all = self.of_set("union", sort, [others.clone(), new_own.clone()]);
            let null = self.null(sort);
            let facts_of_sort = [
                self.of_set("same", sort, [new_alloc.clone(), all]),
                self.of_set("disjoint", sort, [new_own, others]),
                not(self.of_set("mem", sort, [null, new_alloc])),
            ];
            facts.push(assumed(and(facts_of_sort)));
        }
        for slot in written {
            let (Some(sort), Type::Map(from, to)) =
                (slot.sort(self.program), slot.ty(self.program))
            else {
                continue;
            };
            let parts = [
                before.own[&sort].clone(),
                before.alloc[&sort].clone(),
                before.slots[slot].clone(),
                after.slots[slot].clone(),
            ];
            let frame = self.frame((&from, &to), parts);
            facts.push(assumed(frame));
            let value = &after.slots[slot];
            let at_null = self.null_at_null(slot, value);
            facts.extend(at_null.into_iter().chain(self.no_write(slot, value)).map(assumed));
        }
        facts
    }

    /// Returns a part of the state that holds references holds null at null, since nothing is ever
    /// written there. Other maps hold there what they are said to.
    pub(super) fn null_at_null(&mut self, slot: &Slot, value: &s::Expr) -> Option<s::Expr> {
        let (Some(_), Type::Map(from, to)) = (slot.sort(self.program), slot.ty(self.program))
        else {
            return None;
        };
        if !to.is_reference() {
            return None;
        }
        let (object, nothing) = (self.null(&from), self.null(&to));
        self.ty(&slot.ty(self.program));
        Some(eq(self.of_map("rd", (&from, &to), [value.clone(), object]), nothing))
    }

    /// Returns a part of the state of which nothing is known but what is said of it: the solver is
    /// told that it is no write to another map, since it follows paths along such maps only.
    fn no_write(&mut self, slot: &Slot, value: &s::Expr) -> Option<s::Expr> {
        let Type::Map(from, to) = slot.ty(self.program) else { return None };
        let is_path = from == to && self.lowering.uses.paths.contains(&*from);
        is_path.then(|| {
            let (part, mark) = if self.is_kept_forest(slot) {
                (Part::Forest((*from).clone()), "rooted")
            } else {
                (Part::Unwritten((*from).clone()), "unwritten")
            };
            self.lowering.prelude.want(part);
            eq(self.of_type(mark, &from, [value.clone()]), value.clone())
        })
    }

    /// Makes the known facts about a state at the begin of a member.
    pub(super) fn begins(&mut self, state: &State) -> Vec<s::Expr> {
        let mut facts = self.nothing_at_null(state);
        facts.extend(self.no_writes(state));
        facts
    }

    /// No part of the state is a write to another map.
    pub(super) fn no_writes(&mut self, state: &State) -> Vec<s::Expr> {
        state.slots.iter().filter_map(|(slot, value)| self.no_write(slot, value)).collect()
    }

    /// The same of all parts of a state.
    pub(super) fn nothing_at_null(&mut self, state: &State) -> Vec<s::Expr> {
        let slots: Vec<(Slot, s::Expr)> =
            state.slots.iter().map(|(slot, value)| (slot.clone(), value.clone())).collect();
        slots.iter().filter_map(|(slot, value)| self.null_at_null(slot, value)).collect()
    }
}

/// `[e, true]`
pub(super) fn assumed(e: s::Expr) -> s::Expr {
    inhale_exhale(e, truth(true))
}
