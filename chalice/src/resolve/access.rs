//! Accessibility assertions and permission amounts.
//!
//! Amounts are written loosely: `rd(x)` may be a count, a fraction of a context, or an assertion.
//! The resolver tells these apart by position and type.

use super::name::{Selected, unknown};
use super::{Context, Resolver};
use crate::program::{
    Access, AccessTarget, Expr, ExprKind, FieldRef, Member, Permission, PermissionKind, Type,
};
use crate::source::Span;
use crate::syntax::{self, AccessForm, BinaryOp, Ident};

impl<'s> Resolver<'s> {
    /// `acc(..)`, `rd(..)` or `rd*(..)` as an assertion.
    pub(super) fn access_expr(
        &mut self,
        form: AccessForm,
        target: &'s syntax::Expr,
        amount: Option<&'s syntax::Expr>,
        span: Span,
        context: Context,
    ) -> Expr {
        if !context.spec {
            self.error(
                "a permission can be mentioned only in contracts, invariants and predicates, and there neither in a condition nor under `!`",
                span,
            );
        }
        match self.access(form, target, amount, span, context) {
            Some(access) => Expr { kind: ExprKind::Access(Box::new(access)), ty: Type::Bool, span },
            None => Expr { ty: Type::Bool, ..unknown(span) },
        }
    }

    fn access(
        &mut self,
        form: AccessForm,
        target: &'s syntax::Expr,
        amount: Option<&'s syntax::Expr>,
        span: Span,
        context: Context,
    ) -> Option<Access> {
        let context = context.value();
        let target = self.location(target, context);
        let amount = match (form, amount) {
            (AccessForm::Acc, None) => Permission { kind: PermissionKind::Full, span },
            (AccessForm::Acc, Some(amount)) => self.permission(amount, context),
            (AccessForm::Rd, None) => Permission { kind: PermissionKind::AbstractRead, span },
            (AccessForm::Rd, Some(amount)) => {
                let amount = self.boxed_of(amount, &Type::Int, context);
                let span = amount.span;
                Permission { kind: PermissionKind::Epsilons(amount), span }
            }
            (AccessForm::RdStar, _) => Permission { kind: PermissionKind::Star, span },
        };
        Some(Access { target: target?, amount, is_bare: false, span })
    }

    /// Returns the operand of `fold`, `unfold` and `unfolding`; reports at `span` if it is no
    /// predicate.
    pub(super) fn predicate_access(
        &mut self,
        operand: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Option<Access> {
        let context = Context { spec: true, ..context };
        let access = match &operand.kind {
            syntax::ExprKind::Access { form, target, amount } => {
                self.access(*form, target, amount.as_deref(), operand.span, context)?
            }
            _ => match self.expr(operand, context) {
                Expr { kind: ExprKind::Access(access), .. } => *access,
                Expr { ty: Type::Unknown, .. } => return None,
                _ => {
                    self.error("expected a predicate", span);
                    return None;
                }
            },
        };
        if !matches!(access.target, AccessTarget::Predicate { .. }) {
            self.error("expected a predicate", span);
            return None;
        }
        Some(access)
    }

    fn location(&mut self, target: &'s syntax::Expr, context: Context) -> Option<AccessTarget> {
        match &target.kind {
            // Permission to a local means nothing, so here a name is always a member.
            syntax::ExprKind::Name(name) => {
                let receiver = self.this(target.span);
                self.member_location(receiver, name, target.span)
            }
            syntax::ExprKind::Select { receiver, member } => match &receiver.kind {
                syntax::ExprKind::Elements(elements) => {
                    self.elements_field(elements, member, target.span, context)
                }
                // `s[*].f.g`: elements are reached through one field only, so there is no object to
                // select from.
                syntax::ExprKind::Select { receiver: inner, .. }
                    if matches!(inner.kind, syntax::ExprKind::Elements(_)) =>
                {
                    self.error(
                        "`[*]` is followed by one field; a field of a field of the elements needs `forall`",
                        target.span,
                    );
                    self.error_nowhere(format!("`{}` is selected from no object", member.name));
                    None
                }
                _ => {
                    let receiver = self.expr(receiver, context);
                    self.member_location(receiver, &member.name, target.span)
                }
            },
            syntax::ExprKind::AllFields(receiver) => match &receiver.kind {
                syntax::ExprKind::Elements(elements) => {
                    let elements = self.element_sequence(elements, context)?;
                    match elements.ty.element() {
                        Some(&Type::Class(class)) => {
                            Some(AccessTarget::ElementsAllFields { elements, class })
                        }
                        _ => self.no_location("the elements are not objects", target.span),
                    }
                }
                _ => {
                    let receiver = self.expr(receiver, context);
                    match receiver.ty {
                        Type::Class(class) => Some(AccessTarget::AllFields { receiver, class }),
                        // A token has one field, with which goes what belongs to it.
                        Type::Token(_) => {
                            Some(AccessTarget::Field { receiver, field: FieldRef::Joinable })
                        }
                        Type::Unknown => None,
                        _ => self.no_location("only objects have fields", target.span),
                    }
                }
            },
            syntax::ExprKind::BackPointers { receiver, class, field } => {
                let receiver = receiver.as_deref().map(|receiver| self.expr(receiver, context));
                let receiver = self.receiver(receiver, class);
                let (class, field) = self.tracked_field(&receiver, class, field)?;
                Some(AccessTarget::BackPointers { receiver, class, field })
            }
            _ => self
                .no_location("permission can be given to fields and predicates only", target.span),
        }
    }

    fn no_location<T>(&mut self, message: &str, span: Span) -> Option<T> {
        self.error(message, span);
        None
    }

    fn member_location(&mut self, receiver: Expr, name: &str, span: Span) -> Option<AccessTarget> {
        match self.find_member(&receiver.ty, name, span)? {
            Selected::Field(field) => Some(AccessTarget::Field { receiver, field }),
            Selected::Member(Member::Predicate(predicate)) => {
                Some(AccessTarget::Predicate { receiver, predicate })
            }
            Selected::Member(_) => {
                self.no_location(&format!("`{name}` is neither a field nor a predicate"), span)
            }
        }
    }

    fn element_sequence(&mut self, elements: &'s syntax::Expr, context: Context) -> Option<Expr> {
        let elements = self.expr(elements, context);
        match elements.ty {
            Type::Seq(_) => Some(elements),
            Type::Unknown => None,
            _ => self.no_location("`[*]` applies to sequences only", elements.span),
        }
    }

    fn elements_field(
        &mut self,
        elements: &'s syntax::Expr,
        member: &Ident,
        span: Span,
        context: Context,
    ) -> Option<AccessTarget> {
        let elements = self.element_sequence(elements, context)?;
        let element = elements.ty.element().cloned().unwrap_or(Type::Unknown);
        match self.find_member(&element, &member.name, span)? {
            Selected::Field(field) => Some(AccessTarget::ElementsField { elements, field }),
            Selected::Member(Member::Predicate(predicate)) => {
                Some(AccessTarget::ElementsPredicate { elements, predicate })
            }
            Selected::Member(_) => {
                self.no_location(&format!("`{}` is not a field", member.name), span)
            }
        }
    }

    /// Returns a permission amount.
    fn permission(&mut self, amount: &'s syntax::Expr, context: Context) -> Permission {
        let span = amount.span;
        let kind = front::grow_stack(|| self.permission_kind(amount, context));
        Permission { kind, span }
    }

    fn permission_kind(&mut self, amount: &'s syntax::Expr, context: Context) -> PermissionKind {
        match &amount.kind {
            syntax::ExprKind::Rd => PermissionKind::AbstractRead,
            syntax::ExprKind::Access { form: AccessForm::Rd, target, amount: None } => {
                self.read_fraction(target, context)
            }
            syntax::ExprKind::Access { .. } => {
                self.error("this is not a permission amount", amount.span);
                PermissionKind::Full
            }
            syntax::ExprKind::Binary { op, left, right } if mentions_permission(amount) => {
                self.permission_operation(*op, left, right, amount.span, context)
            }
            // A sum of amounts may subtract one before it adds others (Hegi 2013, section 4.5).
            syntax::ExprKind::Unary { op: syntax::UnaryOp::Negate, operand }
                if mentions_permission(operand) =>
            {
                let kind = ExprKind::Int((-1).into());
                let factor = Box::new(Expr { kind, ty: Type::Int, span: amount.span });
                let amount = Box::new(self.permission(operand, context));
                PermissionKind::Scale { factor, amount }
            }
            _ => PermissionKind::Percentage(self.boxed_of(amount, &Type::Int, context)),
        }
    }

    fn permission_operation(
        &mut self,
        op: BinaryOp,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> PermissionKind {
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let left = Box::new(self.permission(left, context));
                let right = Box::new(self.permission(right, context));
                let make =
                    if op == BinaryOp::Add { PermissionKind::Add } else { PermissionKind::Sub };
                make(left, right)
            }
            _ => {
                let (factor, amount) = match (mentions_permission(left), mentions_permission(right))
                {
                    (true, true) => {
                        self.error("permissions cannot be multiplied with each other", span);
                        return PermissionKind::Full;
                    }
                    (true, false) => (right, left),
                    (false, _) => (left, right),
                };
                let factor = self.boxed_of(factor, &Type::Int, context);
                let amount = Box::new(self.permission(amount, context));
                PermissionKind::Scale { factor, amount }
            }
        }
    }

    /// `rd(target)` as an amount: what it is depends on what `target` is.
    fn read_fraction(&mut self, target: &'s syntax::Expr, context: Context) -> PermissionKind {
        // Only a predicate by its name alone is meant; where permissions are allowed it resolves to
        // itself.
        let value = self.expr(target, Context { spec: true, ..context });
        if let ExprKind::Access(access) = &value.kind
            && let AccessTarget::Predicate { receiver, .. } = &access.target
            && access.is_bare
        {
            return PermissionKind::PredicateRead(Box::new(receiver.clone()));
        }
        match value.ty {
            Type::Int | Type::Unknown => PermissionKind::Epsilons(Box::new(value)),
            Type::Class(_) => PermissionKind::MonitorRead(Box::new(value)),
            Type::Channel(_) => PermissionKind::ChannelRead(Box::new(value)),
            Type::Token(_) => PermissionKind::TokenRead(Box::new(value)),
            _ => {
                let message = format!(
                    "`rd` takes a number, an object, a channel, a token or a predicate, not {}",
                    self.show(&value.ty)
                );
                self.error(message, target.span);
                PermissionKind::Epsilons(Box::new(value))
            }
        }
    }
}

/// Is it made of read fractions by arithmetic, and so not an integer?
fn mentions_permission(amount: &syntax::Expr) -> bool {
    match &amount.kind {
        syntax::ExprKind::Rd | syntax::ExprKind::Access { .. } => true,
        syntax::ExprKind::Unary { op: syntax::UnaryOp::Negate, operand } => {
            front::grow_stack(|| mentions_permission(operand))
        }
        syntax::ExprKind::Binary {
            op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul,
            left,
            right,
        } => front::grow_stack(|| mentions_permission(left) || mentions_permission(right)),
        _ => false,
    }
}

/// Is the field one a program may assign?
pub(super) fn is_special(field: FieldRef) -> bool {
    !matches!(field, FieldRef::Declared(_))
}
