//! Statements.

use std::rc::Rc;

use findings::{ErrorId, Pattern, Reason};
use front::grow_stack;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{
    Block, Bound, Dialect, Expr, ExprKind, FieldId, LocalId, LocalKind, Place, Quantifier, Stmt,
    StmtKind, Type, Variable,
};
use spl::source::Span;

use super::Fallible;
use super::member::{Declaration, Env, Value};
use super::prelude::Part;
use super::procedures::END;
use super::terms::{annotated, cell_type};
use super::types::Slot;
use super::uses::Uses;
use crate::build::*;

impl<'p> Declaration<'_, 'p> {
    /// The statements of a block.
    pub(super) fn block_of(&mut self, block: &'p Block) -> Fallible<()> {
        self.stmts(&block.stmts)
    }

    pub(super) fn stmts(&mut self, stmts: &'p [Stmt]) -> Fallible<()> {
        stmts.iter().enumerate().try_for_each(|(at, stmt)| {
            grow_stack(|| match &stmt.kind {
                StmtKind::New { target, object } => {
                    self.ghost_only(true, stmt.span, "allocate an object");
                    self.temporaries(&[*target], stmt.span);
                    self.new_object(*target, object, stmt.span, &stmts[at + 1..])
                }
                _ => self.stmt(stmt),
            })
        })
    }

    fn nested(&mut self, block: &'p Block) -> Fallible<Vec<s::Stmt>> {
        self.block(|member| member.block_of(block))
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Fallible<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Block(block) => {
                let inner = self.nested(block)?;
                self.emit(block_stmt(inner));
            }
            StmtKind::Declare(local) => {
                self.declared(*local, span);
            }
            StmtKind::Havoc(variables) => {
                self.real_targets(variables, span);
                for &variable in variables {
                    let ty = self.variable_type(variable);
                    let any = self.variable("any$", &ty, None);
                    self.set_variable(variable, any, span)?;
                }
            }
            StmtKind::Assign { places, values } => match (&places[..], &values[..]) {
                (
                    [place @ (Place::Field { .. } | Place::Element { .. } | Place::Cell(_))],
                    [value],
                ) => {
                    self.store_at(place, value, span)?;
                }
                _ => {
                    let variables = places.iter().map(|place| match place {
                        Place::Variable(variable) => Ok(*variable),
                        _ => self.stuck("a simultaneous assignment to the heap", span),
                    });
                    let variables = variables.collect::<Fallible<Vec<Variable>>>()?;
                    self.temporaries(&variables, span);
                    self.assign(&variables, values, span)?;
                }
            },
            StmtKind::AssignText { array, bytes } => self.assign_text(array, bytes, span)?,
            StmtKind::Call { targets, procedure, arguments } => {
                self.ghost_only(
                    !self.program.procedures[*procedure].is_lemma(),
                    span,
                    "call a procedure",
                );
                self.real_targets(targets, span);
                self.temporaries(targets, span);
                self.call(targets, *procedure, arguments, span)?;
            }
            StmtKind::New { target, object } => self.new_object(*target, object, span, &[])?,
            StmtKind::Free(e) => {
                self.ghost_only(true, span, "free an object");
                self.free(e, span)?;
            }
            StmtKind::Assume { is_pure, condition } => {
                let claim = self.claim(*is_pure, condition, span)?;
                self.emit_at(span, inhale(and(claim)));
            }
            StmtKind::Assert { is_pure, condition, proof: None, .. } => {
                let claim = self.claim(*is_pure, condition, span)?;
                self.emit_at(span, assert(and(claim)));
            }
            StmtKind::Assert { condition, proof: Some(proof), .. } => {
                self.proved(condition, proof, span)?;
            }
            StmtKind::Split(condition) => {
                let claim = self.claim(false, condition, span)?;
                let check =
                    assert(and(claim)).with(renamed(ErrorId::AssertFailed, ErrorId::SplitFailed));
                self.emit_at(span, check);
            }
            StmtKind::Return(values) => {
                if !values.is_empty() {
                    let procedure = self.procedure.map(|id| &self.program.procedures[id]);
                    let results = procedure.map(|it| self.program.explicit(&it.results));
                    let targets: Vec<Variable> =
                        results.into_iter().flatten().map(Variable::Local).collect();
                    self.assign(&targets, values, span)?;
                }
                self.emit_at(span, goto(END));
            }
            StmtKind::Fold(_) | StmtKind::Unfold(_) => {
                return self.stuck("fold and unfold in this dialect", span);
            }
            StmtKind::If { condition, then, otherwise } => {
                let for_ghost = !self.program.has_effects(then)
                    && !otherwise.as_ref().is_some_and(|block| self.program.has_effects(block));
                self.check_value(condition, for_ghost)?;
                let env = self.env();
                let guard = self.term(condition, &env)?;
                let guard = self.placed(condition.span, guard);
                let then = self.nested(then)?;
                let otherwise = match otherwise {
                    Some(block) => chained(self.nested(block)?),
                    None => Vec::new(),
                };
                self.emit_at(span, branch(guard, then, otherwise));
            }
            StmtKind::Choose(blocks) => self.choose(blocks, span)?,
            StmtKind::While { before_guard, condition, invariants, body } => {
                self.while_loop(before_guard, condition, invariants, body, span)?;
            }
        }
        Ok(())
    }

    /// A lemma is for its contract alone: nothing it does may be part of the program that runs.
    fn ghost_only(&mut self, is_real: bool, span: Span, what: &str) {
        let procedure = self.procedure.map(|id| &self.program.procedures[id]);
        if is_real && procedure.is_some_and(spl::program::Procedure::is_lemma) {
            let check = assert(truth(false))
                .with(renamed(Pattern::ANY, (ErrorId::GhostViolated, Reason::AssertionFalse)))
                .with(said(Pattern::ANY, &format!("a lemma cannot {what}")));
            self.emit_at(span, check);
        }
    }

    fn real_targets(&mut self, targets: &[Variable], span: Span) {
        let is_real = targets.iter().any(|target| match target {
            Variable::Local(_) => false,
            Variable::Global(global) => !self.program.globals[*global].is_ghost,
            Variable::FieldMap(field) => !self.program.fields[*field].is_ghost,
        });
        self.ghost_only(is_real, span, "change what is not ghost");
    }

    /// Makes the claim of a plain or pure assertion at this point.
    fn claim(&mut self, is_pure: bool, e: &'p Expr, span: Span) -> Fallible<Vec<s::Expr>> {
        let env = self.env();
        let spec = self.assertion_spec(e, span, &env)?;
        if is_pure {
            return Ok(self.stated(&spec, &env.now.own, false));
        }
        if self.program.dialect == Dialect::Classic {
            return Ok(self.stated(&spec, &env.now.own, true));
        }
        let mut all = self.stated(&spec, &env.now.own, false);
        let sorts: Vec<Type> = env.now.own.keys().cloned().collect();
        for sort in sorts {
            let chosen = self.chosen_set(&spec, &sort);
            let own = env.now.own[&sort].clone();
            let is_part = self.of_set("subset", &sort, [chosen, own]);
            let is_part = is_part.with(renamed(Reason::AssertionFalse, Reason::Footprint));
            all.push(self.placed(span, is_part));
        }
        Ok(all)
    }

    /// `assert condition with { proof }`: the proof runs to the side, and what it shows is known
    /// afterwards, of the state in which it started: a lemma may have changed ghost fields.
    fn proved(&mut self, condition: &'p Expr, proof: &'p Block, span: Span) -> Fallible<()> {
        let state = self.state.clone();
        let outer = self.values.clone();
        let inner = self.block(|member| {
            let (body, _) = annotated(condition);
            let goal = match &body.kind {
                ExprKind::Quantified { quantifier: Quantifier::Forall, variables, body } => {
                    member.generic(variables)?;
                    body
                }
                _ => condition,
            };
            let mut changes = Uses::default();
            member.lowering.uses.block(member.program, proof, &mut changes);
            let mut started = member.state.clone();
            for slot in &changes.written {
                let name = format!("{}$started", slot.name(member.program));
                let saved = member.state.slots[slot].clone();
                let ty = slot.ty(member.program);
                started.slots.insert(slot.clone(), member.variable(&name, &ty, Some(saved)));
            }
            let outer = std::mem::replace(&mut member.is_ghost, true);
            let done = member.block_of(proof);
            member.is_ghost = outer;
            done?;
            let env = Env { now: Rc::new(started), ..member.env() };
            let goal = member.term(goal, &env)?;
            member.emit_at(span, assert(goal));
            member.emit(inhale(truth(false)));
            Ok(())
        });
        (self.state, self.values) = (state, outer);
        let inner = inner?;
        let side = self.variable("side$", &Type::Bool, None);
        self.emit(branch(side.with(generated()), inner, []));
        let env = self.env();
        let shown = self.term(condition, &env)?;
        self.emit_at(span, inhale(shown));
        Ok(())
    }

    /// Any values for the variables of a quantifier.
    fn generic(&mut self, variables: &'p [Bound]) -> Fallible<()> {
        for bound in variables {
            let declared = &self.program.locals[bound.local];
            let any = self.variable(&declared.name, &declared.ty, None);
            let mut values = (*self.values).clone();
            values.insert(bound.local, Value::Term(any.clone()));
            self.values = Rc::new(values);
            if let Some(domain) = &bound.domain {
                let env = self.env();
                let domain = self.term(domain, &env)?;
                let inside = self.of_set("mem", &declared.ty, [any, domain]);
                self.emit(inhale(inside));
            }
        }
        Ok(())
    }

    fn choose(&mut self, blocks: &'p [Block], span: Span) -> Fallible<()> {
        let Some((first, rest)) = blocks.split_first() else { return Ok(()) };
        if rest.is_empty() {
            let inner = self.nested(first)?;
            self.emit(block_stmt(inner));
            return Ok(());
        }
        let which = self.variable("choice$", &Type::Bool, None);
        let then = self.nested(first)?;
        let otherwise = self.block(|member| grow_stack(|| member.choose(rest, span)))?;
        self.emit_at(span, branch(which.with(generated()), then, otherwise));
        Ok(())
    }

    /// Returns the type of what can be assigned to.
    fn variable_type(&self, variable: Variable) -> Type {
        match variable {
            Variable::Local(local) => self.program.locals[local].ty.clone(),
            Variable::Global(global) => self.program.globals[global].ty.clone(),
            Variable::FieldMap(field) => self.program.field_map_type(field),
        }
    }

    fn declared(&mut self, local: LocalId, span: Span) {
        let ty = self.ty(&self.program.locals[local].ty);
        let name = self.local(local);
        self.emit_at(span, declare(&name, ty, None));
    }

    /// Declares the variables that stand for values of calls inside expressions: the program does
    /// not.
    fn temporaries(&mut self, targets: &[Variable], span: Span) {
        for target in targets {
            if let Variable::Local(local) = *target
                && self.program.locals[local].kind == LocalKind::Temporary
                && self.temporaries.insert(local)
            {
                self.declared(local, span);
            }
        }
    }

    /// Returns the variable of SIL that an assignment changes.
    pub(super) fn target(&mut self, variable: Variable) -> s::Expr {
        match variable {
            Variable::Local(local) => match self.values.get(&local) {
                Some(Value::Term(term)) => term.clone(),
                _ => var(&self.local(local)),
            },
            Variable::Global(global) => self.state.slots[&Slot::Global(global)].clone(),
            Variable::FieldMap(field) => self.state.slots[&Slot::Field(field)].clone(),
        }
    }

    pub(super) fn set_variable(
        &mut self,
        variable: Variable,
        value: s::Expr,
        span: Span,
    ) -> Fallible<()> {
        if let Variable::FieldMap(_) = variable {
            return self.stuck("an arbitrary value of a whole field", span);
        }
        let target = self.target(variable);
        self.emit_at(span, assign(target, value));
        Ok(())
    }

    fn assign(&mut self, targets: &[Variable], values: &'p [Expr], span: Span) -> Fallible<()> {
        for (target, value) in targets.iter().zip(values) {
            self.check_assigned(*target, value)?;
        }
        self.real_targets(targets, span);
        let env = self.env();
        if let ([target], [value]) = (targets, values) {
            if let Variable::FieldMap(field) = target {
                self.check_updates(*field, value, span)?;
            }
            let ty = self.variable_type(*target);
            let value = self.term_as(value, &ty, &env)?;
            let assigned = self.target(*target);
            self.emit_at(span, assign(assigned.clone(), value));
            if let Variable::FieldMap(field) = target {
                let at_null = self.null_at_null(&Slot::Field(*field), &assigned);
                at_null.into_iter().for_each(|fact| self.emit(inhale(fact)));
            }
            return Ok(());
        }
        let mut temporaries = Vec::new();
        for (&target, value) in targets.iter().zip(values) {
            let ty = self.variable_type(target);
            let value = self.term_as(value, &ty, &env)?;
            temporaries.push((target, self.variable("value$", &ty, Some(value))));
        }
        temporaries
            .into_iter()
            .try_for_each(|(target, value)| self.set_variable(target, value, span))
    }

    /// Checks what is assigned to a variable. A whole field with updates is written, not read.
    fn check_assigned(&mut self, target: Variable, value: &'p Expr) -> Fallible<()> {
        let to_ghost = self.program.is_ghost(target);
        match (&value.kind, target) {
            (ExprKind::MapUpdate { map, key, value }, Variable::FieldMap(_)) => {
                grow_stack(|| self.check_assigned(target, map))?;
                self.check_value(key, to_ghost)?;
                self.check_value(value, to_ghost)
            }
            (ExprKind::FieldMap(other), Variable::FieldMap(field)) if *other == field => Ok(()),
            _ => self.check_value(value, to_ghost),
        }
    }

    /// Objects whose field changes by an assignment of the whole field have to be owned.
    fn check_updates(&mut self, field: FieldId, value: &'p Expr, span: Span) -> Fallible<()> {
        match &value.kind {
            ExprKind::FieldMap(other) if *other == field => Ok(()),
            ExprKind::MapUpdate { map, key, .. } => {
                grow_stack(|| self.check_updates(field, map, span))?;
                let sort = Type::Struct(self.program.fields[field].parent);
                let env = self.env();
                let object = self.term_as(key, &sort, &env)?;
                self.writable_at(&sort, object, (value.span, key.span));
                Ok(())
            }
            _ => self.stuck("a whole field that is no update of itself", span),
        }
    }

    /// `slot := slot[object := value]`, of an object that is owned.
    pub(super) fn store(&mut self, slot: &Slot, object: s::Expr, value: s::Expr, span: Span) {
        let Type::Map(from, to) = slot.ty(self.program) else { return };
        let target = self.state.slots[slot].clone();
        let parts = [target.clone(), object, value];
        let stored = if self.is_kept_forest(slot) {
            self.lowering.prelude.want(Part::Forest((*from).clone()));
            self.of_type("graft", &from, parts)
        } else {
            self.lowering.prelude.want(Part::Map((*from).clone(), (*to).clone()));
            self.of_map("wr", (&from, &to), parts)
        };
        self.emit_at(span, assign(target.clone(), stored));
        let at_null = self.null_at_null(slot, &target);
        at_null.into_iter().for_each(|fact| self.emit(inhale(fact)));
    }

    fn assign_text(&mut self, array: &'p Expr, bytes: &[u8], span: Span) -> Fallible<()> {
        self.ghost_only(true, span, "write an array");
        self.check(array)?;
        let Type::Array(element) = &array.ty else { return self.stuck("this text", span) };
        let env = self.env();
        let base = self.term(array, &env)?;
        let base = self.variable("text$", &array.ty, Some(base));
        self.lowering.prelude.want(Part::Array((**element).clone()));
        for (at, &byte) in bytes.iter().enumerate() {
            let cell = self.of_type("cell", element, [base.clone(), int(at)]);
            self.writable_at(&cell_type(&array.ty), cell.clone(), (span, array.span));
            self.store(&Slot::Cells((**element).clone()), cell, int(byte), span);
        }
        Ok(())
    }
}

impl<'p> Declaration<'_, 'p> {
    /// `place := value` where the place is in the heap.
    pub(super) fn store_at(
        &mut self,
        place: &'p Place,
        value: &'p Expr,
        span: Span,
    ) -> Fallible<()> {
        let env = self.env();
        match place {
            Place::Variable(_) => Ok(()),
            Place::Field { receiver, field } => {
                let declared = &self.program.fields[*field];
                let sort = Type::Struct(declared.parent);
                self.ghost_only(!declared.is_ghost, span, "write a field that is not ghost");
                self.check_value(receiver, declared.is_ghost)?;
                let object = self.term_as(receiver, &sort, &env)?;
                self.check_value(value, declared.is_ghost)?;
                self.writable_at(&sort, object.clone(), (span, receiver.span));
                let value = self.term_as(value, &declared.ty, &env)?;
                self.store(&Slot::Field(*field), object, value, span);
                Ok(())
            }
            Place::Element { array, index } => {
                self.ghost_only(true, span, "write an array");
                self.check(array)?;
                self.check(index)?;
                self.check(value)?;
                let cell = self.of_array("cell", array, Some(index), &env)?;
                let after = Span { start: index.span.end, ..span };
                let rest = self.lowering.sources.text(after).unwrap_or_default();
                let bracket = rest.find(']').map_or(0, |at| at as u32 + 1);
                let named = Span { end: index.span.end + bracket, ..array.span };
                self.write_cell(&cell_type(&array.ty), cell, value, (span, named))
            }
            Place::Cell(cell) => {
                self.ghost_only(true, span, "write an array");
                self.check(cell)?;
                self.check(value)?;
                let object = self.term(cell, &env)?;
                self.write_cell(&cell.ty, object, value, (span, cell.span))
            }
        }
    }

    fn write_cell(
        &mut self,
        sort: &Type,
        cell: s::Expr,
        value: &'p Expr,
        (span, named): (Span, Span),
    ) -> Fallible<()> {
        let Type::ArrayCell(element) = sort else { return self.stuck("this assignment", span) };
        self.writable_at(sort, cell.clone(), (span, named));
        let env = self.env();
        let value = self.term_as(value, element, &env)?;
        self.store(&Slot::Cells((**element).clone()), cell, value, span);
        Ok(())
    }
}
