//! Function symbols. A constant or a variable is a symbol without arguments.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sort;

/// A declared symbol: an index into the symbols of one [`Terms`](super::Terms).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Symbol(pub(super) u32);

impl Symbol {
    /// Returns the position of the symbol in its arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The reading of a symbol by the prover.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SymbolKind {
    Uninterpreted,
    /// Uninterpreted, and made for one purpose in one arena. A formula that goes elsewhere needs a
    /// meaning for the symbol there.
    Fresh,
    /// Uninterpreted, and made for triggers. An application, or an equation with one, by itself
    /// says nothing about the arguments or the other side.
    Mark,
    /// The reference of an object that a path makes. The reference differs from `null` and from all
    /// other references of this kind.
    Object,
    /// A variable meant to be bound by a quantifier.
    Variable,
    /// The variable of that number among those that quantifiers have bound.
    Bound(u32),
    /// Uninterpreted, and injective in all its arguments; values of different constructors differ.
    Constructor,
    /// A function of the prover given as SMT-LIB text, such as `bvadd` or `(_ extract 7 0)`.
    Backend(Arc<str>),
}

/// Name and signature of a symbol. Two declarations with the same contents are the same symbol.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Declaration {
    pub name: Arc<str>,
    pub args: Box<[Sort]>,
    pub result: Sort,
    pub kind: SymbolKind,
}

impl Declaration {
    pub fn is_constructor(&self) -> bool {
        self.kind == SymbolKind::Constructor
    }

    /// Tells whether a quantifier can bind the symbol.
    pub fn is_variable(&self) -> bool {
        matches!(self.kind, SymbolKind::Variable | SymbolKind::Bound(_))
    }
}
