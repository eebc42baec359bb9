//! The forms of assertions: what every rule for assertions tells apart.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Location, Quantifier};
use sil::syntax::Trigger;
use smt::terms::grow_stack;

/// An assertion, taken apart.
pub(crate) enum Form<'e> {
    /// `[a, b]`, pure or not.
    TwoReadings { inhale: &'e Expr, exhale: &'e Expr },
    /// It says nothing about permission.
    Pure,
    /// `A && B && …`.
    All(&'e [Expr]),
    /// `c ==> A`, or `c ? A : B`.
    If { condition: &'e Expr, then: &'e Expr, otherwise: Option<&'e Expr> },
    /// `let x == (e) in A`.
    Let { variable: LocalId, value: &'e Expr, body: &'e Expr },
    /// `acc(r, p)`.
    Access { location: &'e Location, amount: &'e Expr },
    /// `forall` or `exists`, over permission.
    Quantified {
        quantifier: Quantifier,
        variables: &'e [LocalId],
        triggers: &'e [Trigger<Expr>],
        body: &'e Expr,
    },
    /// `A --* B`.
    Wand,
    /// Permission where no rule has it.
    Other,
}

impl<'e> Form<'e> {
    pub(crate) fn of(assertion: &'e Expr) -> Self {
        match &assertion.kind {
            ExprKind::InhaleExhale { inhale, exhale } => Self::TwoReadings { inhale, exhale },
            _ if assertion.is_pure() => Self::Pure,
            ExprKind::And(operands) => Self::All(operands),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                Self::If { condition: left, then: right, otherwise: None }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                Self::If { condition, then, otherwise: Some(otherwise) }
            }
            ExprKind::Let { variable, value, body } => {
                Self::Let { variable: *variable, value, body }
            }
            ExprKind::Acc { location, amount } => Self::Access { location, amount },
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                Self::Quantified { quantifier: *quantifier, variables, triggers, body }
            }
            ExprKind::Wand { .. } => Self::Wand,
            _ => Self::Other,
        }
    }
}

/// The list of top-level conjuncts of some clauses, each with the index of its clause.
pub(crate) fn conjuncts<'e>(clauses: &[&'e Expr]) -> Vec<(usize, &'e Expr)> {
    fn collect<'e>(clause: usize, expr: &'e Expr, all: &mut Vec<(usize, &'e Expr)>) {
        match &expr.kind {
            ExprKind::And(operands) => {
                for operand in operands {
                    grow_stack(|| collect(clause, operand, all));
                }
            }
            _ => all.push((clause, expr)),
        }
    }
    let mut all = Vec::new();
    for (index, clause) in clauses.iter().enumerate() {
        collect(index, clause, &mut all);
    }
    all
}
