//! Types.

use super::{DatatypeId, Program, SortId, StructId};

/// The type of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// Integers without bound, or of 32 bits if the program asks for it.
    Int,
    /// Truth values: also of pure assertions.
    Bool,
    /// Integers of 8 bits, 0 to 255.
    Byte,
    /// `null` and the objects of a struct.
    Struct(StructId),
    /// `null` and arrays.
    Array(Box<Type>),
    /// `null` and cells of arrays.
    ArrayCell(Box<Type>),
    /// Sets, finite or not.
    Set(Box<Type>),
    /// Total maps.
    Map(Box<Type>, Box<Type>),
    /// Terms of a datatype.
    Datatype(DatatypeId),
    /// An uninterpreted type.
    Sort(SortId),
    /// Assertions that may have a footprint. [`Type::Bool`] fits where one is expected, not the
    /// other way round.
    Permission,
    /// `null` where nothing says what kind of reference it is.
    Null,
    /// Nothing determines it.
    Unknown,
}

impl Type {
    /// `Set<element>`
    #[must_use]
    pub fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    /// Are its values references: `null`, objects, arrays, cells?
    pub fn is_reference(&self) -> bool {
        matches!(self, Self::Struct(_) | Self::Array(_) | Self::ArrayCell(_) | Self::Null)
    }

    /// Is it a truth value or an assertion?
    pub(crate) fn is_assertion(&self) -> bool {
        matches!(self, Self::Bool | Self::Permission)
    }

    /// Is a part of it not determined?
    pub fn has_holes(&self) -> bool {
        match self {
            Self::Null | Self::Unknown => true,
            Self::Array(inner) | Self::ArrayCell(inner) | Self::Set(inner) => inner.has_holes(),
            Self::Map(from, to) => from.has_holes() || to.has_holes(),
            _ => false,
        }
    }

    /// As it is written.
    pub fn show(&self, program: &Program) -> String {
        match self {
            Self::Int => "Int".to_owned(),
            Self::Bool => "Bool".to_owned(),
            Self::Byte => "Byte".to_owned(),
            Self::Struct(id) => program.structs[*id].name.clone(),
            Self::Array(inner) => format!("Array<{}>", inner.show(program)),
            Self::ArrayCell(inner) => format!("ArrayCell<{}>", inner.show(program)),
            Self::Set(inner) => format!("Set<{}>", inner.show(program)),
            Self::Map(from, to) => format!("Map<{}, {}>", from.show(program), to.show(program)),
            Self::Datatype(id) => program.datatypes[*id].name.clone(),
            Self::Sort(id) => program.sorts[*id].name.clone(),
            Self::Permission => "a permission".to_owned(),
            Self::Null => "a reference".to_owned(),
            Self::Unknown => "any type".to_owned(),
        }
    }
}
