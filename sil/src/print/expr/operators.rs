//! Operators, with as few parentheses as their reading back allows.

use super::Printer;
use crate::print::precedence::{Follows, Level, is_negative, level_of};
use crate::program::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Printer<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        self.line.text(match op {
            UnaryOp::Not => "!",
            UnaryOp::Minus => "-",
        });
        let is_double_minus = op == UnaryOp::Minus
            && (matches!(operand.kind, ExprKind::Unary { op: UnaryOp::Minus, .. })
                || is_negative(operand));
        // An annotation binds like an operator: keep the operand together.
        if is_double_minus || !self.annotations_of(operand).is_empty() {
            self.line.text("(");
            self.whole(operand);
            self.line.text(")");
        } else {
            self.expr(operand, Level::Prefix, Follows::Something);
        }
    }

    pub(super) fn binary(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        follows: Follows,
    ) {
        let (symbol, at_left, at_right) = match op {
            BinaryOp::Implies => ("==>", Level::Wand, Level::Implies),
            BinaryOp::Eq if level_of(expr) == Level::Iff => {
                ("<==>", Level::Implies, Level::Implies)
            }
            BinaryOp::Eq => ("==", Level::Comparison, Level::Comparison),
            BinaryOp::Ne => ("!=", Level::Comparison, Level::Comparison),
            // `a < b < c` would be a chain.
            BinaryOp::Lt => ("<", Level::Sum, Level::Sum),
            BinaryOp::Le => ("<=", Level::Sum, Level::Sum),
            BinaryOp::Gt => (">", Level::Sum, Level::Sum),
            BinaryOp::Ge => (">=", Level::Sum, Level::Sum),
            BinaryOp::In => ("in", Level::Sum, Level::Sum),
            BinaryOp::Add => ("+", Level::Sum, Level::Product),
            BinaryOp::Sub => ("-", Level::Sum, Level::Product),
            BinaryOp::Append => ("++", Level::Sum, Level::Product),
            BinaryOp::Union => ("union", Level::Sum, Level::Product),
            BinaryOp::Intersection => ("intersection", Level::Sum, Level::Product),
            BinaryOp::Setminus => ("setminus", Level::Sum, Level::Product),
            BinaryOp::Subset => ("subset", Level::Sum, Level::Product),
            BinaryOp::Mul => ("*", Level::Product, Level::Prefix),
            BinaryOp::IntDiv => ("\\", Level::Product, Level::Prefix),
            BinaryOp::Mod => ("%", Level::Product, Level::Prefix),
            BinaryOp::PermDiv => ("/", Level::Product, Level::Prefix),
        };
        let is_fraction = op == BinaryOp::PermDiv
            && matches!((&left.kind, &right.kind), (ExprKind::Int(_), ExprKind::Int(_)));
        // `a + b + c` breaks at both operators or at none.
        let level = level_of(expr);
        let continues = |printer: &Self, operand: &Expr, at_least: Level| {
            at_least == level
                && level_of(operand) == level
                && matches!(operand.kind, ExprKind::Binary { .. })
                && printer.annotations_of(operand).is_empty()
        };
        let is_continued = std::mem::take(&mut self.continues_group);
        if !is_continued {
            self.line.begin(2);
        }
        self.continues_group = continues(self, left, at_left);
        self.expr(left, at_left, Follows::Something);
        if is_fraction {
            self.line.text("/");
        } else {
            self.line.text(" ");
            self.line.text(symbol);
            self.line.space();
        }
        self.continues_group = continues(self, right, at_right);
        self.expr(right, at_right, follows);
        if !is_continued {
            self.line.end();
        }
    }

    pub(super) fn chain(
        &mut self,
        operator: &str,
        at_least: Level,
        operands: &[Expr],
        follows: Follows,
    ) {
        self.line.begin(2);
        for (index, operand) in operands.iter().enumerate() {
            let is_last = index + 1 == operands.len();
            self.expr(operand, at_least, if is_last { follows } else { Follows::Something });
            if !is_last {
                self.line.text(operator);
                self.line.space();
            }
        }
        self.line.end();
    }
}
