//! The second round over declarations: signatures first, then what refers to them.

use super::declare::classes;
use super::scope::new_local;
use super::{Context, Home, Resolver};
use crate::program::{
    ChannelId, Declaration, Expr, ExprKind, FunctionId, LocalId, LocalKind, Member, MethodId, Type,
};
use crate::source::Span;
use crate::syntax::{self, Formal, MemberKind, Signature, Spec, SpecKind};

impl<'s> Resolver<'s> {
    /// Types of fields, parameters and results.
    pub(super) fn signatures(&mut self, syntax: &'s syntax::Program) {
        for (channel, id) in self.channels(syntax) {
            self.program.channels[id].parameters =
                self.formals(&channel.parameters, LocalKind::Parameter);
        }
        for (class, id) in classes(syntax, &self.program) {
            for (member, id) in self.members(class, id) {
                self.member_signature(member, id);
            }
        }
    }

    fn member_signature(&mut self, member: &'s syntax::Member, id: Member) {
        match (&member.kind, id) {
            (MemberKind::Field { formal, is_tracked, .. }, Member::Field(field)) => {
                let ty = self.type_or_int(formal.ty.as_ref());
                if *is_tracked && !matches!(ty, Type::Class(_) | Type::Unknown) {
                    self.error("a tracked field refers to objects of a class", member.span);
                }
                self.program.fields[field].ty = ty;
            }
            (MemberKind::Method { signature, .. }, Member::Method(method)) => {
                let parameters = self.formals(&signature.parameters, LocalKind::Parameter);
                let results = self.formals(&signature.results, LocalKind::Result);
                self.program.methods[method].parameters = parameters;
                self.program.methods[method].results = results;
            }
            (MemberKind::Function { signature, result, .. }, Member::Function(function)) => {
                let parameters = self.formals(&signature.parameters, LocalKind::Parameter);
                let result = self.type_of(result);
                self.program.functions[function].parameters = parameters;
                self.program.functions[function].result = result;
            }
            _ => {}
        }
    }

    fn formals(&mut self, formals: &'s [Formal], kind: LocalKind) -> Vec<LocalId> {
        let declare = |formal: &Formal| {
            let ty = self.type_or_int(formal.ty.as_ref());
            self.program.locals.alloc(new_local(&formal.name, ty, kind))
        };
        formals.iter().map(declare).collect()
    }

    /// Contracts, invariants, where clauses and bodies.
    pub(super) fn bodies(&mut self, syntax: &'s syntax::Program) {
        for (channel, id) in self.channels(syntax) {
            self.home = Home { this: Some(Type::Channel(id)), is_static: false, result: None };
            self.channel(channel, id);
        }
        for (class, id) in classes(syntax, &self.program) {
            self.home = Home { this: Some(Type::Class(id)), is_static: false, result: None };
            for member in &class.members {
                if let MemberKind::Invariant(invariant) = &member.kind {
                    let invariant = self.clause(invariant, member.span, Context::MONITOR);
                    self.program.classes[id].invariants.push(invariant);
                }
            }
            for (member, id) in self.members(class, id) {
                self.member(member, id);
            }
        }
    }

    fn channel(&mut self, channel: &'s syntax::Channel, id: ChannelId) {
        let Some(where_clause) = &channel.where_clause else { return };
        let parameters = self.program.channels[id].parameters.clone();
        let clause = self.scoped(|resolver| {
            resolver.enter_all(&channel.parameters, &parameters);
            resolver.condition(where_clause, Context::ONE_STATE)
        });
        self.program.channels[id].where_clause = Some(clause);
    }

    fn member(&mut self, member: &'s syntax::Member, id: Member) {
        match (&member.kind, id) {
            (MemberKind::Method { signature, body }, Member::Method(method)) => {
                self.method(signature, body, method);
            }
            (
                MemberKind::Function { signature, body, is_static, .. },
                Member::Function(function),
            ) => {
                self.home.is_static = *is_static;
                self.function(signature, body.as_ref(), function);
                self.home.is_static = false;
            }
            (MemberKind::Predicate { body, .. }, Member::Predicate(predicate)) => {
                let body = self.condition(body, Context::PREDICATE);
                if body.any(&mut |part| part.kind == ExprKind::WaitLevel) {
                    self.error("a predicate cannot mention `waitlevel`", body.span);
                }
                self.program.predicates[predicate].body = body;
            }
            (
                MemberKind::Condition { where_clause: Some(clause), .. },
                Member::Condition(condition),
            ) => {
                let clause = self.clause(clause, member.span, Context::ONE_STATE);
                self.program.conditions[condition].where_clause = Some(clause);
            }
            _ => {}
        }
    }

    /// Returns a truth value whose type error belongs to the whole member.
    fn clause(&mut self, expr: &'s syntax::Expr, member: Span, context: Context) -> Expr {
        let clause = self.expr(expr, context);
        self.expect_assignable(&Type::Bool, &clause.ty, member);
        clause
    }

    fn method(&mut self, signature: &'s Signature, body: &'s syntax::Block, id: MethodId) {
        let parameters = self.program.methods[id].parameters.clone();
        let results = self.program.methods[id].results.clone();
        let mark = self.scopes.mark();
        self.enter_all(&signature.parameters, &parameters);
        self.enter_all(&signature.results, &results);
        for spec in &signature.specs {
            match &spec.kind {
                SpecKind::Requires(clause) => {
                    let clause = self.condition(clause, Context::ONE_STATE);
                    self.program.methods[id].requires.push(clause);
                }
                SpecKind::Ensures(clause) => {
                    let clause = self.condition(clause, Context::TWO_STATE);
                    self.program.methods[id].ensures.push(clause);
                }
                SpecKind::LockChange(locks) => {
                    if signature.name.name == "run" {
                        self.error("a method `run` cannot change locks of its caller", spec.span);
                    }
                    let locks = self.lock_changes(locks);
                    self.program.methods[id].lock_changes.extend(locks);
                }
                SpecKind::Decreases(measures) => {
                    let measures = self.measures(measures);
                    for measure in &measures {
                        self.expect_no_results(&measure.number, &results);
                    }
                    self.program.methods[id].decreases.extend(measures);
                }
                SpecKind::Invariant(_) => unreachable!("invariants belong to loops"),
            }
        }
        let method = &self.program.methods[id];
        let (locks, measures) = (method.lock_changes.clone(), method.decreases.clone());
        self.expect_no_waiting(&locks, &measures);
        let body = self.block(body);
        self.program.methods[id].body = body;
        self.scopes.reset(mark);
    }

    pub(super) fn lock_changes(&mut self, locks: &'s [syntax::Expr]) -> Vec<Expr> {
        locks.iter().map(|lock| self.reference(lock, Context::LOCKS)).collect()
    }

    fn function(
        &mut self,
        signature: &'s Signature,
        body: Option<&'s syntax::Expr>,
        id: FunctionId,
    ) {
        let parameters = self.program.functions[id].parameters.clone();
        let result = self.program.functions[id].result.clone();
        let mark = self.scopes.mark();
        self.enter_all(&signature.parameters, &parameters);
        for spec in &signature.specs {
            self.function_spec(spec, &result, id);
        }
        if let Some(body) = body {
            let body = self.value_for(body, &result, Context::GHOST);
            self.expect_assignable(&result, &body.ty, body.span);
            self.program.functions[id].body = Some(body);
        }
        self.scopes.reset(mark);
    }

    fn function_spec(&mut self, spec: &'s Spec, result: &Type, id: FunctionId) {
        let clause = match &spec.kind {
            SpecKind::Requires(clause) => {
                let clause = self.condition(clause, Context::ONE_STATE);
                self.program.functions[id].requires.push(clause.clone());
                clause
            }
            SpecKind::Ensures(clause) => {
                self.home.result = Some(result.clone());
                let clause = self.condition(clause, Context::ONE_STATE);
                self.home.result = None;
                if clause.any(&mut |part| matches!(part.kind, ExprKind::Access(_))) {
                    self.error(
                        "a postcondition of a function cannot give permissions",
                        clause.span,
                    );
                }
                if clause.any(&mut |part| matches!(part.kind, ExprKind::Unfolding { .. })) {
                    self.error("a postcondition of a function cannot unfold", clause.span);
                }
                self.program.functions[id].ensures.push(clause.clone());
                clause
            }
            SpecKind::Decreases(measures) => {
                let measures = self.measures(measures);
                self.program.functions[id].decreases.extend(measures);
                return;
            }
            SpecKind::LockChange(_) | SpecKind::Invariant(_) => {
                self.error("a function changes no locks", spec.span);
                return;
            }
        };
        if clause.any(&mut |part| matches!(part.kind, ExprKind::Credit { .. })) {
            self.error("a function cannot mention credits", clause.span);
        }
    }

    fn enter_all(&mut self, formals: &'s [Formal], locals: &[LocalId]) {
        for (formal, &local) in formals.iter().zip(locals) {
            self.enter(&formal.name, local);
        }
    }

    fn channels(&self, syntax: &'s syntax::Program) -> Vec<(&'s syntax::Channel, ChannelId)> {
        let pairs = syntax.declarations.iter().zip(&self.program.declarations);
        pairs
            .filter_map(|pair| match pair {
                (syntax::Declaration::Channel(channel), Declaration::Channel(id)) => {
                    Some((channel, *id))
                }
                _ => None,
            })
            .collect()
    }

    /// Returns the named members of a class with their ids.
    fn members(
        &self,
        class: &'s syntax::Class,
        id: crate::program::ClassId,
    ) -> Vec<(&'s syntax::Member, Member)> {
        let named =
            class.members.iter().filter(|member| !matches!(member.kind, MemberKind::Invariant(_)));
        named.zip(self.program.classes[id].members.iter().copied()).collect()
    }
}
