//! Procedures and lemmas: methods that get the state at entry and give back the state at exit.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Block, Clause, Dialect, LocalId, Procedure, ProcedureId, StmtKind, Type};

use super::assertions::Spec;
use super::definitions::functions::refused;
use super::frames::assumed;
use super::member::{Declaration, Env, State, Value};
use super::types::spelled;
use super::{Fallible, Lowering, places};
use crate::build::*;
use crate::lower::annotations::ends;

/// Where a `return` goes.
pub(super) const END: &str = "end$";

/// A method without its body.
struct Head {
    method: s::Method,
    /// The state at entry.
    entry: State,
    /// The state at exit: the variables that the body changes.
    exit: State,
    /// The results for parameters whose last values postconditions are about.
    outs: FxHashMap<LocalId, Value>,
}

impl Lowering<'_> {
    /// Notes the procedures whose contracts have no lowering: they cannot be called, also where
    /// they are declared later.
    pub(super) fn refuse_contracts(&mut self) {
        let program = self.program;
        for (id, _) in program.procedures.iter() {
            let mut member = Declaration::new(self);
            member.procedure = Some(id);
            if let Err(stuck) = member.head(id) {
                self.refused.insert(id, stuck);
            }
        }
    }

    pub(super) fn procedure(&mut self, id: ProcedureId, members: &mut Vec<s::Member>) {
        let procedure = &self.program.procedures[id];
        let mut member = Declaration::new(self);
        member.procedure = Some(id);
        member.is_ghost = procedure.is_lemma();
        let method = member.method(id).unwrap_or_else(|stuck| {
            let place = places::at(member.lowering.sources, stuck.span);
            s::Method::new(&format!("{}$refused", spelled(&procedure.name)))
                .body([assert(refused(&stuck)).with(place)])
        });
        let method = s::Member::from(method)
            .with(named(&procedure.name))
            .with(member.variables())
            .with(ends());
        members.push(places::placed(self.sources, procedure.name_span, method));
    }
}

impl<'p> Declaration<'_, 'p> {
    fn method(&mut self, id: ProcedureId) -> Fallible<s::Method> {
        let procedure = &self.program.procedures[id];
        let Head { method, entry, exit, outs } = self.head(id)?;
        let Some(body) = &procedure.body else { return Ok(method) };
        let statements = self.body(procedure, body, entry, exit, &outs);
        let statements = statements.unwrap_or_else(|stuck| {
            let place = places::at(self.lowering.sources, stuck.span);
            vec![assert(refused(&stuck)).with(place)]
        });
        Ok(method.body(statements))
    }

    /// Parameters, results and contract.
    fn head(&mut self, id: ProcedureId) -> Fallible<Head> {
        let program = self.program;
        let procedure = &program.procedures[id];
        let uses = self.lowering.uses.procedures[id].clone();
        let mut method = s::Method::new(&spelled(&procedure.name));
        for &parameter in &procedure.parameters {
            let ty = self.ty(&program.locals[parameter].ty);
            let name = self.local(parameter);
            method = method.formal(&name, ty);
        }
        for &result in &procedure.results {
            let ty = self.ty(&program.locals[result].ty);
            let name = self.local(result);
            method = method.returns(&name, ty);
        }
        let mut outs = FxHashMap::default();
        for parameter in self.given_back(procedure) {
            let ty = self.ty(&program.locals[parameter].ty);
            let name = self.fresh(&format!("{}$out", program.locals[parameter].name));
            method = method.returns(&name, ty);
            outs.insert(parameter, Value::Term(var(&name)));
        }
        let (mut entry, mut exit) = (State::default(), State::default());
        for slot in &uses.slots {
            let ty = slot.ty(program);
            let name = self.fresh(&format!("{}$0", slot.name(program)));
            method = method.formal(&name, self.ty(&ty));
            entry.slots.insert(slot.clone(), var(&name));
        }
        for sort in &uses.sorts {
            let (key, ty) = (self.key(sort), self.ty(&Type::set(sort.clone())));
            let (alloc, own) = (format!("Alloc${key}$0"), format!("Own${key}$0"));
            method = method.formal(&alloc, ty.clone()).formal(&own, ty);
            entry.alloc.insert(sort.clone(), var(&alloc));
            entry.own.insert(sort.clone(), var(&own));
        }
        exit.clone_from(&entry);
        for slot in &uses.written {
            let ty = slot.ty(program);
            let name = self.fresh(&format!("{}$", slot.name(program)));
            method = method.returns(&name, self.ty(&ty));
            exit.slots.insert(slot.clone(), var(&name));
        }
        for sort in &uses.resized {
            let (key, ty) = (self.key(sort), self.ty(&Type::set(sort.clone())));
            let (alloc, own) = (format!("Alloc${key}"), format!("Own${key}"));
            method = method.returns(&alloc, ty.clone()).returns(&own, ty);
            exit.alloc.insert(sort.clone(), var(&alloc));
            exit.own.insert(sort.clone(), var(&own));
        }
        self.entry = Rc::new(entry.clone());
        let mut contract = s::Contract::default();
        contract.preconditions.extend(self.granted(id)?);
        self.preconditions(procedure, &entry, &mut contract)?;
        let env = Env {
            now: Rc::new(exit.clone()),
            before: self.entry.clone(),
            values: Rc::new(outs.clone()),
            values_before: Some(Rc::default()),
        };
        self.postconditions(procedure, &env, &mut contract)?;
        contract.postconditions.extend(self.kept_forests(procedure, &exit, &uses.written));
        let frame = self.framed(&entry, &exit, &uses.resized, &uses.written);
        contract.postconditions.extend(frame);
        self.measure(id, &mut contract)?;
        method.contract = contract;
        Ok(Head { method, entry, exit, outs })
    }

    /// Parameters whose last values postconditions are about.
    pub(super) fn given_back(&self, procedure: &Procedure) -> Vec<LocalId> {
        match self.program.dialect {
            Dialect::ClassicParts => procedure.assigned(&procedure.parameters),
            _ => Vec::new(),
        }
    }

    fn preconditions(
        &mut self,
        procedure: &'p Procedure,
        entry: &State,
        contract: &mut s::Contract,
    ) -> Fallible<()> {
        let state = Rc::new(entry.clone());
        let env = Env { now: state.clone(), before: state, ..Env::default() };
        contract.preconditions.extend(self.owned_exists(entry));
        contract.preconditions.extend(self.kept_forests(procedure, entry, entry.slots.keys()));
        let mut spec = self.spec(&procedure.requires, &env)?;
        // Without a clause nothing is owned.
        spec.footprint = spec.footprint.or(Some(procedure.name_span));
        let stated = self.stated(&spec, &entry.own, true);
        contract.preconditions.extend(self.unless_free(&procedure.requires, &spec, stated));
        Ok(())
    }

    fn postconditions(
        &mut self,
        procedure: &'p Procedure,
        env: &Env,
        contract: &mut s::Contract,
    ) -> Fallible<()> {
        let spec = self.spec(&procedure.ensures, env)?;
        let stated = self.stated(&spec, &env.now.own, true);
        contract.postconditions.extend(self.unless_free(&procedure.ensures, &spec, stated));
        Ok(())
    }

    /// Drops the obligations of `free` clauses, which are assumed and not checked. The place of an
    /// expression names its clause. Where there is more than one case, a formula may be of several
    /// clauses, so it is checked unless all are free.
    fn unless_free(&self, clauses: &[Clause], spec: &Spec, stated: Vec<s::Expr>) -> Vec<s::Expr> {
        if spec.cases.len() > 1 && !clauses.iter().all(|clause| clause.is_free) {
            return stated;
        }
        let free: Vec<s::Annotation> = clauses
            .iter()
            .filter(|clause| clause.is_free)
            .map(|clause| places::at(self.lowering.sources, clause.span))
            .collect();
        let is_free = |e: &s::Expr| e.annotations.iter().any(|it| free.contains(it));
        stated.into_iter().map(|e| if is_free(&e) { assumed(e) } else { e }).collect()
    }

    fn body(
        &mut self,
        procedure: &'p Procedure,
        body: &'p Block,
        entry: State,
        exit: State,
        outs: &FxHashMap<LocalId, Value>,
    ) -> Fallible<Vec<s::Stmt>> {
        let program = self.program;
        for (slot, value) in &exit.slots {
            if !super::triggers::same(value, &entry.slots[slot]) {
                self.emit(assign(value.clone(), entry.slots[slot].clone()));
            }
        }
        for (sort, value) in &exit.own {
            if !super::triggers::same(value, &entry.own[sort]) {
                self.emit(assign(exit.alloc[sort].clone(), entry.alloc[sort].clone()));
                self.emit(assign(value.clone(), entry.own[sort].clone()));
            }
        }
        self.state = exit;
        let mut values = FxHashMap::default();
        for parameter in procedure.assigned(&procedure.parameters) {
            let declared = &program.locals[parameter];
            let formal = var(&self.local(parameter));
            let copy = self.variable(&declared.name, &declared.ty, Some(formal));
            values.insert(parameter, Value::Term(copy));
        }
        self.values = Rc::new(values);
        let env = self.env();
        self.note_held(&procedure.requires, &env);
        self.block_of(body)?;
        if returns(body) {
            self.emit(label(END));
        }
        self.close_results(procedure, outs);
        for parameter in self.given_back(procedure) {
            let (out, copy) = (outs.get(&parameter), self.values.get(&parameter));
            if let (Some(Value::Term(out)), Some(Value::Term(copy))) = (out, copy) {
                let last = assign(out.clone(), copy.clone());
                self.emit(last);
            }
        }
        Ok(std::mem::take(&mut self.statements))
    }

    /// Gives implicit results that the body does not assign the value that the postcondition
    /// determines, or what is owned. Whatever they get, the postcondition is checked with it.
    fn close_results(&mut self, procedure: &'p Procedure, outs: &FxHashMap<LocalId, Value>) {
        let open = self.program.left_open(procedure);
        if open.is_empty() {
            return;
        }
        let holes: Vec<(LocalId, Value)> =
            open.iter().map(|&local| (local, self.hole(&self.program.locals[local].ty))).collect();
        let env = Env {
            now: Rc::new(self.state.clone()),
            before: self.entry.clone(),
            values: Rc::new(outs.clone()),
            values_before: Some(Rc::default()),
        };
        let spec = self.spec(&procedure.ensures, &env.with(holes.iter().cloned()));
        for (local, hole) in holes {
            let (Value::Hole(hole), declared) = (hole, &self.program.locals[local]) else {
                continue;
            };
            let value = match (&spec, &declared.ty) {
                (Ok(spec), _) => self.filled(spec, hole, declared.span).ok(),
                (Err(_), Type::Set(sort)) => self.state.own.get(&**sort).cloned(),
                _ => None,
            };
            if let Some(value) = value {
                let result = var(&self.local(local));
                self.emit(assign(result, value));
            }
        }
    }
}

/// Is there a `return` in it?
fn returns(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        front::grow_stack(|| match &stmt.kind {
            StmtKind::Return(_) => true,
            StmtKind::Block(block) => returns(block),
            StmtKind::If { then, otherwise, .. } => {
                returns(then) || otherwise.as_ref().is_some_and(returns)
            }
            StmtKind::Choose(blocks) => blocks.iter().any(returns),
            StmtKind::While { body, .. } => returns(body),
            _ => false,
        })
    })
}
