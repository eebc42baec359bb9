//! Where in an expression calls are evaluated, and under what condition.
//!
//! The knowledge at a position is a list of frames, from the root of the expression inward. A check
//! at the position becomes an expression at the root by wrapping it in the frames
//! ([`Pass::in_position`]).

use front::grow_stack;

use super::build::{self, placed};
use super::measures::Copied;
use super::{Amounts, CheckKind, Locals, Pass, orders};
use crate::program::{
    BinaryOp, Expr, ExprKind, LocalId, OldLabel, PredicateAccess, Resource, Type,
};
use crate::source::Span;

/// A step from an expression to an operand.
#[derive(Clone, Copy)]
pub(super) enum Frame<'e> {
    /// The operand is evaluated if this holds.
    If(&'e Expr),
    /// The operand is evaluated unless this holds.
    Unless(&'e Expr),
    Let(LocalId, &'e Expr),
    Unfolding(&'e PredicateAccess),
    Applying(&'e Expr),
    Asserting(&'e Expr),
    Old(OldLabel),
    /// The heap has permission to this resource.
    Held(&'e Resource),
}

/// A call and how it is reached.
pub(super) struct Position<'e> {
    pub(super) call: &'e Expr,
    pub(super) frames: Vec<Frame<'e>>,
}

/// The calls in a pure expression, in the order of their evaluation.
#[derive(Default)]
pub(super) struct Positions<'e> {
    pub(super) found: Vec<Position<'e>>,
    /// Variables bound around calls. In the checks they are variables of arbitrary value instead.
    pub(super) arbitrary: Vec<LocalId>,
    frames: Vec<Frame<'e>>,
}

impl<'e> Positions<'e> {
    pub(super) fn of(expr: &'e Expr) -> Self {
        let mut positions = Self::default();
        positions.visit(expr);
        positions
    }

    fn visit(&mut self, expr: &'e Expr) {
        grow_stack(|| self.visit_kind(expr));
    }

    fn visit_kind(&mut self, expr: &'e Expr) {
        match &expr.kind {
            ExprKind::Apply { arguments, .. } => {
                for argument in arguments {
                    self.visit(argument);
                }
                self.found.push(Position { call: expr, frames: self.frames.clone() });
            }
            ExprKind::And(operands) => self.list(operands, Frame::If),
            ExprKind::Or(operands) => self.list(operands, Frame::Unless),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                self.visit(left);
                self.inside(Frame::If(left), right);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.visit(condition);
                self.inside(Frame::If(condition), then);
                self.inside(Frame::Unless(condition), otherwise);
            }
            ExprKind::Let { variable, value, body } => {
                self.visit(value);
                self.inside(Frame::Let(*variable, value), body);
            }
            ExprKind::Unfolding { access, body } => {
                access.for_each_child(|child| self.visit(child));
                self.inside(Frame::Unfolding(access), body);
            }
            ExprKind::Applying { wand, body } => {
                self.visit(wand);
                self.inside(Frame::Applying(wand), body);
            }
            ExprKind::Asserting { assertion, body } => {
                self.visit(assertion);
                self.inside(Frame::Asserting(assertion), body);
            }
            ExprKind::Old { label, body } => self.inside(Frame::Old(*label), body),
            ExprKind::Quantified { variables, body, .. } => {
                self.bind(variables, body);
                self.visit(body);
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.bind(variables, body);
                self.inside(Frame::Held(resource), body);
            }
            _ => expr.for_each_child(|child| self.visit(child)),
        }
    }

    /// Each operand is evaluated if those before it do not settle the matter.
    fn list(&mut self, operands: &'e [Expr], frame: fn(&'e Expr) -> Frame<'e>) {
        let depth = self.frames.len();
        for operand in operands {
            self.visit(operand);
            self.frames.push(frame(operand));
        }
        self.frames.truncate(depth);
    }

    fn inside(&mut self, frame: Frame<'e>, body: &'e Expr) {
        self.frames.push(frame);
        self.visit(body);
        self.frames.pop();
    }

    fn bind(&mut self, variables: &[LocalId], body: &Expr) {
        if build::has_calls(body) {
            self.arbitrary.extend(variables);
        }
    }
}

impl Pass<'_> {
    /// Returns how what a function says is copied into the proof that it ends.
    pub(super) fn copied(&self) -> Copied {
        match self.amounts {
            Amounts::SomeOrNone => without_amounts,
            Amounts::Exact => placed,
        }
    }

    /// Returns the check, as seen from the root of the expression that the call is in.
    pub(super) fn in_position(
        &mut self,
        check: Expr,
        frames: &[Frame<'_>],
        locals: &mut Locals,
    ) -> Expr {
        let copy = self.mark(check.span, CheckKind::Copy);
        let copied = self.copied();
        frames.iter().rev().fold(check, |body, frame| match *frame {
            Frame::If(guard) => build::implies(copied(guard, copy), body, copy),
            Frame::Unless(guard) => build::implies(copied(guard, copy).negation(), body, copy),
            Frame::Let(variable, value) => {
                let value = Box::new(copied(value, copy));
                boolean(ExprKind::Let { variable, value, body: Box::new(body) }, copy)
            }
            Frame::Unfolding(access) => self.unfolding(access, body, locals, copy),
            Frame::Applying(wand) => {
                let wand = Box::new(placed(wand, copy));
                boolean(ExprKind::Applying { wand, body: Box::new(body) }, copy)
            }
            Frame::Asserting(assertion) => {
                let assertion = Box::new(copied(assertion, copy));
                boolean(ExprKind::Asserting { assertion, body: Box::new(body) }, copy)
            }
            Frame::Old(label) => boolean(ExprKind::Old { label, body: Box::new(body) }, copy),
            Frame::Held(resource) => {
                let mut resource = resource.clone();
                resource.for_each_child_mut(|child| build::place(child, copy));
                let amount = Expr::new(ExprKind::Perm(resource), Type::Perm, copy);
                build::implies(orders::is_some(&amount, copy), body, copy)
            }
        })
    }

    /// `unfolding`, where the instances in the predicate are known to be inside of it.
    fn unfolding(
        &mut self,
        access: &PredicateAccess,
        body: Expr,
        locals: &mut Locals,
        copy: Span,
    ) -> Expr {
        let copied = self.copied();
        let mut access = access.clone();
        access.for_each_child_mut(|child| *child = copied(child, copy));
        if self.amounts == Amounts::SomeOrNone {
            *access.amount = Expr::new(ExprKind::Wildcard, Type::Perm, copy);
        }
        if !self.orders.has_instances() {
            let kind = ExprKind::Unfolding { access, body: Box::new(body) };
            return boolean(kind, copy);
        }
        let instance = self.orders.instance(access.predicate, access.arguments.clone(), copy);
        let ty = instance.ty.clone();
        let outer = build::fresh(locals, "outer", ty.clone(), copy);
        let outer_value = build::local(outer, ty, copy);
        let facts = self.nested_in(&access, &outer_value, locals, copy);
        let body = build::implies(facts, body, copy);
        let unfolding = boolean(ExprKind::Unfolding { access, body: Box::new(body) }, copy);
        let kind =
            ExprKind::Let { variable: outer, value: Box::new(instance), body: Box::new(unfolding) };
        boolean(kind, copy)
    }

    /// Makes the facts after an unfolding: the instances in the predicate's body are inside of
    /// `outer`.
    pub(super) fn nested_in(
        &self,
        access: &PredicateAccess,
        outer: &Expr,
        locals: &mut Locals,
        place: Span,
    ) -> Expr {
        let predicate = &self.source.predicates[access.predicate];
        let Some(body) = &predicate.body else { return Expr::boolean(true, place) };
        let arguments = predicate.formals.iter().copied().zip(access.arguments.clone()).collect();
        let body = build::imported(body, &predicate.locals, &arguments, locals, place);
        self.orders.nested(&body, outer, place)
    }
}

fn boolean(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, Type::Bool, span)
}

/// Returns a copy for a proof that holds some permission where the function holds what it says:
/// positive amounts are wildcards.
fn without_amounts(expr: &Expr, place: Span) -> Expr {
    let mut copy = expr.clone();
    leave_amounts_out(&mut copy, place);
    copy
}

fn leave_amounts_out(expr: &mut Expr, place: Span) {
    grow_stack(|| expr.for_each_child_mut(|child| leave_amounts_out(child, place)));
    expr.span.origin = place.origin;
    let wildcard = || Box::new(Expr::new(ExprKind::Wildcard, Type::Perm, place));
    match &mut expr.kind {
        ExprKind::Unfolding { access, .. } => access.amount = wildcard(),
        ExprKind::Acc { amount, .. } => {
            let is_some = orders::is_some(amount, place);
            if !build::is_literal(&is_some, false) {
                *amount = wildcard();
                let held = std::mem::replace(expr, Expr::boolean(true, place));
                *expr = build::implies(is_some, held, place);
            }
        }
        _ => {}
    }
}
