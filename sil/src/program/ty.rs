//! Types of the resolved program.

use std::sync::Arc;

use super::DomainId;
use crate::source::Name;

/// A type. Assertions have type `Bool`; whether one is pure is a question to [`super::Expr::is_pure`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Int,
    Bool,
    Perm,
    Ref,
    Seq(Arc<Type>),
    Set(Arc<Type>),
    Multiset(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    /// A domain applied to as many arguments as it has parameters.
    Domain(DomainId, Arc<[Type]>),
    /// A type parameter, inside its domain only.
    Variable(Name),
    /// A magic wand used as a value of the resolver; no variable has this type.
    Wand,
}
