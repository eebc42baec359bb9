//! Measures: what gets smaller where something has to end.
//!
//! A measure is a list of numbers, compared from left to right. It has to get smaller in the
//! lexicographic order, and the number that does so has to be at least zero before: then there is
//! no endless sequence of them. Of two lists with different lengths, only the common part counts.

use num_bigint::BigInt;

use super::{BinaryOp, Expr, ExprKind, Function, FunctionId, LocalId, Program, Type};
use crate::source::Span;

/// A part of a `decreases` clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The number: what is written, or the length of a collection, or 1 for `true` and 0 for
    /// `false`.
    pub number: Expr,
    /// Keeps its value at the start of the body or iteration.
    pub start: LocalId,
}

/// The obligation at an application of a function by another that may come back to it.
#[derive(Debug, Clone, PartialEq)]
pub enum Decrease {
    /// Neither has a measure: the callee needs less of the heap.
    Footprint,
    /// Both have a measure, and this says that it gets smaller.
    Measure(Expr),
    /// One has a measure and the other has not.
    Missing,
}

impl Measure {
    /// Returns the measure that an expression of type `int`, `bool`, `seq` or `set` is.
    pub(crate) fn of(value: Expr, start: LocalId) -> Self {
        let span = value.span;
        let number = match value.ty {
            Type::Bool => {
                let number = |n| Box::new(int(n, span));
                let (then, otherwise) = (number(1), number(0));
                let condition = Box::new(value);
                let kind = ExprKind::Conditional { condition, then, otherwise };
                Expr { kind, ty: Type::Int, span }
            }
            Type::Seq(_) | Type::Set(_) => {
                Expr { kind: ExprKind::Length(Box::new(value)), ty: Type::Int, span }
            }
            _ => value,
        };
        Self { number, start }
    }
}

impl Program {
    /// Returns the claim that measures are smaller than they were at the start of others; it is
    /// false if one of the lists is empty.
    pub fn is_smaller(&self, now: &[Expr], before: &[Measure], span: Span) -> Expr {
        let mut ways = Vec::new();
        let mut same = Vec::new();
        for (now, before) in now.iter().zip(before) {
            let start = Expr { kind: ExprKind::Local(before.start), ty: Type::Int, span };
            let mut way = same.clone();
            way.push(compare(BinaryOp::AtMost, int(0, span), start.clone()));
            way.push(compare(BinaryOp::Less, now.clone(), start.clone()));
            ways.push(joined(ExprKind::And, way, span));
            same.push(compare(BinaryOp::Eq, now.clone(), start));
        }
        joined(ExprKind::Or, ways, span)
    }

    /// Returns the measures of a callee where it is called or applied.
    pub(crate) fn measures_at(
        measures: &[Measure],
        parameters: &[LocalId],
        receiver: &Expr,
        arguments: &[Expr],
    ) -> Vec<Expr> {
        let at_call = |measure: &Measure| {
            let mut number = measure.number.clone();
            number.replace(&mut |part| match &part.kind {
                ExprKind::This => Some(receiver.clone()),
                ExprKind::Local(local) => {
                    let at = parameters.iter().position(|parameter| parameter == local)?;
                    arguments.get(at).cloned()
                }
                _ => None,
            });
            number
        };
        measures.iter().map(at_call).collect()
    }

    /// Returns the obligation at an application in the body of `of` that may lead back to it.
    pub fn decrease(
        &self,
        of: FunctionId,
        callee: FunctionId,
        (receiver, arguments): (&Expr, &[Expr]),
        span: Span,
    ) -> Decrease {
        let (own, other): (&Function, &Function) = (&self.functions[of], &self.functions[callee]);
        match (own.decreases.is_empty(), other.decreases.is_empty()) {
            (true, true) => Decrease::Footprint,
            (false, false) => {
                let now =
                    Self::measures_at(&other.decreases, &other.parameters, receiver, arguments);
                Decrease::Measure(self.is_smaller(&now, &own.decreases, span))
            }
            _ => Decrease::Missing,
        }
    }
}

fn int(value: i32, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(BigInt::from(value)), ty: Type::Int, span }
}

fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    let (left, right) = (Box::new(left), Box::new(right));
    Expr { kind: ExprKind::Binary { op, left, right }, ty: Type::Bool, span }
}

/// Several claims as one; `false` if there is none.
fn joined(of: impl Fn(Vec<Expr>) -> ExprKind, mut all: Vec<Expr>, span: Span) -> Expr {
    match all.len() {
        0 => Expr { kind: ExprKind::Bool(false), ty: Type::Bool, span },
        1 => all.remove(0),
        _ => Expr { kind: of(all), ty: Type::Bool, span },
    }
}
