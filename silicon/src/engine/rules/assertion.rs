//! The forms of assertions: what every rule for assertions tells apart.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Location, Quantifier};
use sil::source::Span;
use sil::syntax::Trigger;
use smt::terms::grow_stack;

/// An assertion, taken apart. `Access` is permission to locations, `Own` what no other language
/// has.
pub(crate) enum Form<'e, Expr, Access, Own> {
    /// It says nothing about permission.
    Pure,
    /// `A && B && …`.
    All(&'e [Expr]),
    /// `c ==> A`, or `c ? A : B`.
    If {
        condition: &'e Expr,
        then: &'e Expr,
        otherwise: Option<&'e Expr>,
    },
    /// `let x == (e) in A`.
    Let {
        variable: LocalId,
        value: &'e Expr,
        body: &'e Expr,
    },
    /// `acc(r, p)`.
    Access(Access),
    Own(Own),
}

/// An assertion of some language.
pub(crate) trait Assertion: Sized {
    /// The operands of a conjunction.
    fn operands(&self) -> Option<&[Self]>;

    /// Tells whether an assertion has a part in the snapshot of what it stands in.
    fn has_part(&self) -> bool;

    fn span(&self) -> Span;
}

/// The list of top-level conjuncts of some clauses, each behind its clause.
pub(crate) fn conjuncts<'e, E: Assertion>(
    clauses: impl IntoIterator<Item = &'e E>,
) -> Vec<(&'e E, &'e E)> {
    fn collect<'e, E: Assertion>(clause: &'e E, part: &'e E, all: &mut Vec<(&'e E, &'e E)>) {
        match part.operands() {
            Some(operands) => {
                operands.iter().for_each(|operand| grow_stack(|| collect(clause, operand, all)));
            }
            None => all.push((clause, part)),
        }
    }
    let mut all = Vec::new();
    clauses.into_iter().for_each(|clause| collect(clause, clause, &mut all));
    all
}

/// Permission to a location: which, and how much.
pub(crate) type Access<'e> = (&'e Location, &'e Expr);

/// A form of assertion that only SIL has.
#[derive(Clone, Copy)]
pub(crate) enum Own<'e> {
    /// `[a, b]`, pure or not.
    TwoReadings { inhale: &'e Expr, exhale: &'e Expr },
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

/// An assertion of SIL, taken apart.
pub(crate) type InSil<'e> = Form<'e, Expr, Access<'e>, Own<'e>>;

impl<'e> InSil<'e> {
    pub(crate) fn of(assertion: &'e Expr) -> Self {
        match &assertion.kind {
            ExprKind::InhaleExhale { inhale, exhale } => {
                Self::Own(Own::TwoReadings { inhale, exhale })
            }
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
            ExprKind::Acc { location, amount } => Self::Access((location, amount)),
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                Self::Own(Own::Quantified { quantifier: *quantifier, variables, triggers, body })
            }
            ExprKind::Wand { .. } => Self::Own(Own::Wand),
            _ => Self::Own(Own::Other),
        }
    }
}

impl Assertion for Expr {
    fn operands(&self) -> Option<&[Self]> {
        match &self.kind {
            ExprKind::And(operands) => Some(operands),
            _ => None,
        }
    }

    fn has_part(&self) -> bool {
        !self.is_pure()
    }

    fn span(&self) -> Span {
        self.span
    }
}
