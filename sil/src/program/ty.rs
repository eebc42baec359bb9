//! Types of the resolved program.

use std::fmt;
use std::sync::Arc;

use super::{DomainId, Program};
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

impl Type {
    /// The type as written in a program, names of domains looked up in `program`.
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
