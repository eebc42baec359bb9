//! Implicit parameters that no equation determines, such as bounds or footprints of their own: a
//! value in sight with which the contract holds; for a footprint, in the end all that is left.
//!
//! The caller owes that some value exists (spl.md, section 3.3), so any choice is sound. The call
//! shows the contract with the chosen value.

use std::collections::BTreeMap;

use sil::syntax as s;
use spl::program::{Expr, LocalId, Procedure, Type};

use super::super::Fallible;
use super::super::assertions::{Spec, condition};
use super::super::member::{Declaration, Value};
use super::super::types::Slot;
use super::super::uses::slots_of;
use crate::build::*;

/// The number of values that are tried for all such parameters of a call together, and of instances
/// for one of them.
pub(super) const MOST_TRIED: usize = 12;

impl<'p> Declaration<'_, 'p> {
    /// Returns the callee's demands, with values chosen for what they do not determine.
    pub(super) fn wanted_with_choices(
        &mut self,
        callee: &'p Procedure,
        arguments: &'p [Expr],
        values: &mut [(LocalId, Value)],
    ) -> Fallible<Spec> {
        let mut tried = values.to_vec();
        let (spec, rests) = loop {
            self.rests = Some(BTreeMap::new());
            let spec = self.wanted_by(callee, &tried);
            let rests = self.rests.take().unwrap_or_default();
            let stuck = match spec {
                Ok(spec) => break (spec, rests),
                Err(stuck) => stuck,
            };
            // A footprint that mentions the parameter cannot be told before it has some value.
            let is_meant = |(_, value): &(LocalId, Value)| match value {
                Value::Hole(hole) => stuck.unbound == Some(*hole),
                Value::Term(_) => false,
            };
            let Some(at) = tried.iter().position(is_meant) else { return Err(stuck) };
            let candidates = self.in_sight(tried[at].0, arguments)?;
            let Some(first) = candidates.into_iter().next() else { return Err(stuck) };
            tried[at].1 = Value::Term(first);
        };
        if self.guess(callee, arguments, (&spec, &rests), values)? {
            return self.wanted_by(callee, values);
        }
        Ok(spec)
    }

    /// Chooses values for those implicit parameters that some case of the contract does not
    /// determine. Are there any?
    fn guess(
        &mut self,
        callee: &'p Procedure,
        arguments: &'p [Expr],
        (spec, rests): (&Spec, &BTreeMap<usize, s::Expr>),
        values: &mut [(LocalId, Value)],
    ) -> Fallible<bool> {
        let is_open = |value: &Value| match value {
            Value::Hole(hole) => {
                rests.contains_key(hole)
                    || spec.cases.iter().any(|case| !case.bindings.contains_key(hole))
            }
            Value::Term(_) => false,
        };
        let rest = |value: &Value| match value {
            Value::Hole(hole) => rests.get(hole).cloned(),
            Value::Term(_) => None,
        };
        let open: Vec<usize> = (0..values.len()).filter(|&at| is_open(&values[at].1)).collect();
        if open.is_empty() {
            return Ok(false);
        }
        let mut tuples: Vec<Vec<s::Expr>> = vec![Vec::new()];
        for &at in &open {
            let mut candidates = self.in_sight(values[at].0, arguments)?;
            candidates.extend(rest(&values[at].1));
            if candidates.is_empty() {
                let wanted = &self.program.locals[values[at].0];
                candidates.push(self.variable(&wanted.name, &wanted.ty, None));
            }
            let longer = tuples.iter().flat_map(|tuple| {
                candidates.iter().map(|one| tuple.iter().chain([one]).cloned().collect())
            });
            tuples = longer.take(MOST_TRIED).collect();
        }
        let mut chosen: Option<Vec<s::Expr>> = None;
        for tuple in tuples.into_iter().rev() {
            chosen = Some(match chosen {
                None => tuple,
                Some(others) => {
                    let mut tried = values.to_vec();
                    for (&at, one) in open.iter().zip(&tuple) {
                        tried[at].1 = Value::Term(one.clone());
                    }
                    let tried = self.wanted_by(callee, &tried)?;
                    let mut holds = vec![or(tried.cases.iter().map(condition))];
                    for (&at, one) in open.iter().zip(&tuple) {
                        if let (Some(_), Type::Set(sort)) =
                            (rest(&values[at].1), &self.program.locals[values[at].0].ty)
                            && let Some(own) = self.state.own.get(&**sort).cloned()
                        {
                            holds.push(self.of_set("subset", sort, [one.clone(), own]));
                        }
                    }
                    let holds = and(holds);
                    let both = tuple.into_iter().zip(others);
                    both.map(|(one, other)| conditional(holds.clone(), one, other)).collect()
                }
            });
        }
        for (&at, value) in open.iter().zip(chosen.unwrap_or_default()) {
            let declared = &self.program.locals[values[at].0];
            values[at].1 = Value::Term(self.variable(&declared.name, &declared.ty, Some(value)));
        }
        Ok(true)
    }

    /// Values of the type of a parameter, the most likely first: what has its name, other
    /// parameters and results, arguments, fields of arguments.
    fn in_sight(&mut self, parameter: LocalId, arguments: &'p [Expr]) -> Fallible<Vec<s::Expr>> {
        let program = self.program;
        let wanted = &program.locals[parameter];
        let mut all = Vec::new();
        if let Some(procedure) = self.procedure {
            let procedure = &program.procedures[procedure];
            let mut locals: Vec<LocalId> =
                procedure.parameters.iter().chain(&procedure.results).copied().collect();
            locals.retain(|&local| program.locals[local].ty == wanted.ty);
            locals.sort_by_key(|&local| program.locals[local].name != wanted.name);
            for local in locals {
                let value = match self.values.get(&local) {
                    Some(Value::Term(value)) => value.clone(),
                    _ => var(&self.local(local)),
                };
                all.push(value);
            }
        }
        let env = self.env();
        for argument in arguments {
            if argument.ty == wanted.ty {
                all.push(self.term(argument, &env)?);
            }
        }
        for argument in arguments {
            for slot in slots_of(program, &argument.ty) {
                let (Slot::Field(field), Some(state)) =
                    (&slot, self.state.slots.get(&slot).cloned())
                else {
                    continue;
                };
                let ty: &Type = &program.fields[*field].ty;
                if *ty == wanted.ty {
                    let object = self.term(argument, &env)?;
                    all.push(self.of_map("rd", (&argument.ty, ty), [state, object]));
                }
            }
        }
        Ok(all)
    }
}
