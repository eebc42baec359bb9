//! Impure quantifiers as a conjunction of conjuncts, each with one access or one pure assertion.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Quantifier};
use sil::syntax::Trigger;
use smt::terms::grow_stack;

use crate::rules::assertion::{Own, form};
use crate::rules::eval::quantifiers::inferred;
use symex::Reading;
use symex::rules::assertion::Form;

/// A step between the quantifier and a conjunct's body, outermost first.
#[derive(Clone, Debug)]
pub(crate) enum Step<'e> {
    Guard { condition: &'e Expr, holds: bool },
    Let { variable: LocalId, value: &'e Expr },
}

/// `forall variables :: {triggers} steps ==> body`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix<'e> {
    pub(crate) variables: Vec<LocalId>,
    pub(crate) triggers: Vec<Vec<&'e Expr>>,
    pub(crate) steps: Vec<Step<'e>>,
    /// Tells whether this is the exhale side of `[a, b]`.
    pub(crate) is_unchecked: bool,
}

/// A conjunct of a normalised quantifier. Its body is an access, or pure, or a form without rules.
#[derive(Clone, Debug)]
pub(crate) struct QuantifiedConjunct<'e> {
    pub(crate) prefix: Prefix<'e>,
    pub(crate) body: &'e Expr,
}

impl QuantifiedConjunct<'_> {
    /// Infers triggers for a conjunct without any.
    pub(crate) fn inferred(&self) -> Vec<Vec<Expr>> {
        let mut body = self.body.clone();
        if let ExprKind::Wand { .. } = body.kind {
            // The parts of a wand are about another state.
            body.kind = ExprKind::Bool(true);
        }
        for step in self.prefix.steps.iter().rev() {
            let Expr { span, annotations, .. } = body.clone();
            let boxed = Box::new(body);
            let kind = match *step {
                Step::Guard { condition, .. } => ExprKind::Binary {
                    op: BinaryOp::Implies,
                    left: Box::new(condition.clone()),
                    right: boxed,
                },
                Step::Let { variable, value } => {
                    ExprKind::Let { variable, value: Box::new(value.clone()), body: boxed }
                }
            };
            body = Expr { kind, ty: sil::program::Type::Bool, span, annotations };
        }
        inferred(&self.prefix.variables, &body)
    }
}

/// Returns the conjuncts of an impure quantifier, left to right.
pub(crate) fn conjuncts(quantifier: &Expr, reading: Reading) -> Vec<QuantifiedConjunct<'_>> {
    let mut conjuncts = Vec::new();
    collect(quantifier, Prefix::default(), reading, &mut conjuncts);
    conjuncts
}

fn collect<'e>(
    body: &'e Expr,
    mut prefix: Prefix<'e>,
    reading: Reading,
    conjuncts: &mut Vec<QuantifiedConjunct<'e>>,
) {
    grow_stack(|| match form(body) {
        // A pure conjunct is one pure quantifier.
        Form::Pure => conjuncts.push(QuantifiedConjunct { prefix, body }),
        Form::Own(Own::TwoReadings { .. }) if body.is_pure() => {
            conjuncts.push(QuantifiedConjunct { prefix, body });
        }
        Form::Own(Own::TwoReadings { inhale, exhale }) => {
            let chosen = if reading == Reading::Inhale { inhale } else { exhale };
            prefix.is_unchecked |= reading == Reading::Exhale;
            collect(chosen, prefix, reading, conjuncts);
        }
        Form::All(operands) => {
            for operand in operands {
                collect(operand, prefix.clone(), reading, conjuncts);
            }
        }
        Form::If { condition, then, otherwise } => {
            let other = otherwise.map(|side| (side, prefix.clone()));
            prefix.steps.push(Step::Guard { condition, holds: true });
            collect(then, prefix, reading, conjuncts);
            if let Some((side, mut prefix)) = other {
                prefix.steps.push(Step::Guard { condition, holds: false });
                collect(side, prefix, reading, conjuncts);
            }
        }
        Form::Let { variable, value, body } => {
            prefix.steps.push(Step::Let { variable, value });
            collect(body, prefix, reading, conjuncts);
        }
        Form::Own(Own::Quantified {
            quantifier: Quantifier::Forall,
            variables,
            triggers,
            body,
        }) => {
            prefix.variables.extend(variables);
            prefix.triggers = joined(&prefix.triggers, triggers);
            collect(body, prefix, reading, conjuncts);
        }
        Form::Own(_) | Form::Access(_) => {
            conjuncts.push(QuantifiedConjunct { prefix, body });
        }
    });
}

/// Returns the triggers of merged quantifiers: all pairs of an outer and an inner one.
fn joined<'e>(outer: &[Vec<&'e Expr>], inner: &'e [Trigger<Expr>]) -> Vec<Vec<&'e Expr>> {
    if outer.is_empty() {
        return inner.iter().map(|set| set.iter().collect()).collect();
    }
    if inner.is_empty() {
        // Triggers without the inner variables are dropped when the formula is built.
        return outer.to_vec();
    }
    let mut all = Vec::new();
    for left in outer {
        for right in inner {
            all.push(left.iter().copied().chain(right).collect());
        }
    }
    all
}
