//! Loops: as calls, of a procedure whose contract is the invariant. What the invariant does not own
//! is set aside: the body may read it, since nobody else can change it.

use findings::{ErrorId, Reason};
use indexmap::{IndexMap, IndexSet};
use sil::syntax as s;
use spl::program::{Block, Clause, Expr, Stmt, Type};
use spl::source::Span;

use super::Fallible;
use super::member::{Declaration, State};
use super::types::Slot;
use super::uses::Uses;
use crate::build::*;

impl<'p> Declaration<'_, 'p> {
    /// `while (condition) invariants body`
    pub(super) fn while_loop(
        &mut self,
        before_guard: &'p [Stmt],
        condition: &'p Expr,
        invariants: &'p [Clause],
        body: &'p Block,
        span: Span,
    ) -> Fallible<()> {
        self.stmts(before_guard)?;
        let for_ghost = !self.program.has_effects(body);
        self.check_value(condition, for_ghost)?;
        let mut changes = Uses::default();
        before_guard
            .iter()
            .for_each(|stmt| self.lowering.uses.stmt(self.program, stmt, &mut changes));
        self.lowering.uses.block(self.program, body, &mut changes);
        let (outer, before, aside) = self.set_aside(invariants, &changes, span)?;
        self.readable.push(aside.clone());
        let env = self.env();
        let guard = self.term(condition, &env)?;
        let guard = self.placed(condition.span, guard);
        let mut spec = self.spec(invariants, &env)?;
        spec.footprint = spec.footprint.or(Some(span));
        let mut claims = self.stated(&spec, &env.now.own, true);
        let now = self.state.clone();
        let forests = self.forests(&now, &changes.written);
        claims.extend(forests.into_iter().map(|forest| self.placed(span, forest)));
        claims.extend(self.framed(&before, &now, &changes.resized, &changes.written));
        let statements = self.block(|member| {
            member.note_held(invariants, &env);
            member.block_of(body)?;
            member.stmts(before_guard)?;
            member.check_value(condition, for_ghost)
        })?;
        self.emit_at(span, while_loop(guard, claims, statements));
        self.note_held(invariants, &env);
        self.readable.pop();
        for (sort, own) in outer {
            let inner = self.state.own[&sort].clone();
            if changes.resized.contains(&sort) {
                let all = self.of_set("union", &sort, [inner.clone(), aside[&sort].clone()]);
                self.emit(assign(inner, all));
            } else if self.is_variable(&sort) {
                self.emit(assign(inner, own));
            } else {
                self.state.own.insert(sort, own);
            }
        }
        Ok(())
    }

    /// Takes what the invariant owns and puts the rest aside. Yields what was owned (as it has to
    /// be afterwards if the loop makes and frees nothing), the state before the loop, and what is
    /// put aside.
    #[expect(clippy::type_complexity, reason = "three parts of one split, used in one place")]
    fn set_aside(
        &mut self,
        invariants: &'p [Clause],
        changes: &Uses,
        span: Span,
    ) -> Fallible<(Vec<(Type, s::Expr)>, State, IndexMap<Type, s::Expr>)> {
        let env = self.env();
        let spec = self.spec(invariants, &env)?;
        let place = spec.footprint.unwrap_or(span);
        let sorts: Vec<Type> = self.state.own.keys().cloned().collect();
        let mut before = self.state.clone();
        let (mut outer, mut aside) = (Vec::new(), IndexMap::new());
        for slot in written_slots(&changes.written) {
            let ty = slot.ty(self.program);
            let saved = self.state.slots[&slot].clone();
            let name = format!("{}$before", slot.name(self.program));
            let saved = self.variable(&name, &ty, Some(saved));
            before.slots.insert(slot, saved);
        }
        let id = (ErrorId::InvariantNotEstablished, Reason::Footprint);
        for sort in sorts {
            let ty = Type::set(sort.clone());
            let own = self.state.own[&sort].clone();
            let part = self.handed_over(&spec, &sort, id, place);
            let rest = self.of_set("minus", &sort, [own.clone(), part.clone()]);
            let rest = self.variable("aside$", &ty, Some(rest));
            aside.insert(sort.clone(), rest);
            before.own.insert(sort.clone(), part.clone());
            if changes.resized.contains(&sort) {
                let alloc = self.state.alloc[&sort].clone();
                let alloc = self.variable("alloc$before", &ty, Some(alloc));
                before.alloc.insert(sort.clone(), alloc);
                self.emit(assign(own.clone(), part));
                outer.push((sort, own));
            } else if self.is_variable(&sort) {
                let saved = self.variable("own$before", &ty, Some(own.clone()));
                self.emit(assign(own, part));
                outer.push((sort, saved));
            } else {
                self.state.own.insert(sort.clone(), part);
                outer.push((sort, own));
            }
        }
        Ok((outer, before, aside))
    }

    /// Is what is owned of the sort held in a variable that calls and allocations assign to?
    fn is_variable(&self, sort: &Type) -> bool {
        let procedure = self.procedure.map(|id| &self.lowering.uses.procedures[id]);
        procedure.is_some_and(|uses| uses.resized.contains(sort))
    }
}

fn written_slots(written: &IndexSet<Slot>) -> Vec<Slot> {
    written.iter().cloned().collect()
}
