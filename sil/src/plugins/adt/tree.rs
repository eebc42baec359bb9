//! Building parse trees that all stand at one place.

use front::grow_stack;
use indexmap::IndexMap;

use crate::source::{Name, Span};
use crate::syntax::{
    Axiom, BinaryOp, Expr, ExprKind, Ident, Quantifier, Trigger, Type, TypeKind, TypedName,
};

/// Builds nodes at `span`.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub(super) span: Span,
}

impl Tree {
    pub(super) fn ident(self, name: &str) -> Ident {
        Ident { name: name.into(), span: self.span }
    }

    fn expr(self, kind: ExprKind) -> Expr {
        Expr::new(kind, self.span)
    }

    pub(super) fn variable(self, name: &str) -> Expr {
        self.expr(ExprKind::Ident(name.into()))
    }

    pub(super) fn int(self, value: usize) -> Expr {
        self.expr(ExprKind::Int(value.into()))
    }

    pub(super) fn call(self, name: &str, arguments: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call { name: self.ident(name), arguments, ascription: None })
    }

    /// `(name(arguments) : ty)`.
    pub(super) fn call_as(self, name: &str, arguments: Vec<Expr>, ty: Type) -> Expr {
        self.expr(ExprKind::Call {
            name: self.ident(name),
            arguments,
            ascription: Some(Box::new(ty)),
        })
    }

    fn binary(self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.expr(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
    }

    pub(super) fn eq(self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOp::Eq, left, right)
    }

    pub(super) fn implies(self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOp::Implies, left, right)
    }

    /// Returns the conjunction of `operands`; `true` if there are none.
    pub(super) fn and(self, mut operands: Vec<Expr>) -> Expr {
        match operands.len() {
            0 => self.expr(ExprKind::Bool(true)),
            1 => operands.remove(0),
            _ => self.expr(ExprKind::And(operands)),
        }
    }

    /// Returns the disjunction of `operands`; `false` if there are none.
    pub(super) fn or(self, mut operands: Vec<Expr>) -> Expr {
        match operands.len() {
            0 => self.expr(ExprKind::Bool(false)),
            1 => operands.remove(0),
            _ => self.expr(ExprKind::Or(operands)),
        }
    }

    /// `forall variables :: triggers body`; just `body` if there are no variables.
    pub(super) fn forall(
        self,
        variables: &[(Name, Type)],
        triggers: Vec<Vec<Expr>>,
        body: Expr,
    ) -> Expr {
        if variables.is_empty() {
            return body;
        }
        let variables =
            variables.iter().map(|(name, ty)| TypedName { name: self.ident(name), ty: ty.clone() });
        self.expr(ExprKind::Quantified {
            quantifier: Quantifier::Forall,
            variables: variables.collect(),
            triggers: triggers.into_iter().map(Trigger::from).collect(),
            body: Box::new(body),
        })
    }

    pub(super) fn axiom(self, body: Expr) -> Axiom {
        Axiom { annotations: Vec::new(), name: None, body, span: self.span }
    }

    pub(super) fn int_type(self) -> Type {
        Type { kind: TypeKind::Int, span: self.span }
    }

    pub(super) fn named_type(self, name: &str, arguments: Vec<Type>) -> Type {
        let name = self.ident(name);
        Type { kind: TypeKind::Named { name, arguments }, span: self.span }
    }
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
