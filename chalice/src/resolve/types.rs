//! Types: what is written, what fits, how they are shown.

use super::{Resolver, TypeName};
use crate::program::{Member, Type};
use crate::source::Span;
use crate::syntax::{Ident, TypeExpr, TypeExprKind};

impl Resolver<'_> {
    /// Returns the type that is written; [`Type::Unknown`] if there is none such.
    pub(super) fn type_of(&mut self, ty: &TypeExpr) -> Type {
        match &ty.kind {
            TypeExprKind::Int => Type::Int,
            TypeExprKind::Bool => Type::Bool,
            TypeExprKind::String => Type::String,
            TypeExprKind::Name(name) => match self.names.types.get(name.as_str()) {
                Some(TypeName::Class(class)) => Type::Class(*class),
                Some(TypeName::Channel(channel)) => Type::Channel(*channel),
                None => self.unknown_type(self.no_such_type(name), ty.span),
            },
            TypeExprKind::Seq(arguments) => {
                Type::Seq(Box::new(self.type_argument(arguments, ty.span)))
            }
            TypeExprKind::Set(arguments) => {
                Type::Set(Box::new(self.type_argument(arguments, ty.span)))
            }
            TypeExprKind::Token { class, method } => self.token_type(class, method),
        }
    }

    /// Makes the message about a name that no class or channel has.
    pub(super) fn no_such_type(&self, name: &str) -> String {
        let types = self.names.types.keys().copied().chain(["bool", "int", "seq", "set", "string"]);
        let question = self.spelling.question(name, types);
        format!("there is no class or channel `{name}`{question}")
    }

    /// Returns the written type, or `int`.
    pub(super) fn type_or_int(&mut self, ty: Option<&TypeExpr>) -> Type {
        ty.map_or(Type::Int, |ty| self.type_of(ty))
    }

    fn type_argument(&mut self, arguments: &[TypeExpr], span: Span) -> Type {
        match arguments {
            [only] => front::grow_stack(|| self.type_of(only)),
            _ => self.unknown_type(
                "a sequence or set type has exactly one type argument".to_owned(),
                span,
            ),
        }
    }

    fn token_type(&mut self, class: &TypeExpr, method: &Ident) -> Type {
        match self.type_of(class) {
            Type::Unknown => Type::Unknown,
            Type::Class(class) => match self.names.members.get(&(class, method.name.as_str())) {
                Some(Member::Method(method)) => Type::Token(*method),
                _ => {
                    let class = self.program.classes[class].name.clone();
                    self.unknown_type(
                        format!("`{class}` has no method `{}`", method.name),
                        method.span,
                    )
                }
            },
            _ => self.unknown_type("a token type names a method of a class".to_owned(), class.span),
        }
    }

    fn unknown_type(&mut self, message: String, span: Span) -> Type {
        self.error(message, span);
        Type::Unknown
    }

    /// Returns a type in the user's words.
    pub(super) fn show(&self, ty: &Type) -> String {
        ty.show(&self.program)
    }

    /// Reports a value that does not fit.
    pub(super) fn expect_assignable(&mut self, target: &Type, value: &Type, span: Span) {
        if !is_assignable(target, value) {
            let message = format!("expected {}, found {}", self.show(target), self.show(value));
            self.error(message, span);
        }
    }
}

/// Are the types the same, as far as they are known?
pub(super) fn is_same(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Seq(left), Type::Seq(right)) | (Type::Set(left), Type::Set(right)) => {
            is_same(left, right)
        }
        _ => left == right,
    }
}

/// May a value of the second type be stored where the first is declared?
pub(super) fn is_assignable(target: &Type, value: &Type) -> bool {
    let takes_null = matches!(target, Type::Class(_) | Type::Channel(_) | Type::Null);
    is_same(target, value) || (takes_null && *value == Type::Null)
}

/// May values of these types be compared for equality?
pub(super) fn is_comparable(left: &Type, right: &Type) -> bool {
    is_same(left, right)
        || (*left == Type::Null && right.is_reference())
        || (*right == Type::Null && left.is_reference())
}
