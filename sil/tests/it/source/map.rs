//! Errors of one program, explained at its original, in the words of its annotations.

use sil::load::load_text;
use sil::program::Stmt;
use sil::source::Span;
use sil::source::map::{Explained, Place, SourceMap, escape, unescape};

use crate::common::statements;

const PROGRAM: &str = r#"
@src.file("0", "bank.chalice")
field f: Int
@src.at("0", "3.1-9.2")
@src.say("assert.failed:*", "the promise %e of %n is broken: %1", "100%25 sure")
@src.name("Account.Withdraw")
method m(x: Ref)
{
  @src.at("0", "4.5-4.16")
  assert @src.at("0", "4.12-4.13") (x != null) && x == x
  @src.none()
  @src.as("assert.failed:assertion.false", "lock.failed:order")
  @src.say("assert.failed:assertion.false", "not above %e")
  @src.note("0", "1.2-1.5", "the lock")
  @src.hide()
  assert false
  assert true
}
method plain(x: Ref) { assert x == null }
method nested(x: Ref)
{
  @src.as("assert.failed:*", "send.failed:*")
  assert @src.as("*:assertion.false", "*:insufficient.permission") (x != null) && x == x
  @src.at("0", "4.5-4.16")
  @src.inner()
  assert @src.at("0", "4.12-4.13") (x != null) && x == x
}
"#;

const ORIGINAL: &str = "class\n\nmethod\n    assert a != b\n";

fn first_expr(statement: &Stmt) -> Span {
    let mut span = Span::default();
    statement.for_each_expr(|expr| {
        span = expr.span;
        let mut is_first = true;
        expr.for_each_child(|child| {
            if std::mem::take(&mut is_first) {
                span = child.span;
            }
        });
    });
    span
}

fn explain(method: usize, statement: usize, has_original: bool) -> Explained {
    let loaded = load_text("bank.sil", PROGRAM);
    let program = loaded.program.as_ref().expect("the program is right");
    let mut map = SourceMap::new(program, &loaded.sources);
    if has_original {
        map = map.with_original("bank.chalice", ORIGINAL);
    }
    let method = program.methods.values().nth(method).expect("it is there");
    let statement = &statements(method)[statement];
    let reason = first_expr(statement);
    map.explain(statement.span, Some(reason), "assert.failed:assertion.false", "words", None)
}

fn shown(place: &Place) -> String {
    format!("{}:{}-{}", place.file, place.start, place.end)
}

#[test]
fn a_plain_program_is_explained_by_its_own_positions() {
    let found = explain(1, 0, false);
    assert_eq!(shown(&found.place), "bank.sil:19.24-19.40");
    assert_eq!((found.message.as_str(), found.generated), ("words", None));
    assert_eq!(found.id, "assert.failed:assertion.false");
}

#[test]
fn the_innermost_position_and_the_nearest_words_count() {
    let found = explain(0, 0, true);
    assert_eq!(shown(&found.place), "bank.chalice:4.5-4.16");
    assert_eq!(found.reason.as_ref().map(shown).as_deref(), Some("bank.chalice:4.12-4.13"));
    assert_eq!(found.message, "the promise a of Account.Withdraw is broken: 100% sure");
    assert!(found.generated.is_some() && found.shows_text && !found.is_hidden);
}

#[test]
fn generated_code_is_reported_at_what_is_around_it() {
    let found = explain(0, 1, true);
    assert_eq!(shown(&found.place), "bank.chalice:3.1-9.2");
    assert_eq!(found.id, "lock.failed:order");
    assert!(found.message.starts_with("not above "));
    let notes: Vec<_> = found.notes.iter().map(|(place, text)| (shown(place), text)).collect();
    assert_eq!(notes, [("bank.chalice:1.2-1.5".to_owned(), &"the lock".to_owned())]);
    assert!(found.is_hidden && !found.shows_text);
}

#[test]
fn reasons_and_what_failed_are_renamed_one_by_one() {
    let found = explain(2, 0, true);
    assert_eq!(found.id, "send.failed:insufficient.permission");
}

#[test]
fn errors_may_be_reported_where_their_reason_stands() {
    let found = explain(2, 1, true);
    assert_eq!(shown(&found.place), "bank.chalice:4.12-4.13");
    assert_eq!((found.id.as_str(), found.reason), ("assert.failed:assertion.false", None));
}

#[test]
fn without_the_original_the_generated_text_is_quoted() {
    let found = explain(0, 0, false);
    assert_eq!(found.message, "the promise x != null of Account.Withdraw is broken: 100% sure");
}

/// Tells whether a rule with this pattern is about the error.
fn matches(pattern: &str, full_id: &str) -> bool {
    let text = format!("method m() {{ @src.as(\"{pattern}\", \"found\") assert true }}");
    let loaded = load_text("test", &text);
    let program = loaded.program.as_ref().expect("the program is right");
    let method = program.methods.values().next().expect("there is one");
    let map = SourceMap::new(program, &loaded.sources);
    map.explain(statements(method)[0].span, None, full_id, "words", None).id == "found"
}

#[test]
fn patterns_and_escapes() {
    assert!(matches("*", "a:b") && matches("a:*", "a:b") && matches("a:*", "a"));
    assert!(matches("*.failed:*", "assert.failed:x") && matches("a*b*c", "a-b-b-c"));
    assert!(!matches("a", "a:b") && !matches("a*a", "a") && !matches("*:x", "a:b"));
    let odd = "50% of \"it\"\n%22";
    assert_eq!(unescape(&escape(odd)), odd);
}
