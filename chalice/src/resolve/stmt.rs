//! Statements.

use findings::{ErrorId, Reason};
use front::grow_stack;

use super::access::is_special;
use super::name::{Selected, unknown};
use super::scope::new_local;
use super::{Context, Resolver, TypeName};
use crate::program::{
    Block, Bounds, ConditionRef, Expr, ExprKind, FieldRef, IfArm, Initialiser, LocalKind, Member,
    Obligation, OutVariable, Rhs, Stmt, StmtKind, Type,
};
use crate::source::Span;
use crate::syntax::{self, BinaryOp, DeclModifiers, Formal, Ident, LockMode, SpecKind};

impl<'s> Resolver<'s> {
    pub(super) fn block(&mut self, block: &'s syntax::Block) -> Block {
        let stmts = self.scoped(|resolver| {
            block.stmts.iter().filter_map(|stmt| grow_stack(|| resolver.stmt(stmt))).collect()
        });
        Block { stmts, is_ghost: false, span: block.span }
    }

    /// Returns the statement, unless an error leaves nothing of it.
    fn stmt(&mut self, stmt: &'s syntax::Stmt) -> Option<Stmt> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            syntax::StmtKind::Assert(claim) => {
                StmtKind::Assert(self.condition(claim, Context::TWO_STATE))
            }
            syntax::StmtKind::Assume(fact) => {
                StmtKind::Assume(self.condition(fact, Context::TWO_STATE))
            }
            syntax::StmtKind::Block(block) => StmtKind::Block(self.block(block)),
            syntax::StmtKind::Generated(generated) => self.generated(generated),
            syntax::StmtKind::Declare { modifiers, formal, value } => {
                self.declaration(*modifiers, formal, value.as_ref())
            }
            syntax::StmtKind::Specification { modifiers, targets, pre, post } => {
                self.specification(*modifiers, targets, pre.as_ref(), post)
            }
            syntax::StmtKind::Assign { target, value } => self.assign(target, value, span)?,
            syntax::StmtKind::Call { outs, receiver, method, arguments } => {
                self.call(outs, receiver.as_ref(), method, arguments, span)?
            }
            syntax::StmtKind::Fork { token, receiver, method, arguments } => {
                self.fork(token.as_ref(), receiver.as_ref(), method, arguments, span)?
            }
            syntax::StmtKind::Join { outs, token } => self.join(outs, token, span)?,
            syntax::StmtKind::If { arms, otherwise } => self.if_stmt(arms, otherwise.as_deref()),
            syntax::StmtKind::While { guard, specs, body } => self.while_stmt(guard, specs, body),
            syntax::StmtKind::Share { target, bounds } => {
                StmtKind::Share { target: self.monitor(target), bounds: self.bounds(bounds) }
            }
            syntax::StmtKind::Reorder { target, bounds } => {
                StmtKind::Reorder { target: self.monitor(target), bounds: self.bounds(bounds) }
            }
            syntax::StmtKind::Unshare(target) => StmtKind::Unshare(self.monitor(target)),
            syntax::StmtKind::Acquire { target, mode } => {
                StmtKind::Acquire { target: self.monitor(target), mode: *mode }
            }
            syntax::StmtKind::Release { target, mode } => {
                StmtKind::Release { target: self.monitor(target), mode: *mode }
            }
            syntax::StmtKind::Lock { target, mode, body } => {
                let target = self.monitor(target);
                StmtKind::Lock { target, mode: *mode, body: self.block(body) }
            }
            syntax::StmtKind::LockThis(body) => {
                let target = self.this(Span { end: span.start + 2, ..span });
                StmtKind::Lock { target, mode: LockMode::Write, body: self.block(body) }
            }
            syntax::StmtKind::Downgrade(target) => StmtKind::Downgrade(self.monitor(target)),
            syntax::StmtKind::Free(target) => {
                StmtKind::Free(self.reference(target, Context::VALUE))
            }
            syntax::StmtKind::Fold(access) => {
                StmtKind::Fold(self.predicate_access(access, span, Context::ONE_STATE)?)
            }
            syntax::StmtKind::Unfold(access) => {
                StmtKind::Unfold(self.predicate_access(access, span, Context::ONE_STATE)?)
            }
            syntax::StmtKind::Send { channel, arguments } => self.send(channel, arguments, span)?,
            syntax::StmtKind::Receive { outs, channel } => self.receive(outs, channel, span)?,
            syntax::StmtKind::Wait(condition) => {
                StmtKind::Wait(self.condition_ref(condition, span)?)
            }
            syntax::StmtKind::Signal { condition, is_for_all } => {
                let condition = self.condition_ref(condition, span)?;
                if *is_for_all {
                    StmtKind::SignalAll(condition)
                } else {
                    StmtKind::Signal(condition)
                }
            }
        };
        Some(Stmt { kind, span })
    }

    /// Code that a refinement adds.
    fn generated(&mut self, generated: &'s syntax::Generated) -> StmtKind {
        match generated {
            syntax::Generated::Keep { name, value } => {
                let value = self.expr(value, Context::GHOST);
                let mut local = new_local(name, value.ty.clone(), LocalKind::Copy);
                local.is_ghost = true;
                let local = self.declare_local(name, local);
                StmtKind::Declare { local, value: Some(Rhs::Expr(value)) }
            }
            syntax::Generated::Ghost(block) => {
                let outer = std::mem::replace(&mut self.in_ghost_code, true);
                let block = self.block(block);
                self.in_ghost_code = outer;
                StmtKind::Block(Block { is_ghost: true, ..block })
            }
            syntax::Generated::Prove { claim, words } => {
                let claim = self.condition(claim, Context::TWO_STATE.value());
                StmtKind::Prove(Box::new(Obligation {
                    claim,
                    error: ErrorId::RefinementFailed,
                    reason: Reason::AssertionFalse,
                    words: words.clone().into(),
                }))
            }
        }
    }

    fn declaration(
        &mut self,
        modifiers: DeclModifiers,
        formal: &'s Formal,
        value: Option<&'s syntax::Rhs>,
    ) -> StmtKind {
        let written = formal.ty.as_ref().map(|ty| self.type_of(ty));
        let ty = written.unwrap_or_else(|| self.guessed_type(value));
        if modifiers.is_const && !modifiers.is_ghost && value.is_none() {
            self.error(
                format!("the constant `{}` has no value", formal.name.name),
                formal.name.span,
            );
        }
        let value = value.map(|value| self.rhs(value, &ty, modifiers.is_ghost));
        let mut local = new_local(&formal.name, ty, LocalKind::Variable);
        local.is_ghost = modifiers.is_ghost;
        local.is_const = modifiers.is_const;
        let local = self.declare_local(&formal.name, local);
        StmtKind::Declare { local, value }
    }

    /// Returns the type of a variable declared without one: what the form of its initial value
    /// shows, and else `int`.
    fn guessed_type(&self, value: Option<&syntax::Rhs>) -> Type {
        match value {
            Some(syntax::Rhs::New(new)) => match self.names.types.get(new.class.name.as_str()) {
                Some(TypeName::Class(class)) => Type::Class(*class),
                Some(TypeName::Channel(channel)) => Type::Channel(*channel),
                None => Type::Unknown,
            },
            Some(syntax::Rhs::Expr(value)) => match &value.kind {
                syntax::ExprKind::String(_) => Type::String,
                syntax::ExprKind::Bool(_) | syntax::ExprKind::And(_) | syntax::ExprKind::Or(_) => {
                    Type::Bool
                }
                syntax::ExprKind::Quantified { quantifier, .. } => match quantifier {
                    syntax::Quantifier::Forall | syntax::Quantifier::Exists => Type::Bool,
                    syntax::Quantifier::Sum | syntax::Quantifier::Max => Type::Int,
                },
                syntax::ExprKind::Binary { op, .. } => match op {
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Mod
                    | BinaryOp::Append => Type::Int,
                    _ => Type::Bool,
                },
                _ => Type::Int,
            },
            None => Type::Int,
        }
    }

    fn specification(
        &mut self,
        modifiers: DeclModifiers,
        targets: &'s [Formal],
        pre: Option<&'s syntax::Expr>,
        post: &'s syntax::Expr,
    ) -> StmtKind {
        let targets =
            targets.iter().map(|formal| self.specification_target(modifiers, formal)).collect();
        let pre = pre.map(|pre| self.condition(pre, Context::ONE_STATE));
        let post = self.condition(post, Context::TWO_STATE);
        StmtKind::Specification { targets, pre, post }
    }

    fn specification_target(
        &mut self,
        modifiers: DeclModifiers,
        formal: &'s Formal,
    ) -> OutVariable {
        let span = formal.name.span;
        if let Some(local) = self.scopes.find(&formal.name.name) {
            self.expect_mutable(local, span);
            if let Some(ty) = &formal.ty {
                let ty = self.type_of(ty);
                let declared = self.local(local).ty.clone();
                self.expect_assignable(&declared, &ty, span);
            }
            return OutVariable { local, declares: false, span };
        }
        let ty = self.type_or_int(formal.ty.as_ref());
        let mut local = new_local(&formal.name, ty, LocalKind::Variable);
        local.is_ghost = modifiers.is_ghost;
        local.is_const = modifiers.is_const;
        OutVariable { local: self.declare(&formal.name, local), declares: true, span }
    }

    fn assign(
        &mut self,
        target: &'s syntax::Expr,
        value: &'s syntax::Rhs,
        span: Span,
    ) -> Option<StmtKind> {
        let (receiver, name) = match &target.kind {
            syntax::ExprKind::Name(name) => match self.scopes.find(name) {
                Some(local) => {
                    self.expect_mutable(local, target.span);
                    let variable = self.local(local);
                    let (ty, is_ghost) = (variable.ty.clone(), variable.is_ghost);
                    let value = self.rhs(value, &ty, is_ghost);
                    return Some(StmtKind::AssignLocal { local, value, target_span: target.span });
                }
                None => (self.this(target.span), name),
            },
            syntax::ExprKind::Select { receiver, member } => {
                // The field decides whether ghosts may be read here.
                (self.expr(receiver, Context::GHOST), &member.name)
            }
            _ => unreachable!("the parser lets only names and selections be assigned"),
        };
        let found = self.find_member(&receiver.ty, name, target.span);
        if !matches!(&found, Some(Selected::Field(field)) if self.is_ghost_field(*field)) {
            self.expect_no_ghosts(&receiver);
        }
        let Some(Selected::Field(field)) = found else {
            if found.is_some() {
                self.error(format!("`{name}` is not a field"), target.span);
            }
            self.rhs(value, &Type::Unknown, true);
            return None;
        };
        if is_special(field) {
            self.error(format!("`{name}` cannot be assigned"), span);
        }
        let ty = self.field_type(field);
        let FieldRef::Declared(field) = field else { return None };
        let value = self.rhs(value, &ty, self.program.fields[field].is_ghost);
        Some(StmtKind::AssignField { receiver, field, value, target_span: target.span })
    }

    /// Returns a right-hand side for a target of the given type.
    fn rhs(&mut self, rhs: &'s syntax::Rhs, ty: &Type, is_ghost: bool) -> Rhs {
        match rhs {
            syntax::Rhs::Expr(value) => {
                let value = self.value_for(value, ty, Context::for_target(is_ghost));
                self.expect_assignable(ty, &value.ty, value.span);
                Rhs::Expr(value)
            }
            syntax::Rhs::New(new) => self.new_object(new, ty, is_ghost),
        }
    }

    fn new_object(&mut self, new: &'s syntax::New, ty: &Type, is_ghost: bool) -> Rhs {
        let bounds = self.bounds(&new.bounds);
        let has_bounds = !(bounds.lower.is_empty() && bounds.upper.is_empty());
        match self.names.types.get(new.class.name.as_str()).copied() {
            Some(TypeName::Class(class)) => {
                if has_bounds {
                    self.error("only a new channel can be given bounds", new.span);
                }
                self.expect_assignable(ty, &Type::Class(class), new.span);
                let initialisers =
                    self.initialisers(&new.initialisers, &Type::Class(class), is_ghost);
                Rhs::New { class, initialisers, span: new.span }
            }
            Some(TypeName::Channel(channel)) => {
                if let Some(first) = new.initialisers.first() {
                    self.error("a channel has no fields to initialise", first.span);
                }
                self.expect_assignable(ty, &Type::Channel(channel), new.span);
                Rhs::NewChannel { channel, bounds, span: new.span }
            }
            None => {
                self.error(self.no_such_type(&new.class.name), new.class.span);
                Rhs::Expr(unknown(new.span))
            }
        }
    }

    fn initialisers(
        &mut self,
        initialisers: &'s [syntax::Initialiser],
        class: &Type,
        is_ghost: bool,
    ) -> Vec<Initialiser> {
        let mut found: Vec<Initialiser> = Vec::new();
        for initialiser in initialisers {
            let name = &initialiser.field.name;
            let field = match self.find_member(class, name, initialiser.span) {
                Some(Selected::Field(FieldRef::Declared(field))) => field,
                Some(_) => {
                    self.error(
                        format!("`{name}` is not a field that can be initialised"),
                        initialiser.span,
                    );
                    continue;
                }
                None => continue,
            };
            if found.iter().any(|other| other.field == field) {
                self.error(format!("`{name}` is initialised twice"), initialiser.span);
            }
            let ty = self.program.fields[field].ty.clone();
            let context = Context::for_target(is_ghost || self.program.fields[field].is_ghost);
            let value = self.value_for(&initialiser.value, &ty, context);
            self.expect_assignable(&ty, &value.ty, value.span);
            found.push(Initialiser { field, value, span: initialiser.span });
        }
        found
    }

    fn bounds(&mut self, bounds: &'s syntax::Bounds) -> Bounds {
        let lower = bounds.lower.iter().map(|bound| self.bound(bound)).collect();
        let upper = bounds.upper.iter().map(|bound| self.bound(bound)).collect();
        Bounds { lower, upper }
    }

    fn bound(&mut self, bound: &'s syntax::Expr) -> Expr {
        let bound = self.expr(bound, Context::LOCKS);
        if !bound.ty.is_reference() && !matches!(bound.ty, Type::Mu | Type::Unknown) {
            let message =
                format!("expected a reference or lock level, found {}", self.show(&bound.ty));
            self.error(message, bound.span);
        }
        bound
    }

    /// Returns an object with a monitor, which channels and tokens have not.
    fn monitor(&mut self, target: &'s syntax::Expr) -> Expr {
        let target = self.reference(target, Context::VALUE);
        if matches!(target.ty, Type::Channel(_) | Type::Token(_)) {
            self.error(format!("{} has no monitor", self.show(&target.ty)), target.span);
        }
        target
    }

    /// Receiver, method and arguments of a call or fork.
    fn call_target(
        &mut self,
        receiver: Option<&'s syntax::Expr>,
        method: &'s Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
    ) -> (Expr, Option<crate::program::MethodId>, Vec<Expr>) {
        let receiver = receiver.map(|receiver| self.expr(receiver, Context::VALUE));
        let receiver = self.receiver(receiver, method);
        let Some(id) = self.find_method(&receiver, method, span) else {
            let arguments = self.exprs(arguments, Context::VALUE);
            return (receiver, None, arguments);
        };
        let parameters = self.program.methods[id].parameters.clone();
        let arguments = self.arguments(arguments, &parameters, span, Context::VALUE);
        (receiver, Some(id), arguments)
    }

    fn call(
        &mut self,
        outs: &'s [Ident],
        receiver: Option<&'s syntax::Expr>,
        method: &'s Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        let (receiver, method, arguments) = self.call_target(receiver, method, arguments, span);
        let Some(method) = method else {
            self.declare_unknown(outs);
            return None;
        };
        let types = self.local_types(self.program.methods[method].results.clone());
        let outs = self.outs_declaring(outs, &types, span);
        Some(StmtKind::Call { outs, receiver, method, arguments })
    }

    /// Declares the results of a statement that could not be resolved, so that their uses are no
    /// errors.
    fn declare_unknown(&mut self, outs: &'s [Ident]) {
        for name in outs {
            self.out_or_new(name, &Type::Unknown);
        }
    }

    fn fork(
        &mut self,
        token: Option<&'s Ident>,
        receiver: Option<&'s syntax::Expr>,
        method: &'s Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        let (receiver, id, arguments) = self.call_target(receiver, method, arguments, span);
        let ty = id.map_or(Type::Unknown, Type::Token);
        if let (None, Some(token)) = (id, token)
            && receiver.ty != Type::Unknown
            && self.scopes.find(&token.name).is_none()
        {
            let (receiver, method) = (self.show(&receiver.ty), &method.name);
            self.error_nowhere(format!(
                "`{}` has type token<{receiver}.{method}>, and there is no such method",
                token.name
            ));
        }
        let token = token.and_then(|name| self.out_or_new(name, &ty));
        Some(StmtKind::Fork { token, receiver, method: id?, arguments })
    }

    fn join(&mut self, outs: &'s [Ident], token: &'s syntax::Expr, span: Span) -> Option<StmtKind> {
        let token = self.expr(token, Context::VALUE);
        let Type::Token(method) = token.ty else {
            // A fork that is wrong gives a variable without type: its join is told, too. Other
            // mistakes are told already.
            if token.ty != Type::Unknown || matches!(token.kind, ExprKind::Local(_)) {
                self.error("only the token of a forked method can be joined", token.span);
            }
            return None;
        };
        let types = self.local_types(self.program.methods[method].results.clone());
        let outs = self.outs_existing(outs, &types, span);
        Some(StmtKind::Join { outs, token, method })
    }

    fn if_stmt(
        &mut self,
        arms: &'s [syntax::IfArm],
        otherwise: Option<&'s syntax::Stmt>,
    ) -> StmtKind {
        let arms = arms
            .iter()
            .map(|arm| IfArm {
                condition: self.condition(&arm.condition, Context::VALUE),
                body: self.block(&arm.body),
                span: arm.span,
            })
            .collect();
        let otherwise = otherwise.map(|stmt| match &stmt.kind {
            syntax::StmtKind::Block(block) => self.block(block),
            _ => {
                let resolved = self.scoped(|resolver| grow_stack(|| resolver.stmt(stmt)));
                Block { stmts: resolved.into_iter().collect(), is_ghost: false, span: stmt.span }
            }
        });
        StmtKind::If { arms, otherwise }
    }

    fn while_stmt(
        &mut self,
        guard: &'s syntax::Expr,
        specs: &'s [syntax::Spec],
        body: &'s syntax::Block,
    ) -> StmtKind {
        let guard = self.condition(guard, Context::VALUE);
        let mut invariants = Vec::new();
        let mut lock_changes = Vec::new();
        let mut decreases = Vec::new();
        for spec in specs {
            match &spec.kind {
                SpecKind::Invariant(invariant) => {
                    invariants.push(self.condition(invariant, Context::TWO_STATE));
                }
                SpecKind::LockChange(locks) => lock_changes.extend(self.lock_changes(locks)),
                SpecKind::Decreases(measures) => decreases.extend(self.measures(measures)),
                SpecKind::Requires(_) | SpecKind::Ensures(_) => {
                    unreachable!("contracts belong to members")
                }
            }
        }
        self.expect_no_waiting(&lock_changes, &decreases);
        StmtKind::While { guard, invariants, lock_changes, decreases, body: self.block(body) }
    }

    /// Returns a channel and its declaration; reports if it is none.
    fn channel_operand(
        &mut self,
        channel: &'s syntax::Expr,
        span: Span,
    ) -> (Expr, Option<crate::program::ChannelId>) {
        let channel = self.expr(channel, Context::VALUE);
        let declaration = channel.channel();
        if declaration.is_none() && channel.ty != Type::Unknown {
            self.error(format!("expected a channel, found {}", self.show(&channel.ty)), span);
        }
        (channel, declaration)
    }

    fn send(
        &mut self,
        channel: &'s syntax::Expr,
        arguments: &'s [syntax::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        let (channel, declaration) = self.channel_operand(channel, span);
        let Some(declaration) = declaration else {
            self.exprs(arguments, Context::VALUE);
            return None;
        };
        let parameters = self.program.channels[declaration].parameters.clone();
        let arguments = self.arguments(arguments, &parameters, span, Context::VALUE);
        Some(StmtKind::Send { channel, declaration, arguments })
    }

    fn receive(
        &mut self,
        outs: &'s [Ident],
        channel: &'s syntax::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let (channel, declaration) = self.channel_operand(channel, span);
        let Some(declaration) = declaration else {
            self.declare_unknown(outs);
            return None;
        };
        let types = self.local_types(self.program.channels[declaration].parameters.clone());
        let outs = self.outs_declaring(outs, &types, span);
        Some(StmtKind::Receive { outs, channel, declaration })
    }

    fn condition_ref(&mut self, condition: &'s syntax::Expr, span: Span) -> Option<ConditionRef> {
        let (receiver, name) = match &condition.kind {
            syntax::ExprKind::Select { receiver, member } => {
                (self.expr(receiver, Context::VALUE), &member.name)
            }
            syntax::ExprKind::Name(name) => (self.this(condition.span), name),
            _ => unreachable!("the parser lets only names and selections be condition variables"),
        };
        match self.find_member(&receiver.ty, name, span)? {
            Selected::Member(Member::Condition(condition)) => {
                Some(ConditionRef { receiver, condition })
            }
            _ => {
                self.error(format!("`{name}` is not a condition variable"), span);
                None
            }
        }
    }
}
