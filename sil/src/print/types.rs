//! Types.

use crate::program::{Program, Type};
use crate::source::Name;

/// Returns a type as written.
pub(super) fn type_text(program: &Program, ty: &Type) -> String {
    let one = |name: &str, inner: &Type| format!("{name}[{}]", type_text(program, inner));
    match ty {
        Type::Int => "Int".to_owned(),
        Type::Bool | Type::Wand => "Bool".to_owned(),
        Type::Perm => "Perm".to_owned(),
        Type::Ref => "Ref".to_owned(),
        Type::Seq(element) => one("Seq", element),
        Type::Set(element) => one("Set", element),
        Type::Multiset(element) => one("Multiset", element),
        Type::Map(key, value) => {
            format!("Map[{}, {}]", type_text(program, key), type_text(program, value))
        }
        Type::Domain(domain, arguments) => {
            let name = program.domains[*domain].name.to_string();
            if arguments.is_empty() {
                return name;
            }
            let arguments: Vec<_> = arguments.iter().map(|ty| type_text(program, ty)).collect();
            format!("{name}[{}]", arguments.join(", "))
        }
        Type::Variable(name) => name.to_string(),
    }
}

/// Tells whether a type parameter occurs in a type.
pub(super) fn mentions(ty: &Type, parameter: &Name) -> bool {
    match ty {
        Type::Variable(name) => name == parameter,
        Type::Seq(inner) | Type::Set(inner) | Type::Multiset(inner) => mentions(inner, parameter),
        Type::Map(key, value) => mentions(key, parameter) || mentions(value, parameter),
        Type::Domain(_, arguments) => arguments.iter().any(|ty| mentions(ty, parameter)),
        Type::Int | Type::Bool | Type::Perm | Type::Ref | Type::Wand => false,
    }
}
