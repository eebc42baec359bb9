//! The meaning of the ids of findings, and advice: the source of `silicon explain`, the help in
//! SARIF and `docs/errors.md`.
//!
//! An id is what the user was doing, and, after a colon, what could not be shown:
//! `assert.failed:assertion.false`.

use front::Language;
pub use front::reference;
use front::reference::Form;
use hints::spelling::Spelling;

use symex::report::{ErrorId, Reason};

/// Returns the question whether another id or word is meant than an unknown one; empty if none is
/// near.
pub fn question(unknown: &str) -> String {
    let forms: Vec<Form> = Language::ALL.into_iter().flat_map(reference::forms).collect();
    let words = forms.iter().flat_map(Form::words);
    let ids = errors().into_iter().chain(reasons()).map(|row| row.id);
    Spelling::default().question(unknown, words.chain(ids))
}

/// One part of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    pub id: &'static str,
    /// The meaning.
    pub meaning: &'static str,
    /// The advice; empty where it depends on the other part.
    pub advice: &'static str,
}

const fn row(id: &'static str, meaning: &'static str, advice: &'static str) -> Row {
    Row { id, meaning, advice }
}

/// Whatever the user was doing, in the order of the ids.
fn errors() -> Vec<Row> {
    sorted(ErrorId::ALL.iter().map(|error| row(error.id(), error.meaning(), error.advice())))
}

/// Whatever could not be shown, in the order of the ids.
fn reasons() -> Vec<Row> {
    sorted(Reason::ALL.iter().map(|reason| row(reason.id(), reason.meaning(), reason.advice())))
}

fn sorted(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| row.id);
    rows
}

/// Returns the rows for the parts of an id that have one.
pub fn rows(id: &str) -> Vec<Row> {
    let find = |rows: Vec<Row>, id: &str| rows.into_iter().find(|row| row.id == id);
    match id.split_once(':') {
        Some((error, reason)) => {
            find(errors(), error).into_iter().chain(find(reasons(), reason)).collect()
        }
        // A reason alone may be asked for as well.
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

/// Returns the text of `docs/errors.md`.
pub fn page() -> String {
    let mut text = "# Ids of findings

Each finding has an id: what the program was doing, and, after a colon, what could not be shown, as in
`assert.failed:assertion.false`. Ids are stable: scripts and annotations may rely on them, not on the words of messages.
`silicon explain ID` shows what is here. This page is made from the tables in `findings/src/lib.rs`.
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
