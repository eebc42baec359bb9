//! Precedence of infix operators.
//!
//! The grammar yields operands and operators alternately; two stacks turn them into a tree without recursion, so a
//! chain costs no stack however long it is.

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
    /// An operand that no operator outside it can reach into.
    pub(super) fn closed(expr: Expr, outer: Span) -> Self {
        Self { expr, outer, is_open: false }
    }
}

/// An infix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    And,
    Or,
    Other(BinaryOp),
}

impl Infix {
    /// Reads an operator's symbol.
    pub(super) fn of_symbol(symbol: &str) -> Self {
        Self::Other(match symbol {
            "&&" => return Self::And,
            "||" => return Self::Or,
            "<==>" => BinaryOp::Iff,
            "==>" => BinaryOp::Implies,
            "==" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            "<" => BinaryOp::Less,
            "<=" => BinaryOp::AtMost,
            ">=" => BinaryOp::AtLeast,
            ">" => BinaryOp::Greater,
            "<<" => BinaryOp::Below,
            "in" => BinaryOp::In,
            "++" => BinaryOp::Append,
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "/" => BinaryOp::Div,
            "%" => BinaryOp::Mod,
            _ => BinaryOp::NotIn,
        })
    }

    /// Higher binds tighter.
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
}

const COMPARISON: u8 = 4;

/// Operands and the operators between them that wait for what follows.
#[derive(Default)]
pub(super) struct Chain {
    operands: Vec<Operand>,
    /// Levels never decrease, and increase except between right-associative operators.
    operators: Vec<Infix>,
}

impl Chain {
    /// Adds an operand; call it before the first and after each operator.
    pub(super) fn operand(&mut self, operand: Operand) {
        self.operands.push(operand);
    }

    /// Adds an operator.
    ///
    /// # Errors
    /// `&&` next to `||`, or a second comparison.
    pub(super) fn operator(&mut self, infix: Infix, span: Span) -> Built<()> {
        while let Some(&top) = self.operators.last() {
            if top.level() < infix.level() {
                break;
            }
            if top.level() == infix.level() {
                if infix.is_right_associative() {
                    break;
                }
                if infix.level() == COMPARISON {
                    return Err(error("comparisons do not associate: use parentheses", span));
                }
                if infix.level() == Infix::And.level() && infix != top {
                    return Err(error("`&&` and `||` must not be mixed: use parentheses", span));
                }
            }
            self.reduce();
        }
        self.operators.push(infix);
        Ok(())
    }

    /// The whole chain as one operand.
    pub(super) fn finish(mut self) -> Operand {
        while !self.operators.is_empty() {
            self.reduce();
        }
        self.operands.pop().expect("a chain has an operand")
    }

    /// Applies the last operator to the last two operands.
    fn reduce(&mut self) {
        let infix = self.operators.pop().expect("there is an operator to apply");
        let right = self.operands.pop().expect("an operator has a right operand");
        let left = self.operands.pop().expect("an operator has a left operand");
        self.operands.push(join(infix, left, right));
    }
}

fn join(infix: Infix, left: Operand, right: Operand) -> Operand {
    let span = left.outer.to(right.outer);
    let kind = match (infix, left.expr.kind) {
        (Infix::And, ExprKind::And(mut operands)) if left.is_open => {
            operands.push(right.expr);
            ExprKind::And(operands)
        }
        (Infix::Or, ExprKind::Or(mut operands)) if left.is_open => {
            operands.push(right.expr);
            ExprKind::Or(operands)
        }
        (infix, kind) => {
            let left = Expr { kind, span: left.expr.span };
            match infix {
                Infix::And => ExprKind::And(vec![left, right.expr]),
                Infix::Or => ExprKind::Or(vec![left, right.expr]),
                Infix::Other(op) => {
                    ExprKind::Binary { op, left: Box::new(left), right: Box::new(right.expr) }
                }
            }
        }
    };
    Operand { expr: Expr { kind, span }, outer: span, is_open: true }
}
