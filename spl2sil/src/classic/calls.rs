//! Calls: a part of what is owned is handed over, and another part comes back.

mod guesses;
mod held;

use std::collections::BTreeMap;
use std::rc::Rc;

use findings::{ErrorId, Pattern, Reason};
use indexmap::IndexMap;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Expr, LocalId, Procedure, ProcedureId, Type, Variable};
use spl::source::Span;

use super::Fallible;
use super::assertions::{Case, Spec, condition};
use super::member::{Declaration, Env, Value};
use super::types::spelled;
use crate::build::*;

pub(super) use held::Held;

impl<'p> Declaration<'_, 'p> {
    /// `targets := procedure(arguments)`
    pub(super) fn call(
        &mut self,
        targets: &[Variable],
        procedure: ProcedureId,
        arguments: &'p [Expr],
        span: Span,
    ) -> Fallible<()> {
        let callee = &self.program.procedures[procedure];
        if self.lowering.refused.contains_idx(procedure) {
            return self.stuck(format!("a call of `{}`, whose contract", callee.name), span);
        }
        let explicit = self.program.explicit(&callee.parameters);
        for (at, argument) in arguments.iter().enumerate() {
            let to_ghost = callee.is_lemma()
                || explicit.get(at).is_some_and(|&it| self.program.locals[it].is_ghost);
            self.check_value(argument, to_ghost)?;
        }
        let env = self.env();
        let mut values: Vec<(LocalId, Value)> = Vec::new();
        let mut given = arguments.iter();
        for &parameter in &callee.parameters {
            let declared = &self.program.locals[parameter];
            let value = if declared.is_implicit {
                self.hole(&declared.ty)
            } else {
                let Some(argument) = given.next() else { continue };
                Value::Term(self.term_as(argument, &declared.ty, &env)?)
            };
            values.push((parameter, value));
        }
        let spec = self.wanted_with_choices(callee, arguments, &mut values)?;
        let uses = self.lowering.uses.procedures[procedure].clone();
        let mut handed = IndexMap::new();
        for sort in &uses.sorts {
            handed.insert(
                sort.clone(),
                self.handed_over(&spec, sort, (ErrorId::CallPrecondition, Reason::Footprint), span),
            );
        }
        let gives_instances = self.mention_instances(&callee.ensures);
        let (mut actuals, mut known) = (Vec::new(), Vec::new());
        for (parameter, value) in values {
            let actual = match value {
                Value::Term(term) => term,
                Value::Hole(hole) => {
                    let value = self.filled(&spec, hole, span)?;
                    let declared = &self.program.locals[parameter];
                    if gives_instances {
                        self.variable(&declared.name, &declared.ty, Some(value))
                    } else {
                        value
                    }
                }
            };
            known.push((parameter, Value::Term(actual.clone())));
            actuals.push(actual);
        }
        actuals.extend(uses.slots.iter().map(|slot| self.state.slots[slot].clone()));
        for sort in &uses.sorts {
            actuals.extend([self.state.alloc[sort].clone(), handed[sort].clone()]);
        }
        let mut receivers = Vec::new();
        let mut targets = targets.iter();
        for &result in &callee.results {
            let declared = &self.program.locals[result];
            let target = if declared.is_implicit { None } else { targets.next() };
            let receiver = match target {
                Some(target) => self.target(*target),
                None => self.variable("ignored$", &declared.ty, None),
            };
            known.push((result, Value::Term(receiver.clone())));
            receivers.push(receiver);
        }
        for parameter in self.given_back(callee) {
            let ty = &self.program.locals[parameter].ty;
            receivers.push(self.variable("ignored$", ty, None));
        }
        receivers.extend(uses.written.iter().map(|slot| self.state.slots[slot].clone()));
        let mut back = Vec::new();
        for sort in &uses.resized {
            let got = self.variable("back$", &Type::set(sort.clone()), None);
            receivers.extend([self.state.alloc[sort].clone(), got.clone()]);
            back.push((sort.clone(), got));
        }
        let call = call_method(receivers, &spelled(&callee.name), actuals);
        self.emit_at(span, call);
        for (sort, got) in back {
            let own = self.state.own[&sort].clone();
            let rest = self.of_set("minus", &sort, [own.clone(), handed[&sort].clone()]);
            let all = self.of_set("union", &sort, [rest, got]);
            self.emit(assign(own, all));
        }
        if gives_instances {
            let now = Rc::new(self.state.clone());
            let env = Env { now: now.clone(), before: now, ..Env::default() }.with(known);
            self.note_held(&callee.ensures, &env);
        }
        Ok(())
    }

    /// Returns the callee's demands, with values of its parameters.
    fn wanted_by(&mut self, callee: &'p Procedure, values: &[(LocalId, Value)]) -> Fallible<Spec> {
        let now = Rc::new(self.state.clone());
        let inner = Env { now: now.clone(), before: now, ..Env::default() };
        self.chooses = true;
        let spec = self.spec(&callee.requires, &inner.with(values.iter().cloned()));
        self.chooses = false;
        spec
    }

    /// Returns the set of a sort that a contract asks for, as a new variable; it has to be owned.
    pub(super) fn handed_over(
        &mut self,
        spec: &Spec,
        sort: &Type,
        id: (ErrorId, Reason),
        span: Span,
    ) -> s::Expr {
        let chosen = self.chosen_set(spec, sort);
        let part = self.variable("part$", &Type::set(sort.clone()), Some(chosen));
        let own = self.state.own[sort].clone();
        let text = format!("{} is needed here that is not owned", self.objects(sort));
        let check = assert(self.of_set("subset", sort, [part.clone(), own]))
            .with(renamed(Pattern::ANY, id))
            .with(said(Pattern::ANY, &text));
        self.emit_at(span, check);
        part
    }

    /// Returns the value of an implicit parameter: that of the first case that holds.
    pub(super) fn filled(&mut self, spec: &Spec, hole: usize, span: Span) -> Fallible<s::Expr> {
        let bound = |case: &Case| -> Option<s::Expr> {
            let bindings: &BTreeMap<usize, s::Expr> = &case.bindings;
            bindings.get(&hole).cloned()
        };
        let mut values = Vec::new();
        for case in &spec.cases {
            let Some(value) = bound(case) else { return self.stuck("this call", span) };
            values.push((condition(case), value));
        }
        let Some((_, last)) = values.pop() else { return self.stuck("this call", span) };
        Ok(values
            .into_iter()
            .rev()
            .fold(last, |rest, (holds, value)| conditional(holds, value, rest)))
    }
}
