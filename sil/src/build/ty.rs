//! Types. Those without arguments are the variants of [`TypeKind`], which stand for types wherever
//! one is wanted.

use super::ident;
use crate::source::Span;
use crate::syntax::{Type, TypeKind, TypedName};

impl From<TypeKind> for Type {
    /// Returns the type, without a place.
    fn from(kind: TypeKind) -> Self {
        Self { kind, span: Span::default() }
    }
}

impl Type {
    /// `Seq[element]`
    pub fn seq(element: impl Into<Self>) -> Self {
        TypeKind::Seq(Box::new(element.into())).into()
    }

    /// `Set[element]`
    pub fn set(element: impl Into<Self>) -> Self {
        TypeKind::Set(Box::new(element.into())).into()
    }

    /// `Multiset[element]`
    pub fn multiset(element: impl Into<Self>) -> Self {
        TypeKind::Multiset(Box::new(element.into())).into()
    }

    /// `Map[key, value]`
    pub fn map(key: impl Into<Self>, value: impl Into<Self>) -> Self {
        TypeKind::Map(Box::new(key.into()), Box::new(value.into())).into()
    }

    /// Returns a domain or adt with its arguments, or a type variable.
    pub fn named(name: &str, arguments: impl IntoIterator<Item = Self>) -> Self {
        TypeKind::Named { name: ident(name), arguments: arguments.into_iter().collect() }.into()
    }
}

/// Returns a type without a place.
pub fn ty(kind: TypeKind) -> Type {
    kind.into()
}

/// Returns a domain type without arguments, or a type variable.
pub fn domain_type(name: &str) -> Type {
    Type::named(name, [])
}

/// `name: T`
pub fn typed(name: &str, ty: impl Into<Type>) -> TypedName {
    TypedName { name: ident(name), ty: ty.into() }
}
