//! Quick fixes: each that is said to be checked removes its error and adds none.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use sil::render::Severity;
use sil_tests::editor::Client;
use silicon::session::{Input, Session};

/// Everything that a fresh run says of a text, wherever it says it.
fn fresh(name: &str, text: &str) -> BTreeMap<String, usize> {
    let outcome = Session::default().run(&Input::text(name, text));
    let mut found = BTreeMap::new();
    for one in outcome.diagnostics {
        let is_error = one.message.severity == Severity::Error;
        let id = &one.message.id;
        let said = format!("{is_error} {:?} {id} {}", one.member, one.message.text);
        *found.entry(said).or_default() += 1;
    }
    found
}

/// The byte that an editor means.
fn offset(text: &str, position: &Value) -> usize {
    let number = |key: &str| position[key].as_u64().expect("a number") as usize;
    let line: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let mut units = number("character");
    for (at, character) in text[line..].char_indices() {
        if units == 0 {
            return line + at;
        }
        units -= character.len_utf16();
    }
    text.len()
}

/// The text with the edits of an action.
fn applied(text: &str, action: &Value, uri: &str) -> String {
    let edits = action["edit"]["changes"][uri].as_array().expect("it edits the text");
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let range = offset(text, &range["start"])..offset(text, &range["end"]);
            (range, edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        edited.replace_range(range, new);
    }
    edited
}

/// Returns the fixes offered for a whole text, when its verification is done.
fn offered(client: &mut Client, uri: &str, text: &str) -> Vec<Value> {
    let end = json!({ "line": text.lines().count() + 1, "character": 0 });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
    let parameters = json!({
        "textDocument": { "uri": uri },
        "range": range,
        "context": { "diagnostics": [], "only": ["quickfix"] },
    });
    let answer = client.ask("textDocument/codeAction", parameters);
    answer["result"].as_array().unwrap_or_else(|| panic!("a list: {answer}")).clone()
}

/// Checks an action that is marked as checked, by a fresh run. Returns whether the action has the
/// mark.
fn holds(name: &str, uri: &str, text: &str, action: &Value) -> Result<bool, String> {
    let title = action["title"].as_str().expect("a title");
    if !title.ends_with(" (checked)") {
        return Ok(false);
    }
    let edited = applied(text, action, uri);
    let (before, after) = (fresh(name, text), fresh(name, &edited));
    let count = |of: &BTreeMap<String, usize>, said: &str| of.get(said).copied().unwrap_or(0);
    let new: Vec<_> = after.iter().filter(|(said, many)| **many > count(&before, said)).collect();
    let message = action["diagnostics"][0]["message"].as_str().expect("a message");
    let message = message.split("\non the path").next().unwrap_or_default();
    let is_it = |said: &&String| said.ends_with(message.lines().next().unwrap_or_default());
    let many = |of: &BTreeMap<String, usize>| -> usize {
        of.iter().filter(|(said, _)| is_it(said)).map(|(_, many)| many).sum()
    };
    if !new.is_empty() || many(&after) >= many(&before) {
        let (was, is) = (many(&before), many(&after));
        return Err(format!(
            "{name}: {title}: {message}: {was}, then {is}; new: {new:?}\n{edited}"
        ));
    }
    Ok(true)
}

const FIELDS: &str = "field f: Int\nfield next: Ref\npredicate list(x: Ref)\n{ acc(x.f) && acc(x.next) && (x.next != null ==> list(x.next)) }\n";

const CLASS: &str = "class C {\n  var f: int;\n  predicate inv { acc(f) }\n  method set() requires acc(f); ensures acc(f) { }\n";

/// A member with an error, and the title of an edit that is offered and has been checked.
const WRONG: [(&str, &str, &str); 37] = [
    ("vpr", "method m(x: Ref)\n{\n  x.f := 1\n}\n", "Add `acc(x.f)` to the precondition"),
    ("vpr", "method m(x: Ref) { x.f := 1 }", "Add `acc(x.f)` to the precondition"),
    (
        "vpr",
        "method m(x: Ref) returns (r: Int)\n  ensures true\n{\n  r := x.f\n}\n",
        "Add `acc(x.f, 1/2)` to the precondition",
    ),
    (
        "vpr",
        "method m(x: Ref)\n  requires acc(x.f)\n{\n  var i: Int := 0\n  while (i < 3)\n    invariant i < 9\n  {\n    x.f := i\n    i := i + 1\n  }\n}\n",
        "Add `acc(x.f)` to the invariant",
    ),
    (
        "vpr",
        "method m(x: Ref)\n{\n  var i: Int := 0\n  while (i < 3) {\n    x.f := i\n    i := i + 1\n  }\n}\n",
        "Add `acc(x.f)` to the invariant and the precondition",
    ),
    (
        "vpr",
        "method m(x: Ref)\n  requires list(x)\n{\n  x.f := 3\n  fold list(x)\n}\n",
        "Unfold `list(x)` before",
    ),
    (
        "vpr",
        "method m(x: Ref)\n  requires list(x)\n  ensures list(x)\n{\n  x.f := 3\n}\n",
        "Unfold `list(x)` before, and fold it again",
    ),
    (
        "vpr",
        "method m(x: Ref) returns (r: Int)\n  requires list(x)\n  ensures list(x)\n{\n  r := x.f\n}\n",
        "Read it in `list(x)`",
    ),
    (
        "vpr",
        "function g(x: Ref): Int\n  requires list(x)\n{\n  x.f\n}\n",
        "Unfold `list(x)` in the body",
    ),
    ("vpr", "function g(x: Ref): Int\n{ x.f }\n", "Add `acc(x.f, 1/2)` to the precondition"),
    (
        "vpr",
        "method m(x: Ref)\n  requires acc(x.f) && acc(x.next) && x.next == null\n  ensures list(x)\n{\n}\n",
        "Fold `list(x)` at the end",
    ),
    (
        "vpr",
        "method callee(x: Ref)\n  requires list(x)\nmethod m(x: Ref)\n  requires acc(x.f) && acc(x.next) && x.next == null\n{\n  callee(x)\n}\n",
        "Fold `list(x)` before",
    ),
    (
        "vpr",
        "method callee(x: Ref)\n  requires acc(x.f)\nmethod m(y: Ref)\n{\n  callee(y)\n}\n",
        "Add `acc(y.f)` to the precondition",
    ),
    (
        "vpr",
        "method m(a: Int, b: Int) returns (r: Int)\n{\n  r := a / b\n}\n",
        "Add `b != 0` to the precondition",
    ),
    (
        "vpr",
        "method m(s: Seq[Int], i: Int) returns (r: Int)\n  requires 0 <= i\n{\n  r := s[i]\n}\n",
        "Add `i < |s|` to the precondition",
    ),
    ("vpr", "method m(count: Int)\n{\n  assert coumt == count\n}\n", "Change `coumt` to `count`"),
    ("vpr", "method m(x: Itn)\n{\n}\n", "Change `Itn` to `Int`"),
    ("chalice", "  method m() { f := 1; }\n}", "Add `acc(this.f)` to the precondition"),
    (
        "chalice",
        "  method m(o: C) returns (r: int)\n    requires o != null\n  { r := o.f; }\n}",
        "Add `rd(o.f)` to the precondition",
    ),
    (
        "chalice",
        "  method m(o: C) returns (r: int)\n    requires rd(o.f)\n    ensures rd(o.f)\n  { r := o.f; }\n  method n(o: C, p: C) requires p != null ==> acc(p.f) { p.f := 2; }\n}",
        "Add `p != null` to the precondition",
    ),
    (
        "chalice",
        "  method m(a: int, b: int) returns (r: int)\n  {\n    r := a / b;\n  }\n}",
        "Add `b != 0` to the precondition",
    ),
    (
        "chalice",
        "  method m(s: seq<int>, i: int) returns (r: int)\n  requires i < |s|\n  {\n    r := s[i];\n  }\n}",
        "Add `0 <= i` to the precondition",
    ),
    (
        "chalice",
        "  method m()\n    requires acc(f)\n    ensures inv\n  {\n    f := 2;\n  }\n}",
        "Fold `this.inv` at the end",
    ),
    (
        "chalice",
        "  method m()\n    requires inv\n  {\n    f := 2;\n    fold inv;\n  }\n}",
        "Unfold `inv` before",
    ),
    (
        "chalice",
        "  method m()\n    requires acc(f)\n  {\n    var i := 0;\n    while (i < 3)\n    {\n      f := i; i := i + 1;\n    }\n  }\n}",
        "Add `acc(this.f)` to the invariant",
    ),
    (
        "vpr",
        "method m(n: Int) returns (i: Int)\n  requires n >= 0\n  ensures i == n\n{\n  i := 0\n  while (i < n)\n    invariant 0 <= i\n  {\n    i := i + 1\n  }\n}\n",
        "Add `i <= n` to the invariant",
    ),
    (
        "vpr",
        "method m(n: Int) returns (r: Int)\n  ensures r >= 1\n{\n  var i: Int := 0\n  r := 1\n  while (i < n)\n  {\n    i := i + 1\n    r := r + i * i\n  }\n}\n",
        "Add `r >= 1` to the invariant",
    ),
    (
        "vpr",
        "function g(n: Int, k: Int): Int\n  requires n >= 0\n  decreases k\n{ n == 0 ? k : g(n - 1, k) }\n",
        "Let `n` decrease",
    ),
    (
        "vpr",
        "function g(i: Int, n: Int): Int\n  requires i <= n\n  decreases\n{ i == n ? 0 : 1 + g(i + 1, n) }\n",
        "Let `n - i` decrease",
    ),
    (
        "vpr",
        "function size(x: Ref): Int\n  requires list(x)\n  decreases\n{ unfolding list(x) in x.next == null ? 1 : 1 + size(x.next) }\n",
        "Let `list(x)` decrease",
    ),
    (
        "vpr",
        "method m(n: Int)\n  decreases\n{\n  var i: Int := 0\n  while (i < n)\n    decreases i\n  {\n    i := i + 1\n  }\n}\n",
        "Let `n - i` decrease",
    ),
    ("vpr", "method m(n: Int)\n{\n  k := n > 3\n  assert k ==> n > 2\n}\n", "Declare `k: Bool`"),
    (
        "vpr",
        "method m(s: Seq[Ref])\n  requires forall i: Int :: 0 <= i && i < |s| ==> acc(s[i].f)\n{\n}\n",
        "Add `forall i: Int, i2: Int :: 0 <= i && i < |s| && 0 <= i2 && i2 < |s| && i != i2 ==> s[i] != s[i2]` to the precondition",
    ),
    ("chalice", "  method m()\n  {\n    k := 3;\n    assert k > 2;\n  }\n}", "Declare `k`"),
    (
        "chalice",
        "  method n()\n  { }\n  method m(o: C)\n  {\n    call o.n();\n  }\n}",
        "Add `o != null` to the precondition",
    ),
    (
        "chalice",
        "  method m(o: C)\n    requires rd(o.mu)\n  {\n    acquire o;\n    release o;\n  }\n}",
        "Add `waitlevel << o.mu` to the precondition",
    ),
    (
        "chalice",
        "  var other: C;\n  method m()\n    requires acc(other) && other != null\n  {\n    other.f := 1;\n  }\n}",
        "Add `acc(this.other.f)` to the precondition",
    ),
];

#[test]
fn each_kind_of_error_has_an_edit_that_removes_it() {
    let mut client = Client::built();
    let mut wrong = Vec::new();
    for (number, (extension, member, title)) in WRONG.iter().enumerate() {
        let name = format!("/nowhere/wrong{number}.{extension}");
        let uri = format!("file://{name}");
        let text = format!("{}{member}", if *extension == "vpr" { FIELDS } else { CLASS });
        client.open(&uri, &text);
        let is_wrong = |it: &Value| {
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == uri
                && it["params"]["diagnostics"] != json!([])
        };
        client.wait("an error", is_wrong);
        let actions = offered(&mut client, &uri, &text);
        let mut titles = Vec::new();
        for action in &actions {
            match holds(&name, &uri, &text, action) {
                Ok(is_checked) => titles.push((action["title"].to_string(), is_checked)),
                Err(words) => wrong.push(words),
            }
        }
        let expected = format!("\"{title} (checked)\"");
        if !titles.contains(&(expected, true)) {
            let found = fresh(&name, &text);
            wrong.push(format!("{name}: {title} is not among {titles:?}: {found:?}\n{text}"));
        }
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    client.end();
}

/// A statement that makes everything behind it impossible removes all errors, and is never offered.
#[test]
fn a_contradiction_is_not_offered() {
    let (name, uri) = ("/nowhere/contradiction.vpr", "file:///nowhere/contradiction.vpr");
    let text = "field f: Int\nmethod m(x: Ref, y: Ref)\n  requires acc(x.f) && x == y\n{\n  exhale acc(x.f)\n  y.f := 1\n}\n";
    let mut client = Client::built();
    client.open(uri, text);
    client.settled(uri);
    let actions = offered(&mut client, uri, text);
    for action in &actions {
        holds(name, uri, text, action).expect("it removes its error");
        let title = action["title"].as_str().unwrap_or_default();
        assert!(!title.contains("`acc(y.f)` to the precondition"), "{title}");
    }
    client.end();
}

/// A text that cannot be parsed says nothing of names and types: what shows of them later is no
/// fault of the edit.
#[test]
fn what_shows_once_a_text_can_be_parsed_is_no_fault_of_the_edit() {
    let (name, uri) = ("/nowhere/equals.vpr", "file:///nowhere/equals.vpr");
    let text = "method m(x: Int)\n{\n  y = x\n}\n";
    let mut client = Client::built();
    client.open(uri, text);
    let is_wrong = |it: &Value| {
        it["method"] == "textDocument/publishDiagnostics"
            && it["params"]["diagnostics"] != json!([])
    };
    client.wait("an error", is_wrong);
    let actions = offered(&mut client, uri, text);
    let titles: Vec<&str> = actions.iter().filter_map(|it| it["title"].as_str()).collect();
    assert_eq!(titles, ["Change `=` to `:=`"], "{name}");
    client.end();
}

/// A part of the programs of the corpus, each time the same; `FIXES_EVERY=1`: all.
#[test]
fn what_is_offered_in_the_corpus_holds() {
    let every = std::env::var("FIXES_EVERY").ok().and_then(|it| it.parse().ok()).unwrap_or(48);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs =
        ["messages", "corpus"].map(|it| silicon::session::input::programs_below(&tests.join(it)));
    let mut client = Client::built();
    let (mut checked, mut open, mut wrong) = (0, 0, Vec::new());
    for path in programs.iter().flatten().step_by(every) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let name = path.display().to_string();
        let uri = format!("file://{}", name.replace(' ', "%20"));
        client.open(&uri, &text);
        for action in offered(&mut client, &uri, &text) {
            match holds(&name, &uri, &text, &action) {
                Ok(true) => checked += 1,
                Ok(false) => open += 1,
                Err(words) => wrong.push(words),
            }
        }
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        client.heard.clear();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let words = format!("{checked} edits that were checked hold, {open} were not checked\n");
    let _ = std::io::stderr().write_all(words.as_bytes());
    assert!(checked > 0);
    client.end();
}
