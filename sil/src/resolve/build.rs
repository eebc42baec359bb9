//! Resolved expressions, from the parse tree and what inference found out about it.
//!
//! Removes the sugar: a bare predicate is `acc(P(x), write)`, `<==>` is equality, `/` is one of two
//! divisions by its type, `s[a..b]` is a drop of a take.

use front::grow_stack;

use super::context::Resolver;
use super::inference::Referent;
use crate::program::{
    BinaryOp, Expr, ExprKind, LocalId, Location, PredicateAccess, Resource, Type,
};
use crate::source::Span;
use crate::syntax::{self, Trigger};

impl Resolver<'_, '_> {
    /// Returns the resolved form of an expression that was inferred without errors.
    ///
    /// `None` if inference recorded nothing for a part of it, which does not happen after success.
    pub(super) fn build(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        grow_stack(|| {
            let (annotations, outer) = self.enter(&expr.annotations);
            let node = self.inference.node(expr)?.clone();
            let span = self.at(expr.span);
            let ty = self.inference.ground(&node.ty);
            let kind = self.build_kind(expr, node.referent, &ty);
            self.origin = outer;
            Some(Expr { kind: kind?, ty, span, annotations })
        })
    }

    fn boxed(&mut self, expr: &syntax::Expr) -> Option<Box<Expr>> {
        self.build(expr).map(Box::new)
    }

    pub(super) fn build_all(&mut self, exprs: &[syntax::Expr]) -> Option<Vec<Expr>> {
        let mut built = Vec::with_capacity(exprs.len());
        for expr in exprs {
            built.push(self.build(expr)?);
        }
        Some(built)
    }

    fn build_kind(
        &mut self,
        expr: &syntax::Expr,
        referent: Referent,
        ty: &Type,
    ) -> Option<ExprKind> {
        use syntax::ExprKind as Syntax;
        Some(match &expr.kind {
            Syntax::Int(value) => ExprKind::Int(value.clone()),
            Syntax::Bool(value) => ExprKind::Bool(*value),
            Syntax::Null => ExprKind::Null,
            Syntax::Result => ExprKind::Result,
            Syntax::NoPerm => ExprKind::NoPerm,
            Syntax::FullPerm => ExprKind::FullPerm,
            Syntax::Wildcard => ExprKind::Wildcard,
            Syntax::Ident(_) => match referent {
                Referent::Local(local) => ExprKind::Local(local),
                _ => return None,
            },
            Syntax::Call { arguments, .. } => self.build_call(arguments, referent, expr.span)?,
            Syntax::Field { receiver, .. } => match referent {
                Referent::Field(field) => {
                    ExprKind::FieldRead { receiver: self.boxed(receiver)?, field }
                }
                Referent::Selector(selector, instance) => {
                    let receiver = self.build(receiver)?;
                    self.build_selector(receiver, selector, &instance, expr.span)
                }
                _ => return None,
            },
            Syntax::Unary { op, operand } => {
                ExprKind::Unary { op: *op, operand: self.boxed(operand)? }
            }
            Syntax::Binary { op, left, right } => {
                let (left, right) = (self.boxed(left)?, self.boxed(right)?);
                match binary_op(*op, ty) {
                    Some(op) => ExprKind::Binary { op, left, right },
                    None => ExprKind::Wand { left, right },
                }
            }
            Syntax::And(operands) => ExprKind::And(self.build_all(operands)?),
            Syntax::Or(operands) => ExprKind::Or(self.build_all(operands)?),
            Syntax::Conditional { condition, then, otherwise } => ExprKind::Conditional {
                condition: self.boxed(condition)?,
                then: self.boxed(then)?,
                otherwise: self.boxed(otherwise)?,
            },
            Syntax::Index { base, index } => {
                ExprKind::Index { base: self.boxed(base)?, index: self.boxed(index)? }
            }
            Syntax::Update { base, index, value } => ExprKind::Update {
                base: self.boxed(base)?,
                index: self.boxed(index)?,
                value: self.boxed(value)?,
            },
            Syntax::Slice { base, low, high } => {
                self.build_slice(base, low.as_deref(), high.as_deref(), ty, expr.span)?
            }
            Syntax::Cardinality(operand) => ExprKind::Cardinality(self.boxed(operand)?),
            Syntax::MapDomain(operand) => ExprKind::MapDomain(self.boxed(operand)?),
            Syntax::MapRange(operand) => ExprKind::MapRange(self.boxed(operand)?),
            Syntax::Range(low, high) => {
                ExprKind::Range { low: self.boxed(low)?, high: self.boxed(high)? }
            }
            Syntax::Literal { collection, elements, .. } => {
                ExprKind::Literal { collection: *collection, elements: self.build_all(elements)? }
            }
            Syntax::MapLiteral { entries, .. } => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Some((self.build(key)?, self.build(value)?)))
                    .collect::<Option<_>>()?;
                ExprKind::MapLiteral { entries }
            }
            Syntax::InhaleExhale(inhale, exhale) => {
                ExprKind::InhaleExhale { inhale: self.boxed(inhale)?, exhale: self.boxed(exhale)? }
            }
            Syntax::Old { body, .. } => match referent {
                Referent::Old(label) => ExprKind::Old { label, body: self.boxed(body)? },
                _ => return None,
            },
            Syntax::Acc { location, amount } => {
                let location = self.build_location(location)?;
                let amount = self.build_amount(amount.as_deref(), expr.span)?;
                ExprKind::Acc { location, amount }
            }
            Syntax::Perm(resource) => ExprKind::Perm(self.build_resource(resource)?),
            Syntax::Quantified { quantifier, triggers, body, .. } => ExprKind::Quantified {
                quantifier: *quantifier,
                variables: bound(referent)?,
                triggers: triggers
                    .iter()
                    .map(|trigger| {
                        let terms = self.build_all(trigger)?;
                        Some(Trigger { terms, span: self.at(trigger.span) })
                    })
                    .collect::<Option<_>>()?,
                body: self.boxed(body)?,
            },
            Syntax::ForPerm { resource, body, .. } => ExprKind::ForPerm {
                variables: bound(referent)?,
                resource: self.build_resource(resource)?,
                body: self.boxed(body)?,
            },
            Syntax::Let { value, body, .. } => ExprKind::Let {
                variable: bound(referent)?.into_iter().next()?,
                value: self.boxed(value)?,
                body: self.boxed(body)?,
            },
            Syntax::Unfolding { access, body } => ExprKind::Unfolding {
                access: self.build_predicate_access(access)?,
                body: self.boxed(body)?,
            },
            Syntax::Applying { wand, body } => {
                ExprKind::Applying { wand: self.boxed(wand)?, body: self.boxed(body)? }
            }
            Syntax::Asserting { assertion, body } => {
                ExprKind::Asserting { assertion: self.boxed(assertion)?, body: self.boxed(body)? }
            }
            // Reported by inference, so never built.
            Syntax::Epsilon | Syntax::PredicateInstance { .. } | Syntax::New(_) => return None,
        })
    }

    fn build_call(
        &mut self,
        arguments: &[syntax::Expr],
        referent: Referent,
        span: Span,
    ) -> Option<ExprKind> {
        let arguments = self.build_all(arguments)?;
        Some(match referent {
            Referent::Function(function) => ExprKind::Apply { function, arguments },
            Referent::DomainFunction(function, instance) => {
                let instance = instance.iter().map(|ty| self.inference.ground(ty)).collect();
                ExprKind::DomainApply { function, instance, arguments }
            }
            Referent::Predicate(predicate) => ExprKind::Acc {
                location: Location::Predicate { predicate, arguments },
                amount: self.build_amount(None, span)?,
            },
            _ => return None,
        })
    }

    /// Returns a permission amount; `write` at `span` where none is given.
    fn build_amount(&mut self, amount: Option<&syntax::Expr>, span: Span) -> Option<Box<Expr>> {
        match amount {
            Some(amount) => self.boxed(amount),
            None => Some(Box::new(Expr::new(ExprKind::FullPerm, Type::Perm, self.at(span)))),
        }
    }

    fn build_slice(
        &mut self,
        base: &syntax::Expr,
        low: Option<&syntax::Expr>,
        high: Option<&syntax::Expr>,
        ty: &Type,
        span: Span,
    ) -> Option<ExprKind> {
        let base = self.boxed(base)?;
        let low = low.map(|low| self.boxed(low).ok_or(())).transpose().ok()?;
        let high = high.map(|high| self.boxed(high).ok_or(())).transpose().ok()?;
        Some(match (low, high) {
            (None, Some(count)) => ExprKind::Take { base, count },
            (Some(count), None) => ExprKind::Drop { base, count },
            (Some(low), Some(high)) => {
                let take = ExprKind::Take { base, count: high };
                let take = Expr::new(take, ty.clone(), self.at(span));
                ExprKind::Drop { base: Box::new(take), count: low }
            }
            (None, None) => return None,
        })
    }

    pub(super) fn build_location(&mut self, expr: &syntax::Expr) -> Option<Location> {
        match self.build(expr)?.kind {
            ExprKind::FieldRead { receiver, field } => Some(Location::Field { receiver, field }),
            ExprKind::Acc { location, .. } => Some(location),
            _ => None,
        }
    }

    pub(super) fn build_resource(&mut self, expr: &syntax::Expr) -> Option<Resource> {
        if let syntax::ExprKind::Binary { op: syntax::BinaryOp::Wand, .. } = expr.kind {
            return Some(Resource::Wand(self.boxed(expr)?));
        }
        self.build_location(expr).map(Resource::Location)
    }

    pub(super) fn build_predicate_access(
        &mut self,
        expr: &syntax::Expr,
    ) -> Option<PredicateAccess> {
        let (_, outer) = self.enter(&expr.annotations);
        let (call, amount) = match &expr.kind {
            syntax::ExprKind::Acc { location, amount } => (&**location, amount.as_deref()),
            _ => (expr, None),
        };
        let span = self.at(expr.span);
        let amount = self.build_amount(amount, expr.span)?;
        let access = match self.build_location(call)? {
            Location::Predicate { predicate, arguments } => {
                Some(PredicateAccess { predicate, arguments, amount, span })
            }
            Location::Field { .. } => None,
        };
        self.origin = outer;
        access
    }
}

fn bound(referent: Referent) -> Option<Vec<LocalId>> {
    match referent {
        Referent::Binds(locals) => Some(locals),
        _ => None,
    }
}

/// Returns the operator of the resolved program for one whose result has type `ty`; `None` for
/// `--*`.
fn binary_op(op: syntax::BinaryOp, ty: &Type) -> Option<BinaryOp> {
    use syntax::BinaryOp as Syntax;
    Some(match op {
        Syntax::Wand => return None,
        Syntax::Implies => BinaryOp::Implies,
        Syntax::Iff | Syntax::Eq => BinaryOp::Eq,
        Syntax::Ne => BinaryOp::Ne,
        Syntax::Le => BinaryOp::Le,
        Syntax::Ge => BinaryOp::Ge,
        Syntax::Lt => BinaryOp::Lt,
        Syntax::Gt => BinaryOp::Gt,
        Syntax::In => BinaryOp::In,
        Syntax::Add => BinaryOp::Add,
        Syntax::Sub => BinaryOp::Sub,
        Syntax::Append => BinaryOp::Append,
        Syntax::Union => BinaryOp::Union,
        Syntax::Intersection => BinaryOp::Intersection,
        Syntax::Setminus => BinaryOp::Setminus,
        Syntax::Subset => BinaryOp::Subset,
        Syntax::Mul => BinaryOp::Mul,
        Syntax::Div if *ty == Type::Int => BinaryOp::IntDiv,
        Syntax::Div => BinaryOp::PermDiv,
        Syntax::IntDiv => BinaryOp::IntDiv,
        Syntax::Mod => BinaryOp::Mod,
    })
}
