//! Operators.

use super::{Context, Resolver};
use crate::program::{BinaryOp, ChainOp, Expr, ExprKind, Type, UnaryOp};
use crate::source::Span;
use crate::syntax;

impl<'s> Resolver<'s> {
    pub(super) fn operation(
        &mut self,
        expr: &'s syntax::Expr,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            syntax::ExprKind::Unary { op, operand } => {
                return self.unary(*op, operand, span, context);
            }
            syntax::ExprKind::Binary { op, left, right } => {
                return self.binary(*op, left, right, span, hint, context);
            }
            syntax::ExprKind::Chain { first, rest } => {
                return self.comparisons(first, rest, span, context);
            }
            syntax::ExprKind::And(all) => {
                let (all, ty) = self.assertions(all, context);
                (ExprKind::And(all), ty)
            }
            syntax::ExprKind::Or(all) => {
                let (all, ty) = self.assertions(all, context);
                (ExprKind::Or(all), ty)
            }
            syntax::ExprKind::Star(all) => {
                let (all, ty) = self.assertions(all, context);
                (ExprKind::Star(all), ty)
            }
            syntax::ExprKind::Overlap(all) => {
                let (all, ty) = self.assertions(all, context);
                (ExprKind::Overlap(all), ty)
            }
            syntax::ExprKind::Conditional { condition, then, otherwise } => {
                let condition = Box::new(self.formula(condition, context));
                let then = self.only_sometimes(context, |it| it.expr(then, hint, context));
                let hint = if then.ty.has_holes() { hint.clone() } else { then.ty.clone() };
                let otherwise =
                    self.only_sometimes(context, |it| it.expr(otherwise, &hint, context));
                let (then, otherwise) = self.unify(then, otherwise);
                let ty = if otherwise.is_permission() { Type::Permission } else { then.ty.clone() };
                let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                (ExprKind::Conditional { condition, then, otherwise }, ty)
            }
            _ => unreachable!("only operators come here"),
        };
        Expr { kind, ty, span }
    }

    /// Assertions, and what type they have together.
    fn assertions(&mut self, all: &'s [syntax::Expr], context: Context) -> (Vec<Expr>, Type) {
        let Some((first, rest)) = all.split_first() else { return (Vec::new(), Type::Bool) };
        let mut all = vec![self.assertion(first, context)];
        for one in rest {
            all.push(self.only_sometimes(context, |it| it.assertion(one, context)));
        }
        let is_permission = all.iter().any(Expr::is_permission);
        (all, if is_permission { Type::Permission } else { Type::Bool })
    }

    /// Returns an operand that is evaluated only where the one before it asks for that. Calls and
    /// allocations in expressions are made before the statement, whatever the value of the other
    /// operand, so there can be none in it.
    fn only_sometimes(
        &mut self,
        context: Context,
        operand: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        let before = self.hoisted.len();
        let operand = operand(self);
        if let Some(made) = self.hoisted.get(before)
            && context.effects
        {
            let span = made.span;
            self.error(
                "unsupported: what is made or called here is not always evaluated (use an `if`)",
                span,
            );
        }
        operand
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        operand: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let operand = Box::new(match op {
            UnaryOp::Not => self.formula(operand, context),
            UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Complement => self.number(operand, context),
        });
        let ty = if op == UnaryOp::Not { Type::Bool } else { operand.ty.clone() };
        Expr { kind: ExprKind::Unary { op, operand }, ty, span }
    }

    /// Returns an integer or byte.
    fn number(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        let mut number = self.expr(expr, &Type::Unknown, context);
        if !matches!(number.ty, Type::Int | Type::Byte) {
            self.expect_unknown(&number.ty.clone(), "a number", number.span);
            number.ty = Type::Unknown;
        }
        number
    }

    fn binary(
        &mut self,
        op: syntax::BinaryOp,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        use syntax::BinaryOp as Written;
        let (kind, ty) = match op {
            Written::Iff => {
                let left = Box::new(self.formula(left, context));
                let right = Box::new(self.formula(right, context));
                (ExprKind::Binary { op: BinaryOp::Iff, left, right }, Type::Bool)
            }
            Written::Implies => {
                let guard = Box::new(self.formula(left, context));
                let body =
                    Box::new(self.only_sometimes(context, |it| it.assertion(right, context)));
                let ty = body.ty.clone();
                (ExprKind::Implies { guard, body }, ty)
            }
            Written::PartOf => {
                let part = Box::new(self.assertion(left, context));
                let whole = Box::new(self.assertion(right, context));
                (ExprKind::PartOf { part, whole }, Type::Permission)
            }
            Written::Eq | Written::Ne => return self.equality(op, left, right, span, context),
            Written::In | Written::NotIn => return self.membership(op, left, right, span, context),
            Written::PointsTo => return self.points_to(left, right, span, context),
            Written::Union | Written::Intersection | Written::Difference => {
                let op = match op {
                    Written::Union => BinaryOp::Union,
                    Written::Intersection => BinaryOp::Intersection,
                    _ => BinaryOp::Difference,
                };
                let left = self.set_operand(left, hint, context);
                let right = self.set_operand(right, &left.ty.clone(), context);
                let (left, right) = self.unify(left, right);
                let ty = left.ty.clone();
                (ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, ty)
            }
            Written::Add
            | Written::Sub
            | Written::Mul
            | Written::Div
            | Written::Mod
            | Written::BitOr
            | Written::BitAnd
            | Written::ShiftLeft
            | Written::ShiftRight => {
                let left = self.number(left, context);
                let right = self.number(right, context);
                let (left, right) = self.unify(left, right);
                let ty = left.ty.clone();
                let op = arithmetic(op);
                (ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, ty)
            }
        };
        Expr { kind, ty, span }
    }

    fn equality(
        &mut self,
        op: syntax::BinaryOp,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let left = self.expr(left, &Type::Unknown, context);
        let right = self.expr(right, &left.ty.clone(), context);
        let (left, right) = if left.ty.is_assertion() || right.ty.is_assertion() {
            (self.coerce(left, &Type::Bool), self.coerce(right, &Type::Bool))
        } else {
            self.unify(left, right)
        };
        let op = match (op, &left.ty) {
            (syntax::BinaryOp::Ne, _) => BinaryOp::Ne,
            (_, Type::Bool) => BinaryOp::Iff,
            _ => BinaryOp::Eq,
        };
        let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
        Expr { kind, ty: Type::Bool, span }
    }

    fn membership(
        &mut self,
        op: syntax::BinaryOp,
        element: &'s syntax::Expr,
        set: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let element = self.expr(element, &Type::Unknown, context);
        let set = self.set_operand(set, &Type::set(element.ty.clone()), context);
        let set = self.coerce(set, &Type::set(element.ty.clone()));
        let element = match &set.ty {
            Type::Set(ty) if element.ty.has_holes() => {
                let ty = ty.clone();
                self.coerce(element, &ty)
            }
            _ => element,
        };
        let kind =
            ExprKind::Binary { op: BinaryOp::In, left: Box::new(element), right: Box::new(set) };
        let is_in = Expr { kind, ty: Type::Bool, span };
        if op == syntax::BinaryOp::In {
            return is_in;
        }
        let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(is_in) };
        Expr { kind, ty: Type::Bool, span }
    }

    pub(super) fn set_operand(
        &mut self,
        expr: &'s syntax::Expr,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let mut set = self.expr(expr, hint, context);
        if !matches!(set.ty, Type::Set(_)) {
            self.expect_unknown(&set.ty.clone(), "a set", set.span);
            set.ty = Type::Unknown;
        }
        set
    }

    /// `a <= b < ..` of numbers, or one comparison of sets.
    fn comparisons(
        &mut self,
        first: &'s syntax::Expr,
        rest: &'s [(ChainOp, syntax::Expr)],
        span: Span,
        context: Context,
    ) -> Expr {
        let mut last = self.comparable(first, &Type::Unknown, context);
        let is_set = matches!(last.ty, Type::Set(_));
        if is_set && rest.len() > 1 {
            self.error("sets are compared two at a time", span);
        }
        let mut operands = Vec::new();
        for (op, operand) in rest {
            let operand = self.comparable(operand, &last.ty.clone(), context);
            let (left, right) = self.unify(last, operand);
            operands.push((left, *op));
            last = right;
        }
        let mut operands = operands.into_iter();
        let (first, mut op) = operands.next().expect("a chain has an operator");
        if rest.len() == 1 {
            return comparison(op, first, last, span);
        }
        let mut rest = Vec::new();
        for (operand, next) in operands {
            rest.push((op, operand));
            op = next;
        }
        rest.push((op, last));
        let kind = ExprKind::Chain { first: Box::new(first), rest };
        Expr { kind, ty: Type::Bool, span }
    }

    /// Returns a number or set.
    fn comparable(&mut self, expr: &'s syntax::Expr, hint: &Type, context: Context) -> Expr {
        let mut operand = self.expr(expr, hint, context);
        if !matches!(operand.ty, Type::Int | Type::Byte | Type::Set(_)) {
            self.expect_unknown(&operand.ty.clone(), "a number or set", operand.span);
            operand.ty = Type::Unknown;
        }
        operand
    }
}

/// One comparison; of sets it is written the other way round where they are.
fn comparison(op: ChainOp, left: Expr, right: Expr, span: Span) -> Expr {
    let (op, left, right) = match (op, matches!(left.ty, Type::Set(_))) {
        (ChainOp::Less, false) => (BinaryOp::Less, left, right),
        (ChainOp::AtMost, false) => (BinaryOp::AtMost, left, right),
        (ChainOp::Greater, false) => (BinaryOp::Greater, left, right),
        (ChainOp::AtLeast, false) => (BinaryOp::AtLeast, left, right),
        (ChainOp::Less, true) => (BinaryOp::ProperSubset, left, right),
        (ChainOp::AtMost, true) => (BinaryOp::Subset, left, right),
        (ChainOp::Greater, true) => (BinaryOp::ProperSubset, right, left),
        (ChainOp::AtLeast, true) => (BinaryOp::Subset, right, left),
    };
    let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
    Expr { kind, ty: Type::Bool, span }
}

fn arithmetic(op: syntax::BinaryOp) -> BinaryOp {
    match op {
        syntax::BinaryOp::Sub => BinaryOp::Sub,
        syntax::BinaryOp::Mul => BinaryOp::Mul,
        syntax::BinaryOp::Div => BinaryOp::Div,
        syntax::BinaryOp::Mod => BinaryOp::Mod,
        syntax::BinaryOp::BitOr => BinaryOp::BitOr,
        syntax::BinaryOp::BitAnd => BinaryOp::BitAnd,
        syntax::BinaryOp::ShiftLeft => BinaryOp::ShiftLeft,
        syntax::BinaryOp::ShiftRight => BinaryOp::ShiftRight,
        _ => BinaryOp::Add,
    }
}
