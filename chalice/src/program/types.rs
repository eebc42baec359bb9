//! Types of expressions.

use super::{ChannelId, ClassId, MethodId, Program};

/// A type. Equality is structural.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// Mathematical integers.
    Int,
    /// Truth values; also the type of every assertion.
    Bool,
    /// Texts, which can only be compared for equality.
    String,
    /// The value `null`, which fits every reference type except tokens.
    Null,
    /// Lock levels: `e.mu`, `waitlevel`, `lockbottom`. Not written in source.
    Mu,
    /// References to objects of exactly this class, or null.
    Class(ClassId),
    /// References to channels of this declaration, or null.
    Channel(ChannelId),
    /// Tokens of forked calls of this method.
    Token(MethodId),
    /// Finite sequences.
    Seq(Box<Type>),
    /// Finite sets.
    Set(Box<Type>),
    /// The type of an ill-typed expression while errors are collected; never in an accepted
    /// program.
    Unknown,
}

impl Type {
    /// Is it a reference to something with a lock level (an object, a channel, or null)?
    pub fn is_reference(&self) -> bool {
        matches!(self, Self::Class(_) | Self::Channel(_) | Self::Token(_) | Self::Null)
    }

    /// Returns the element type of a sequence or set.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Self::Seq(element) | Self::Set(element) => Some(element),
            _ => None,
        }
    }

    /// Returns the type in the user's words.
    pub fn show(&self, program: &Program) -> String {
        match self {
            Self::Int => "int".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::String => "string".to_owned(),
            Self::Null => "the type of null".to_owned(),
            Self::Mu => "the type of mu".to_owned(),
            Self::Class(class) => program.classes[*class].name.clone(),
            Self::Channel(channel) => program.channels[*channel].name.clone(),
            Self::Token(method) => format!("token<{}>", program.qualified(*method)),
            Self::Seq(element) => format!("seq<{}>", element.show(program)),
            Self::Set(element) => format!("set<{}>", element.show(program)),
            Self::Unknown => "an unknown type".to_owned(),
        }
    }
}
