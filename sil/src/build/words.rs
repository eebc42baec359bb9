//! Names that made programs may give.

use crate::source::Name;

/// Words that are no identifiers in SIL, including those of its plugins and of its graph form.
pub const RESERVED: &[&str] = &[
    "result",
    "Int",
    "Perm",
    "Bool",
    "Ref",
    "Rational",
    "true",
    "false",
    "null",
    "import",
    "method",
    "function",
    "predicate",
    "domain",
    "axiom",
    "var",
    "returns",
    "field",
    "define",
    "interpretation",
    "requires",
    "ensures",
    "invariant",
    "fold",
    "unfold",
    "inhale",
    "exhale",
    "new",
    "assert",
    "assume",
    "package",
    "apply",
    "quasihavoc",
    "quasihavocall",
    "while",
    "if",
    "elseif",
    "else",
    "goto",
    "label",
    "Seq",
    "Set",
    "Multiset",
    "Map",
    "range",
    "union",
    "intersection",
    "setminus",
    "subset",
    "unfolding",
    "in",
    "applying",
    "asserting",
    "old",
    "lhs",
    "let",
    "forall",
    "exists",
    "forperm",
    "acc",
    "wildcard",
    "write",
    "none",
    "epsilon",
    "perm",
    "unique",
    "adt",
    "derives",
    "without",
    "decreases",
    "refute",
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

/// Returns the word itself, or with the first number behind it that makes it a name nobody has.
pub fn unused(wanted: &str, is_used: impl Fn(&str) -> bool) -> Name {
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
