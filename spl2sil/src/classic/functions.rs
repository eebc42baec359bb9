//! Functions, predicates without permissions, axioms and datatypes.
//!
//! A function sees the heap through the fields it mentions, so it is a function of its parameters and of these. One with
//! a body is defined by it: by an axiom if it is not recursive, else it becomes a function of SIL, whose unrolling the
//! engine limits and whose termination it checks. What such a function promises is proved. One without a body is
//! trusted to exist as its postconditions say.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{
    Clause, DatatypeId, Expr, ExprKind, FunctionId, LocalId, PredicateId, PredicateUse, Program,
    Type,
};
use spl::source::Span;

use super::member::{Env, Member, State, Value};
use super::prelude::Part;
use super::types::{Slot, lowered, spelled};
use super::{Fallible, Lowering, Stuck, places};
use crate::build::*;

/// Functions whose bodies apply themselves, directly or through others, and those that apply such functions: axioms of
/// domains cannot.
pub(super) fn recursive_functions(program: &Program) -> FxHashSet<FunctionId> {
    let applied_by = |id: FunctionId| {
        let mut all = Vec::new();
        let mut seen = FxHashSet::default();
        let body = program.functions[id].body.iter();
        body.for_each(|body| applied(program, body, &mut seen, &mut all));
        all
    };
    let ids = || program.functions.iter().map(|(id, _)| id);
    let mut found: FxHashSet<FunctionId> = ids().filter(|&id| reaches(id, &applied_by)).collect();
    let mentioned_by = |id: FunctionId| {
        let function = &program.functions[id];
        let clauses = function.requires.iter().chain(&function.ensures);
        let (mut all, mut seen) = (Vec::new(), FxHashSet::default());
        let parts = function.body.iter().chain(clauses.map(|clause| &clause.condition));
        parts.for_each(|part| applied(program, part, &mut seen, &mut all));
        all
    };
    loop {
        let more: Vec<FunctionId> = ids()
            .filter(|id| {
                !found.contains(id) && mentioned_by(*id).iter().any(|it| found.contains(it))
            })
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Predicates that stand for something in which they occur.
pub(super) fn recursive_predicates(program: &Program) -> FxHashSet<PredicateId> {
    let used = |id: PredicateId| {
        let mut all = Vec::new();
        if let Some(body) = &program.predicates[id].body {
            body.any(&mut |e| {
                if let ExprKind::Predicate(PredicateUse { predicate, .. }) = &e.kind {
                    all.push(*predicate);
                }
                false
            });
        }
        all
    };
    program.predicates.iter().map(|(id, _)| id).filter(|&id| reaches(id, &used)).collect()
}

/// The functions that an expression applies, also by way of predicates, each of which is looked into once.
fn applied(
    program: &Program,
    e: &Expr,
    seen: &mut FxHashSet<PredicateId>,
    all: &mut Vec<FunctionId>,
) {
    e.any(&mut |e| {
        match &e.kind {
            ExprKind::Apply { function, .. } => all.push(*function),
            ExprKind::Predicate(used) if seen.insert(used.predicate) => {
                if let Some(body) = &program.predicates[used.predicate].body {
                    crate::stack::grow(|| applied(program, body, seen, all));
                }
            }
            _ => {}
        }
        false
    });
}

/// Does a chain of steps lead from `start` back to it?
fn reaches<I: Copy + Eq + std::hash::Hash>(start: I, step: &impl Fn(I) -> Vec<I>) -> bool {
    let (mut seen, mut todo) = (FxHashSet::default(), step(start));
    while let Some(next) = todo.pop() {
        if next == start {
            return true;
        }
        if seen.insert(next) {
            todo.extend(step(next));
        }
    }
    false
}

/// A function with its parameters, as it is declared in SIL.
struct Header {
    formals: Vec<(String, Type)>,
    env: Env,
    application: s::Expr,
}

impl<'p> Lowering<'p> {
    pub(super) fn datatype(&mut self, id: DatatypeId, members: &mut Vec<s::Member>) {
        let program = self.program;
        let datatype = &program.datatypes[id];
        let mut adt = s::Adt::new(&spelled(&datatype.name));
        for &constructor in &datatype.constructors {
            let constructor = &program.constructors[constructor];
            let fields: Vec<s::TypedName> = constructor
                .destructors
                .iter()
                .map(|&field| {
                    let field = &program.destructors[field];
                    self.prelude.want(Part::Sort(field.ty.clone()));
                    typed(&spelled(&field.name), lowered(program, &field.ty))
                })
                .collect();
            adt = adt.constructor(&spelled(&constructor.name), fields);
        }
        let adt = s::Member::from(adt);
        members.push(places::placed(self.sources, datatype.name_span, adt));
        if holds_sets_of_itself(program, id) {
            let stuck =
                Stuck::new("a datatype that holds sets or maps of itself", datatype.name_span);
            members.push(self.refusal(&datatype.name, datatype.name_span, &stuck));
        }
    }

    pub(super) fn axiom(&mut self, at: usize, members: &mut Vec<s::Member>) {
        let program = self.program;
        let declared = &program.axioms[at];
        let lowered = self.closed_axiom(&declared.condition);
        match lowered {
            Ok(body) => {
                let axiom = domain(&format!("Axiom${at}"), Vec::new(), vec![unnamed(body)]);
                members.push(places::placed(self.sources, declared.span, axiom));
            }
            Err(stuck) => members.push(self.refusal(&format!("axiom{at}"), declared.span, &stuck)),
        }
    }

    /// A formula about all states: those that it mentions are bound in front of it.
    fn closed_axiom(&mut self, condition: &'p Expr) -> Fallible<s::Expr> {
        let program = self.program;
        let mut uses = super::uses::Uses::default();
        self.uses.expr(program, condition, &mut uses);
        let mut member = Member::new(self);
        let header = member.header("", &[], &uses.slots.iter().cloned().collect::<Vec<_>>())?;
        let body = member.term(condition, &header.env)?;
        Ok(member.for_all(&header.formals, None, body))
    }

    pub(super) fn function(&mut self, id: FunctionId, members: &mut Vec<s::Member>) {
        let function = &self.program.functions[id];
        let done = if self.recursive_functions.contains(&id) {
            self.recursive_function(id, members)
        } else {
            self.plain_function(id, members)
        };
        if let Err(stuck) = done {
            members.push(self.refusal(&function.name, function.name_span, &stuck));
        }
    }

    /// A member that the engine refuses in the words of what is not supported.
    pub(super) fn refusal(&mut self, name: &str, span: Span, stuck: &Stuck) -> s::Member {
        let method = s::Method::new(&format!("{}$refused", spelled(name))).body([places::placed(
            self.sources,
            stuck.span,
            assert(refused(stuck)),
        )]);
        places::placed(self.sources, span, s::Member::from(method)).with(named(name))
    }

    fn plain_function(&mut self, id: FunctionId, members: &mut Vec<s::Member>) -> Fallible<()> {
        let program = self.program;
        let function = &program.functions[id];
        let slots: Vec<Slot> = self.uses.functions[id].slots.iter().cloned().collect();
        let result_ty = &program.locals[function.result].ty;
        let mut member = Member::new(self);
        let name = spelled(&function.name);
        let header = member.header(&name, &function.parameters, &slots)?;
        let result = member.ty(result_ty);
        let formals = member.typed_formals(&header.formals);
        let mut domains = vec![s::Member::from(
            s::Domain::new(&format!("Function${name}"))
                .function(domain_function(&name, formals, result)),
        )];
        let env = header.env.with([(function.result, Value::Term(header.application.clone()))]);
        let mut axioms = Vec::new();
        if let Some(body) = &function.body {
            match member.term_as(body, result_ty, &header.env) {
                Ok(value) => {
                    let defined = eq(header.application.clone(), value);
                    axioms.push(member.for_all(
                        &header.formals,
                        Some(&header.application),
                        defined,
                    ));
                }
                Err(stuck) => {
                    member.lowering.generated.append(&mut domains);
                    return Err(stuck);
                }
            }
        } else {
            for clause in &function.ensures {
                match member.term(&clause.condition, &env) {
                    Ok(promise) => {
                        let promise =
                            member.for_all(&header.formals, Some(&header.application), promise);
                        axioms.push(promise);
                    }
                    Err(stuck) => {
                        member.lowering.generated.append(&mut domains);
                        return Err(stuck);
                    }
                }
            }
            axioms.extend(member.depends_on_footprint(
                function.requires.as_slice(),
                &header,
                &slots,
            )?);
        }
        if let s::MemberKind::Domain(domain) = &mut domains[0].kind {
            domain.axioms.extend(axioms.into_iter().map(unnamed));
        }
        let checks = function.body.is_some() && !function.ensures.is_empty();
        let check = if checks { Some(member.function_check(id, &header, &env)?) } else { None };
        let sources = self.sources;
        members.extend(domains.into_iter().map(|one| {
            places::placed(sources, function.name_span, one).with(named(&function.name))
        }));
        members.extend(check);
        Ok(())
    }

    fn recursive_function(&mut self, id: FunctionId, members: &mut Vec<s::Member>) -> Fallible<()> {
        let program = self.program;
        let function = &program.functions[id];
        let slots: Vec<Slot> = self.uses.functions[id].slots.iter().cloned().collect();
        let result_ty = &program.locals[function.result].ty;
        let measure = super::termination::function_measure(program, id);
        let assumed = self.options.assume_termination;
        let mut member = Member::new(self);
        let name = spelled(&function.name);
        let header = member.header(&name, &function.parameters, &slots)?;
        let result_name = member.ty(result_ty);
        let mut lowered = s::Function::new(&name, result_name);
        lowered.formals = member.typed_formals(&header.formals);
        for clause in &function.requires {
            if clause.condition.ty == Type::Bool {
                let condition = member.term(&clause.condition, &header.env)?;
                lowered = lowered.requires(member.placed(clause.span, condition));
            }
        }
        let env = header.env.with([(function.result, Value::Term(result()))]);
        for clause in &function.ensures {
            let promise = member.term(&clause.condition, &env)?;
            lowered = lowered.ensures(member.placed(clause.span, promise));
        }
        let measure = measure.map(|local| member.value_of(local, &header.env, function.name_span));
        let measure: Vec<s::Expr> = measure.into_iter().collect::<Fallible<_>>()?;
        if !assumed {
            lowered = lowered.decreases(decreases(measure));
        }
        if let Some(body) = &function.body {
            let value = member.term_as(body, result_ty, &header.env)?;
            lowered = lowered.body(member.placed(body.span, value));
        }
        let lowered = s::Member::from(lowered);
        let lowered = places::placed(self.sources, function.name_span, lowered);
        members.push(lowered.with(named(&function.name)));
        Ok(())
    }

    pub(super) fn predicate(&mut self, id: PredicateId, members: &mut Vec<s::Member>) {
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

    /// A predicate without a body: a formula and a set of each sort, which depend on the objects in the sets alone.
    fn abstract_predicate(&mut self, id: PredicateId) -> Fallible<s::Member> {
        let program = self.program;
        let predicate = &program.predicates[id];
        let uses = self.uses.predicates[id].clone();
        let slots: Vec<Slot> = uses.slots.iter().cloned().collect();
        let name = spelled(&predicate.name);
        let mut member = Member::new(self);
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
        let sorts: Vec<Type> = uses.sorts.iter().cloned().collect();
        let mut footprints = Vec::new();
        for sort in &sorts {
            let function = footprint_name(&name, &member.key(sort));
            let set = member.ty(&Type::set(sort.clone()));
            lowered = lowered.function(domain_function(&function, formals.clone(), set));
            let arguments: Vec<s::Expr> = header.formals.iter().map(|(it, _)| var(it)).collect();
            footprints.push((sort.clone(), call(&function, arguments)));
        }
        let mut values = vec![header.application.clone()];
        values.extend(footprints.iter().map(|(_, footprint)| footprint.clone()));
        let frame = member.depends_on(&footprints, &values, &header, &slots);
        Ok(lowered_with(lowered, frame).into())
    }
}

fn lowered_with(domain: s::Domain, axioms: Vec<s::Expr>) -> s::Domain {
    axioms.into_iter().fold(domain, |domain, axiom| domain.axiom(unnamed(axiom)))
}

/// Is there a set or map of the datatype inside its terms? No such terms exist: there would be as many as sets of them.
fn holds_sets_of_itself(program: &Program, id: DatatypeId) -> bool {
    let inside = |id: DatatypeId| {
        let mut all = Vec::new();
        for &constructor in &program.datatypes[id].constructors {
            for &field in &program.constructors[constructor].destructors {
                datatypes_in(&program.destructors[field].ty, false, &mut all);
            }
        }
        all
    };
    let (mut seen, mut todo) = (FxHashSet::default(), vec![(id, false)]);
    while let Some((next, is_inside)) = todo.pop() {
        for (other, is_set) in inside(next) {
            let is_set = is_set || is_inside;
            if other == id && is_set {
                return true;
            }
            if seen.insert((other, is_set)) {
                todo.push((other, is_set));
            }
        }
    }
    false
}

/// The datatypes that a type mentions, and whether inside a set or map.
fn datatypes_in(ty: &Type, is_inside: bool, all: &mut Vec<(DatatypeId, bool)>) {
    match ty {
        Type::Datatype(id) => all.push((*id, is_inside)),
        Type::Set(element) => datatypes_in(element, true, all),
        Type::Map(from, to) => {
            datatypes_in(from, true, all);
            datatypes_in(to, true, all);
        }
        _ => {}
    }
}

/// What the set of a predicate without a body is called.
fn footprint_name(predicate: &str, sort: &str) -> String {
    format!("footprint${predicate}${sort}")
}

/// A condition that the engine refuses.
pub(super) fn refused(stuck: &Stuck) -> s::Expr {
    let text = format!("{} cannot be verified yet", stuck.construct);
    conditional(eq(epsilon(), none()), truth(true), truth(true)).with(said("*", &text))
}

/// An axiom without a name.
pub(super) fn unnamed(body: s::Expr) -> s::Axiom {
    s::Axiom { name: None, ..axiom("", body) }
}

impl<'p> Member<'_, 'p> {
    /// The parameters of a function of `parameters` and parts of the state.
    fn header(&mut self, name: &str, parameters: &[LocalId], slots: &[Slot]) -> Fallible<Header> {
        let mut formals = Vec::new();
        for &parameter in parameters {
            let declared = &self.program.locals[parameter];
            if declared.is_implicit {
                return self.stuck("an implicit parameter of a function", declared.span);
            }
            formals.push((self.local(parameter), declared.ty.clone()));
        }
        let mut state = State::default();
        for slot in slots {
            let formal = self.fresh(&format!("{}$", slot.name(self.program)));
            state.slots.insert(slot.clone(), var(&formal));
            formals.push((formal, slot.ty(self.program)));
        }
        let application = call(name, formals.iter().map(|(formal, _)| var(formal)));
        let state = Rc::new(state);
        let env = Env { now: state.clone(), before: state, ..Env::default() };
        Ok(Header { formals, env, application })
    }

    fn typed_formals(&mut self, formals: &[(String, Type)]) -> Vec<s::TypedName> {
        formals.iter().map(|(name, ty)| typed(name, self.ty(ty))).collect()
    }

    /// `forall formals :: body`, instantiated where `application` is; a quantifier in `body` is joined with this one.
    fn for_all(
        &mut self,
        formals: &[(String, Type)],
        application: Option<&s::Expr>,
        body: s::Expr,
    ) -> s::Expr {
        let mut variables = self.typed_formals(formals);
        if variables.is_empty() {
            return body;
        }
        let names: Vec<String> = formals.iter().map(|(name, _)| name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut triggers, body) = match body.kind {
            s::ExprKind::Quantified {
                quantifier: s::Quantifier::Forall,
                variables: inner,
                triggers,
                body,
            } if !triggers.is_empty() => {
                variables.extend(inner);
                (triggers.into_iter().map(|trigger| trigger.terms).collect::<Vec<_>>(), *body)
            }
            kind => (vec![Vec::new()], s::Expr { kind, ..body }),
        };
        for trigger in &mut triggers {
            if let Some(application) = application
                && !super::triggers::covers(trigger, &names)
            {
                trigger.insert(0, application.clone());
            }
        }
        triggers.retain(|trigger| super::triggers::covers(trigger, &names));
        if triggers.is_empty() {
            let all: Vec<&str> = variables.iter().map(|one| &*one.name.name).collect();
            triggers = super::triggers::of(&all, &body);
        }
        forall(variables, triggers, body)
    }

    /// That a function depends only on the objects it says it needs.
    fn depends_on_footprint(
        &mut self,
        requires: &'p [Clause],
        header: &Header,
        slots: &[Slot],
    ) -> Fallible<Vec<s::Expr>> {
        let spatial = requires.iter().any(|clause| clause.condition.is_permission());
        if !spatial || slots.is_empty() {
            return Ok(Vec::new());
        }
        let spec = self.spec(requires, &header.env)?;
        let [case] = &spec.cases[..] else { return Ok(Vec::new()) };
        let footprints: Vec<(Type, s::Expr)> =
            case.sets.iter().map(|(sort, set)| (sort.clone(), set.clone())).collect();
        // What the footprint itself depends on would have to be the same, too.
        let slot_names: Vec<String> =
            header.env.now.slots.values().map(|value| format!("{value:?}")).collect();
        if footprints.iter().any(|(_, set)| {
            let set = format!("{set:?}");
            slot_names.iter().any(|name| set.contains(name.as_str()))
        }) {
            return Ok(Vec::new());
        }
        Ok(self.depends_on(&footprints, std::slice::from_ref(&header.application), header, slots))
    }

    /// Where two states agree on `footprints`, they agree on `values`. A part of the state of a sort without a footprint
    /// has to be the same as a whole: the function may depend on all of it.
    fn depends_on(
        &mut self,
        footprints: &[(Type, s::Expr)],
        values: &[s::Expr],
        header: &Header,
        slots: &[Slot],
    ) -> Vec<s::Expr> {
        let mut formals = header.formals.clone();
        let (mut alike, mut renamed) = (Vec::new(), Vec::new());
        for slot in slots {
            let value = header.env.now.slots[slot].clone();
            let s::ExprKind::Ident(first) = &value.kind else { continue };
            let footprint = slot.sort(self.program).and_then(|sort| {
                footprints.iter().find(|(other, _)| *other == sort).map(|(_, set)| set.clone())
            });
            let (Some(footprint), Type::Map(from, to)) = (footprint, slot.ty(self.program)) else {
                continue;
            };
            let second = self.fresh(&format!("{}$then", slot.name(self.program)));
            formals.push((second.clone(), slot.ty(self.program)));
            renamed.push((first.to_string(), second.clone()));
            self.lowering.prelude.want(Part::Agree((*from).clone(), (*to).clone()));
            let parts = [footprint, value.clone(), var(&second)];
            alike.push(self.of_map("agree", (&from, &to), parts));
        }
        if renamed.is_empty() {
            return Vec::new();
        }
        let others: Vec<s::Expr> = values.iter().map(|value| renaming(value, &renamed)).collect();
        let same = values.iter().zip(&others).map(|(one, other)| eq(one.clone(), other.clone()));
        let body = implies(and(alike), and(same));
        let trigger = vec![values[0].clone(), others[0].clone()];
        vec![forall(self.typed_formals(&formals), [trigger], body)]
    }

    /// A method that proves what a function with a body promises.
    fn function_check(
        &mut self,
        id: FunctionId,
        header: &Header,
        env: &Env,
    ) -> Fallible<s::Member> {
        let function = &self.program.functions[id];
        let mut method = s::Method::new(&format!("{}$promises", spelled(&function.name)));
        method.formals = self.typed_formals(&header.formals);
        for clause in &function.requires {
            if clause.condition.ty == Type::Bool {
                let condition = self.term(&clause.condition, env)?;
                method = method.requires(condition);
            }
        }
        let mut checks = Vec::new();
        for clause in &function.ensures {
            let promise = self.term(&clause.condition, env)?;
            let check =
                assert(promise).with(renamed("assert.failed:*", "postcondition.violated:*"));
            checks.push(self.placed(clause.span, check));
        }
        let method = s::Member::from(method.body(checks));
        Ok(self.placed(function.name_span, method).with(named(&function.name)))
    }

    /// `function(arguments, state)`
    pub(super) fn apply(
        &mut self,
        id: FunctionId,
        arguments: &'p [Expr],
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let function = &self.program.functions[id];
        let mut all = Vec::new();
        for (argument, &parameter) in arguments.iter().zip(&function.parameters) {
            all.push(self.term_as(argument, &self.program.locals[parameter].ty, env)?);
        }
        let slots: Vec<Slot> = self.lowering.uses.functions[id].slots.iter().cloned().collect();
        for slot in &slots {
            all.push(self.slot(slot, env, span)?);
        }
        Ok(call(&spelled(&function.name), all))
    }

    /// How the body of a predicate is read where the predicate is used.
    pub(super) fn predicate_env(&mut self, used: &'p PredicateUse, env: &Env) -> Fallible<Env> {
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

    /// An argument of a predicate: a variable that is not determined yet is handed on.
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

    /// The formula of a predicate without a body.
    pub(super) fn abstract_formula(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let arguments = self.predicate_arguments(used, env, span)?;
        Ok(call(&spelled(&self.program.predicates[used.predicate].name), arguments))
    }

    /// The objects of a predicate without a body.
    pub(super) fn abstract_footprint(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<Vec<(Type, s::Expr)>> {
        let arguments = self.predicate_arguments(used, env, span)?;
        let name = spelled(&self.program.predicates[used.predicate].name);
        let uses = &self.lowering.uses.predicates[used.predicate];
        let sorts: Vec<Type> = uses.sorts.iter().cloned().collect();
        Ok(sorts
            .into_iter()
            .map(|sort| {
                let function = footprint_name(&name, &self.key(&sort));
                (sort, call(&function, arguments.clone()))
            })
            .collect())
    }

    /// The formula of a recursive predicate.
    pub(super) fn recursive_formula(
        &mut self,
        used: &'p PredicateUse,
        _env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let name = &self.program.predicates[used.predicate].name;
        self.stuck(format!("the recursive predicate `{name}` in this dialect"), span)
    }
}

/// The expression with other variables.
fn renaming(e: &s::Expr, names: &[(String, String)]) -> s::Expr {
    struct Rename<'n>(&'n [(String, String)]);
    impl s::walk::Rewriter for Rename<'_> {
        fn expr(&mut self, e: &mut s::Expr) {
            s::walk::rewrite::expr(self, e);
            if let s::ExprKind::Ident(name) = &mut e.kind
                && let Some((_, to)) = self.0.iter().find(|(from, _)| **from == **name)
            {
                *name = to.as_str().into();
            }
        }
    }
    let mut e = e.clone();
    s::walk::Rewriter::expr(&mut Rename(names), &mut e);
    e
}
