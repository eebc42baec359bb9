//! Expressions whose value does not depend on the dialect.

use findings::{ErrorId, Reason};
use front::grow_stack;
use num_bigint::BigInt;
use sil::build::*;
use sil::syntax as s;
use spl::program::{BinaryOp, ChainOp, Expr, ExprKind, GlobalId, LocalId, Type, UnaryOp};
use spl::source::Span;

use super::Member;
use super::annotations::{Annotate, renamed};
use super::prelude::fixed;

/// A dialect's meaning of expressions: variables, the heap, permissions.
///
/// [`Expressions::expr`] lowers everything else and comes back here for these.
pub(crate) trait Meaning<'l, 'p> {
    /// Returns the member being made.
    fn member(&mut self) -> &mut Member<'l, 'p>;

    /// Returns the value of a variable.
    fn local(&mut self, local: LocalId) -> s::Expr;

    /// Returns the value of a global variable.
    fn global(&mut self, global: GlobalId, span: Span) -> s::Expr;

    /// Returns an expression that is about the heap or about permissions, or whose parts are in
    /// another state: see [`is_of_dialect`].
    fn of_dialect(&mut self, e: &Expr) -> s::Expr;

    /// Is what is being lowered a value that a program computes, not a specification? What is not
    /// defined is then an error of the operator, else of the specification around it.
    fn is_computed(&self) -> bool;
}

/// Is this form left to the dialects?
pub(crate) fn is_of_dialect(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Emp
        | ExprKind::FieldMap(_)
        | ExprKind::FieldRead { .. }
        | ExprKind::ArrayLength(_)
        | ExprKind::ArrayCells(_)
        | ExprKind::ArrayMap(_)
        | ExprKind::CellArray(_)
        | ExprKind::CellIndex(_)
        | ExprKind::CellContent(_)
        | ExprKind::Element { .. }
        | ExprKind::Apply { .. }
        | ExprKind::Predicate(_)
        | ExprKind::Access(_)
        | ExprKind::PointsTo { .. }
        | ExprKind::Star(_)
        | ExprKind::Overlap(_)
        | ExprKind::PartOf { .. }
        | ExprKind::Old(_)
        | ExprKind::Btwn { .. }
        | ExprKind::Reach { .. }
        | ExprKind::Frame { .. }
        | ExprKind::Unfolding { .. }
        | ExprKind::SetComprehension { .. }
        | ExprKind::MapComprehension { .. } => true,
        // These are assertions in all but name.
        ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Implies { .. }
        | ExprKind::Conditional { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::Annotated { .. } => e.is_permission(),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::Destruct { .. }
        | ExprKind::Construct { .. }
        | ExprKind::MapRead { .. }
        | ExprKind::MapUpdate { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Chain { .. }
        | ExprKind::Known(_)
        | ExprKind::Disjoint(..)
        | ExprKind::Set(_)
        | ExprKind::ByteToInt(_)
        | ExprKind::IntToByte(_) => false,
    }
}

/// Lowering of expressions, for every [`Meaning`].
pub(crate) trait Expressions<'l, 'p: 'l>: Meaning<'l, 'p> {
    /// Returns the value of `e`, with its place.
    fn expr(&mut self, e: &Expr) -> s::Expr {
        let mut lowered =
            grow_stack(|| if is_of_dialect(e) { self.of_dialect(e) } else { self.pure_form(e) });
        let at = self.member().lowering.at(e.span);
        lowered.annotations.insert(0, at);
        lowered
    }

    /// Returns the values of several expressions.
    fn exprs(&mut self, all: &[Expr]) -> Vec<s::Expr> {
        all.iter().map(|e| self.expr(e)).collect()
    }

    /// Returns a form that means the same in all dialects.
    fn pure_form(&mut self, e: &Expr) -> s::Expr {
        match &e.kind {
            ExprKind::Int(value) => int(value.clone()),
            ExprKind::Bool(value) => truth(*value),
            ExprKind::Null => null(),
            ExprKind::Local(id) => self.local(*id),
            ExprKind::Global(id) => self.global(*id, e.span),
            ExprKind::Destruct { term, destructor } => {
                let term = self.expr(term);
                field(term, &self.member().lowering.names.borrow().destructors[*destructor])
            }
            ExprKind::Construct { constructor, arguments } => {
                let arguments = self.exprs(arguments);
                call(&self.member().lowering.names.borrow().constructors[*constructor], arguments)
            }
            ExprKind::MapRead { map, key } => {
                let (map, key) = (self.expr(map), self.expr(key));
                self.member().lowering.used.borrow_mut().maps = true;
                call(fixed::GET, [map, key])
            }
            ExprKind::MapUpdate { map, key, value } => {
                let (map, key, value) = (self.expr(map), self.expr(key), self.expr(value));
                self.member().lowering.used.borrow_mut().maps = true;
                call(fixed::SET, [map, key, value])
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, left, right } => self.binary_form(e, *op, left, right),
            ExprKind::Chain { first, rest } => self.chain(first, rest),
            ExprKind::And(parts) => {
                let parts = self.exprs(parts);
                s::Expr::new(s::ExprKind::And(parts), sil::source::Span::default())
            }
            ExprKind::Or(parts) => or(self.exprs(parts)),
            ExprKind::Implies { guard, body } => {
                let (guard, body) = (self.expr(guard), self.expr(body));
                binary(s::BinaryOp::Implies, guard, body)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let (condition, then) = (self.expr(condition), self.expr(then));
                conditional(condition, then, self.expr(otherwise))
            }
            ExprKind::Known(term) => self.expr(term),
            ExprKind::Disjoint(left, right) => {
                let element = self.element_type(left);
                let both = binary(s::BinaryOp::Intersection, self.expr(left), self.expr(right));
                eq(both, literal(s::Collection::Set, element, []))
            }
            ExprKind::Set(elements) => {
                let element = self.element_type(e);
                literal(s::Collection::Set, element, self.exprs(elements))
            }
            ExprKind::Quantified { quantifier, variables, body } => {
                super::quantifiers::quantified(self, *quantifier, variables, body)
            }
            ExprKind::Annotated { body, .. } => self.expr(body),
            ExprKind::ByteToInt(inner) => self.expr(inner),
            ExprKind::IntToByte(inner) => self.expr(inner) % int(256),
            _ => unreachable!("left to the dialect: {:?}", e.kind),
        }
    }

    /// Returns the SIL type of the elements of a set.
    fn element_type(&mut self, set: &Expr) -> s::Type {
        let lowering = self.member().lowering;
        match &set.ty {
            Type::Set(element) => lowering.ty(element),
            _ => lowering.ty(&Type::Unknown),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> s::Expr {
        let value = self.expr(operand);
        match op {
            UnaryOp::Not => not(value),
            UnaryOp::Plus => value,
            UnaryOp::Minus => self.wrapped(minus(value), &operand.ty),
            UnaryOp::Complement => self.bits("$complement", vec![value], &operand.ty),
        }
    }

    /// Arithmetic of bytes is modulo 256.
    fn wrapped(&mut self, value: s::Expr, ty: &Type) -> s::Expr {
        if *ty == Type::Byte { value % int(256) } else { value }
    }

    fn bits(&mut self, name: &'static str, operands: Vec<s::Expr>, ty: &Type) -> s::Expr {
        let lowering = self.member().lowering;
        let mut used = lowering.used.borrow_mut();
        if !used.bits.contains(&name) {
            used.bits.push(name);
        }
        drop(used);
        self.wrapped(call(name, operands), ty)
    }

    fn binary_form(&mut self, e: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> s::Expr {
        let (left, right) = (self.expr(left), self.expr(right));
        let op = match op {
            BinaryOp::Iff => s::BinaryOp::Iff,
            BinaryOp::Eq => s::BinaryOp::Eq,
            BinaryOp::Ne => s::BinaryOp::Ne,
            BinaryOp::Less => s::BinaryOp::Lt,
            BinaryOp::AtMost => s::BinaryOp::Le,
            BinaryOp::Greater => s::BinaryOp::Gt,
            BinaryOp::AtLeast => s::BinaryOp::Ge,
            BinaryOp::Subset => s::BinaryOp::Subset,
            BinaryOp::ProperSubset => {
                let subset = binary(s::BinaryOp::Subset, left.clone(), right.clone());
                return and([subset, ne(left, right)]);
            }
            BinaryOp::In => s::BinaryOp::In,
            BinaryOp::Union => s::BinaryOp::Union,
            BinaryOp::Intersection => s::BinaryOp::Intersection,
            BinaryOp::Difference => s::BinaryOp::Setminus,
            BinaryOp::Add => return self.wrapped(left + right, &e.ty),
            BinaryOp::Sub => return self.wrapped(left - right, &e.ty),
            BinaryOp::Mul => return self.wrapped(left * right, &e.ty),
            BinaryOp::Div => return self.dividing(binary(s::BinaryOp::IntDiv, left, right)),
            BinaryOp::Mod => return self.dividing(left % right),
            BinaryOp::BitAnd => return self.bits("$and", vec![left, right], &e.ty),
            BinaryOp::BitOr => return self.bits("$or", vec![left, right], &e.ty),
            BinaryOp::ShiftLeft => return self.bits("$shift_left", vec![left, right], &e.ty),
            BinaryOp::ShiftRight => return self.bits("$shift_right", vec![left, right], &e.ty),
        };
        binary(op, left, right)
    }

    /// `/` and `%` are those of SMT-LIB in both languages; in programs a zero divisor is an error
    /// of its own.
    fn dividing(&mut self, division: s::Expr) -> s::Expr {
        if self.is_computed() {
            division.with(renamed(
                Reason::DivisionByZero,
                (ErrorId::ArithmeticFailed, Reason::DivisionByZero),
            ))
        } else {
            division
        }
    }

    /// `a <= b < ..`; operands that are compared twice are named once.
    fn chain(&mut self, first: &Expr, rest: &[(ChainOp, Expr)]) -> s::Expr {
        let mut left = self.expr(first);
        let mut compared = Vec::new();
        let mut bound = Vec::new();
        for (at, (op, operand)) in rest.iter().enumerate() {
            let mut right = self.expr(operand);
            if at + 1 < rest.len() && !is_small(operand) {
                let name = self.member().fresh("operand");
                bound.push((name.clone(), right));
                right = var(&name);
            }
            compared.push(binary(comparison(*op), left, right.clone()));
            left = right;
        }
        bound
            .into_iter()
            .rev()
            .fold(and(compared), |body, (name, value)| let_in(&name, value, body))
    }
}

impl<'l, 'p: 'l, M: Meaning<'l, 'p> + ?Sized> Expressions<'l, 'p> for M {}

/// Returns the operator of SIL for one of a chain.
pub(crate) fn comparison(op: ChainOp) -> s::BinaryOp {
    match op {
        ChainOp::Less => s::BinaryOp::Lt,
        ChainOp::AtMost => s::BinaryOp::Le,
        ChainOp::Greater => s::BinaryOp::Gt,
        ChainOp::AtLeast => s::BinaryOp::Ge,
    }
}

/// May it be written twice?
fn is_small(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(value) => value.bits() < 64 || *value == BigInt::ZERO,
        ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Null => true,
        ExprKind::FieldRead { receiver, .. } => {
            matches!(receiver.kind, ExprKind::Local(_))
        }
        _ => false,
    }
}
