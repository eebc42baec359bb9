//! Quantified variables that have one value.
//!
//! **Pure quantifiers**, before they are evaluated ([`values`]): `forall x, y :: x == e && c ==> b`
//! speaks of e alone, and so does `exists x, y :: x == e && b`. What is said so is matched without
//! x: triggers that mention it, and the state at locations that depend on it, are those for e.
//!
//! SOUNDNESS: both are equivalent to what is left when e stands for x. The equation is one of the
//! conjuncts that the body, or the conclusion, stands under; e mentions no variable of the
//! quantifier and is defined everywhere, so that it may be evaluated before the conjuncts to its
//! left.
//!
//! **Quantified permissions**, once they are evaluated ([`remove_fixed_variables`]):
//! `forall i, r :: r == xs[i] && c ==> acc(r.f, p)` gives permission to the places `xs[i].f`, and
//! so does `r in Set(xs[i])`. Said of `r` the receiver is a bare variable: nothing of it can be
//! matched, and inverse functions of `i` would be known of no location. Said of `xs[i]` it is a
//! receiver like any other.
//!
//! SOUNDNESS: where the condition holds the variable is that value, so both speak of the same
//! locations, and they are injective together. Terms have a value everywhere; whether the
//! expressions are defined was proved before, for all values of the variables.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Quantifier, UnaryOp};
use sil::walk::walk_expr;
use smt::terms::{Substitution, Term, TermKind, Terms, TheoryOp};

use crate::state::quantified::Access;

/// The variables of a quantifier that have one value only, with it.
pub fn values<'e>(
    quantifier: Quantifier,
    variables: &[LocalId],
    body: &'e Expr,
) -> Vec<(LocalId, &'e Expr)> {
    let mut conjuncts = Vec::new();
    match quantifier {
        Quantifier::Forall => premises(body, &mut conjuncts),
        Quantifier::Exists => split(body, &mut conjuncts),
    }
    let mut found: Vec<(LocalId, &Expr)> = Vec::new();
    for conjunct in conjuncts {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &conjunct.kind else { continue };
        for (variable, value) in [(left, right), (right, left)] {
            if let ExprKind::Local(local) = variable.kind
                && variables.contains(&local)
                && found.iter().all(|&(other, _)| other != local)
                && is_defined_everywhere(value, variables)
            {
                found.push((local, value));
                break;
            }
        }
    }
    found
}

/// Collects the premises of an implication's conclusion.
fn premises<'e>(mut body: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    while let ExprKind::Binary { op: BinaryOp::Implies, left, right } = &body.kind {
        split(left, conjuncts);
        body = right;
    }
}

fn split<'e>(expr: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ExprKind::And(operands) => pending.extend(operands.iter().rev()),
            _ => conjuncts.push(expr),
        }
    }
}

/// Tells whether an expression needs neither state nor definedness, and mentions none of the
/// variables.
fn is_defined_everywhere(expr: &Expr, variables: &[LocalId]) -> bool {
    let mut is_so = true;
    walk_expr(expr, |part| {
        is_so &= match &part.kind {
            ExprKind::Local(local) => !variables.contains(local),
            ExprKind::Unary { op: UnaryOp::Minus, .. } => true,
            ExprKind::Binary { op, .. } => {
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Result
            | ExprKind::Cardinality(_)
            | ExprKind::DomainApply { .. } => true,
            _ => false,
        };
    });
    is_so
}

/// The only value of a variable that meets a condition, if one of its conjuncts says it.
fn value_under(terms: &Terms, condition: Term, variable: Term) -> Option<Term> {
    terms.conjuncts(condition).into_iter().find_map(|conjunct| {
        let value = match *terms.kind(conjunct) {
            TermKind::Eq(left, right) if left == variable => right,
            TermKind::Eq(left, right) if right == variable => left,
            TermKind::Theory(TheoryOp::SetContains | TheoryOp::SeqContains, ref operands, _)
                if operands[0] == variable =>
            {
                match terms.kind(operands[1]) {
                    TermKind::Theory(
                        TheoryOp::SetSingleton | TheoryOp::SeqSingleton,
                        elements,
                        _,
                    ) => elements[0],
                    _ => return None,
                }
            }
            _ => return None,
        };
        (!terms.contains(value, variable)).then_some(value)
    })
}

/// Puts values for variables until nothing has to be inverted, or no condition gives a value.
/// Those that are no argument themselves come first: where the others can stay, the location
/// itself says what they are.
pub(crate) fn remove_fixed_variables(terms: &mut Terms, access: &mut Access) {
    while access.variables.iter().any(|variable| !access.arguments.contains(variable)) {
        let (arguments, others): (Vec<Term>, Vec<Term>) =
            access.variables.iter().partition(|variable| access.arguments.contains(variable));
        let fixed = others
            .into_iter()
            .chain(arguments)
            .find_map(|variable| Some((variable, value_under(terms, access.guard, variable)?)));
        let Some((variable, value)) = fixed else { return };
        let map: Substitution = [(variable, value)].into_iter().collect();
        let mut put = |term: &mut Term| *term = terms.substitute(*term, &map);
        access.arguments.iter_mut().for_each(&mut put);
        access.triggers.iter_mut().flatten().for_each(&mut put);
        put(&mut access.guard);
        put(&mut access.amount);
        access.variables.retain(|&other| other != variable);
    }
}
