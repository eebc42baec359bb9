//! Existential variables in the bodies of predicates that nothing determines.
//!
//! An instance holds if some values fit. Where it is opened, these are values of functions of its
//! arguments and of the state, about which nothing else is known; where it is closed, any values do
//! ([`Declaration::closings`]). A predicate with such variables that is not defined by itself is
//! used as one that is: its body cannot be read where it is mentioned, for nothing would name the
//! values.
//!
//! What an instance owns has to be the same for all values that fit. The values reach the instances
//! inside as arguments, so the claim to prove is stronger: what an instance owns does not depend on
//! its arguments at those places ([`Lowering::open_parameters`]).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use sil::syntax as s;
use sil::syntax::walk::{Visitor, visit};
use spl::program::{ExprKind, PredicateId, PredicateUse, Type};

use super::functions::{Header, renaming, unnamed};
use super::unrolled::Level;
use crate::build::*;
use crate::classic::assertions::{Case, condition};
use crate::classic::member::{Declaration, Env, Value};
use crate::classic::prelude::Prelude;
use crate::classic::triggers::{self, mentions};
use crate::classic::types::{Slot, spelled};
use crate::classic::{Fallible, Lowering};

/// The form of values that are chosen.
pub(in crate::classic) enum Naming<'n> {
    /// Functions of these arguments.
    Functions(&'n [s::Expr]),
    /// Variables whose names begin so.
    Variables(&'n str),
}

/// The ways to satisfy a predicate.
pub(in crate::classic) struct Ways {
    /// One for each way through the disjunctions.
    pub(in crate::classic) cases: Vec<Case>,
    /// The functions or variables that are chosen values, with their types.
    pub(in crate::classic) choices: Vec<(String, Type)>,
}

/// The parameters of each predicate of a group that chosen values reach.
pub(super) type OpenParameters = BTreeMap<PredicateId, Vec<bool>>;

impl Lowering<'_> {
    /// Notes the predicates whose bodies have variables that nothing determines: they are not
    /// opened where they are mentioned.
    pub(in crate::classic) fn close_undetermined(&mut self) {
        let program = self.program;
        loop {
            let ids = program.predicates.iter().map(|(id, _)| id);
            let open: Vec<PredicateId> = ids.filter(|&id| self.is_undetermined(id)).collect();
            let uses_none = |id: &PredicateId| {
                program.predicates[*id].body.as_ref().is_none_or(|body| {
                    !body.any(&mut |e| match &e.kind {
                        ExprKind::Predicate(PredicateUse { predicate, .. }) => {
                            open.contains(predicate)
                        }
                        _ => false,
                    })
                })
            };
            let closed: Vec<PredicateId> = open.iter().copied().filter(uses_none).collect();
            // Nothing has been lowered yet but for this.
            self.prelude = Prelude::default();
            self.closed.clear();
            self.generated.clear();
            self.unrolled.clear();
            self.seen.clear();
            if closed.is_empty() {
                return;
            }
            closed.into_iter().for_each(|id| {
                self.recursive.insert(id, [id].into_iter().collect());
            });
        }
    }

    /// Returns the domains of the terms that say which instances hold in some state. Such a term is
    /// true, so nothing follows from it: it only leads to closings.
    pub(in crate::classic) fn seen_instances(&mut self) -> Vec<s::Member> {
        let mut members = Vec::new();
        for id in self.seen.clone() {
            let predicate = &self.program.predicates[id];
            let [held, seen] = ["held", "seen"].map(|how| seen_name(how, &predicate.name));
            let mut all = s::Domain::new(&format!("Seen${}", spelled(&predicate.name)));
            for level in [Level::Whole, Level::Once] {
                // Only predicates with a header are mentioned.
                let Ok((mut member, header)) = self.header_at(id, level, level) else { break };
                let count = predicate.parameters.len();
                let arguments = header.arguments();
                let [is_held, is_seen] =
                    [&held, &seen].map(|name| call(name, arguments[..count].iter().cloned()));
                if level == Level::Whole {
                    let formals = member.typed_formals(&header.formals[..count]);
                    for name in [&held, &seen] {
                        let function = domain_function(name, formals.clone(), s::TypeKind::Bool);
                        all = all.function(function);
                    }
                    let both = implies(is_held.clone(), is_seen);
                    all = all.axiom(unnamed(forall(formals, [vec![is_held.clone()]], both)));
                }
                let formals = member.typed_formals(&header.formals);
                let known = implies(header.application.clone(), is_held);
                all = all.axiom(unnamed(forall(formals, [vec![header.application]], known)));
                if !self.recursive.contains_idx(id) {
                    break;
                }
            }
            members.push(all.into());
        }
        members
    }

    fn is_undetermined(&mut self, id: PredicateId) -> bool {
        let predicate = &self.program.predicates[id];
        let Some(body) = &predicate.body else { return false };
        if predicate.ty != Type::Permission || self.recursive.contains_idx(id) {
            return false;
        }
        let slots: Vec<Slot> = self.uses.predicates[id].slots.iter().cloned().collect();
        let mut member = Declaration::new(self);
        let header = member.header("", &predicate.parameters, &slots);
        let read = header.and_then(|it| member.assertion_spec(body, body.span, &it.env));
        read.is_err_and(|stuck| stuck.unbound.is_some())
    }

    /// Finds the parameters, of all predicates that are defined together with `id`, that chosen
    /// values reach.
    pub(super) fn open_parameters(&mut self, id: PredicateId) -> Fallible<OpenParameters> {
        let parameters = |id: &PredicateId| self.program.predicates[*id].parameters.len();
        let mut open: OpenParameters =
            self.recursive[id].iter().map(|id| (*id, vec![false; parameters(id)])).collect();
        loop {
            let before = open.clone();
            for &other in before.keys() {
                let (mut member, header) = self.header_at(other, Level::Any, Level::Any)?;
                let prefix = member.fresh("choice");
                let ways = member.ways(other, &header.env, &Naming::Variables(&prefix))?;
                let mut reached: Vec<&str> = ways.choices.iter().map(|(it, _)| &**it).collect();
                let formals = header.formals.iter().zip(&before[&other]);
                reached.extend(formals.filter(|(_, is_open)| **is_open).map(|((it, _), _)| &**it));
                for (inner, arguments) in member.instances(&ways.cases) {
                    let Some(inner) = open.get_mut(&inner) else { continue };
                    for (is_open, argument) in inner.iter_mut().zip(&arguments) {
                        *is_open |= reached.iter().any(|name| mentions(argument, name));
                    }
                }
            }
            if open == before {
                return Ok(open);
            }
        }
    }
}

/// Variables with their values.
type Values = Vec<(String, s::Expr)>;

fn seen_name(how: &str, predicate: &str) -> String {
    format!("{how}${}", spelled(predicate))
}

/// Returns the values that equations of a way give all of `names`, and what else has to hold.
fn solved(way: &Case, names: &[String]) -> Option<(Values, Vec<s::Expr>)> {
    let (mut found, mut holds) = (Values::new(), Vec::new());
    for (formula, _) in &way.formulas {
        match equation(formula, names) {
            Some((name, value)) if found.iter().all(|(known, _)| *known != name) => {
                found.push((name, value));
            }
            _ => holds.push(formula.clone()),
        }
    }
    let is_open = |e: &s::Expr| names.iter().any(|name| mentions(e, name));
    let is_solved = found.len() == names.len()
        && !found.iter().map(|(_, value)| value).chain(&holds).any(is_open);
    is_solved.then_some((found, holds))
}

/// Returns the variable among `names` that an equation gives a value, and the value.
fn equation(e: &s::Expr, names: &[String]) -> Option<(String, s::Expr)> {
    let (left, right) = match &e.kind {
        s::ExprKind::Binary { op: s::BinaryOp::Eq, left, right } => (&**left, &**right),
        s::ExprKind::Call { name, arguments, .. }
            if name.name.starts_with("same$") || name.name.starts_with("alike$") =>
        {
            let [left, right] = &arguments[..] else { return None };
            (left, right)
        }
        _ => return None,
    };
    [(left, right), (right, left)].into_iter().find_map(|(variable, value)| match &variable.kind {
        s::ExprKind::Ident(name) if names.iter().any(|it| **it == **name) => {
            Some((name.to_string(), value.clone()))
        }
        _ => None,
    })
}

impl Declaration<'_, '_> {
    /// Returns the ways to satisfy a predicate, with values for the variables that nothing
    /// determines.
    pub(in crate::classic) fn ways(
        &mut self,
        id: PredicateId,
        env: &Env,
        naming: &Naming<'_>,
    ) -> Fallible<Ways> {
        let predicate = &self.program.predicates[id];
        let (mut cases, mut choices) = (Vec::new(), BTreeMap::new());
        if let Some(body) = &predicate.body {
            let first = self.holes.len();
            cases = loop {
                match self.assertion_spec(body, body.span, env) {
                    Ok(spec) => break spec.cases,
                    Err(stuck) => match stuck.unbound {
                        // A body is read the same way each time, so the number names the variable.
                        Some(hole) if hole >= first && !self.chosen.contains_key(&hole) => {
                            let at = hole - first;
                            let (name, value) = match naming {
                                Naming::Functions(arguments) => {
                                    let name = format!("choice${}${at}", spelled(&predicate.name));
                                    let value = call(&name, arguments.iter().cloned());
                                    (name, value)
                                }
                                Naming::Variables(prefix) => {
                                    let name = format!("{prefix}${at}");
                                    let value = var(&name);
                                    (name, value)
                                }
                            };
                            choices.insert(at, (name, self.holes[hole].clone()));
                            self.chosen.insert(hole, value);
                            self.holes.truncate(first);
                        }
                        _ => {
                            self.chosen.clear();
                            return Err(stuck);
                        }
                    },
                }
            };
            self.chosen.clear();
        }
        Ok(Ways { cases, choices: choices.into_values().collect() })
    }

    /// Returns the instances of predicates that are not opened, with their arguments, as functions
    /// of parameters and state.
    pub(in crate::classic) fn instances(&self, cases: &[Case]) -> Vec<(PredicateId, Vec<s::Expr>)> {
        struct Search<'n>(&'n FxHashMap<String, PredicateId>, Vec<(PredicateId, Vec<s::Expr>)>);
        impl Visitor<'_> for Search<'_> {
            fn expr(&mut self, e: &s::Expr) {
                if let s::ExprKind::Call { name, arguments, .. } = &e.kind
                    && let Some(&id) = self.0.get(&*name.name)
                {
                    self.1.push((id, arguments.clone()));
                }
                visit::expr(self, e);
            }
        }
        let ids = self.program.predicates.iter().map(|(id, _)| id);
        let closed = ids.filter(|&id| self.is_closed(id));
        let names = closed.map(|id| (self.name_at(id, self.level_of(id)), id)).collect();
        let mut search = Search(&names, Vec::new());
        for case in cases {
            case.formulas.iter().for_each(|(formula, _)| search.expr(formula));
        }
        search.1
    }

    /// Makes the axioms that an instance holds, and owns what it should, whatever values are chosen
    /// for its variables: those with which instances inside are seen to hold.
    pub(super) fn closings(
        &mut self,
        id: PredicateId,
        level: Level,
        header: &Header,
    ) -> Fallible<Vec<s::Expr>> {
        let prefix = self.fresh("choice");
        let ways = self.ways(id, &header.env, &Naming::Variables(&prefix))?;
        if ways.choices.is_empty() {
            return Ok(Vec::new());
        }
        let mut axioms = Vec::new();
        for way in &ways.cases {
            let is_used = |name: &str| {
                way.formulas.iter().any(|(formula, _)| mentions(formula, name))
                    || way.sets.values().any(|set| mentions(set, name))
            };
            let used: Vec<(String, Type)> =
                ways.choices.iter().filter(|(name, _)| is_used(name)).cloned().collect();
            if used.is_empty() {
                continue;
            }
            let holds = condition(way);
            let mut formals = header.formals.clone();
            formals.extend(used.iter().cloned());
            let trigger = self.closing_trigger("seen", &used, way, &holds, header, &mut formals);
            let Some(trigger) = trigger else { continue };
            let mut facts = vec![header.application.clone()];
            for (sort, own) in self.footprints(id, level, header) {
                let set = self.set_of(way, &sort);
                facts.push(eq(own, set));
            }
            let formals = self.typed_formals(&formals);
            axioms.push(forall(formals, [trigger], implies(holds, and(facts))));
        }
        axioms.extend(self.seen_inside(id, header)?);
        Ok(axioms)
    }

    /// Returns terms that name the instance and all chosen values, if there are any; variables for
    /// other arguments are added to `formals`.
    fn closing_trigger(
        &mut self,
        how: &str,
        used: &[(String, Type)],
        way: &Case,
        holds: &s::Expr,
        header: &Header,
        formals: &mut Vec<(String, Type)>,
    ) -> Option<Vec<s::Expr>> {
        let mut trigger = vec![header.application.clone()];
        let instances = self.instances(std::slice::from_ref(way));
        for (choice, _) in used {
            if trigger.iter().any(|term| mentions(term, choice)) {
                continue;
            }
            let is_choice =
                |it: &s::Expr| matches!(&it.kind, s::ExprKind::Ident(name) if **name == **choice);
            let found = instances.iter().find(|(_, arguments)| arguments.iter().any(is_choice));
            let Some((id, arguments)) = found else {
                trigger.extend(triggers::of(&[choice.as_str()], holds).into_iter().next()?);
                continue;
            };
            let mut given = Vec::new();
            for (&parameter, argument) in
                self.program.predicates[*id].parameters.iter().zip(arguments)
            {
                given.push(match &argument.kind {
                    s::ExprKind::Ident(_) | s::ExprKind::Call { .. } => argument.clone(),
                    // Other terms are no part of a trigger.
                    _ => {
                        let any = self.fresh("any$");
                        formals.push((any.clone(), self.program.locals[parameter].ty.clone()));
                        var(&any)
                    }
                });
            }
            trigger.push(self.seen(how, *id, given));
        }
        Some(trigger)
    }

    /// Returns a term that is there if an instance with these arguments is `held` in some state, or
    /// `seen` to follow from such instances.
    fn seen(&mut self, how: &str, id: PredicateId, arguments: Vec<s::Expr>) -> s::Expr {
        self.lowering.seen.insert(id);
        call(&seen_name(how, &self.program.predicates[id].name), arguments)
    }

    /// Makes the axioms that lead from instances that hold to those around them, inside of one that
    /// is mentioned: equations give the values of their open parameters. One that needs no others
    /// is seen at once.
    fn seen_inside(&mut self, id: PredicateId, header: &Header) -> Fallible<Vec<s::Expr>> {
        let naming = Naming::Functions(&header.arguments());
        let ways = self.ways(id, &header.env, &naming)?;
        let mut axioms = Vec::new();
        for (inner, arguments) in self.instances(&ways.cases) {
            if !self.lowering.recursive.contains_idx(inner) {
                continue;
            }
            let open = self.lowering.open_parameters(inner)?.remove(&inner).unwrap_or_default();
            let (mut given, mut names) = (Vec::new(), Vec::new());
            for (is_open, argument) in open.iter().zip(&arguments) {
                given.push(if *is_open {
                    names.push(self.fresh("open$"));
                    var(&names[names.len() - 1])
                } else {
                    argument.clone()
                });
            }
            if names.is_empty() {
                continue;
            }
            let parameters = &self.program.predicates[inner].parameters;
            let values = given.iter().cloned().map(Value::Term);
            let env = header.env.with(parameters.iter().copied().zip(values));
            let prefix = self.fresh("choice");
            let inside = self.ways(inner, &env, &Naming::Variables(&prefix))?;
            for way in &inside.cases {
                let Some((found, holds)) = solved(way, &names) else { continue };
                let with_values = given.iter().map(|argument| {
                    let value = found.iter().find(|(name, _)| mentions(argument, name));
                    value.map_or(argument, |(_, value)| value).clone()
                });
                let seen = self.seen("seen", inner, with_values.collect());
                let fact = implies(and(holds), seen);
                let used = inside.choices.iter().filter(|(name, _)| mentions(&fact, name));
                let used: Vec<(String, Type)> = used.cloned().collect();
                let mut formals = header.formals.clone();
                formals.extend(used.iter().cloned());
                let trigger = self.closing_trigger("held", &used, way, &fact, header, &mut formals);
                if let Some(trigger) = trigger {
                    let formals = self.typed_formals(&formals);
                    axioms.push(forall(formals, [trigger], fact));
                }
            }
        }
        Ok(axioms)
    }

    /// Makes the claim that what an instance owns does not depend on open parameters: `second`
    /// names them once more.
    pub(super) fn same_for_all(
        &mut self,
        id: PredicateId,
        level: Level,
        header: &Header,
        second: &[(String, String)],
    ) -> s::Expr {
        let here = self.instance(id, level, header);
        let there = renaming(&here, second);
        let (mut triggers, mut same) = (vec![vec![here.clone(), there.clone()]], Vec::new());
        for (_, set) in self.footprints(id, level, header) {
            let other = renaming(&set, second);
            triggers.push(vec![set.clone(), other.clone()]);
            same.push(eq(set, other));
        }
        let mut formals = header.formals.clone();
        for (from, to) in second {
            if let Some((_, ty)) = header.formals.iter().find(|(name, _)| name == from) {
                formals.push((to.clone(), ty.clone()));
            }
        }
        let formals = self.typed_formals(&formals);
        forall(formals, triggers, implies(and([here, there]), and(same)))
    }

    /// Returns names for the open parameters of `header` a second time.
    pub(super) fn second_names(&mut self, header: &Header, open: &[bool]) -> Vec<(String, String)> {
        let names = header.formals.iter().zip(open).filter(|(_, is_open)| **is_open);
        let names: Vec<String> = names.map(|((name, _), _)| name.clone()).collect();
        names.into_iter().map(|name| (name.clone(), self.fresh(&format!("{name}$then")))).collect()
    }

    /// Returns how a body is read with the open parameters of `header` named a second time; these
    /// names are added to `formals`.
    pub(super) fn with_second(
        &mut self,
        id: PredicateId,
        header: &Header,
        second: &[(String, String)],
        formals: &mut Vec<(String, Type)>,
    ) -> Env {
        let parameters = &self.program.predicates[id].parameters;
        let mut values = Vec::new();
        for (&parameter, (name, ty)) in parameters.iter().zip(&header.formals) {
            if let Some((_, to)) = second.iter().find(|(from, _)| from == name) {
                formals.push((to.clone(), ty.clone()));
                values.push((parameter, Value::Term(var(to))));
            }
        }
        header.env.with(values)
    }

    /// Returns the instances inside of one that holds, with chosen values among their arguments:
    /// these are kept in variables, for they are about the present state.
    pub(in crate::classic) fn chosen_inside(
        &mut self,
        id: PredicateId,
        arguments: &[s::Expr],
        env: &Env,
    ) -> Fallible<Vec<(PredicateId, Vec<s::Expr>)>> {
        let declared = &self.program.predicates[id];
        let slots: Vec<Slot> = self.lowering.uses.predicates[id].slots.iter().cloned().collect();
        let mut all = arguments.to_vec();
        for slot in &slots {
            all.push(self.slot(slot, env, declared.name_span)?);
        }
        let values = arguments.iter().cloned().map(Value::Term);
        let inner = Env { values: std::rc::Rc::default(), values_before: None, ..env.clone() };
        let inner = inner.with(declared.parameters.iter().copied().zip(values));
        let ways = self.ways(id, &inner, &Naming::Functions(&all))?;
        let mut found = Vec::new();
        let mut kept: Vec<(s::Expr, s::Expr)> = Vec::new();
        for (id, arguments) in self.instances(&ways.cases) {
            let parameters = self.program.predicates[id].parameters.clone();
            let mut known = Vec::new();
            for (&parameter, argument) in parameters.iter().zip(arguments) {
                let is_chosen = matches!(&argument.kind, s::ExprKind::Call { name, .. }
                    if ways.choices.iter().any(|(choice, _)| **choice == *name.name));
                let same = |(from, _): &&(s::Expr, s::Expr)| triggers::same(from, &argument);
                known.push(match kept.iter().find(same) {
                    Some((_, variable)) => variable.clone(),
                    None if is_chosen => {
                        let ty = self.program.locals[parameter].ty.clone();
                        let variable = self.variable("chosen$", &ty, Some(argument.clone()));
                        kept.push((argument, variable.clone()));
                        variable
                    }
                    None => argument,
                });
            }
            found.push((id, known));
        }
        Ok(if kept.is_empty() { Vec::new() } else { found })
    }
}
