//! Findings as text.

use sil::render::{Colours, Message, Place, Texts, human, short};
use sil::source::{LineColumn, SourceFile};

fn message(line: u32, column: u32, end: u32) -> Message {
    let (start, end) = (LineColumn { line, column }, LineColumn { line, column: end });
    let place = Place { file: "a.sil".into(), start, end };
    Message::error("assert.failed:assertion.false", "Assert might fail.", place)
}

fn texts(text: &str) -> Texts {
    let mut texts = Texts::default();
    texts.add(SourceFile::new("a.sil", text));
    texts
}

#[test]
fn quotes_the_line() {
    let shown = human(&message(2, 3, 6), &texts("a\n  böö c\n"), Colours::Never);
    assert!(shown.contains("a.sil:2:3") && shown.contains("böö c") && shown.contains("^^^"));
}

#[test]
fn a_mark_at_the_start_takes_no_column() {
    let shown = human(&message(1, 3, 6), &texts("\u{feff}a böö c\n"), Colours::Never);
    assert!(shown.contains("1 │ a böö c\n  │   ^^^"), "{shown}");
}

#[test]
fn quotes_neither_missing_nor_overlong_text() {
    let shown = human(&message(7, 3, 6), &texts("a"), Colours::Never);
    assert!(shown.contains("a.sil:7:3"), "{shown}");
    let shown = human(&message(1, 3, 6), &texts(&"x".repeat(100_000)), Colours::Never);
    assert!(shown.contains("a.sil:1:3") && shown.len() < 1000, "{shown}");
}

#[test]
fn keeps_escape_sequences_of_programs_from_the_terminal() {
    let message = Message { text: "no \u{1b}[2J".into(), ..message(1, 2, 3) };
    let shown = human(&message, &texts("\u{1b}x\n"), Colours::Never);
    assert!(!shown.contains('\u{1b}') && shown.contains('^'), "{shown}");
    assert!(!short(&message).contains('\u{1b}'));
}

#[test]
fn shows_one_line() {
    assert_eq!(
        short(&message(2, 3, 6)),
        "a.sil:2:3: error[assert.failed:assertion.false]: Assert might fail.\n"
    );
}
