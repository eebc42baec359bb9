//! The forms of assertions: what every rule for assertions tells apart.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Location, Quantifier};
use sil::source::Span;
use sil::syntax::Trigger;

use crate::rules::Sil;

/// An assertion, taken apart. `Access` is permission to locations, `Own` what no other language
/// has.
pub enum Form<'e, Expr, Access, Own> {
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

/// The assertions of a language.
pub trait Assertions {
    /// Expressions and assertions.
    type Expr;

    /// The operands of a conjunction.
    fn operands(assertion: &Self::Expr) -> Option<&[Self::Expr]>;

    /// Tells whether an assertion has a part in the snapshot of what it stands in.
    fn has_part(assertion: &Self::Expr) -> bool;

    fn span(assertion: &Self::Expr) -> Span;
}

/// The list of top-level conjuncts of some clauses, each behind its clause.
pub fn conjuncts<'e, L: Assertions<Expr: 'e>>(
    clauses: impl IntoIterator<Item = &'e L::Expr>,
) -> Vec<(&'e L::Expr, &'e L::Expr)> {
    let mut all = Vec::new();
    for clause in clauses {
        let mut open = vec![clause];
        while let Some(part) = open.pop() {
            match L::operands(part) {
                Some(operands) => open.extend(operands.iter().rev()),
                None => all.push((clause, part)),
            }
        }
    }
    all
}

/// Permission to a location: which, and how much.
pub(crate) type Access<'e> = (&'e Location, &'e Expr);

/// A form of assertion that only SIL has.
#[derive(Clone, Copy)]
pub enum Own<'e> {
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
pub type InSil<'e> = Form<'e, Expr, Access<'e>, Own<'e>>;

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

impl Assertions for Sil<'_, '_> {
    type Expr = Expr;

    fn operands(assertion: &Expr) -> Option<&[Expr]> {
        match &assertion.kind {
            ExprKind::And(operands) => Some(operands),
            _ => None,
        }
    }

    fn has_part(assertion: &Expr) -> bool {
        !assertion.is_pure()
    }

    fn span(assertion: &Expr) -> Span {
        assertion.span
    }
}
