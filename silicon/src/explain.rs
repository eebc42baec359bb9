//! The meaning of the ids of findings, and advice: the source of `silicon explain`, the help in
//! SARIF and `docs/errors.md`.
//!
//! The ids of the engine have their rows where they are declared ([`crate::report::ErrorId`],
//! [`crate::report::Reason`]); those that only front ends write have theirs here.
//!
//! An id is what the user was doing, and, after a colon, what could not be shown:
//! `assert.failed:assertion.false`.

use crate::report::{ErrorId, Reason};

/// One part of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    pub id: &'static str,
    /// The meaning.
    pub meaning: &'static str,
    /// The advice; empty where it depends on the other part.
    pub advice: &'static str,
}

/// The user's actions, in words of front ends.
const ERRORS: &[Row] = &[
    row("access.failed", "A location is read without permission.", ""),
    row("arithmetic.failed", "An operation on numbers is used outside of its domain.", ""),
    row(
        "consistency.error",
        "The program is well-typed, but says something that has no meaning.",
        "The message says which rule is broken; nothing is verified before it is kept.",
    ),
    row(
        "ghost.violated",
        "What is written for the proof only would influence the run.",
        "Use it in contracts and assertions only.",
    ),
    row("lock.failed", "A monitor might not be in the state that a `lock` needs.", ""),
    row("new.failed", "A new object might not be created as it is written.", ""),
    row(
        "notsupported",
        "The verifier does not know a construct.",
        "The member is not verified. Write it in another way.",
    ),
    row(
        "parser.error",
        "The text is no program.",
        "The message names what was expected there; the mistake may be just before.",
    ),
    row("parser.warning", "The text may not mean what its author thinks.", ""),
    row(
        "predicate.not.precise",
        "The body of a predicate might hold with more than one footprint.",
        "Say in the body which objects it is about, so that there is only one choice.",
    ),
    row("split.failed", "A permission might be split that is not there.", ""),
    row(
        "typechecker.error",
        "A name is not declared, or an expression does not have the type that is needed.",
        "Nothing is verified before all names and types are right.",
    ),
    row("typechecker.warning", "A name or type is right, but suspicious.", ""),
];

/// The obligations that could not be shown, in words of front ends.
const REASONS: &[Row] = &[
    row("epsilon.scaling", "A permission of unknown size cannot be scaled.", ""),
    row("footprint", "A footprint might not be what the contract says.", ""),
    row("invariant", "It is about an invariant.", ""),
    row("leak", "Permission might be left behind.", ""),
    row("negative.length", "A length might be negative.", ""),
    row("order", "The order of waiting might be violated.", ""),
];

const fn row(id: &'static str, meaning: &'static str, advice: &'static str) -> Row {
    Row { id, meaning, advice }
}

/// Whatever the user was doing, in the order of the ids.
fn errors() -> Vec<Row> {
    let engine = ErrorId::ALL.iter().map(|error| row(error.id(), error.meaning(), error.advice()));
    sorted(engine.chain(ERRORS.iter().copied()))
}

/// Whatever could not be shown, in the order of the ids.
fn reasons() -> Vec<Row> {
    let engine =
        Reason::ALL.iter().map(|reason| row(reason.id(), reason.meaning(), reason.advice()));
    sorted(engine.chain(REASONS.iter().copied()))
}

fn sorted(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| row.id);
    rows
}

/// The rows for the parts of an id that have one.
pub fn rows(id: &str) -> Vec<Row> {
    let find = |rows: Vec<Row>, id: &str| rows.into_iter().find(|row| row.id == id);
    match id.split_once(':') {
        Some((error, reason)) => {
            find(errors(), error).into_iter().chain(find(reasons(), reason)).collect()
        }
        // Of a reason alone, one may want to know as well.
        None => find(errors(), id).or_else(|| find(reasons(), id)).into_iter().collect(),
    }
}

/// Returns the meaning of an id; a front end may make ids of its own.
pub fn meaning(id: &str) -> String {
    match &rows(id)[..] {
        [] => "An id that a front end has made.".to_owned(),
        rows => rows.iter().map(|row| row.meaning).collect::<Vec<_>>().join(" "),
    }
}

/// Returns the advice for an id; empty where nothing is known.
pub fn advice(id: &str) -> String {
    let rows = rows(id);
    let advice = rows.iter().map(|row| row.advice).filter(|advice| !advice.is_empty());
    advice.collect::<Vec<_>>().join(" ")
}

/// The text of `docs/errors.md`.
pub fn reference() -> String {
    let mut text = "# Ids of findings

Each finding has an id: what the program was doing, and, after a colon, what could not be shown, as in
`assert.failed:assertion.false`. Ids are stable: scripts and annotations may rely on them, not on the words of messages.
`silicon explain ID` shows what is here. This page is made from the tables in `silicon/src/report/ids.rs` and
`silicon/src/explain.rs`.
"
    .to_owned();
    for (title, rows) in
        [("What the program was doing", errors()), ("What could not be shown", reasons())]
    {
        text += &format!("\n## {title}\n\n| id | meaning | what to do |\n|---|---|---|\n");
        for Row { id, meaning, advice } in rows {
            text += &format!("| `{id}` | {} | {} |\n", cell(meaning), cell(advice));
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_and_whole_sentences() {
        for rows in [errors(), reasons()] {
            assert!(rows.windows(2).all(|two| two[0].id < two[1].id));
            for Row { id, meaning, advice } in rows {
                assert!(meaning.ends_with('.') && !meaning.contains('\n'), "{id}");
                assert!(advice.is_empty() || advice.ends_with('.'), "{id}");
            }
        }
    }

    #[test]
    fn both_parts_are_explained() {
        assert!(meaning("assert.failed:division.by.zero").contains("divisor"));
        assert!(meaning("assert.failed:division.by.zero").contains("assert"));
        assert_eq!(rows("division.by.zero").len(), 1);
        assert_eq!(rows("made.up"), []);
        assert!(!advice("assert.failed:division.by.zero").is_empty());
    }
}
