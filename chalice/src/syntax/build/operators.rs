//! Infix operators: their symbols, their precedence, and what they make of their operands.

use front::{Chain, Infix};

use super::{Built, error};
use crate::source::Span;
use crate::syntax::{BinaryOp, Expr, ExprKind};

/// An expression on its way into a larger one.
pub(super) struct Operand {
    pub(super) expr: Expr,
    /// Where it is, parentheses included.
    pub(super) outer: Span,
    /// Can a chain of `&&` or `||` still grow here? Not if it stands in parentheses.
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
    Other(BinaryOp),
}

impl Operator {
    /// Reads an operator's symbol.
    pub(super) fn of_symbol(symbol: &str) -> Self {
        match symbol {
            "&&" => Self::And,
            "||" => Self::Or,
            _ => Self::Other(BinaryOp::of_symbol(symbol).expect("an operator of the grammar")),
        }
    }
}

const COMPARISON: u8 = 4;

/// Adds an operator to a chain.
///
/// # Errors
/// `&&` next to `||`, or a second comparison.
pub(super) fn add(chain: &mut Chain<Operator>, operator: Operator, span: Span) -> Built<()> {
    match chain.neighbour(operator.level()) {
        Some(other) if other.level() == COMPARISON => {
            return Err(error("comparisons do not associate: use parentheses", span));
        }
        Some(other) if other.level() == Operator::And.level() && other != operator => {
            return Err(error("`&&` and `||` must not be mixed: use parentheses", span));
        }
        _ => {}
    }
    chain.operator(operator);
    Ok(())
}

impl Infix for Operator {
    type Operand = Operand;

    fn level(self) -> u8 {
        match self {
            Self::Other(BinaryOp::Iff) => 1,
            Self::Other(BinaryOp::Implies) => 2,
            Self::And | Self::Or => 3,
            Self::Other(
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Less
                | BinaryOp::AtMost
                | BinaryOp::AtLeast
                | BinaryOp::Greater
                | BinaryOp::Below
                | BinaryOp::In
                | BinaryOp::NotIn,
            ) => COMPARISON,
            Self::Other(BinaryOp::Append) => 5,
            Self::Other(BinaryOp::Add | BinaryOp::Sub) => 6,
            Self::Other(BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod) => 7,
        }
    }

    fn is_right_associative(self) -> bool {
        self.level() <= 2
    }

    fn join(self, left: Operand, right: Operand) -> Operand {
        join(self, left, right)
    }
}

fn join(operator: Operator, left: Operand, right: Operand) -> Operand {
    let span = left.outer.to(right.outer);
    let kind = match (operator, left.expr.kind) {
        (Operator::And, ExprKind::And(mut operands)) if left.is_open => {
            operands.push(right.expr);
            ExprKind::And(operands)
        }
        (Operator::Or, ExprKind::Or(mut operands)) if left.is_open => {
            operands.push(right.expr);
            ExprKind::Or(operands)
        }
        (operator, kind) => {
            let left = Expr { kind, span: left.expr.span };
            match operator {
                Operator::And => ExprKind::And(vec![left, right.expr]),
                Operator::Or => ExprKind::Or(vec![left, right.expr]),
                Operator::Other(op) => {
                    ExprKind::Binary { op, left: Box::new(left), right: Box::new(right.expr) }
                }
            }
        }
    };
    Operand { expr: Expr { kind, span }, outer: span, is_open: true }
}
