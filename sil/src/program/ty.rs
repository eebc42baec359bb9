//! Types of the resolved program.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{DomainId, Program};
use crate::source::Name;

/// A type. Assertions have type `Bool`; whether one is pure is a question to
/// [`super::Expr::is_pure`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
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
    Domain(#[serde(with = "by_number")] DomainId, Arc<[Type]>),
    /// A type parameter, inside its domain only.
    Variable(Name),
    /// A magic wand used as a value of the resolver; no variable has this type.
    Wand,
}

impl Type {
    /// Returns the type as written in a program, names of domains looked up in `program`.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        Shown { ty: self, program }
    }
}

struct Shown<'a> {
    ty: &'a Type,
    program: &'a Program,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |ty| Shown { ty, program: self.program };
        match self.ty {
            Type::Int => f.write_str("Int"),
            Type::Bool => f.write_str("Bool"),
            Type::Perm => f.write_str("Perm"),
            Type::Ref => f.write_str("Ref"),
            Type::Wand => f.write_str("Wand"),
            Type::Seq(element) => write!(f, "Seq[{}]", show(element)),
            Type::Set(element) => write!(f, "Set[{}]", show(element)),
            Type::Multiset(element) => write!(f, "Multiset[{}]", show(element)),
            Type::Map(key, value) => write!(f, "Map[{}, {}]", show(key), show(value)),
            Type::Variable(name) => f.write_str(name),
            Type::Domain(domain, arguments) => {
                f.write_str(&self.program.domains[*domain].name)?;
                for (index, argument) in arguments.iter().enumerate() {
                    let separator = if index == 0 { "[" } else { ", " };
                    write!(f, "{separator}{}", show(argument))?;
                }
                if arguments.is_empty() { Ok(()) } else { f.write_str("]") }
            }
        }
    }
}

/// The form of an id in stored data: its number in its arena.
pub mod by_number {
    use la_arena::{Idx, RawIdx};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the number of an id.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn serialize<T, S: Serializer>(id: &Idx<T>, to: S) -> Result<S::Ok, S::Error> {
        id.into_raw().into_u32().serialize(to)
    }

    /// Reads the number of an id.
    pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(from: D) -> Result<Idx<T>, D::Error> {
        Ok(Idx::from_raw(RawIdx::from_u32(u32::deserialize(from)?)))
    }
}
