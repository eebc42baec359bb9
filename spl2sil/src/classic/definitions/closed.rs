//! Comprehensions: a function of the variables and parts of the state that they mention, with an
//! axiom that says what the set or map holds. Those that say the same share a function.

use std::rc::Rc;

use sil::syntax as s;
use spl::program::{Expr, ExprKind, LocalId, Type};

use crate::build::*;
use crate::classic::Fallible;
use crate::classic::member::{Declaration, Env, State, Value};
use crate::classic::prelude::Part;
use crate::classic::types::{Slot, lowered};
use crate::classic::uses::Uses;

impl<'p> Declaration<'_, 'p> {
    /// `{variable :: body}`
    pub(in crate::classic) fn comprehension(
        &mut self,
        variable: LocalId,
        body: &'p Expr,
        is_set: bool,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let mut free = Vec::new();
        free_locals(body, &mut vec![variable], &mut free);
        let mut uses = Uses::default();
        self.lowering.uses.expr(self.program, body, &mut uses);
        let mentions_old = body.any(&mut |e| matches!(e.kind, ExprKind::Old(_)));
        let slots: Vec<Slot> = uses.slots.iter().cloned().collect();
        let mut arguments = Vec::new();
        for &local in &free {
            arguments.push(self.value_of(local, env, body.span)?);
        }
        for (is_old, slot) in states(&slots, mentions_old) {
            let env = if is_old { env.old() } else { env.clone() };
            arguments.push(self.slot(slot, &env, body.span)?);
        }
        let name = self.closed_function(variable, body, is_set, &free, &slots, mentions_old)?;
        Ok(call(&name, arguments))
    }

    /// Returns the function that the comprehension applies.
    fn closed_function(
        &mut self,
        variable: LocalId,
        body: &'p Expr,
        is_set: bool,
        free: &[LocalId],
        slots: &[Slot],
        mentions_old: bool,
    ) -> Fallible<String> {
        let program = self.program;
        let mut inner = Declaration::new(self.lowering);
        let (mut formals, mut values) = (Vec::new(), Vec::new());
        for (at, &local) in free.iter().enumerate() {
            let name = inner.fresh(&format!("p${at}"));
            formals.push((name.clone(), program.locals[local].ty.clone()));
            values.push((local, Value::Term(var(&name))));
        }
        let (mut now, mut before) = (State::default(), State::default());
        for (is_old, slot) in states(slots, mentions_old) {
            let prefix = if is_old { "old$" } else { "" };
            let name = inner.fresh(&format!("{prefix}{}$", slot.name(program)));
            formals.push((name.clone(), slot.ty(program)));
            let state = if is_old { &mut before } else { &mut now };
            state.slots.insert(slot.clone(), var(&name));
        }
        let env = Env { now: Rc::new(now), before: Rc::new(before), ..Env::default() }.with(values);
        let element = program.locals[variable].ty.clone();
        let element_name = inner.fresh("e$");
        let env = env.with([(variable, Value::Term(var(&element_name)))]);
        let body_term = inner.term(body, &env)?;
        let result = if is_set {
            Type::set(element.clone())
        } else {
            Type::Map(Box::new(element.clone()), Box::new(body.ty.clone()))
        };
        let types: Vec<s::Type> = formals.iter().map(|(_, ty)| inner.ty(ty)).collect();
        inner.ty(&result);
        let key = format!("{is_set} {element:?} {types:?} {body_term:?}");
        if let Some(name) = self.lowering.closed.get(&key) {
            return Ok(name.clone());
        }
        let name = format!("comprehension${}", self.lowering.closed.len());
        self.lowering.closed.insert(key, name.clone());
        let application = call(&name, formals.iter().map(|(formal, _)| var(formal)));
        let mut variables: Vec<s::TypedName> =
            formals.iter().zip(&types).map(|((formal, _), ty)| typed(formal, ty.clone())).collect();
        variables.push(typed(&element_name, lowered(program, &element)));
        let e = var(&element_name);
        let holds = if is_set {
            let member = self.of_set("mem", &element, [e.clone(), application.clone()]);
            let mut triggers = vec![vec![member.clone()]];
            let found = crate::classic::triggers::of(&[element_name.as_str()], &body_term);
            triggers.extend(found.into_iter().map(|mut trigger| {
                trigger.insert(0, application.clone());
                trigger
            }));
            for (slot, (formal, _)) in slots.iter().zip(&formals[free.len()..]) {
                if slot.sort(program).as_ref() == Some(&element) {
                    let Type::Map(from, to) = slot.ty(program) else { continue };
                    let read = self.of_map("rd", (&from, &to), [var(formal), e.clone()]);
                    triggers.push(vec![application.clone(), read]);
                }
            }
            triggers.dedup_by(|left, right| format!("{left:?}") == format!("{right:?}"));
            forall(variables, triggers, eq(member, body_term))
        } else {
            self.lowering.prelude.want(Part::Sort(result.clone()));
            let read = self.of_map("rd", (&element, &body.ty), [application, e.clone()]);
            forall(variables, [vec![read.clone()]], eq(read, body_term))
        };
        let formals: Vec<s::TypedName> =
            formals.iter().zip(types).map(|((name, _), ty)| typed(name, ty)).collect();
        let function = domain_function(&name, formals, lowered(program, &result));
        let domain = domain(
            &format!("Comprehension{}", &name["comprehension".len()..]),
            vec![function],
            vec![super::functions::unnamed(holds)],
        );
        self.lowering.generated.push(domain);
        Ok(name)
    }
}

/// Returns the parts of the state, and again as they were.
fn states(slots: &[Slot], mentions_old: bool) -> impl Iterator<Item = (bool, &Slot)> {
    let before = slots.iter().filter(move |_| mentions_old).map(|slot| (true, slot));
    slots.iter().map(|slot| (false, slot)).chain(before)
}

/// The variables that an expression mentions and does not bind, in the order of their first
/// occurrence.
pub(in crate::classic) fn free_locals(e: &Expr, bound: &mut Vec<LocalId>, free: &mut Vec<LocalId>) {
    let outer = bound.len();
    match &e.kind {
        ExprKind::Local(local) if !bound.contains(local) && !free.contains(local) => {
            free.push(*local);
        }
        ExprKind::SetComprehension { variable, .. }
        | ExprKind::MapComprehension { variable, .. } => bound.push(*variable),
        ExprKind::Quantified { variables, .. } => {
            bound.extend(variables.iter().map(|variable| variable.local));
        }
        _ => {}
    }
    front::grow_stack(|| e.for_each_child(&mut |child| free_locals(child, bound, free)));
    bound.truncate(outer);
}
