//! The forms of SIL's assertions.

use sil::build::unsupported_construct;
use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Location, Quantifier};
use sil::source::Span;
use sil::syntax::Trigger;
use symex::rules::assertion::{Assertions, Form};

use crate::rules::Sil;

/// Permission to a location: the location, and the amount.
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
    /// Permission in a form without rules.
    Other,
}

/// An assertion of SIL, taken apart.
pub type OfSil<'e> = Form<'e, Expr, Access<'e>, Own<'e>>;

/// Takes an assertion apart.
pub(crate) fn form(assertion: &Expr) -> OfSil<'_> {
    match &assertion.kind {
        ExprKind::InhaleExhale { inhale, exhale } => Form::Own(Own::TwoReadings { inhale, exhale }),
        _ if assertion.is_pure() => Form::Pure,
        ExprKind::And(operands) => Form::All(operands),
        ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
            Form::If { condition: left, then: right, otherwise: None }
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            Form::If { condition, then, otherwise: Some(otherwise) }
        }
        ExprKind::Let { variable, value, body } => Form::Let { variable: *variable, value, body },
        ExprKind::Acc { location, amount } => Form::Access((location, amount)),
        ExprKind::Quantified { quantifier, variables, triggers, body } => {
            Form::Own(Own::Quantified { quantifier: *quantifier, variables, triggers, body })
        }
        ExprKind::Wand { .. } => Form::Own(Own::Wand),
        _ => Form::Own(Own::Other),
    }
}

impl Assertions for Sil<'_, '_> {
    type Expr = Expr;

    fn operands(assertion: &Expr) -> Option<&[Expr]> {
        match &assertion.kind {
            // SOUNDNESS: a conjunction that is marked as unsupported is evaluated as a whole.
            ExprKind::And(operands) if unsupported_construct(&assertion.annotations).is_none() => {
                Some(operands)
            }
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
