//! Types: what is written, and what fits where.

use front::grow_stack;

use super::{AliasState, Named, Resolver};
use crate::program::{BinaryOp, Expr, ExprKind, Type};
use crate::source::Span;
use crate::syntax::{TypeExpr, TypeExprKind};

impl Resolver<'_> {
    /// Returns the type that is written; unknown, with an error, if there is none.
    pub(super) fn type_of(&mut self, ty: &TypeExpr) -> Type {
        grow_stack(|| match &ty.kind {
            TypeExprKind::Int => Type::Int,
            TypeExprKind::Bool => Type::Bool,
            TypeExprKind::Byte => Type::Byte,
            TypeExprKind::Set(element) => Type::set(self.type_of(element)),
            TypeExprKind::Array(element) => Type::Array(Box::new(self.type_of(element))),
            TypeExprKind::ArrayCell(element) => Type::ArrayCell(Box::new(self.type_of(element))),
            TypeExprKind::Map(from, to) => {
                Type::Map(Box::new(self.type_of(from)), Box::new(self.type_of(to)))
            }
            TypeExprKind::Loc(inner) => {
                let inner_type = self.type_of(inner);
                if !inner_type.is_reference() && inner_type != Type::Unknown {
                    self.error("`Loc` is of structs", inner.span);
                }
                inner_type
            }
            TypeExprKind::Name(name) => self.named_type(name, ty.span),
        })
    }

    fn named_type(&mut self, name: &str, span: Span) -> Type {
        match self.names.get(name) {
            Some(&Named::Struct(id)) => Type::Struct(id),
            Some(&Named::Sort(id)) => Type::Sort(id),
            Some(&Named::Datatype(id)) => Type::Datatype(id),
            Some(&Named::Alias(alias)) => self.alias(alias, span),
            Some(other) => {
                let noun = other.noun();
                self.error(format!("`{name}` is {noun}, not a type"), span);
                Type::Unknown
            }
            None => {
                let is_type = |named: &Named| {
                    matches!(
                        named,
                        Named::Struct(_) | Named::Sort(_) | Named::Datatype(_) | Named::Alias(_)
                    )
                };
                let question = match self.question(name, is_type) {
                    none if none.is_empty() => {
                        self.spelling.question(name, ["Int", "Bool", "Byte"])
                    }
                    question => question,
                };
                self.error(format!("there is no type `{name}`{question}"), span);
                Type::Unknown
            }
        }
    }

    fn alias(&mut self, alias: usize, span: Span) -> Type {
        match std::mem::replace(&mut self.aliases[alias].state, AliasState::Running) {
            AliasState::Open => {
                let ty = self.type_of(self.aliases[alias].value);
                self.aliases[alias].state = AliasState::Done(ty.clone());
                ty
            }
            AliasState::Running => {
                let name = &self.aliases[alias].name.name;
                self.error(format!("the type `{name}` is defined by itself"), span);
                Type::Unknown
            }
            AliasState::Done(ty) => {
                self.aliases[alias].state = AliasState::Done(ty.clone());
                ty
            }
        }
    }

    /// Makes an expression one of a type: fills holes, reads an array as its map, or reports that
    /// it does not fit.
    pub(super) fn coerce(&mut self, mut expr: Expr, ty: &Type) -> Expr {
        if let (Type::Array(element), Type::Map(from, to)) = (&expr.ty, ty)
            && joined(from, &Type::Int).is_some()
            && joined(to, element).is_some()
        {
            return as_map(expr);
        }
        let joined = joined(ty, &expr.ty).filter(|_| !(*ty == Type::Bool && expr.is_permission()));
        match joined {
            Some(joined) => {
                if expr.ty.has_holes() {
                    refine(&mut expr, &joined);
                }
                expr
            }
            None => {
                let message = if *ty == Type::Bool && expr.is_permission() {
                    "permissions cannot stand here: expected a pure formula".to_owned()
                } else {
                    let (expected, found) = (self.show(ty), self.show(&expr.ty));
                    format!("expected {expected}, found {found}")
                };
                self.error(message, expr.span);
                Expr { ty: Type::Unknown, ..expr }
            }
        }
    }

    /// Gives two expressions one type, the first one's where they differ; reports at the second if
    /// they have none.
    pub(super) fn unify(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        match (&left.ty, &right.ty) {
            (Type::Array(_), Type::Map(..)) => {
                let ty = right.ty.clone();
                return (self.coerce(left, &ty), right);
            }
            (Type::Bool | Type::Permission, Type::Bool | Type::Permission) => return (left, right),
            _ => {}
        }
        let ty = left.ty.clone();
        let right = self.coerce(right, &ty);
        let ty = right.ty.clone();
        let left = if left.ty.has_holes() { self.coerce(left, &ty) } else { left };
        (left, right)
    }
}

/// Returns an array where its contents are meant.
fn as_map(array: Expr) -> Expr {
    let element = match &array.ty {
        Type::Array(element) => element.clone(),
        _ => Box::new(Type::Unknown),
    };
    let span = array.span;
    let ty = Type::Map(Box::new(Type::Int), element);
    Expr { kind: ExprKind::ArrayMap(Box::new(array)), ty, span }
}

/// Returns the type of which both are forms: what one leaves open is as in the other.
pub(super) fn joined(left: &Type, right: &Type) -> Option<Type> {
    grow_stack(|| {
        Some(match (left, right) {
            (Type::Unknown, other) | (other, Type::Unknown) => other.clone(),
            (Type::Null, other) | (other, Type::Null) if other.is_reference() => other.clone(),
            (Type::Permission, Type::Bool) | (Type::Bool, Type::Permission) => Type::Permission,
            (Type::Set(left), Type::Set(right)) => Type::set(joined(left, right)?),
            (Type::Array(left), Type::Array(right)) => Type::Array(Box::new(joined(left, right)?)),
            (Type::ArrayCell(left), Type::ArrayCell(right)) => {
                Type::ArrayCell(Box::new(joined(left, right)?))
            }
            (Type::Map(left, left_to), Type::Map(right, right_to)) => {
                Type::Map(Box::new(joined(left, right)?), Box::new(joined(left_to, right_to)?))
            }
            (left, right) if left == right => left.clone(),
            _ => return None,
        })
    })
}

/// Pushes a type down to what has no type of its own: `null`, empty sets, and what is made of them.
fn refine(expr: &mut Expr, ty: &Type) {
    if !expr.ty.has_holes() {
        return;
    }
    expr.ty = ty.clone();
    grow_stack(|| match &mut expr.kind {
        ExprKind::Set(elements) => {
            if let Type::Set(element) = ty {
                elements.iter_mut().for_each(|one| refine(one, element));
            }
        }
        ExprKind::Conditional { then: left, otherwise: right, .. }
        | ExprKind::Binary {
            op: BinaryOp::Union | BinaryOp::Intersection | BinaryOp::Difference,
            left,
            right,
        } => {
            refine(left, ty);
            refine(right, ty);
        }
        ExprKind::MapComprehension { body, .. } => {
            if let Type::Map(_, to) = ty {
                refine(body, to);
            }
        }
        ExprKind::Old(inner)
        | ExprKind::Known(inner)
        | ExprKind::Annotated { body: inner, .. }
        | ExprKind::Unfolding { body: inner, .. } => refine(inner, ty),
        _ => {}
    });
}
