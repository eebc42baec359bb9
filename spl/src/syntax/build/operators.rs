//! Infix operators: their symbols, their precedence, and what they make of their operands.

use front::Infix;

use crate::source::Span;
use crate::syntax::{BinaryOp, ChainOp, Expr, ExprKind};

/// An expression on its way into a larger one.
pub(super) struct Operand {
    pub(super) expr: Expr,
    /// Where it is, parentheses included.
    pub(super) outer: Span,
    /// Can a list such as `&&` still grow here? Not if it stands in parentheses.
    is_open: bool,
}

impl Operand {
    /// Returns an operand that no operator outside it can reach into.
    pub(super) fn closed(expr: Expr, outer: Span) -> Self {
        Self { expr, outer, is_open: false }
    }
}

/// An infix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
    Star,
    Overlap,
    Chain(ChainOp),
    Other(BinaryOp),
}

impl Operator {
    /// Reads an operator's symbol.
    pub(super) fn of_symbol(symbol: &str) -> Self {
        match symbol {
            "&&" => Self::And,
            "||" => Self::Or,
            "&*&" => Self::Star,
            "&+&" => Self::Overlap,
            _ => match ChainOp::of_symbol(symbol) {
                Some(op) => Self::Chain(op),
                None => {
                    Self::Other(BinaryOp::of_symbol(symbol).expect("an operator of the grammar"))
                }
            },
        }
    }
}

impl Infix for Operator {
    type Operand = Operand;

    fn level(self) -> u8 {
        match self {
            Self::Other(BinaryOp::Iff) => 1,
            Self::Other(BinaryOp::Implies) => 2,
            Self::Or => 3,
            Self::Other(BinaryOp::PartOf) => 4,
            Self::Overlap => 5,
            Self::Star => 6,
            Self::And => 7,
            Self::Other(BinaryOp::Eq | BinaryOp::Ne) => 8,
            Self::Chain(_) | Self::Other(BinaryOp::In | BinaryOp::NotIn) => 9,
            Self::Other(BinaryOp::PointsTo) => 10,
            Self::Other(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Union | BinaryOp::BitOr) => 11,
            Self::Other(
                BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Mod
                | BinaryOp::Intersection
                | BinaryOp::BitAnd,
            ) => 12,
            Self::Other(BinaryOp::Difference | BinaryOp::ShiftLeft | BinaryOp::ShiftRight) => 13,
        }
    }

    fn is_right_associative(self) -> bool {
        self == Self::Other(BinaryOp::Implies)
    }

    fn join(self, left: Operand, right: Operand) -> Operand {
        join(self, left, right)
    }
}

fn join(operator: Operator, left: Operand, right: Operand) -> Operand {
    let span = left.outer.to(right.outer);
    let kind = match (operator, left.expr.kind) {
        (Operator::And, ExprKind::And(all)) if left.is_open => {
            ExprKind::And(grown(all, right.expr))
        }
        (Operator::Or, ExprKind::Or(all)) if left.is_open => ExprKind::Or(grown(all, right.expr)),
        (Operator::Star, ExprKind::Star(all)) if left.is_open => {
            ExprKind::Star(grown(all, right.expr))
        }
        (Operator::Overlap, ExprKind::Overlap(all)) if left.is_open => {
            ExprKind::Overlap(grown(all, right.expr))
        }
        (Operator::Chain(op), ExprKind::Chain { first, rest }) if left.is_open => {
            ExprKind::Chain { first, rest: grown(rest, (op, right.expr)) }
        }
        (operator, kind) => {
            let left = Expr { kind, span: left.expr.span };
            match operator {
                Operator::And => ExprKind::And(vec![left, right.expr]),
                Operator::Or => ExprKind::Or(vec![left, right.expr]),
                Operator::Star => ExprKind::Star(vec![left, right.expr]),
                Operator::Overlap => ExprKind::Overlap(vec![left, right.expr]),
                Operator::Chain(op) => {
                    ExprKind::Chain { first: Box::new(left), rest: vec![(op, right.expr)] }
                }
                Operator::Other(op) => {
                    ExprKind::Binary { op, left: Box::new(left), right: Box::new(right.expr) }
                }
            }
        }
    };
    Operand { expr: Expr { kind, span }, outer: span, is_open: true }
}

fn grown<T>(mut all: Vec<T>, one: T) -> Vec<T> {
    all.push(one);
    all
}
