//! Operands of one node: what they have to be, and which of them is reported if they are not.
//!
//! As in the reference, a node is looked at only if its operands are without errors, and then the
//! first that does not fit is reported.

use super::context::Resolver;
use super::inference::Meaning;
use super::unify::Ty;
use crate::syntax;

/// The demand on an operand.
#[derive(Clone, Copy)]
pub(super) enum Demand<'a> {
    /// A condition or an assertion.
    Assertion,
    /// A value of this type.
    Value(&'a Ty),
    AnyValue,
}

impl Resolver<'_, '_> {
    /// An operand that must have a value, of type `expected`.
    pub(super) fn value_of(&mut self, expr: &syntax::Expr, expected: &Ty) {
        let ty = self.pure(expr);
        self.unify(expr.span, &ty, expected);
    }

    /// Returns an operand that may be an assertion. Whether it is pure.
    pub(super) fn assertion_of(&mut self, expr: &syntax::Expr) -> bool {
        let meaning = self.infer(expr);
        self.unify(expr.span, &meaning.ty, &Ty::Bool);
        meaning.pure
    }

    /// Returns an operand that must have a value.
    pub(super) fn pure(&mut self, expr: &syntax::Expr) -> Ty {
        let meaning = self.infer(expr);
        if !meaning.pure {
            self.error_impure(expr.span);
        }
        meaning.ty
    }

    /// Returns an operand where values of all types may stand. As in the reference, that it is no
    /// assertion is a matter of consistency (`consistency::expressions`).
    pub(super) fn part(&mut self, expr: &syntax::Expr) -> Ty {
        let meaning = self.infer(expr);
        self.inference.has_impure_part |= !meaning.pure;
        meaning.ty
    }

    /// Parts of a collection and the types that they are to have.
    pub(super) fn parts<'e>(&mut self, parts: impl Iterator<Item = (&'e syntax::Expr, &'e Ty)>) {
        let errors = self.errors();
        let found: Vec<_> = parts.map(|(part, ty)| (part.span, self.part(part), ty)).collect();
        if errors == self.errors() {
            let _ = found.into_iter().all(|(span, found, ty)| self.unify(span, &found, ty));
        }
    }

    /// Returns how many errors there are by now.
    pub(super) fn errors(&self) -> usize {
        self.shared.diagnostics.len()
    }

    /// Operands of one node and what they have to be. As in the reference, a node is looked at only
    /// if its operands are without errors, and the first that does not fit is reported.
    pub(super) fn operands<const N: usize>(
        &mut self,
        operands: [(&syntax::Expr, Demand<'_>); N],
    ) -> [Meaning; N] {
        let errors = self.errors();
        let found = operands.map(|(operand, demand)| (operand, self.infer(operand), demand));
        if errors == self.errors() {
            let _ = found.iter().all(|(operand, found, demand)| self.fits(operand, found, *demand));
        }
        found.map(|(_, meaning, _)| meaning)
    }

    /// Operands of `&&` or `||`. In the reference, these associate to the right, and each pair is a
    /// node. Whether all are pure.
    pub(super) fn chain(&mut self, operands: &[syntax::Expr], demand: Demand<'_>) -> bool {
        let mut found = Vec::with_capacity(operands.len());
        for operand in operands {
            let errors = self.errors();
            let meaning = self.infer(operand);
            found.push((
                operand,
                errors == self.errors() && !matches!(meaning.ty, Ty::Error),
                meaning,
            ));
        }
        let pair = operands.len().saturating_sub(2);
        let (outer, innermost) = found.split_at(pair);
        let _ = innermost.iter().all(|(_, is_right, _)| *is_right)
            && innermost.iter().all(|(operand, _, meaning)| self.fits(operand, meaning, demand))
            && outer.iter().rev().all(|(operand, is_right, meaning)| {
                *is_right && self.fits(operand, meaning, demand)
            });
        found.iter().all(|(_, _, meaning)| meaning.pure)
    }

    /// Tells whether an operand meets its demand; complains if not.
    pub(super) fn fits(
        &mut self,
        operand: &syntax::Expr,
        found: &Meaning,
        demand: Demand<'_>,
    ) -> bool {
        if !matches!(demand, Demand::Assertion) && !found.pure {
            self.error_impure(operand.span);
            return false;
        }
        match demand {
            Demand::Assertion => self.unify(operand.span, &found.ty, &Ty::Bool),
            Demand::Value(ty) => self.unify(operand.span, &found.ty, ty),
            Demand::AnyValue => true,
        }
    }

    /// The amount of an `acc`; its type matters only if there are no more than `errors` in the
    /// location.
    pub(super) fn infer_amount(&mut self, amount: Option<&syntax::Expr>, errors: usize) {
        let Some(amount) = amount else { return };
        let found = self.infer(amount);
        if errors == self.errors() {
            self.fits(amount, &found, Demand::Value(&Ty::Perm));
        }
    }
}
