//! Predicates where they are used, and those without a body.
//!
//! A predicate that is not defined by itself is what it stands for, at each of its uses. One
//! without a body is a formula and a set of each sort, which depend on the objects in these sets
//! alone. So is one that is defined by itself, see [`super::unrolled`].

use std::rc::Rc;

use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Expr, ExprKind, PredicateId, PredicateUse, Type};
use spl::source::Span;

use super::functions::{lowered_with, unnamed};
use crate::build::*;
use crate::classic::member::{Declaration, Env, Value};
use crate::classic::types::{Slot, spelled};
use crate::classic::{Fallible, Lowering, places};

impl Lowering<'_> {
    pub(in crate::classic) fn predicate(&mut self, id: PredicateId, members: &mut Vec<s::Member>) {
        let predicate = &self.program.predicates[id];
        if predicate.body.is_some() {
            return;
        }
        match self.abstract_predicate(id) {
            Ok(lowered) => {
                let lowered = places::placed(self.sources, predicate.name_span, lowered);
                members.push(lowered.with(named(&predicate.name)));
            }
            Err(stuck) => {
                members.push(self.refusal(&predicate.name, predicate.name_span, &stuck));
            }
        }
    }

    /// Returns a predicate without a body: a formula and a set of each sort, which depend on the
    /// objects in the sets alone.
    fn abstract_predicate(&mut self, id: PredicateId) -> Fallible<s::Member> {
        let program = self.program;
        let predicate = &program.predicates[id];
        let uses = self.uses.predicates[id].clone();
        let slots: Vec<Slot> = uses.slots.iter().cloned().collect();
        let name = spelled(&predicate.name);
        let mut member = Declaration::new(self);
        let header = member.header(&name, &predicate.parameters, &slots)?;
        let formals = member.typed_formals(&header.formals);
        let mut lowered = s::Domain::new(&format!("Predicate${name}")).function(domain_function(
            &name,
            formals.clone(),
            s::TypeKind::Bool,
        ));
        if predicate.ty == Type::Bool {
            for clause in &predicate.ensures {
                let promise = member.term(&clause.condition, &header.env)?;
                let promise = implies(header.application.clone(), promise);
                let promise = member.for_all(&header.formals, Some(&header.application), promise);
                lowered = lowered.axiom(unnamed(promise));
            }
            let frame = member.depends_on_footprint(&predicate.requires, &header, &slots)?;
            return Ok(lowered_with(lowered, frame).into());
        }
        let footprints = member.footprints_of(id, &name, &header.arguments());
        for (sort, _) in &footprints {
            let function = footprint_name(&name, &member.key(sort));
            let set = member.ty(&Type::set(sort.clone()));
            lowered = lowered.function(domain_function(&function, formals.clone(), set));
        }
        let mut values = vec![header.application.clone()];
        values.extend(footprints.iter().map(|(_, footprint)| footprint.clone()));
        let frame = member.depends_on(&footprints, &values, &header, &slots);
        Ok(lowered_with(lowered, frame).into())
    }
}

/// Returns the name of the set of a predicate without a body.
pub(in crate::classic) fn footprint_name(predicate: &str, sort: &str) -> String {
    format!("footprint${predicate}${sort}")
}

impl<'p> Declaration<'_, 'p> {
    /// How the body of a predicate is read where the predicate is used.
    pub(in crate::classic) fn predicate_env(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
    ) -> Fallible<Env> {
        let declared = &self.program.predicates[used.predicate];
        let mut arguments = used.arguments.iter();
        let mut values = Vec::new();
        for &parameter in &declared.parameters {
            let ty = self.program.locals[parameter].ty.clone();
            let value = if self.program.locals[parameter].is_implicit {
                self.hole(&ty)
            } else {
                match arguments.next() {
                    Some(argument) => self.argument(argument, &ty, env)?,
                    None => continue,
                }
            };
            values.push((parameter, value));
        }
        Ok(Env { values: Rc::default(), values_before: None, ..env.clone() }.with(values))
    }

    /// Returns an argument of a predicate: a variable that is not determined yet is handed on.
    fn argument(&mut self, argument: &'p Expr, ty: &Type, env: &Env) -> Fallible<Value> {
        if let ExprKind::Local(local) = &argument.kind
            && let Some(Value::Hole(hole)) = env.values.get(local)
        {
            return Ok(Value::Hole(*hole));
        }
        Ok(Value::Term(self.term_as(argument, ty, env)?))
    }

    fn predicate_arguments(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<Vec<s::Expr>> {
        let declared = &self.program.predicates[used.predicate];
        let mut all = Vec::new();
        for (argument, &parameter) in used.arguments.iter().zip(&declared.parameters) {
            all.push(self.term_as(argument, &self.program.locals[parameter].ty, env)?);
        }
        let slots: Vec<Slot> =
            self.lowering.uses.predicates[used.predicate].slots.iter().cloned().collect();
        for slot in &slots {
            all.push(self.slot(slot, env, span)?);
        }
        Ok(all)
    }

    /// Returns the formula of a predicate that is not opened.
    pub(in crate::classic) fn closed_formula(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let name = self.instance_name(used.predicate);
        let arguments = self.predicate_arguments(used, env, span)?;
        Ok(call(&name, arguments))
    }

    /// Returns the objects of a predicate that is not opened.
    pub(in crate::classic) fn closed_footprint(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<Vec<(Type, s::Expr)>> {
        let name = self.instance_name(used.predicate);
        let arguments = self.predicate_arguments(used, env, span)?;
        Ok(self.footprints_of(used.predicate, &name, &arguments))
    }

    /// Returns the sets that belong to the formula `name(arguments)` of a predicate.
    pub(in crate::classic) fn footprints_of(
        &mut self,
        id: PredicateId,
        name: &str,
        arguments: &[s::Expr],
    ) -> Vec<(Type, s::Expr)> {
        let sorts: Vec<Type> = self.lowering.uses.predicates[id].owned.iter().cloned().collect();
        sorts
            .into_iter()
            .map(|sort| {
                let function = footprint_name(name, &self.key(&sort));
                (sort, call(&function, arguments.iter().cloned()))
            })
            .collect()
    }
}
