//! Functions and axioms.
//!
//! A function sees the heap through the fields it mentions, so it is a function of its parameters
//! and of these. One with a body is defined by it: by an axiom if it is not recursive, else it
//! becomes a function of SIL, whose unrolling the engine limits and whose termination it checks.
//! The engine proves the promises of such a function. A function without a body is trusted to exist
//! as its postconditions say.

use std::rc::Rc;

use findings::{ErrorId, Pattern};
use rustc_hash::FxHashSet;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Clause, Expr, FunctionId, LocalId, Type};
use spl::source::Span;

use super::base_cases::ends_at_once;
use super::recursion::Defined;
use crate::build::*;
use crate::classic::member::{Declaration, Env, State, Value};
use crate::classic::prelude::Part;
use crate::classic::types::{Slot, spelled};
use crate::classic::{Fallible, Lowering, Stuck, places};
use crate::lower::annotations::ends;

/// The words for a function without a lowering.
pub(in crate::classic) const IN_COMPREHENSION: &str = "what applies itself inside a comprehension";

/// A function with its parameters, as it is declared in SIL.
pub(in crate::classic) struct Header {
    /// The parameters: those of the declaration, then the parts of the state.
    pub(in crate::classic) formals: Vec<(String, Type)>,
    /// How expressions over the parameters are read.
    pub(in crate::classic) env: Env,
    /// The function, applied to its parameters.
    pub(in crate::classic) application: s::Expr,
}

impl Header {
    /// Returns the parameters as expressions.
    pub(in crate::classic) fn arguments(&self) -> Vec<s::Expr> {
        self.formals.iter().map(|(formal, _)| var(formal)).collect()
    }
}

/// Something that is defined by itself and has a value.
pub(in crate::classic) struct Recursive<'p, 'r> {
    pub(in crate::classic) name: &'p str,
    pub(in crate::classic) place: Span,
    pub(in crate::classic) parameters: &'p [LocalId],
    /// The parts of the state that it depends on.
    pub(in crate::classic) slots: &'r [Slot],
    pub(in crate::classic) requires: &'p [Clause],
    pub(in crate::classic) ensures: &'p [Clause],
    /// The name of its value in postconditions.
    pub(in crate::classic) result: Option<LocalId>,
    pub(in crate::classic) ty: &'p Type,
    pub(in crate::classic) body: Option<&'p Expr>,
    /// The parameter that gets smaller.
    pub(in crate::classic) measure: Option<LocalId>,
}

impl<'p> Lowering<'p> {
    pub(in crate::classic) fn axiom(&mut self, at: usize, members: &mut Vec<s::Member>) {
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

    /// Returns a formula about all states: those that it mentions are bound in front of it.
    fn closed_axiom(&mut self, condition: &'p Expr) -> Fallible<s::Expr> {
        let program = self.program;
        let mut uses = crate::classic::uses::Uses::default();
        self.uses.expr(program, condition, &mut uses);
        let mut member = Declaration::new(self);
        let header = member.header("", &[], &uses.slots.iter().cloned().collect::<Vec<_>>())?;
        let body = member.term(condition, &header.env)?;
        let guards = member.nothing_at_null(&header.env.now);
        let body = guarded(guards, body);
        Ok(member.for_all(&header.formals, None, body))
    }

    pub(in crate::classic) fn function(&mut self, id: FunctionId, members: &mut Vec<s::Member>) {
        let function = &self.program.functions[id];
        let done = if self.in_comprehensions.contains(&Defined::Function(id)) {
            let slots: Vec<Slot> = self.uses.functions[id].slots.iter().cloned().collect();
            let ty = &self.program.locals[function.result].ty;
            let declared = self.unknown_value(&function.name, &function.parameters, &slots, ty);
            declared.and_then(|domain| {
                members.push(domain);
                Err(Stuck::new(IN_COMPREHENSION, function.name_span))
            })
        } else if self.recursive_functions.contains(&id) {
            self.recursive_function(id, members)
        } else {
            self.plain_function(id, members)
        };
        if let Err(stuck) = done {
            members.push(self.refusal(&function.name, function.name_span, &stuck));
        }
    }

    /// Returns a member that the engine refuses in the words of what is not supported.
    pub(in crate::classic) fn refusal(
        &mut self,
        name: &str,
        span: Span,
        stuck: &Stuck,
    ) -> s::Member {
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
        let mut member = Declaration::new(self);
        let name = spelled(&function.name);
        let header = member.header(&name, &function.parameters, &slots)?;
        let result = member.ty(result_ty);
        let formals = member.typed_formals(&header.formals);
        let mut domains = vec![s::Member::from(
            s::Domain::new(&format!("Function${name}"))
                .function(domain_function(&name, formals, result)),
        )];
        let env = header.env.with([(function.result, Value::Term(header.application.clone()))]);
        let axioms = match member.meaning(id, &header, &env, &slots) {
            Ok(axioms) => axioms,
            Err(stuck) => {
                // A function that applies it finds it declared.
                member.lowering.generated.append(&mut domains);
                return Err(stuck);
            }
        };
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

    /// Returns a function of which nothing is known, for those that mention one that is refused.
    pub(in crate::classic) fn unknown_value(
        &mut self,
        name: &str,
        parameters: &[LocalId],
        slots: &[Slot],
        ty: &Type,
    ) -> Fallible<s::Member> {
        let mut member = Declaration::new(self);
        let name = spelled(name);
        let header = member.header(&name, parameters, slots)?;
        let formals = member.typed_formals(&header.formals);
        let function = domain_function(&name, formals, member.ty(ty));
        Ok(s::Domain::new(&format!("Function${name}")).function(function).into())
    }

    fn recursive_function(&mut self, id: FunctionId, members: &mut Vec<s::Member>) -> Fallible<()> {
        let program = self.program;
        let function = &program.functions[id];
        let slots: Vec<Slot> = self.uses.functions[id].slots.iter().cloned().collect();
        let lowered = self.recursive_value(&Recursive {
            name: &function.name,
            place: function.name_span,
            parameters: &function.parameters,
            slots: &slots,
            requires: &function.requires,
            ensures: &function.ensures,
            result: Some(function.result),
            ty: &program.locals[function.result].ty,
            body: function.body.as_ref(),
            measure: super::termination::function_measure(program, id),
        })?;
        let lowered = places::placed(self.sources, function.name_span, lowered);
        members.push(lowered.with(named(&function.name)).with(ends()));
        Ok(())
    }

    /// Returns a function of SIL: the engine limits how often it is opened, and shows that it ends.
    pub(in crate::classic) fn recursive_value(
        &mut self,
        it: &Recursive<'p, '_>,
    ) -> Fallible<s::Member> {
        let assumed = self.options.assume_termination;
        let mut member = Declaration::new(self);
        let name = spelled(it.name);
        let header = member.header(&name, it.parameters, it.slots)?;
        let mut lowered = s::Function::new(&name, member.ty(it.ty));
        lowered.formals = member.typed_formals(&header.formals);
        for clause in it.requires.iter().filter(|clause| clause.condition.ty == Type::Bool) {
            let condition = member.term(&clause.condition, &header.env)?;
            lowered = lowered.requires(member.placed(clause.span, condition));
        }
        let value = it.result.map(|local| (local, Value::Term(result())));
        let env = header.env.with(value);
        for clause in it.ensures {
            let promise = member.term(&clause.condition, &env)?;
            lowered = lowered.ensures(member.placed(clause.span, promise));
        }
        let measure = it.measure.map(|local| member.value_of(local, &header.env, it.place));
        let measure: Vec<s::Expr> = measure.into_iter().collect::<Fallible<_>>()?;
        if !assumed {
            lowered = lowered.decreases(decreases(measure));
        }
        if let Some(body) = it.body {
            let value = member.term_as(body, it.ty, &header.env)?;
            let recursive = member.lowering.functions_of_sil();
            for way in ends_at_once(&value, &recursive) {
                lowered = lowered.ensures(member.placed(body.span, way));
            }
            lowered = lowered.body(member.placed(body.span, value));
        }
        Ok(s::Member::from(lowered).with(member.variables()))
    }
}

pub(in crate::classic) fn lowered_with(domain: s::Domain, axioms: Vec<s::Expr>) -> s::Domain {
    axioms.into_iter().fold(domain, |domain, axiom| domain.axiom(unnamed(axiom)))
}

/// Makes the claim that `e` holds where `guards` do; a quantifier stays outermost.
pub(in crate::classic) fn guarded(guards: Vec<s::Expr>, e: s::Expr) -> s::Expr {
    if guards.is_empty() {
        return e;
    }
    match e.kind {
        s::ExprKind::Quantified {
            quantifier: quantifier @ s::Quantifier::Forall,
            variables,
            triggers,
            body,
        } => {
            let body = Box::new(implies(and(guards), *body));
            let kind = s::ExprKind::Quantified { quantifier, variables, triggers, body };
            s::Expr { kind, ..e }
        }
        kind => implies(and(guards), s::Expr { kind, ..e }),
    }
}

/// Returns a condition that the engine refuses.
pub(in crate::classic) fn refused(stuck: &Stuck) -> s::Expr {
    let text = format!("{} cannot be verified yet", stuck.construct);
    unsupported(&stuck.construct, truth(true)).with(said(Pattern::ANY, &text))
}

/// Returns an axiom without a name.
pub(in crate::classic) fn unnamed(body: s::Expr) -> s::Axiom {
    s::Axiom { name: None, ..axiom("", body) }
}

impl Lowering<'_> {
    /// Lists the recursive definitions with a value, and those that apply them: they are functions
    /// of SIL.
    fn functions_of_sil(&self) -> FxHashSet<String> {
        let functions = self.recursive_functions.iter().map(|&id| &self.program.functions[id].name);
        let predicates = self.recursive.iter().map(|(id, _)| &self.program.predicates[id].name);
        functions.chain(predicates).map(|name| spelled(name)).collect()
    }
}

impl<'p> Declaration<'_, 'p> {
    /// Returns the parameters of a function of `parameters` and parts of the state.
    pub(in crate::classic) fn header(
        &mut self,
        name: &str,
        parameters: &[LocalId],
        slots: &[Slot],
    ) -> Fallible<Header> {
        let mut formals = Vec::new();
        for &parameter in parameters {
            let declared = &self.program.locals[parameter];
            if declared.is_implicit {
                return self.stuck("an implicit parameter of what is not opened", declared.span);
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

    pub(in crate::classic) fn typed_formals(
        &mut self,
        formals: &[(String, Type)],
    ) -> Vec<s::TypedName> {
        formals.iter().map(|(name, ty)| typed(name, self.ty(ty))).collect()
    }

    /// `forall formals :: body`, instantiated where `application` is; a quantifier in `body` is
    /// joined with this one.
    pub(in crate::classic) fn for_all(
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
                && !crate::classic::triggers::covers(trigger, &names)
            {
                trigger.insert(0, application.clone());
            }
        }
        triggers.retain(|trigger| crate::classic::triggers::covers(trigger, &names));
        if triggers.is_empty() {
            let all: Vec<&str> = variables.iter().map(|one| &*one.name.name).collect();
            triggers = crate::classic::triggers::of(&all, &body);
        }
        forall(variables, triggers, body)
    }

    /// Makes the claim that a function depends only on the objects of its declared footprint.
    pub(in crate::classic) fn depends_on_footprint(
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
        // The slots that the footprint itself depends on would have to be the same, too.
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

    /// Where two states agree on `footprints`, they agree on `values`. A part of the state of a
    /// sort without a footprint has to be the same as a whole: the function may depend on all of
    /// it.
    pub(in crate::classic) fn depends_on(
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
        // A call or a loop asks for its footprint as a set, before it asks for the formula.
        let triggers: Vec<_> =
            others.into_iter().map(|other| vec![values[0].clone(), other]).collect();
        vec![forall(self.typed_formals(&formals), triggers, body)]
    }

    /// Makes the meaning of a function that is not recursive: its body, or else its promises where
    /// its precondition holds.
    fn meaning(
        &mut self,
        id: FunctionId,
        header: &Header,
        env: &Env,
        slots: &[Slot],
    ) -> Fallible<Vec<s::Expr>> {
        let function = &self.program.functions[id];
        if let Some(body) = &function.body {
            let ty = &self.program.locals[function.result].ty;
            let value = self.term_as(body, ty, &header.env)?;
            let defined = eq(header.application.clone(), value);
            return Ok(vec![self.for_all(&header.formals, Some(&header.application), defined)]);
        }
        let mut required = self.nothing_at_null(&header.env.now);
        for clause in &function.requires {
            if clause.condition.ty == Type::Bool {
                required.push(self.term(&clause.condition, &header.env)?);
            }
        }
        let mut axioms = Vec::new();
        for clause in &function.ensures {
            let promise = self.term(&clause.condition, env)?;
            let promise = guarded(required.clone(), promise);
            axioms.push(self.for_all(&header.formals, Some(&header.application), promise));
        }
        axioms.extend(self.depends_on_footprint(&function.requires, header, slots)?);
        Ok(axioms)
    }

    /// Returns a method that proves what a function with a body promises.
    fn function_check(
        &mut self,
        id: FunctionId,
        header: &Header,
        env: &Env,
    ) -> Fallible<s::Member> {
        let function = &self.program.functions[id];
        let mut method = s::Method::new(&format!("{}$promises", spelled(&function.name)));
        method.formals = self.typed_formals(&header.formals);
        for fact in self.begins(&header.env.now) {
            method = method.requires(fact);
        }
        for clause in &function.requires {
            if clause.condition.ty == Type::Bool {
                let condition = self.term(&clause.condition, env)?;
                method = method.requires(condition);
            }
        }
        let mut checks = Vec::new();
        for clause in &function.ensures {
            let promise = self.term(&clause.condition, env)?;
            let check = assert(promise)
                .with(renamed(ErrorId::AssertFailed, ErrorId::PostconditionViolated));
            checks.push(self.placed(clause.span, check));
        }
        let method = s::Member::from(method.body(checks));
        let method = method.with(named(&function.name)).with(self.variables());
        Ok(self.placed(function.name_span, method))
    }

    /// `function(arguments, state)`
    pub(in crate::classic) fn apply(
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
}

/// Returns the expression with other variables.
pub(super) fn renaming(e: &s::Expr, names: &[(String, String)]) -> s::Expr {
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
