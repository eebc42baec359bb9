//! States of paths, in the words of the program.

use serde::Serialize;
use sil::source::Span;

use super::Step;

/// The state of one path before a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownState {
    /// The statement or the condition that is next.
    pub at: Span,
    /// The branches that the path took.
    pub path: Vec<Step>,
    pub contents: Contents,
}

/// The contents of a state. Values are expressions about it: variables, `x.f` with its value there,
/// `old(x.f)`, and `v1`, `v2` and so on for values without another name. The same name stands for
/// the same value throughout one state.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Contents {
    pub variables: Vec<NamedValue>,
    pub held: Vec<HeldPermission>,
    /// The facts about the values, as far as there are words for them.
    pub facts: Vec<String>,
    /// The number of known facts that are not in the list.
    pub other_facts: usize,
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NamedValue {
    pub name: String,
    /// `None`: any value that fits the facts.
    pub value: Option<String>,
}

/// A portion of permission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HeldPermission {
    /// The location, as in `x.f`, `list(x)`, or `x.f for some x` for permission to many locations.
    pub location: String,
    /// The amount; `None` if there are no words for it.
    pub amount: Option<String>,
    /// The value of a field; `None`: any value that fits the facts.
    pub value: Option<String>,
}
