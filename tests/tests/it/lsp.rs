//! The language server as editors use it.

mod across;
mod reading;
mod states;
mod viper;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use sil_tests::binaries::{self, Scratch};
use sil_tests::editor::Client;

const URI: &str = "file:///nowhere/program.vpr";

/// With characters that are of another length in each way of counting.
const TEXT: &str = "// Zähler 𝔘\nfield value: Int\n\npredicate cell(c: Ref) { acc(c.value) }\n\n\
    method set(/* 𝔘 */ c: Ref, n: Int)\n  requires cell(c)\n  ensures cell(c)\n{\n  unfold cell(c)\n  c.value := n\n  fold cell(c)\n}\n\n\
    method wrong(c: Ref)\n{\n  /* 𝔘ä */ c.value := 1\n}\n";

fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    json!({
        "start": { "line": start.0, "character": start.1 },
        "end": { "line": end.0, "character": end.1 },
    })
}

fn states(members: &[Value]) -> Vec<(&str, &str)> {
    let text = |value: &'_ Value| value.as_str().map(str::len).map(|_| ());
    members
        .iter()
        .inspect(|member| assert!(text(&member["name"]).is_some()))
        .map(|member| {
            (member["name"].as_str().unwrap_or(""), member["state"].as_str().unwrap_or(""))
        })
        .collect()
}

#[test]
fn members_get_verdicts_and_places_are_those_of_editors() {
    let mut client = Client::built();
    client.open(URI, TEXT);
    let members = client.settled(URI);
    assert_eq!(states(&members), [("cell", "verified"), ("set", "verified"), ("wrong", "failed")]);
    let [found] = &client.diagnostics(URI, 1)[..] else { panic!("there is one") };
    assert_eq!(found["code"], "assignment.failed:insufficient.permission");
    assert_eq!(found["range"]["start"], json!({ "line": 16, "character": 12 }), "{found}");

    // Only what changed is verified again; what is above it moves it.
    let begin = range((0, 0), (0, 0));
    client.change(URI, json!([{ "range": begin, "text": "// 𝔘𝔘\n" }]));
    let members = client.settled(URI);
    assert!(members.iter().all(|member| member["recalled"] == true), "{members:?}");
    let [found] = &client.diagnostics(URI, 1)[..] else { panic!("there is one") };
    assert_eq!(found["range"]["start"], json!({ "line": 17, "character": 12 }), "{found}");
    let parameter = range((15, 0), (15, 20));
    let better = "method wrong(c: Ref) requires acc(c.value)";
    client.change(URI, json!([{ "range": parameter, "text": better }]));
    let members = client.settled(URI);
    let again: Vec<_> = members.iter().map(|it| it["recalled"] == true).collect();
    assert_eq!(again, [true, true, false]);
    assert_eq!(states(&members)[2], ("wrong", "verified"));
    client.diagnostics(URI, 0);
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let lenses = lenses["result"].as_array().expect("a list").clone();
    assert_eq!(lenses.len(), 3);
    assert!(lenses.iter().all(|it| {
        it["command"]["title"].as_str().is_some_and(|title| title.starts_with("✓ verified"))
    }));
    client.end();
}

#[test]
fn names_are_found_explained_and_changed() {
    let mut client = Client::built();
    client.open(URI, TEXT);
    let hover = client.at("textDocument/hover", URI, 9, 9);
    let words = hover["contents"]["value"].as_str().expect("it says something");
    assert!(words.contains("predicate cell(c: Ref)"), "{words}");
    assert_eq!(hover["range"], range((9, 9), (9, 13)));
    let hover = client.at("textDocument/hover", URI, 10, 13);
    assert!(hover["contents"]["value"].as_str().is_some_and(|it| it.contains("n: Int")), "{hover}");
    // Behind a character of two units.
    let place = client.at("textDocument/definition", URI, 16, 13);
    assert_eq!(place["range"], range((14, 13), (14, 14)));
    let place = client.at("textDocument/definition", URI, 16, 15);
    assert_eq!(place["range"], range((1, 6), (1, 11)));

    let document = json!({ "uri": URI });
    let position = json!({ "line": 5, "character": 20 });
    let context = json!({ "includeDeclaration": true });
    let parameters = json!({ "textDocument": document, "position": position, "context": context });
    let places = client.ask("textDocument/references", parameters)["result"].take();
    let lines: Vec<_> = places.as_array().expect("a list").iter().collect();
    let lines: Vec<_> = lines.iter().map(|it| it["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [5, 6, 7, 9, 10, 11], "the other c is another one");

    let mut rename = |name: &str| {
        let parameters = json!({ "textDocument": document, "position": position, "newName": name });
        client.ask("textDocument/rename", parameters)
    };
    let edits = rename("box")["result"]["changes"][URI].take();
    assert_eq!(edits.as_array().map(Vec::len), Some(6), "{edits}");
    assert!(rename("n")["error"]["message"].as_str().is_some_and(|it| it.contains("already")));
    assert!(rename("method")["error"]["message"].is_string());

    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let names: Vec<_> = symbols["result"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = names.iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["value", "cell", "set", "wrong"]);
    let items = client.at("textDocument/completion", URI, 10, 4);
    let labels: Vec<_> = items.as_array().expect("a list").iter().map(|it| &it["label"]).collect();
    assert_eq!(labels, ["value"], "after a dot there are fields");
    let tokens =
        client.ask("textDocument/semanticTokens/full", json!({ "textDocument": document }));
    assert!(tokens["result"]["data"].as_array().is_some_and(|data| data.len() > 100));
    let folds = client.ask("textDocument/foldingRange", json!({ "textDocument": document }));
    assert_eq!(folds["result"].as_array().map(Vec::len), Some(2));
    client.end();
}

#[test]
fn errors_of_the_text_are_told_and_go_away() {
    let mut client = Client::built();
    client.open(URI, "method m(n: Int)\n{\n  var ä: Int\n  assert n\n}\n");
    let found = client.diagnostics(URI, 1);
    assert_eq!(found[0]["severity"], 1, "{found:?}");
    client.change(URI, json!([{ "text": "method m(n: Int)\n{\n  assert n == n\n}\n" }]));
    client.diagnostics(URI, 0);
    assert_eq!(states(&client.settled(URI)), [("m", "verified")]);
    client.end();
}

/// As a check tells them: not again for each use of a macro.
#[test]
fn errors_of_the_text_are_told_once() {
    let mut client = Client::built();
    let text = "define inner(a, b)\n\ndefine outer(s) forall i: Int :: { inner(i, i) } i in s ==> i > 0\n\nfunction f(s: Set[Int]): Bool\n  requires outer(s)\n  requires outer(s)\n";
    client.open(URI, text);
    let published = client.wait("diagnostics", |it| {
        it["method"] == "textDocument/publishDiagnostics"
            && it["params"]["diagnostics"] != json!([])
    });
    let found = published["params"]["diagnostics"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{published}");
    assert_eq!(found[0]["range"]["start"]["line"], 2, "{published}");
    client.end();
}

#[test]
fn other_languages_are_known_by_the_name() {
    let uri = "file:///nowhere/c.chalice";
    let mut client = Client::built();
    client.open(uri, "class C {\n  var f: int;\n  method m()\n    requires acc(f)\n  {\n    f := 1;\n    assert f == 2;\n  }\n}\n");
    let members = client.settled(uri);
    assert!(members.iter().any(|it| it["name"] == "C.m" && it["state"] == "failed"), "{members:?}");
    let place = client.at("textDocument/definition", uri, 5, 4);
    assert_eq!(place["range"], range((1, 6), (1, 7)));
    client.end();
}

/// Names that several classes have, and a variable that hides a field.
const CLASSES: &str = "class Cell {
  var value: int;
  predicate inv { acc(value) }
  function get(): int requires acc(value) { value }
  method set(v: int) returns (before: int)
    requires acc(value)
    ensures acc(value) && value == v && get() == v
  {
    before := value;
    value := v;
  }
}
class Other {
  var value: bool;
  method use(c: Cell) returns (r: int)
    requires acc(c.value)
    ensures acc(c.value)
  {
    call r := c.set(3);
    assert c.value == 3 && c.get() == 3;
    var value: int := c.value;
    assert value == 3;
    var d: Cell := new Cell { value := 7 };
    call x := d.set(1);
  }
}
";

/// The resolved program gives names their meaning, in Chalice, too.
#[test]
fn names_of_classes_are_told_apart() {
    let uri = "file:///nowhere/classes.chalice";
    let mut client = Client::built();
    client.open(uri, CLASSES);
    let members = client.settled(uri);
    assert!(members.iter().all(|it| it["state"] == "verified"), "{members:?}");
    let place = |client: &mut Client, line, character| {
        let start =
            client.at("textDocument/definition", uri, line, character)["range"]["start"].take();
        (start["line"].as_u64(), start["character"].as_u64())
    };
    let at = |line, character| (Some(line), Some(character));
    assert_eq!(place(&mut client, 15, 20), at(1, 6), "c.value is that of Cell");
    assert_eq!(place(&mut client, 18, 16), at(4, 9), "the method of the receiver's class");
    assert_eq!(place(&mut client, 19, 29), at(3, 11));
    assert_eq!(place(&mut client, 21, 12), at(20, 8), "the variable, not the field");
    assert_eq!(place(&mut client, 22, 31), at(1, 6), "what is initialised");
    assert_eq!(place(&mut client, 22, 12), at(0, 6), "a class in a type");
    let document = json!({ "uri": uri });
    let parameters = |context: Value| json!({ "textDocument": document, "position": { "line": 1, "character": 7 }, "context": context, "newName": "content" });
    let context = json!({ "includeDeclaration": true });
    let places = client.ask("textDocument/references", parameters(context))["result"].take();
    let lines: Vec<_> = places.as_array().expect("a list").iter().collect();
    let lines: Vec<_> = lines.iter().map(|it| it["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [1, 2, 3, 3, 5, 6, 6, 8, 9, 15, 16, 19, 20, 22]);
    let edits = client.ask("textDocument/rename", parameters(Value::Null))["result"].take();
    assert_eq!(edits["changes"][uri].as_array().map(Vec::len), Some(14), "{edits}");
    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let below: Vec<_> = symbols["result"].as_array().expect("a list").iter().collect();
    let below: Vec<_> = below.iter().map(|it| it["children"].as_array().map(Vec::len)).collect();
    assert_eq!(below, [Some(4), Some(2)]);
    let hover = client.at("textDocument/hover", uri, 21, 12);
    assert!(hover["contents"]["value"].as_str().is_some_and(|it| it.contains("value: int")));
    let folds = client.ask("textDocument/foldingRange", json!({ "textDocument": document }));
    assert_eq!(folds["result"].as_array().map(Vec::len), Some(4), "{folds}");
    let tokens =
        client.ask("textDocument/semanticTokens/full", json!({ "textDocument": document }));
    assert!(tokens["result"]["data"].as_array().is_some_and(|data| data.len() > 100));
    let items = client.at("textDocument/completion", uri, 15, 20);
    let items: Vec<_> = items.as_array().expect("a list").iter().map(|it| &it["label"]).collect();
    assert!(items.iter().any(|it| **it == "value") && items.iter().any(|it| **it == "get"));
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": document }));
    assert_eq!(lenses["result"].as_array().map(Vec::len), Some(members.len()), "{lenses}");
    client.end();
}

/// A function that fails at once, and methods that wait for it and take long, if nobody stops them.
fn long() -> String {
    let mut text = String::from("function quick(n: Int): Int\n  ensures result > n\n{ n }\n\n");
    for number in 0..6 {
        let _ = writeln!(
            text,
            "method m{number}(a: Int, b: Int, c: Int, d: Int, e: Int, z: Int)
  requires a > 1 && b > 1 && c > 1 && d > 1 && e > 1 && z > 1
{{
  assume quick(a) != quick(b)
  assert a * b * c * d + a * a * b != c * c * c * e * z + z * z * a + 7
}}
"
        );
    }
    text
}

#[test]
fn what_is_going_on_can_be_stopped() {
    let mut client = Client::built();
    client.open(URI, &long());
    let begin = client.wait("begin of work", |it| it["params"]["value"]["kind"] == "begin");
    let token = begin["params"]["token"].clone();
    client.tell("window/workDoneProgress/cancel", json!({ "token": token }));
    client.wait("end of work", |it| it["params"]["value"]["kind"] == "end");
    client.change(URI, json!([{ "text": "method m(n: Int) { assert n == n }" }]));
    assert_eq!(states(&client.settled(URI)), [("m", "verified")]);
    client.end();
}

#[test]
fn a_stopped_run_keeps_what_was_found() {
    let mut client = Client::built();
    client.open(URI, &long());
    client.wait("first verdict", |it| {
        it["method"] == "silicon/members" && it["params"].to_string().contains("\"failed\"")
    });
    let command = json!({ "command": "silicon.cancel", "arguments": [URI] });
    client.ask("workspace/executeCommand", command);
    let members = client.ask("silicon/members", json!({ "textDocument": { "uri": URI } }));
    let members = members["result"]["members"].as_array().expect("a list").clone();
    let state = |name: &str| members.iter().find(|it| it["name"] == name).map(|it| &it["state"]);
    assert_eq!(state("quick"), Some(&json!("failed")), "{members:?}");
    assert_eq!(state("m5"), Some(&json!("stopped")), "{members:?}");
    client.end();
}

#[test]
fn an_edit_is_news_of_its_member_only() {
    let mut client = Client::built();
    let method = |number| format!("method m{number}(n: Int) {{ assert n == n }}\n");
    let text: String = (0..100).map(method).collect();
    client.open(URI, &text);
    assert_eq!(client.settled(URI).len(), 100);
    client.heard.clear();
    let line = range((50, 0), (51, 0));
    client.change(
        URI,
        json!([{ "range": line, "text": "method edited(n: Int) { assert n > 0 }\n" }]),
    );
    assert_eq!(client.settled(URI).len(), 100);
    let told = client.heard.iter().filter(|it| it["method"] == "silicon/members");
    let told: Vec<&Value> =
        told.filter_map(|it| it["params"]["members"].as_array()).flatten().collect();
    assert!(told.iter().all(|it| it["name"] == "edited"), "{told:?}");
    client.end();
}

/// Whatever happens to the worker, each verdict that is shown is that of the text with that
/// version.
#[test]
fn a_worker_that_is_killed_costs_no_verdict() {
    let mut client = Client::built();
    let text = |is_right: bool| {
        let value = if is_right { "r := n + 1" } else { "r := n" };
        format!("method m(n: Int) returns (r: Int)\n  ensures r > n\n{{ {value} }}\n")
    };
    client.open(URI, &text(true));
    let mut expected = vec![(1, true)];
    for round in 0..32_u32 {
        let is_right = round.count_ones() % 2 == 0;
        client.change(URI, json!([{ "text": text(is_right) }]));
        let version = client.version;
        expected.push((version, is_right));
        // Before the worker has the text, while it has it, or when all is said.
        match round % 4 {
            0 => {}
            1 => drop(client.wait("publication", |it| {
                it["method"] == "textDocument/publishDiagnostics"
                    && it["params"]["version"] == version
            })),
            2 => drop(client.wait("list of what is planned or done", |it| {
                it["method"] == "silicon/members"
                    && it["params"]["version"] == version
                    && it["params"]["members"] != json!([])
            })),
            _ => drop(client.settled(URI)),
        }
        client.kill_worker(if round % 3 == 0 { Signal::ABORT } else { Signal::KILL });
    }
    let last = expected.last().expect("there are some").1;
    client.change(URI, json!([{ "text": text(last) + "\n" }]));
    expected.push((client.version, last));
    let settled = client.settled(URI);
    assert_eq!(states(&settled), [("m", if last { "verified" } else { "failed" })]);
    for told in client.heard.iter().filter(|it| it["method"] == "silicon/members") {
        let of = &told["params"];
        let (_, is_right) = expected.iter().find(|(version, _)| of["version"] == *version).unwrap();
        for member in of["members"].as_array().expect("a list") {
            let state = member["state"].as_str().expect("a word");
            assert_ne!(state, if *is_right { "failed" } else { "verified" }, "{told}");
        }
    }
    client.end();
}

/// A green verdict is that of the present text, also in what is asked for right after an edit.
#[test]
fn an_edit_takes_verdicts_away() {
    let mut client = Client::built();
    let right = "method m(n: Int) { assert n == n }";
    let wrong = "method m(n: Int) { assert n != n }";
    client.open(URI, right);
    assert_eq!(states(&client.settled(URI)), [("m", "verified")]);
    client.heard.clear();
    client.change(URI, json!([{ "text": wrong }]));
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    assert!(!lenses.to_string().contains("verified"), "{lenses}");
    let members = client.ask("silicon/members", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(members["result"]["version"], 2, "{members}");
    assert!(!members.to_string().contains("verified"), "{members}");
    assert_eq!(states(&client.settled(URI)), [("m", "failed")]);
    client.diagnostics(URI, 1);

    // Another text under the number of an earlier one.
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.open(URI, right);
    assert_eq!(states(&client.settled(URI)), [("m", "verified")]);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.heard.clear();
    client.open(URI, wrong);
    let members = client.ask("silicon/members", json!({ "textDocument": { "uri": URI } }));
    assert!(!members["result"].to_string().contains("\"verified\""), "{members}");
    assert_eq!(states(&client.settled(URI)), [("m", "failed")]);
    client.end();
}

#[test]
fn a_worker_that_was_killed_is_followed_by_another_one() {
    let mut client = Client::built();
    client.open(URI, "method m(n: Int) { assert n == n }");
    client.settled(URI);
    let first = client.worker().expect("there is a worker");
    client.kill_worker(Signal::KILL);
    client.change(URI, json!([{ "text": "method m(n: Int) { assert n != n }" }]));
    assert_eq!(states(&client.settled(URI)), [("m", "failed")]);
    assert_ne!(client.worker().expect("there is another one"), first);
    client.end();
}

/// A copy of the program under test, which can be taken away while it runs.
fn copy(directory: &Path) -> PathBuf {
    let program = directory.join("silicon");
    fs::copy(binaries::path("silicon"), &program).expect("it can be copied");
    program
}

/// Returns the message in the window, and the only finding.
fn failure(client: &mut Client) -> (String, String) {
    let shown = client.wait("message", |it| it["method"] == "window/showMessage");
    let [found] = &client.diagnostics(URI, 1)[..] else { panic!("there is one") };
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&shown["params"]["message"]), text(&found["message"]))
}

#[test]
fn a_worker_that_does_not_start_is_told() {
    let directory = tempfile::tempdir().expect("there is room");
    let program = copy(directory.path());
    let mut client = Client::of(&program);
    fs::remove_file(&program).expect("it is there");
    client.open(URI, "method m(n: Int) { assert n == n }");
    let (shown, found) = failure(&mut client);
    assert!(shown.contains("/nowhere/program.vpr is not verified"), "{shown}");
    assert!(found.contains("the process that verifies does not start"), "{found}");
    let command = json!({ "command": "silicon.verify", "arguments": [URI] });
    let answer = client.ask("workspace/executeCommand", command);
    let words = answer["error"]["message"].as_str().expect("an error");
    assert!(words.contains("the process that verifies does not start"), "{words}");
    client.end();
}

/// The program is replaced by one that ends at once and counts how often it was started.
#[test]
fn a_worker_that_ends_with_each_text_is_not_started_for_ever() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("there is room");
    let program = copy(directory.path());
    let mut client = Client::of(&program);
    fs::remove_file(&program).expect("it is there");
    // So the system calls the program of a process when its file is gone.
    let other = directory.path().join("silicon (deleted)");
    let count = directory.path().join("count");
    fs::write(&other, format!("#!/bin/sh\necho >> '{}'\n", count.display())).expect("room");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let starts = || fs::read_to_string(&count).expect("it was started").len();
    client.open(URI, "method m(n: Int) { assert n == n }");
    let (shown, found) = failure(&mut client);
    assert!(shown.contains("is not verified"), "{shown}");
    assert!(found.contains("ended while it loaded it"), "{found}");
    assert_eq!(starts(), 4);
    let members = client.ask("silicon/members", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(members["result"]["members"], json!([]));
    assert!(members["result"]["trouble"].is_string(), "{members}");
    // Another text is tried again.
    client.change(URI, json!([{ "text": "method m(n: Int) { assert n != n }" }]));
    failure(&mut client);
    assert_eq!(starts(), 8);
    client.end();
}

/// A verdict is also about the files that were imported.
#[test]
fn a_file_that_is_imported_takes_verdicts_away() {
    let directory = tempfile::tempdir().expect("there is room");
    let path = |name: &str| directory.path().join(name);
    let uri = |name: &str| format!("file://{}", path(name).display());
    let function = |value: u32| format!("function f(): Int {{ {value} }}\n");
    fs::write(path("f.vpr"), function(1)).expect("there is room");
    let mut client = Client::built();
    client.open(&uri("main.vpr"), "import \"f.vpr\"\nmethod m() { assert f() == 1 }\n");
    let of_m = |members: Vec<Value>| {
        members.iter().find(|it| it["name"] == "m").expect("it is there")["state"].clone()
    };
    assert_eq!(of_m(client.settled(&uri("main.vpr"))), "verified");
    client.heard.clear();
    fs::write(path("f.vpr"), function(2)).expect("there is room");
    let saved = json!({ "textDocument": { "uri": uri("f.vpr") } });
    client.tell("textDocument/didSave", saved);
    assert_eq!(of_m(client.settled(&uri("main.vpr"))), "failed");
    client.heard.clear();
    fs::write(path("f.vpr"), function(1)).expect("there is room");
    let changes = json!({ "changes": [{ "uri": uri("f.vpr"), "type": 2 }] });
    client.tell("workspace/didChangeWatchedFiles", changes);
    assert_eq!(of_m(client.settled(&uri("main.vpr"))), "verified");
    client.end();
}

/// Groups of five members that use each other: 200 in all. `other`: what is written differently in
/// the group of that number.
fn groups(other: Option<(usize, &str, &str)>) -> String {
    let mut text = "field f: Int\n".to_owned();
    for group in 0..40 {
        let members = format!(
            "predicate p{group}(x: Ref) {{ acc(x.f) && x.f >= {group} }}\n\
             function g{group}(n: Int): Int {{ n + {group} }}\n\
             method a{group}(n: Int) returns (r: Int)\n  ensures r >= n\n{{ r := g{group}(n) }}\n\
             method b{group}(x: Ref)\n  requires p{group}(x)\n{{ unfold p{group}(x) assert x.f >= 0 }}\n\
             method c{group}(n: Int)\n{{ var r: Int r := a{group}(n) assert r >= n }}\n"
        );
        match other {
            Some((number, old, new)) if number == group => {
                assert!(members.contains(old), "{old}");
                text += &members.replacen(old, new, 1);
            }
            _ => text += &members,
        }
    }
    text
}

#[test]
fn a_directory_of_answers_serves_later_servers_and_runs() {
    let scratch = Scratch::new(&[("a.vpr", groups(None))]);
    let kept = scratch.path().join("kept");
    let kept = kept.to_str().expect("a name of a test is text");
    for recalled in [false, true] {
        let mut client = Client::called(&["--cache", kept]);
        client.open(URI, &groups(None));
        let members = client.settled(URI);
        assert!(members.iter().all(|it| it["state"] == "verified"), "{members:?}");
        assert!(members.iter().all(|it| it["recalled"] == recalled), "{members:?}");
        client.end();
    }
    let run = scratch.silicon(&["a.vpr", "--cache", kept]);
    assert!(run.stdout.contains("(200 cached)"), "{}", run.stdout);
    // No directory is no server without answers.
    let run = scratch.silicon(&["lsp", "--cache", "a.vpr"]);
    assert_ne!(run.code, Some(0));
    assert!(run.stderr.contains("no cache in a.vpr"), "{}", run.stderr);
}

#[test]
fn an_edit_costs_the_member_and_those_that_depend_on_it() {
    let mut client = Client::built();
    client.open(URI, &groups(None));
    let members = client.settled(URI);
    assert_eq!(members.len(), 200);
    assert!(members.iter().all(|it| it["state"] == "verified"), "{members:?}");
    let edits: [(&str, &str, &[&str]); 7] = [
        // The body of a method is nobody else's business; what stands between members is nobody's.
        ("{ r := g17(n) }", "{ r := g17(n) + 1 }", &["a17"]),
        ("method b17", "// 𝔘\nmethod b17", &[]),
        // A contract concerns callers, a body of a function or predicate all who use it.
        ("ensures r >= n\n", "ensures r >= n && r >= n - 1\n", &["a17", "c17"]),
        ("{ n + 17 }", "{ n + 18 }", &["g17", "a17"]),
        ("x.f >= 17 }", "x.f >= 18 }", &["p17", "b17"]),
        // Verdicts that were known are known again.
        ("x.f >= 17 }", "x.f >= 17 }", &[]),
        ("assert x.f >= 0", "assert x.f > 0", &["b17"]),
    ];
    for (old, new, expected) in edits {
        client.change(URI, json!([{ "text": groups(Some((17, old, new))) }]));
        let members = client.settled(URI);
        let again = members.iter().filter(|it| it["recalled"] == false);
        let mut again: Vec<_> = again.filter_map(|it| it["name"].as_str()).collect();
        again.sort_by_key(|name| expected.iter().position(|it| it == name));
        assert_eq!(again, expected, "{old} is {new}");
        // Back, without work.
        client.change(URI, json!([{ "text": groups(None) }]));
        let members = client.settled(URI);
        assert!(members.iter().all(|it| it["recalled"] == true), "{members:?}");
    }
    client.end();
}
