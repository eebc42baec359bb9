//! Inference of what permission is held to: locations, predicate instances, wands.

use super::super::context::{Introspection, Resolver};
use super::super::inference::{Meaning, Referent};
use super::super::unify::Ty;
use crate::source::Span;
use crate::syntax::{self, BinaryOp, ExprKind, TypedName};

impl Resolver<'_, '_> {
    /// A field access or a predicate, as the subject of `acc`.
    pub(super) fn infer_location(&mut self, expr: &syntax::Expr) {
        let meaning = self.infer(expr);
        let known = matches!(
            self.inference.node(expr).map(|node| &node.referent),
            Some(Referent::Field(_) | Referent::Predicate(_))
        );
        if !known && !matches!(meaning.ty, Ty::Error) {
            self.error(
                expr.span,
                "a field of an object, as in `x.f`, or a predicate, as in `P(x)`, is expected here",
            );
        }
    }

    /// A field access, a predicate or a wand.
    pub(in crate::resolve) fn infer_resource(&mut self, expr: &syntax::Expr) {
        if let ExprKind::Binary { op: BinaryOp::Wand, .. } = expr.kind {
            self.infer(expr);
        } else {
            self.infer_location(expr);
        }
    }

    /// The operand of `fold`, `unfold` and `unfolding`; `done` is what happens to it.
    pub(in crate::resolve) fn infer_predicate_access(&mut self, expr: &syntax::Expr, done: &str) {
        let (call, amount) = match &expr.kind {
            ExprKind::Acc { location, amount } => (&**location, amount.as_deref()),
            _ => (expr, None),
        };
        let errors = self.errors();
        let meaning = self.infer(call);
        self.infer_amount(amount, errors);
        match self.inference.node(call).map(|node| node.referent.clone()) {
            Some(Referent::Predicate(id)) => {
                if !self.shared.facts.has_body[id] {
                    self.error(call.span, format!("abstract predicates cannot be {done}"));
                }
            }
            _ if matches!(meaning.ty, Ty::Error) => {}
            _ => self
                .error(expr.span, "a predicate with its arguments, as in `P(x)`, is expected here"),
        }
    }

    /// The operand of `package`, `apply` and `applying`.
    pub(in crate::resolve) fn infer_wand(&mut self, expr: &syntax::Expr) {
        let meaning = self.infer(expr);
        let wand = matches!(expr.kind, ExprKind::Binary { op: BinaryOp::Wand, .. });
        if !wand && !matches!(meaning.ty, Ty::Error) {
            self.error(expr.span, "a magic wand is expected here");
        }
    }

    pub(super) fn check_introspection(&mut self, span: Span, word: &str) {
        match self.place.introspection {
            Introspection::Anywhere => {}
            Introspection::InsideInhaleExhale => self.error(
                span,
                format!(
                    "preconditions, postconditions and invariants may contain `{word}` only inside `[a, b]`"
                ),
            ),
            Introspection::Nowhere => self.error(
                span,
                format!(
                    "`{word}` cannot be used in postconditions of functions and in bodies of `forperm`"
                ),
            ),
        }
    }

    pub(super) fn infer_forperm(
        &mut self,
        span: Span,
        variables: &[TypedName],
        resource: &syntax::Expr,
        body: &syntax::Expr,
    ) -> (Meaning, Referent) {
        self.check_introspection(span, "forperm");
        let locals = self.bind(variables);
        self.infer_resource(resource);
        let outside = self.place.introspection;
        self.place.introspection = Introspection::Nowhere;
        self.value_of(body, &Ty::Bool);
        self.place.introspection = outside;
        self.scopes.close();
        (Meaning { ty: Ty::Bool, pure: true }, Referent::Binds(locals))
    }
}
