//! Fields, predicates, functions, monitor invariants and channels.

use std::rc::Rc;

use chalice::program::{
    AccessTarget, ChannelId, ClassId, Expr, ExprKind, FieldId, FunctionId, LocalId, PermissionKind,
    PredicateId,
};
use findings::{ErrorId, Reason};
use num_bigint::Sign;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, named, renamed, said};
use super::env::{Env, LockState, Locks, OldState, ReadAmount, Side};
use super::methods::LockNames;
use super::{Lowering, Member};
use crate::build::*;

/// Returns the meaning of names in predicates and functions: there is no thread whose locks could
/// be asked about.
pub(crate) fn stateless(read: ReadAmount) -> Env {
    Env {
        this: var("this"),
        replaced: Rc::default(),
        read,
        old: OldState::Nowhere,
        locks: Locks::Unknown,
        old_locks: Locks::Unknown,
        side: Side::Both,
        then: None,
    }
}

impl Lowering<'_> {
    /// Returns a field.
    pub(crate) fn field(&self, id: FieldId) -> s::Member {
        let field = &self.program.fields[id];
        field_member(&self.names.borrow().fields[id], self.ty(&field.ty))
            .with(self.at(field.span))
            .with(named(&field.name))
    }

    /// Returns a predicate.
    pub(crate) fn predicate(&self, id: PredicateId) -> s::Member {
        let predicate = &self.program.predicates[id];
        let name = self.names.borrow().predicates[id].clone();
        let called = format!("{}.{}", self.program.classes[predicate.class].name, predicate.name);
        let lowered = self.predicate_member(&name, predicate.span, |member| {
            member.class = Some(predicate.class);
            let env = stateless(ReadAmount::Common);
            let body = member.clause(&predicate.body, &env);
            let body = and([body, member.debts_refused(&predicate.body)]);
            if names_this_first(&predicate.body) {
                body
            } else {
                and([ne(var("this"), null()), body])
            }
        });
        lowered.with(named(&called))
    }

    fn predicate_member(
        &self,
        name: &str,
        span: chalice::Span,
        body: impl FnOnce(&mut Member<'_, '_>) -> s::Expr,
    ) -> s::Member {
        let mut member = Member::new(self, span);
        let this = member.fresh("this");
        let body = body(&mut member);
        crate::build::member(s::MemberKind::Predicate(s::Predicate {
            name: ident(name),
            formals: vec![typed(&this, ty(TypeKind::Ref))],
            body: Some(body),
        }))
        .with(self.at(span))
        .with(member.variables())
        .with(renamed(ErrorId::PredicateNotWellformed, ErrorId::NotWellformed))
    }

    /// Makes the predicate of a class's monitors, and the predicate of a reader's share.
    pub(crate) fn monitor(&self, id: ClassId) -> Vec<s::Member> {
        let class = &self.program.classes[id];
        let span = match (class.invariants.first(), class.invariants.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => class.name_span,
        };
        if !self.facts.locking.has_locks() && class.invariants.is_empty() {
            return Vec::new();
        }
        let name = self.names.borrow().monitors[id].clone();
        let monitor = self.predicate_member(&name, span, |member| {
            member.class = Some(id);
            let env = stateless(ReadAmount::Common);
            let clauses: Vec<_> = class.invariants.iter().map(Expr::one_state).collect();
            let clauses = member.clauses(&clauses, &env);
            and([ne(var("this"), null())].into_iter().chain(clauses))
        });
        let called = |what: &str| named(&format!("{} ({what})", class.name));
        let mut members = vec![monitor.with(called("monitor invariant"))];
        if self.facts.locking.has_readers {
            let name = self.names.borrow().read_monitors[id].clone();
            let shared = self.predicate_member(&name, span, |member| {
                let env = stateless(ReadAmount::Common);
                let clauses: Vec<_> = class
                    .invariants
                    .iter()
                    .map(|clause| member.read_version(&clause.one_state(), &env))
                    .collect();
                and([ne(var("this"), null())].into_iter().chain(clauses))
            });
            members.push(shared.with(called("monitor invariant for readers")));
        }
        members.extend(self.history_check(id));
        members.extend(self.debt_check(id));
        members
    }

    /// Makes the predicate of a channel's messages. It has parameters, hence is no class's
    /// predicate.
    ///
    /// Locks in the where clause are those of the sending thread, which are parameters, too.
    ///
    /// SOUNDNESS: whoever receives it is another thread, and takes it with locks of which nothing
    /// is known.
    pub(crate) fn lower_channel(&self, id: ChannelId, members: &mut Vec<s::Member>) {
        let channel = &self.program.channels[id];
        let mut member = Member::new(self, channel.span);
        let mut formals = vec![typed(&member.fresh("this"), ty(TypeKind::Ref))];
        formals.extend(member.bound(&channel.parameters));
        let mut env = stateless(ReadAmount::Common);
        if self.facts.locking.speaks_of_sender(channel) {
            let locks = LockNames::new(&mut member, "");
            let credits = member.fresh("credits");
            formals.extend(locks.declared(self));
            formals.push(typed(&credits, self.credits_type()));
            env.locks = Locks::State(LockState { credits: Some(var(&credits)), ..locks.state() });
        }
        let body =
            channel.where_clause.as_ref().map_or(truth(true), |clause| member.clause(clause, &env));
        let name = self.names.borrow().channels[id].clone();
        members.push(
            crate::build::member(s::MemberKind::Predicate(s::Predicate {
                name: ident(&name),
                formals,
                body: Some(body),
            }))
            .with(self.at(channel.span))
            .with(named(&format!("{} (where clause)", channel.name)))
            .with(member.variables())
            .with(renamed(ErrorId::PredicateNotWellformed, ErrorId::NotWellformed)),
        );
    }

    /// Returns a function.
    pub(crate) fn function(&self, id: FunctionId) -> s::Member {
        let function = &self.program.functions[id];
        let mut member = Member::new(self, function.span);
        member.class = Some(function.class);
        let this = member.fresh("this");
        let mut formals = Vec::new();
        let mut contract = s::Contract::default();
        if !function.is_static {
            formals.push(typed(&this, ty(TypeKind::Ref)));
            // Told at the receiver of an application, too, and again where that is not known.
            let exists = ne(var(&this), null())
                .with(renamed(
                    (ErrorId::ApplicationPrecondition, Reason::AssertionFalse),
                    (ErrorId::ApplicationPrecondition, Reason::ReceiverNull),
                ))
                .with(said(Reason::AssertionFalse, "the receiver of the function might be null"));
            contract.preconditions.push(exists);
        }
        formals.extend(member.bound(&function.parameters));
        let locks = member.held_formals(id, &mut formals);
        let env = Env { locks, ..stateless(ReadAmount::Any) };
        for clause in &function.requires {
            contract.preconditions.push(if self.recursion.leads_back(clause, id) {
                member.unsupported("a function that needs itself to be defined", clause)
            } else {
                member.clause(clause, &env)
            });
        }
        member.promising = Some(id);
        contract.postconditions.extend(member.clauses(&function.ensures, &env));
        member.promising = None;
        let body = function
            .body
            .as_ref()
            .map(|body| member.placed(body.span, |member| member.expr(body, &env)))
            .map(|body| match self.options.defaults {
                0 => body,
                _ => member.with_own_predicates(&function.requires, body, &env),
            });
        let name = self.names.borrow().functions[id].clone();
        let lowered = crate::build::member(s::MemberKind::Function(s::Function {
            name: ident(&name),
            formals,
            result: self.ty(&function.result),
            contract,
            body,
        }))
        .with(self.at(function.span))
        .with(named(&format!("{}.{}", self.program.classes[function.class].name, function.name)))
        .with(member.variables());
        if self.is_opaque(id) { lowered.with(annotation("opaque", Vec::new())) } else { lowered }
    }

    /// Is `e` this function, applied to its own parameters?
    ///
    /// In a postcondition that is the result. Taken for one more application it would have the
    /// postcondition that is about to be shown, and every postcondition would show itself.
    pub(crate) fn is_own_application(&self, id: FunctionId, e: &Expr) -> bool {
        let ExprKind::Apply { receiver, function, arguments } = &e.kind else { return false };
        let own = &self.program.functions[id];
        let is_own = |(argument, parameter): (&Expr, &LocalId)| matches!(argument.kind, ExprKind::Local(local) if local == *parameter);
        *function == id
            && (own.is_static || matches!(receiver.kind, ExprKind::This))
            && arguments.len() == own.parameters.len()
            && arguments.iter().zip(&own.parameters).all(is_own)
    }

    /// Do several modules share the program, so that the function's body must not be used
    /// everywhere?
    pub(crate) fn is_opaque(&self, id: FunctionId) -> bool {
        let function = &self.program.functions[id];
        let own = &self.program.classes[function.class].module;
        function.body.is_some()
            && self.program.classes.iter().any(|(_, class)| class.module != *own)
    }

    /// Returns the constant that stands for a class.
    pub(crate) fn class_constant(&self, id: ClassId) -> String {
        format!("class_{}", self.program.classes[id].name)
    }
}

/// Does the assertion begin with permission to a field of `this`, which implies that `this` is an
/// object?
fn names_this_first(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::And(parts) => parts.first().is_some_and(names_this_first),
        ExprKind::Access(access) => {
            let certain = !matches!(
                access.amount.kind,
                PermissionKind::Percentage(_)
                    | PermissionKind::Epsilons(_)
                    | PermissionKind::Sub(..)
            );
            certain
                && matches!(&access.target, AccessTarget::Field { receiver, .. } if matches!(receiver.kind, ExprKind::This))
        }
        _ => {
            // Nothing in it can need the receiver to be an object.
            let mut needs = e.is_impure();
            e.for_each(&mut |part| {
                needs |= matches!(
                    part.kind,
                    ExprKind::Apply { .. }
                        | ExprKind::Unfolding { .. }
                        | ExprKind::FieldRead { .. }
                );
            });
            !needs
        }
    }
}

impl Member<'_, '_> {
    /// Predicates may be dropped, and what they owe with them. So they contain no debt, and nothing
    /// that might be one.
    fn debts_refused(&mut self, body: &Expr) -> s::Expr {
        let mut refused = None;
        body.for_each(&mut |part| {
            if let ExprKind::Credit { amount: Some(amount), .. } = &part.kind
                && !matches!(&amount.kind, ExprKind::Int(value) if value.sign() != Sign::Minus)
            {
                refused.get_or_insert(part);
            }
        });
        match refused {
            Some(debt) => self.unsupported("a debt in a predicate", debt),
            None => truth(true),
        }
    }

    /// Returns a monitor invariant as readers get it: a part of everything, except for what is any
    /// amount. Predicates are opened with all permission that there is, to look inside.
    fn read_version(&mut self, e: &Expr, env: &Env) -> s::Expr {
        (self.for_readers, self.opens_any) = (true, true);
        let shared = self.clause(e, env);
        (self.for_readers, self.opens_any) = (false, false);
        shared
    }
}

/// Gives every accessibility assertion the same amount.
pub(crate) fn weaken(e: &mut Expr, amount: &PermissionKind) {
    front::grow_stack(|| match &mut e.kind {
        ExprKind::Access(access) => {
            access.amount.kind = amount.clone();
            access.is_bare = false;
        }
        ExprKind::And(parts) => parts.iter_mut().for_each(|part| weaken(part, amount)),
        ExprKind::Implies { body, .. } | ExprKind::Quantified { body, .. } => {
            weaken(body, amount);
        }
        ExprKind::Conditional { then, otherwise, .. } => {
            weaken(then, amount);
            weaken(otherwise, amount);
        }
        _ => {}
    });
}
