//! Names that made programs may give.

use front::{Language, Words};

use crate::source::Name;

/// Words of plugins and of the graph form, which programs may use where they are no keywords.
const OTHERS: [&str; 15] = [
    "unreachable",
    "low",
    "lowEvent",
    "rel",
    "graph",
    "block",
    "loop",
    "branch",
    "next",
    "halt",
    "dead",
    "entry",
    "exits",
    "then",
    "implementation",
];

/// Tells whether a word is no identifier in SIL, with its plugins and its graph form.
pub fn is_reserved(word: &str) -> bool {
    Words::of(Language::Sil).is_reserved(word) || OTHERS.contains(&word)
}

/// Returns the word itself, or with the first number behind it that makes it a name that is neither
/// reserved nor used.
pub fn unused(wanted: &str, is_used: impl Fn(&str) -> bool) -> Name {
    let is_used = |name: &str| is_reserved(name) || is_used(name);
    if !is_used(wanted) {
        return wanted.into();
    }
    let mut number = 1;
    loop {
        let name = format!("{wanted}_{number}");
        if !is_used(&name) {
            return name.into();
        }
        number += 1;
    }
}
