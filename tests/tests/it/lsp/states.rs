//! The state at the cursor, in an editor.

use std::time::Instant;

use serde_json::{Value, json};
use sil_tests::editor::{Client, PATIENCE};

const URI: &str = "file:///nowhere/program.vpr";

const TEXT: &str = "field f: Int

method m(x: Ref, n: Int)
  requires acc(x.f, 1/2) && x.f == 3
{
  if (n > 0) {
    inhale acc(x.f, 1/4)
  }
  assert x.f == 3
}
";

/// A member that takes longer than anybody waits who only points at something.
const SLOW: &str = "method m(a: Int, b: Int, c: Int, d: Int, e: Int, z: Int)
  requires a > 1 && b > 1 && c > 1 && d > 1 && e > 1 && z > 1
{
  assert a * b * c * d + a * a * b != c * c * c * e * z + z * z * a + 7
  assert a == a
}
";

/// Starts a question for the states at a line, counted from 0.
fn start(client: &mut Client, line: u32) -> i32 {
    let position = json!({ "line": line, "character": 2 });
    let parameters = json!({ "textDocument": { "uri": URI }, "position": position });
    client.start("silicon/state", parameters)
}

fn answer(client: &mut Client, id: i32) -> Value {
    client.wait("the answer", |it| it["id"] == id && it["method"].is_null())
}

#[test]
fn the_states_at_a_line_are_told() {
    let mut client = Client::built();
    client.open(URI, TEXT);
    let states = client.at("silicon/state", URI, 8, 4);
    assert_eq!(states["more"], 0, "{states}");
    let paths = states["paths"].as_array().expect("a list");
    let told: Vec<_> = paths
        .iter()
        .map(|path| (path["path"][0].as_str(), path["state"]["held"][0]["amount"].as_str()))
        .collect();
    assert_eq!(told, [(Some("n > 0"), Some("3/4")), (Some("n <= 0"), Some("1/2"))], "{states}");
    assert_eq!(paths[0]["range"]["start"], json!({ "line": 8, "character": 2 }), "{states}");
    // No statement stands there.
    assert_eq!(client.at("silicon/state", URI, 0, 0), json!({ "paths": [], "more": 0 }));
    assert_eq!(states_of_closed(&mut client), Value::Null);
    client.end();
}

fn states_of_closed(client: &mut Client) -> Value {
    client.at("silicon/state", "file:///nowhere/else.vpr", 0, 0)
}

#[test]
fn who_points_at_something_sees_what_is_held() {
    let mut client = Client::built();
    client.open(URI, TEXT);
    let hover = client.at("textDocument/hover", URI, 8, 9);
    let words = hover["contents"]["value"].as_str().expect("it says something").to_owned();
    for part in ["x: Ref", "path 1 of 2", "acc(x.f, 3/4)\n", "x.f == 3"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let range = json!({
        "start": { "line": 8, "character": 9 },
        "end": { "line": 8, "character": 10 },
    });
    assert_eq!(hover["range"], range);
    // Where nothing is named.
    let hover = client.at("textDocument/hover", URI, 8, 3);
    assert!(
        hover["contents"]["value"].as_str().is_some_and(|it| it.contains("acc(x.f")),
        "{hover}"
    );
    client.end();
}

#[test]
fn it_can_be_switched_off() {
    let mut client = Client::with(&json!({ "hoverStates": false }));
    client.open(URI, TEXT);
    let hover = client.at("textDocument/hover", URI, 8, 9);
    assert!(hover["contents"]["value"].as_str().is_some_and(|it| !it.contains("acc")), "{hover}");
    client.end();
}

#[test]
fn nobody_waits_long_who_only_points() {
    let mut client = Client::built();
    client.open(URI, SLOW);
    let begin = Instant::now();
    let hover = client.at("textDocument/hover", URI, 4, 9);
    let words = hover["contents"]["value"].as_str().expect("it says something");
    assert!(words.contains("a: Int") && !words.contains("before this line"), "{words}");
    assert!(begin.elapsed() < PATIENCE / 4);
    client.end();
}

#[test]
fn a_question_that_nobody_asks_any_more_is_not_answered() {
    let mut client = Client::built();
    client.open(URI, SLOW);
    let first = start(&mut client, 4);
    let second = start(&mut client, 4);
    assert_eq!(answer(&mut client, first)["error"]["code"], -32800);
    client.tell("$/cancelRequest", json!({ "id": second }));
    assert_eq!(answer(&mut client, second)["error"]["code"], -32800);
    let third = start(&mut client, 4);
    client.change(URI, json!([{ "text": TEXT }]));
    assert_eq!(answer(&mut client, third)["error"]["code"], -32801);
    let states = client.at("silicon/state", URI, 8, 4);
    assert_eq!(states["paths"].as_array().map(Vec::len), Some(2), "{states}");
    client.end();
}

#[test]
fn a_text_with_errors_has_no_states() {
    let mut client = Client::built();
    client.open(URI, "method m() { assert 1 }\n");
    let id = start(&mut client, 0);
    assert_eq!(answer(&mut client, id)["error"]["message"], "the text has errors");
    client.end();
}

#[test]
fn chalice_programs_have_states_in_their_own_words() {
    let uri = "file:///nowhere/program.chalice";
    let text = "class C {\n  var x: int;\n  method m()\n    requires acc(x);\n  {\n    x := 1;\n    assert x == 1;\n  }\n}\n";
    let mut client = Client::built();
    client.open(uri, text);
    let states = client.at("silicon/state", uri, 6, 6);
    assert_eq!(states["paths"][0]["state"]["held"][0]["location"], "this.x", "{states}");
    client.end();
}
