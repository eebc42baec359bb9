//! Operator precedence: from a row of operands and operators to a tree.
//!
//! Shunting-yard with binding strengths on both sides of each operator, on explicit stacks, so that
//! a chain of any length needs no recursion. The odd one is the wand: weaker than `||` towards its
//! left, but everything to its right belongs to it.

use crate::source::Span;
use crate::syntax::{BinaryOp, Expr, ExprKind};

use super::{Builder, MAX_COPIED_NODES, MAX_DEPTH};

/// An infix operator on the stack.
pub(super) enum Operator {
    And,
    Or,
    Binary(BinaryOp),
    /// `? then :`, with the height of `then`.
    Conditional(Expr, usize),
}

impl Operator {
    pub(super) fn from_text(text: &str) -> Self {
        match text {
            "&&" => Self::And,
            "||" => Self::Or,
            _ => Self::Binary(BinaryOp::of_symbol(text).expect("an operator of the grammar")),
        }
    }

    /// Returns how strongly it pulls the operand to its left and the one to its right; equal levels
    /// associate to the side that is smaller. `&&` and `||` count as left-associative since they
    /// are collected into lists.
    fn strengths(&self) -> (u8, u8) {
        use BinaryOp::*;
        const LEFT: fn(u8) -> (u8, u8) = |level| (2 * level, 2 * level + 1);
        const RIGHT: fn(u8) -> (u8, u8) = |level| (2 * level + 1, 2 * level);
        match self {
            Self::Conditional(..) => RIGHT(1),
            Self::Or => LEFT(5),
            Self::And => LEFT(6),
            Self::Binary(op) => match op {
                Iff => RIGHT(2),
                Implies => RIGHT(3),
                Wand => (2 * 4 + 1, 0),
                Eq | Ne => RIGHT(7),
                Le | Ge | Lt | Gt | In => LEFT(8),
                Add | Sub | Append | Union | Intersection | Setminus | Subset => LEFT(9),
                Mul | Div | IntDiv | Mod => LEFT(10),
            },
        }
    }
}

/// The shape of an operand without parentheses around it: some operators continue it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// In parentheses, or nothing that matters.
    Closed,
    And,
    Or,
    Implies,
    Comparison,
}

/// An expression with its place in the text, parentheses included.
pub(super) struct Operand {
    pub(super) expr: Expr,
    pub(super) span: Span,
    pub(super) shape: Shape,
    /// How many nodes it has.
    pub(super) weight: usize,
    /// How many levels it has, parentheses included.
    pub(super) height: usize,
    /// Place and weight of the last operand of a comparison chain.
    last: (Span, usize),
}

impl Operand {
    pub(super) fn closed(expr: Expr, span: Span, weight: usize) -> Self {
        Self { expr, span, shape: Shape::Closed, weight, height: 1, last: (span, weight) }
    }
}

/// The stacks, shared by all rows that are being read (each uses what is above its own start).
#[derive(Default)]
pub(super) struct Stacks {
    pub(super) operands: Vec<Operand>,
    operators: Vec<Operator>,
}

impl Stacks {
    /// Returns where a row that begins now has its first operator.
    pub(super) fn floor(&self) -> usize {
        self.operators.len()
    }
}

impl Builder<'_> {
    /// Puts an operator behind the operands read so far, after combining those that it is weaker
    /// than.
    pub(super) fn push_operator(&mut self, operator: Operator, floor: usize) {
        let (left, _) = operator.strengths();
        while self.stacks.operators.len() > floor
            && self.stacks.operators.last().is_some_and(|top| top.strengths().1 > left)
        {
            self.combine();
        }
        self.stacks.operators.push(operator);
    }

    /// Combines everything above `floor` into one operand and takes it off the stack.
    pub(super) fn finish_row(&mut self, floor: usize) -> Operand {
        while self.stacks.operators.len() > floor {
            self.combine();
        }
        self.stacks.operands.pop().expect("a row has at least one operand")
    }

    /// Applies the top operator to the two top operands.
    fn combine(&mut self) {
        let operator = self.stacks.operators.pop().expect("the caller has seen an operator");
        let right = self.stacks.operands.pop().expect("an operator has a right operand");
        let left = self.stacks.operands.pop().expect("an operator has a left operand");
        let mut combined = self.apply(operator, left, right);
        self.limit_height(&mut combined);
        self.stacks.operands.push(combined);
    }

    /// Refuses an expression that makes the tree too deep, by leaving nothing of it.
    pub(super) fn limit_height(&mut self, operand: &mut Operand) {
        if self.depth + operand.height <= MAX_DEPTH {
            return;
        }
        self.refuse_depth(operand.span);
        let nothing = Operand::closed(Expr::new(ExprKind::Null, operand.span), operand.span, 1);
        let refused = std::mem::replace(operand, nothing);
        // Dropping it recurses.
        stacker::maybe_grow(MAX_DEPTH * 512, MAX_DEPTH * 1024, || drop(refused));
    }

    fn apply(&mut self, operator: Operator, left: Operand, right: Operand) -> Operand {
        use BinaryOp::*;
        self.nodes += 1;
        let span = left.span.to(right.span);
        let weight = left.weight.saturating_add(right.weight).saturating_add(1);
        let last = (right.span, right.weight);
        let mut height = left.height.max(right.height) + 1;
        let (kind, shape) = match operator {
            Operator::And => return join(Shape::And, left, right),
            Operator::Or => return join(Shape::Or, left, right),
            Operator::Binary(op @ (Le | Ge | Lt | Gt | In)) if left.shape == Shape::Comparison => {
                return self.continue_comparison(op, left, right);
            }
            Operator::Binary(op) => {
                let shape = match op {
                    Le | Ge | Lt | Gt | In => Shape::Comparison,
                    Implies => Shape::Implies,
                    _ => Shape::Closed,
                };
                let (left, right) = (Box::new(left.expr), Box::new(right.expr));
                (ExprKind::Binary { op, left, right }, shape)
            }
            Operator::Conditional(then, height_of_then) => {
                height = height.max(height_of_then + 1);
                let condition = Box::new(left.expr);
                let (then, otherwise) = (Box::new(then), Box::new(right.expr));
                (ExprKind::Conditional { condition, then, otherwise }, Shape::Closed)
            }
        };
        Operand { expr: Expr::new(kind, span), span, shape, weight, height, last }
    }

    /// `a < b` continued by `<= c`: `a < b && b <= c`.
    fn continue_comparison(&mut self, op: BinaryOp, left: Operand, right: Operand) -> Operand {
        let span = left.span.to(right.span);
        let (middle_span, middle_weight) = left.last;
        let middle = self.copy_of_last(&left.expr, middle_weight);
        let comparison =
            ExprKind::Binary { op, left: Box::new(middle), right: Box::new(right.expr) };
        let comparison = Expr::new(comparison, middle_span.to(right.span));
        // The middle is as tall as the chain it comes from at most.
        let height = left.height.max(right.height + 1) + 1;
        let mut comparisons = match left.expr.kind {
            ExprKind::And(comparisons) => comparisons,
            _ => vec![left.expr],
        };
        comparisons.push(comparison);
        Operand {
            expr: Expr::new(ExprKind::And(comparisons), span),
            span,
            shape: Shape::Comparison,
            weight: left.weight.saturating_add(middle_weight).saturating_add(right.weight),
            height,
            last: (right.span, right.weight),
        }
    }

    /// Returns a copy of the right operand of the last comparison of a chain.
    fn copy_of_last(&mut self, chain: &Expr, weight: usize) -> Expr {
        let comparison = match &chain.kind {
            ExprKind::And(comparisons) => comparisons.last().expect("lists are not empty"),
            _ => chain,
        };
        let ExprKind::Binary { right: middle, .. } = &comparison.kind else {
            unreachable!("a comparison chain consists of comparisons")
        };
        if weight > MAX_COPIED_NODES - self.copied {
            if !self.refused_copy {
                self.refused_copy = true;
                self.error(chain.span, "the operands of chained comparisons are too large");
            }
            return Expr::new(ExprKind::Null, middle.span);
        }
        self.copied += weight;
        self.nodes += weight;
        Expr::clone(middle)
    }
}

/// Joins `left` and `right` into a list, continuing that of `left` if it is one without
/// parentheses.
fn join(shape: Shape, left: Operand, right: Operand) -> Operand {
    let span = left.span.to(right.span);
    let weight = left.weight.saturating_add(right.weight).saturating_add(1);
    let continues = left.shape == shape
        && matches!(
            (&left.expr.kind, shape),
            (ExprKind::And(_), Shape::And) | (ExprKind::Or(_), Shape::Or)
        );
    // A list that grows gets no taller.
    let of_left = if continues { left.height } else { left.height + 1 };
    let height = of_left.max(right.height + 1);
    let mut operands = match left.expr.kind {
        ExprKind::And(operands) | ExprKind::Or(operands) if continues => operands,
        _ => {
            // Most have two.
            let mut operands = Vec::with_capacity(2);
            operands.push(left.expr);
            operands
        }
    };
    operands.push(right.expr);
    let kind = if shape == Shape::And { ExprKind::And(operands) } else { ExprKind::Or(operands) };
    Operand { expr: Expr::new(kind, span), span, shape, weight, height, last: (span, weight) }
}
