//! Types, sorts of references and the parts of the state.

use std::fmt;

use sil::syntax as s;
use sil::syntax::TypeKind;
use spl::program::{FieldId, GlobalId, Program, Type};

use crate::build::domain_type;

/// A part of the state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// The values of a field.
    Field(FieldId),
    /// The contents of the cells of arrays with such elements.
    Cells(Type),
    /// A global variable.
    Global(GlobalId),
}

impl Slot {
    /// Returns the sort that keys this part of the state; a global variable has none.
    pub(super) fn sort(&self, program: &Program) -> Option<Type> {
        match self {
            Self::Field(field) => Some(Type::Struct(program.fields[*field].parent)),
            Self::Cells(element) => Some(Type::ArrayCell(Box::new(element.clone()))),
            Self::Global(_) => None,
        }
    }

    /// Returns the type of the whole part.
    pub(super) fn ty(&self, program: &Program) -> Type {
        match self {
            Self::Field(field) => program.field_map_type(*field),
            Self::Cells(element) => Type::Map(
                Box::new(Type::ArrayCell(Box::new(element.clone()))),
                Box::new(element.clone()),
            ),
            Self::Global(global) => program.globals[*global].ty.clone(),
        }
    }

    /// Returns the stem of the names of generated variables.
    pub(super) fn name(&self, program: &Program) -> String {
        match self {
            Self::Field(field) => program.fields[*field].name.clone(),
            Self::Cells(element) => format!("cells${}", Key(program, element)),
            Self::Global(global) => program.globals[*global].name.clone(),
        }
    }
}

/// The name of a type in generated names: no two types share one, since `$` is in no name of SPL.
pub(super) struct Key<'t>(pub(super) &'t Program, pub(super) &'t Type);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(program, ty) = *self;
        match ty {
            Type::Int | Type::Byte => f.write_str("Int"),
            Type::Bool | Type::Permission => f.write_str("Bool"),
            Type::Struct(id) => f.write_str(&spelled(&program.structs[*id].name)),
            Type::Datatype(id) => f.write_str(&spelled(&program.datatypes[*id].name)),
            Type::Sort(id) => f.write_str(&spelled(&program.sorts[*id].name)),
            Type::Array(element) => write!(f, "Array_of${}", Key(program, element)),
            Type::ArrayCell(element) => write!(f, "Cell_of${}", Key(program, element)),
            Type::Set(element) => write!(f, "Set${}", Key(program, element)),
            Type::Map(from, to) => write!(f, "Map${}${}", Key(program, from), Key(program, to)),
            Type::Null | Type::Unknown => f.write_str("Any$"),
        }
    }
}

/// Returns a name of SPL as SIL writes it: `?` and `^` are not in names there, and some names are
/// words of SIL.
pub(super) fn spelled(name: &str) -> String {
    let spelled = name.replace('?', "$q").replace('^', "$c");
    let starts_with_digit = spelled.starts_with(|first: char| first.is_ascii_digit());
    if starts_with_digit {
        format!("n${spelled}")
    } else if sil::build::is_reserved(&spelled) {
        format!("{spelled}$")
    } else {
        spelled
    }
}

/// Returns the type as SIL text.
pub(super) fn stored(program: &Program, ty: &Type) -> String {
    Key(program, ty).to_string()
}

/// Returns the type in SIL.
pub(super) fn lowered(program: &Program, ty: &Type) -> s::Type {
    match ty {
        Type::Int | Type::Byte => TypeKind::Int.into(),
        Type::Bool | Type::Permission => TypeKind::Bool.into(),
        _ => domain_type(&stored(program, ty)),
    }
}
