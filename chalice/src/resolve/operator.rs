//! Prefix and infix operators, chains and conditional expressions.

use super::types::{is_comparable, is_same};
use super::{Context, Resolver};
use crate::program::{BinaryOp, Expr, ExprKind, FieldRef, Type, UnaryOp};
use crate::source::Span;
use crate::syntax;
use crate::syntax::BinaryOp as Symbol;

impl<'s> Resolver<'s> {
    /// Returns an expression made by an operator.
    pub(super) fn operation(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        let span = expr.span;
        let value = context.value();
        let (kind, ty) = match &expr.kind {
            syntax::ExprKind::Unary { op, operand } => {
                let ty = match op {
                    UnaryOp::Not => Type::Bool,
                    UnaryOp::Negate => Type::Int,
                };
                let operand = self.boxed_of(operand, &ty, value);
                (ExprKind::Unary { op: *op, operand }, ty)
            }
            syntax::ExprKind::And(conjuncts) => {
                let conjuncts = conjuncts.iter().map(|conjunct| self.condition(conjunct, context));
                (ExprKind::And(conjuncts.collect()), Type::Bool)
            }
            syntax::ExprKind::Or(disjuncts) => {
                let disjuncts = disjuncts.iter().map(|disjunct| self.condition(disjunct, value));
                (ExprKind::Or(disjuncts.collect()), Type::Bool)
            }
            syntax::ExprKind::Binary { op: Symbol::Implies, left, right } => {
                let guard = self.boxed_of(left, &Type::Bool, value);
                let body = self.boxed_of(right, &Type::Bool, context);
                (ExprKind::Implies { guard, body }, Type::Bool)
            }
            syntax::ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.boxed_of(condition, &Type::Bool, value);
                let then = self.boxed(then, context);
                let otherwise = self.boxed(otherwise, context);
                let ty = self.common_type(&then, &otherwise);
                (ExprKind::Conditional { condition, then, otherwise }, ty)
            }
            syntax::ExprKind::Binary { op, left, right } => {
                let left = self.expr(left, value);
                let right = self.expr(right, value);
                return self.binary(*op, left, right, span);
            }
            _ => unreachable!("only operations get here"),
        };
        Expr { kind, ty, span }
    }

    /// Returns the type of a conditional expression: that of the first arm, or of the other if the
    /// first is `null`.
    fn common_type(&mut self, then: &Expr, otherwise: &Expr) -> Type {
        if !is_comparable(&then.ty, &otherwise.ty) {
            let message = format!(
                "the arms have different types, {} and {}",
                self.show(&then.ty),
                self.show(&otherwise.ty)
            );
            self.error(message, otherwise.span);
        }
        match then.ty {
            Type::Null | Type::Unknown => otherwise.ty.clone(),
            _ => then.ty.clone(),
        }
    }

    fn binary(&mut self, symbol: Symbol, left: Expr, right: Expr, span: Span) -> Expr {
        let (op, ty, left, right) = match symbol {
            Symbol::Eq | Symbol::Ne => {
                if !is_comparable(&left.ty, &right.ty) {
                    self.operand_error(symbol, &left, &right, span);
                }
                let op = if symbol == Symbol::Eq { BinaryOp::Eq } else { BinaryOp::Ne };
                (op, Type::Bool, left, right)
            }
            Symbol::Iff => {
                self.both(symbol, &Type::Bool, &left, &right, span);
                (BinaryOp::Iff, Type::Bool, left, right)
            }
            Symbol::Below => {
                (BinaryOp::Below, Type::Bool, self.lock_level(left), self.lock_level(right))
            }
            Symbol::In | Symbol::NotIn => {
                self.check_membership(&left, &right);
                let op = if symbol == Symbol::In { BinaryOp::In } else { BinaryOp::NotIn };
                (op, Type::Bool, left, right)
            }
            Symbol::Append => {
                let is_seq = |ty: &Type| matches!(ty, Type::Seq(_) | Type::Unknown);
                if !is_seq(&left.ty) || !is_seq(&right.ty) || !is_same(&left.ty, &right.ty) {
                    self.operand_error(symbol, &left, &right, span);
                }
                (BinaryOp::Append, left.ty.clone(), left, right)
            }
            _ => self.arithmetic(symbol, left, right, span),
        };
        Expr {
            kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
            ty,
            span,
        }
    }

    /// Operators on integers, some of which also work on sets.
    fn arithmetic(
        &mut self,
        symbol: Symbol,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> (BinaryOp, Type, Expr, Expr) {
        let is_set = matches!(left.ty, Type::Set(_)) || matches!(right.ty, Type::Set(_));
        let on_sets = if is_set { set_operator(symbol) } else { None };
        let (op, is_comparison) = on_sets.unwrap_or_else(|| integer_operator(symbol));
        if on_sets.is_some() {
            if !is_same(&left.ty, &right.ty) {
                self.operand_error(symbol, &left, &right, span);
            }
        } else {
            self.both(symbol, &Type::Int, &left, &right, span);
        }
        let ty = match (is_comparison, is_set) {
            (true, _) => Type::Bool,
            (false, true) => left.ty.clone(),
            (false, false) => Type::Int,
        };
        (op, ty, left, right)
    }

    fn check_membership(&mut self, element: &Expr, collection: &Expr) {
        match collection.ty.element() {
            Some(ty) if !is_comparable(ty, &element.ty) => {
                let message =
                    format!("expected {}, found {}", self.show(ty), self.show(&element.ty));
                self.error(message, element.span);
            }
            None if collection.ty != Type::Unknown => {
                let message =
                    format!("expected a sequence or set, found {}", self.show(&collection.ty));
                self.error(message, collection.span);
            }
            _ => {}
        }
    }

    /// Returns an operand of `<<`: a lock level, or a reference, which stands for its lock level.
    fn lock_level(&mut self, operand: Expr) -> Expr {
        match operand.ty {
            Type::Mu | Type::Unknown => operand,
            Type::Class(_) | Type::Channel(_) | Type::Token(_) | Type::Null => {
                let span = operand.span;
                let kind = ExprKind::FieldRead { receiver: Box::new(operand), field: FieldRef::Mu };
                Expr { kind, ty: Type::Mu, span }
            }
            _ => {
                let message =
                    format!("expected a reference or lock level, found {}", self.show(&operand.ty));
                self.error(message, operand.span);
                operand
            }
        }
    }

    fn both(&mut self, symbol: Symbol, ty: &Type, left: &Expr, right: &Expr, span: Span) {
        if !is_same(ty, &left.ty) || !is_same(ty, &right.ty) {
            self.operand_error(symbol, left, right, span);
        }
    }

    fn operand_error(&mut self, symbol: Symbol, left: &Expr, right: &Expr, span: Span) {
        let message = format!(
            "`{}` does not apply to {} and {}",
            symbol.symbol(),
            self.show(&left.ty),
            self.show(&right.ty)
        );
        self.error(message, span);
    }
}

/// Returns the operator on sets, and whether it is a comparison.
fn set_operator(symbol: Symbol) -> Option<(BinaryOp, bool)> {
    Some(match symbol {
        Symbol::Add => (BinaryOp::Union, false),
        Symbol::Sub => (BinaryOp::Difference, false),
        Symbol::Mul => (BinaryOp::Intersection, false),
        Symbol::Less => (BinaryOp::ProperSubset, true),
        Symbol::AtMost => (BinaryOp::Subset, true),
        Symbol::AtLeast => (BinaryOp::Superset, true),
        Symbol::Greater => (BinaryOp::ProperSuperset, true),
        _ => return None,
    })
}

/// Returns the operator on integers, and whether it is a comparison.
fn integer_operator(symbol: Symbol) -> (BinaryOp, bool) {
    match symbol {
        Symbol::Less => (BinaryOp::Less, true),
        Symbol::AtMost => (BinaryOp::AtMost, true),
        Symbol::AtLeast => (BinaryOp::AtLeast, true),
        Symbol::Greater => (BinaryOp::Greater, true),
        Symbol::Add => (BinaryOp::Add, false),
        Symbol::Sub => (BinaryOp::Sub, false),
        Symbol::Mul => (BinaryOp::Mul, false),
        Symbol::Div => (BinaryOp::Div, false),
        Symbol::Mod => (BinaryOp::Mod, false),
        _ => unreachable!("the other operators are resolved elsewhere"),
    }
}
