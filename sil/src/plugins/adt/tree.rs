//! Axioms and types that stand at one place.

use front::grow_stack;
use indexmap::IndexMap;

use crate::build;
use crate::source::{Name, Span};
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{Axiom, Expr, ExprKind, Ident, Type, TypeKind, TypedName};

/// Returns an axiom without a name, all of whose nodes without a place stand at `span`.
pub(super) fn axiom(body: Expr, span: Span) -> Axiom {
    Axiom { annotations: Vec::new(), name: None, body: placed(body, span), span }
}

/// Gives each node without a place the place `span`.
pub(super) fn placed(mut expr: Expr, span: Span) -> Expr {
    Placing { span }.expr(&mut expr);
    expr
}

struct Placing {
    span: Span,
}

impl Placing {
    fn place(&self, span: &mut Span) {
        if *span == Span::default() {
            *span = self.span;
        }
    }
}

impl Rewriter for Placing {
    fn expr(&mut self, expr: &mut Expr) {
        self.place(&mut expr.span);
        if let ExprKind::Call { name, .. } = &mut expr.kind {
            self.place(&mut name.span);
        }
        rewrite::expr(self, expr);
    }

    fn typed_name(&mut self, variable: &mut TypedName) {
        self.place(&mut variable.name.span);
    }
}

/// `forall variables :: triggers body`; just `body` if there are no variables.
pub(super) fn forall(variables: &[(Name, Type)], triggers: Vec<Vec<Expr>>, body: Expr) -> Expr {
    if variables.is_empty() {
        return body;
    }
    let variables = variables.iter().map(|(name, ty)| build::typed(name, ty.clone()));
    build::forall(variables, triggers, body)
}

/// `ty` with parameters replaced, all of it at `span`: so types are equal if they are written
/// equally.
pub(super) fn substitute(ty: &Type, parameters: &IndexMap<Name, Type>, span: Span) -> Type {
    let part = |ty: &Type| grow_stack(|| substitute(ty, parameters, span));
    let boxed = |ty: &Type| Box::new(part(ty));
    let kind = match &ty.kind {
        TypeKind::Seq(element) => TypeKind::Seq(boxed(element)),
        TypeKind::Set(element) => TypeKind::Set(boxed(element)),
        TypeKind::Multiset(element) => TypeKind::Multiset(boxed(element)),
        TypeKind::Map(key, value) => TypeKind::Map(boxed(key), boxed(value)),
        TypeKind::Named { name, arguments } => match parameters.get(&name.name) {
            Some(ty) if arguments.is_empty() => return substitute(ty, &IndexMap::new(), span),
            _ => TypeKind::Named {
                name: Ident { name: name.name.clone(), span },
                arguments: arguments.iter().map(part).collect(),
            },
        },
        kind => kind.clone(),
    };
    Type { kind, span }
}
