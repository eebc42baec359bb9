//! Expressions other than operators and accessibility assertions.

use front::grow_stack;

use super::name::{Selected, unknown};
use super::scope::new_local;
use super::types::is_assignable;
use super::{Context, Resolver, TypeName};
use crate::program::{Domain, EvalState, Expr, ExprKind, LocalKind, Member, Quantifier, Type};
use crate::source::Span;
use crate::syntax::{self, Ident, StateKind};

impl<'s> Resolver<'s> {
    /// Returns an expression of any type.
    pub(super) fn expr(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        grow_stack(|| self.any_expr(expr, context))
    }

    pub(super) fn boxed(&mut self, expr: &'s syntax::Expr, context: Context) -> Box<Expr> {
        Box::new(self.expr(expr, context))
    }

    /// Returns an expression of a given type.
    pub(super) fn expr_of(&mut self, expr: &'s syntax::Expr, ty: &Type, context: Context) -> Expr {
        let resolved = self.expr(expr, context);
        self.expect_assignable(ty, &resolved.ty, resolved.span);
        resolved
    }

    pub(super) fn condition(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        self.expr_of(expr, &Type::Bool, context)
    }

    pub(super) fn boxed_of(
        &mut self,
        expr: &'s syntax::Expr,
        ty: &Type,
        context: Context,
    ) -> Box<Expr> {
        Box::new(self.expr_of(expr, ty, context))
    }

    /// Values, one after the other.
    pub(super) fn exprs(&mut self, exprs: &'s [syntax::Expr], context: Context) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr, context)).collect()
    }

    /// Returns a value that goes where a type is declared: there an empty sequence or set has that
    /// type.
    pub(super) fn value_for(
        &mut self,
        expr: &'s syntax::Expr,
        ty: &Type,
        context: Context,
    ) -> Expr {
        let empty = match (&expr.kind, ty) {
            (syntax::ExprKind::Seq(elements), Type::Seq(_)) if elements.is_empty() => {
                ExprKind::Seq(Vec::new())
            }
            (syntax::ExprKind::Set(elements), Type::Set(_)) if elements.is_empty() => {
                ExprKind::Set(Vec::new())
            }
            _ => return self.expr(expr, context),
        };
        Expr { kind: empty, ty: ty.clone(), span: expr.span }
    }

    fn any_expr(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        let span = expr.span;
        let value = context.value();
        let (kind, ty) = match &expr.kind {
            syntax::ExprKind::Int(number) => (ExprKind::Int(number.clone()), Type::Int),
            syntax::ExprKind::Bool(truth) => (ExprKind::Bool(*truth), Type::Bool),
            syntax::ExprKind::Null => (ExprKind::Null, Type::Null),
            syntax::ExprKind::String(text) => (ExprKind::String(text.clone()), Type::String),
            syntax::ExprKind::This => return self.this(span),
            syntax::ExprKind::Result => return self.result(span),
            syntax::ExprKind::WaitLevel => (ExprKind::WaitLevel, Type::Mu),
            syntax::ExprKind::LockBottom => (ExprKind::LockBottom, Type::Mu),
            syntax::ExprKind::Name(name) => return self.name(name, span, context),
            syntax::ExprKind::Select { receiver, member } => {
                let receiver = self.expr(receiver, value);
                return self.select(receiver, &member.name, span, span, context);
            }
            syntax::ExprKind::Apply { receiver, function, arguments } => {
                return self.apply(receiver.as_deref(), function, arguments, span, value);
            }
            syntax::ExprKind::BackPointers { receiver, class, field } => {
                return self.back_pointers(receiver.as_deref(), class, field, span, value);
            }
            syntax::ExprKind::Index { sequence, index } => {
                let sequence = Box::new(self.sequence(sequence, value));
                let index = self.boxed_of(index, &Type::Int, value);
                let ty = sequence.ty.element().cloned().unwrap_or(Type::Unknown);
                (ExprKind::Index { sequence, index }, ty)
            }
            syntax::ExprKind::Slice { sequence, from, to } => {
                let sequence = Box::new(self.sequence(sequence, value));
                let from = from.as_ref().map(|from| self.boxed_of(from, &Type::Int, value));
                let to = to.as_ref().map(|to| self.boxed_of(to, &Type::Int, value));
                let ty = sequence.ty.clone();
                (ExprKind::Slice { sequence, from, to }, ty)
            }
            syntax::ExprKind::Unary { .. }
            | syntax::ExprKind::Binary { .. }
            | syntax::ExprKind::And(_)
            | syntax::ExprKind::Or(_)
            | syntax::ExprKind::Conditional { .. } => return self.operation(expr, context),
            syntax::ExprKind::Access { form, target, amount } => {
                return self.access_expr(*form, target, amount.as_deref(), span, context);
            }
            syntax::ExprKind::Credit { channel, amount } => {
                return self.credit(channel, amount.as_deref(), span, context);
            }
            syntax::ExprKind::Holds { target, mode } => {
                if context.in_monitor {
                    self.error(
                        "`holds` cannot be mentioned in a monitor invariant or predicate",
                        span,
                    );
                }
                let target = Box::new(self.reference(target, value));
                (ExprKind::Holds { target, mode: *mode }, Type::Bool)
            }
            syntax::ExprKind::Assigned(name) => return self.assigned(name, span),
            syntax::ExprKind::Old(inner) => {
                if !context.two_state {
                    self.error("there is no old state here", span);
                }
                let inner = self.boxed(inner, value);
                let ty = inner.ty.clone();
                (ExprKind::Old(inner), ty)
            }
            syntax::ExprKind::Unfolding { access, body } => {
                let access = self.predicate_access(access, span, context);
                let body = self.boxed(body, value);
                let ty = body.ty.clone();
                match access {
                    Some(access) => (ExprKind::Unfolding { access: Box::new(access), body }, ty),
                    None => return Expr { ty, ..unknown(span) },
                }
            }
            syntax::ExprKind::Length(inner) => {
                let inner = self.boxed(inner, value);
                if !matches!(inner.ty, Type::Seq(_) | Type::Set(_) | Type::Unknown) {
                    self.error(
                        format!(
                            "only sequences and sets have a length, not {}",
                            self.show(&inner.ty)
                        ),
                        inner.span,
                    );
                }
                (ExprKind::Length(inner), Type::Int)
            }
            syntax::ExprKind::Eval { subject, state, body } => {
                return self.eval(subject, state, body, span, context);
            }
            syntax::ExprKind::Quantified { quantifier, variables, domain, body } => {
                return self.quantified(*quantifier, variables, domain, body, span, context);
            }
            syntax::ExprKind::Range { from, to } => {
                let from = self.boxed_of(from, &Type::Int, value);
                let to = self.boxed_of(to, &Type::Int, value);
                (ExprKind::Range { from, to }, Type::Seq(Box::new(Type::Int)))
            }
            syntax::ExprKind::Seq(elements) => {
                let (elements, ty) = self.elements(elements, value);
                (ExprKind::Seq(elements), Type::Seq(Box::new(ty)))
            }
            syntax::ExprKind::Set(elements) => {
                let (elements, ty) = self.elements(elements, value);
                (ExprKind::Set(elements), Type::Set(Box::new(ty)))
            }
            syntax::ExprKind::Nil(ty) => {
                (ExprKind::Seq(Vec::new()), Type::Seq(Box::new(self.type_of(ty))))
            }
            syntax::ExprKind::Empty(ty) => {
                (ExprKind::Set(Vec::new()), Type::Set(Box::new(self.type_of(ty))))
            }
            syntax::ExprKind::Rd => {
                self.error("a permission amount is not a value", span);
                return unknown(span);
            }
            syntax::ExprKind::AllFields(_) | syntax::ExprKind::Elements(_) => {
                self.error("a wildcard is followed by a single selection", span);
                return unknown(span);
            }
            syntax::ExprKind::Any => unreachable!("the parser lets `_` stand in fork states only"),
        };
        Expr { kind, ty, span }
    }

    fn result(&mut self, span: Span) -> Expr {
        let ty = self.home.result.clone().unwrap_or_else(|| {
            self.error("`result` can be mentioned in postconditions of functions only; the results of a method have the names that `returns` gives them", span);
            Type::Unknown
        });
        Expr { kind: ExprKind::Result, ty, span }
    }

    fn sequence(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        let mut sequence = self.expr(expr, context);
        if !matches!(sequence.ty, Type::Seq(_) | Type::Unknown) {
            self.error(
                format!("expected a sequence, found {}", self.show(&sequence.ty)),
                sequence.span,
            );
            sequence.ty = Type::Unknown;
        }
        sequence
    }

    /// Something that has a lock level.
    pub(super) fn reference(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        let target = self.expr(expr, context);
        if !target.ty.is_reference() && target.ty != Type::Unknown {
            self.error(
                format!("expected a reference, found {}", self.show(&target.ty)),
                target.span,
            );
        }
        target
    }

    fn elements(&mut self, exprs: &'s [syntax::Expr], context: Context) -> (Vec<Expr>, Type) {
        let elements = self.exprs(exprs, context);
        let first = elements.iter().find(|element| element.ty != Type::Null).or(elements.first());
        let ty = first.map_or(Type::Int, |first| first.ty.clone());
        for element in &elements {
            if !is_assignable(&ty, &element.ty) {
                let message = format!(
                    "elements have one type, here {}, not also {}",
                    self.show(&ty),
                    self.show(&element.ty)
                );
                self.error(message, element.span);
            }
        }
        (elements, ty)
    }

    fn assigned(&mut self, name: &Ident, span: Span) -> Expr {
        let local = self.scopes.find(&name.name);
        match local {
            Some(local) if self.local(local).is_ghost && self.local(local).is_const => {
                Expr { kind: ExprKind::Assigned(local), ty: Type::Bool, span }
            }
            _ => {
                self.error(format!("`{}` is not a ghost constant", name.name), span);
                Expr { ty: Type::Bool, ..unknown(span) }
            }
        }
    }

    fn apply(
        &mut self,
        receiver: Option<&'s syntax::Expr>,
        function: &Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        let receiver = receiver.map(|receiver| self.expr(receiver, context));
        let receiver = self.receiver(receiver, function);
        let found = self.find_member(&receiver.ty, &function.name, span);
        let Some(Selected::Member(Member::Function(id))) = found else {
            if let Some(found) = found {
                let name = &function.name;
                let instead = match found {
                    Selected::Member(Member::Method(_)) => {
                        format!("; a method is called by a statement, as in `call x := {name}(…)`")
                    }
                    _ => String::new(),
                };
                self.error(format!("`{name}` is not a function{instead}"), span);
            }
            self.exprs(arguments, context);
            return unknown(span);
        };
        if !context.ghost && !self.in_ghost_code {
            self.applied.push((id, span));
        }
        let parameters = self.program.functions[id].parameters.clone();
        let arguments = self.arguments(arguments, &parameters, span, context);
        let ty = self.program.functions[id].result.clone();
        Expr {
            kind: ExprKind::Apply { receiver: Box::new(receiver), function: id, arguments },
            ty,
            span,
        }
    }

    fn back_pointers(
        &mut self,
        receiver: Option<&'s syntax::Expr>,
        class: &Ident,
        field: &Ident,
        span: Span,
        context: Context,
    ) -> Expr {
        let receiver = receiver.map(|receiver| self.expr(receiver, context));
        let receiver = self.receiver(receiver, class);
        let Some((class, field)) = self.tracked_field(&receiver, class, field) else {
            return unknown(span);
        };
        let ty = Type::Set(Box::new(Type::Class(class)));
        Expr {
            kind: ExprKind::BackPointers { receiver: Box::new(receiver), class, field },
            ty,
            span,
        }
    }

    /// Returns the class and field that `~(C.f)` names, if it points to the receiver's type.
    pub(super) fn tracked_field(
        &mut self,
        receiver: &Expr,
        class: &Ident,
        field: &Ident,
    ) -> Option<(crate::program::ClassId, crate::program::FieldId)> {
        let Some(&TypeName::Class(class_id)) = self.names.types.get(class.name.as_str()) else {
            self.error(format!("there is no class `{}`", class.name), receiver.span);
            return None;
        };
        let member = self.names.members.get(&(class_id, field.name.as_str())).copied();
        let Some(Member::Field(field_id)) = member else {
            self.error(format!("`{}` has no field `{}`", class.name, field.name), receiver.span);
            return None;
        };
        let found = &self.program.fields[field_id];
        if !found.is_tracked {
            self.error(format!("the field `{}` is not tracked", field.name), receiver.span);
        } else if !super::types::is_same(&found.ty, &receiver.ty) {
            let message =
                format!("the field `{}` does not point to {}", field.name, self.show(&receiver.ty));
            self.error(message, receiver.span);
        }
        Some((class_id, field_id))
    }

    fn credit(
        &mut self,
        channel: &'s syntax::Expr,
        amount: Option<&'s syntax::Expr>,
        span: Span,
        context: Context,
    ) -> Expr {
        if !context.spec {
            self.error("credits can be mentioned only where permissions can", span);
        }
        let channel = self.boxed(channel, context.value());
        if !matches!(channel.ty, Type::Channel(_) | Type::Unknown) {
            self.error(format!("expected a channel, found {}", self.show(&channel.ty)), span);
        }
        let amount = amount.map(|amount| self.boxed_of(amount, &Type::Int, context.value()));
        Expr { kind: ExprKind::Credit { channel, amount }, ty: Type::Bool, span }
    }

    fn eval(
        &mut self,
        subject: &'s syntax::Expr,
        state: &'s StateKind,
        body: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        if context.in_monitor {
            let words = "`eval` cannot be used in a monitor invariant or predicate: these are handed \
                         on, and what a thread remembers is not";
            self.error(words, span);
        }
        let value = context.value();
        let state = match state {
            StateKind::Acquire => Some(EvalState::Acquire(self.reference(subject, value))),
            StateKind::Release => Some(EvalState::Release(self.reference(subject, value))),
            StateKind::Fork(fork) => self.fork_state(subject, fork, span, value),
        };
        let body = self.boxed(body, context.one_state());
        let ty = body.ty.clone();
        match state {
            Some(state) => Expr { kind: ExprKind::Eval { state: Box::new(state), body }, ty, span },
            None => Expr { ty, ..unknown(span) },
        }
    }

    fn fork_state(
        &mut self,
        token: &'s syntax::Expr,
        fork: &'s syntax::ForkState,
        span: Span,
        context: Context,
    ) -> Option<EvalState> {
        let token = self.expr(token, context);
        let receiver = fork.receiver.as_ref().map(|receiver| self.expr(receiver, context));
        let receiver = self.receiver(receiver, &fork.method);
        let method = self.find_method(&receiver, &fork.method, span)?;
        self.expect_assignable(&Type::Token(method), &token.ty, token.span);
        let parameters = self.program.methods[method].parameters.clone();
        self.expect_arguments(&parameters, fork.arguments.len(), span);
        let types = self.local_types(parameters);
        let arguments = fork.arguments.iter().enumerate().map(|(position, argument)| {
            if argument.kind == syntax::ExprKind::Any {
                return None;
            }
            let ty = types.get(position).unwrap_or(&Type::Unknown);
            let value = self.value_for(argument, ty, context);
            self.expect_assignable(ty, &value.ty, value.span);
            Some(value)
        });
        let arguments = arguments.collect();
        Some(EvalState::Fork { token, receiver, method, arguments })
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variables: &'s [Ident],
        domain: &'s syntax::Domain,
        body: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let (domain, variable_type) = self.domain(domain, context.value());
        let (body_type, body_context) = match quantifier {
            Quantifier::Forall => (Type::Bool, context),
            Quantifier::Exists => (Type::Bool, context.value()),
            Quantifier::Sum | Quantifier::Max => (Type::Int, context.value()),
        };
        self.scoped(|resolver| {
            let declare = |name: &'s Ident| {
                let local = new_local(name, variable_type.clone(), LocalKind::Quantified);
                resolver.declare_local(name, local)
            };
            let variables = variables.iter().map(declare).collect();
            let body = resolver.boxed_of(body, &body_type, body_context);
            let kind = ExprKind::Quantified { quantifier, variables, domain, body };
            Expr { kind, ty: body_type, span }
        })
    }

    /// Returns the domain and the type of its elements.
    fn domain(&mut self, domain: &'s syntax::Domain, context: Context) -> (Domain, Type) {
        let (collection, is_set_required) = match domain {
            syntax::Domain::Type(ty) => {
                let ty = self.type_of(ty);
                return (Domain::Type(ty.clone()), ty);
            }
            syntax::Domain::In(collection) => (collection, false),
            syntax::Domain::Over(collection) => (collection, true),
        };
        let collection = self.boxed(collection, context);
        let fits = match &collection.ty {
            Type::Set(_) | Type::Unknown => true,
            Type::Seq(_) => !is_set_required,
            _ => false,
        };
        let element = collection.ty.element().cloned().unwrap_or(Type::Unknown);
        if !fits {
            let expected = if is_set_required { "a type or set" } else { "a sequence or set" };
            self.error(
                format!("expected {expected}, found {}", self.show(&collection.ty)),
                collection.span,
            );
        }
        (Domain::Collection(collection), element)
    }
}
