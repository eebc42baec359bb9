//! Help for reading and typing: links, signatures, selections, hints, symbols, completions.

use serde_json::{Value, json};
use sil_tests::editor::Client;

const URI: &str = "file:///nowhere/reading.vpr";

const TEXT: &str = "import \"parts/other.vpr\"
field f: Int
domain Pair { function pair(a: Int, b: Int): Pair }
method callee(x: Ref, s: Seq[Int], n: Int) returns (r: Int)
  requires acc(x.f)
  ensures acc(x.f)
{
  label before
  r := old[before](x.f) + n
}
method caller(y: Ref)
  requires acc(y.f)
{
  var t: Int
  t := callee(y, Seq(1, 2), 3)
}
";

/// A client that has a text open which is a program but for the import, if that is left out.
fn opened(text: &str) -> Client {
    let mut client = Client::built();
    client.open(URI, text);
    client
}

fn program() -> String {
    TEXT.split_inclusive('\n').skip(1).collect()
}

#[test]
fn imports_lead_to_files() {
    let mut client = opened(TEXT);
    let document = json!({ "textDocument": { "uri": URI } });
    let links = client.ask("textDocument/documentLink", document)["result"].take();
    assert_eq!(links.as_array().map(Vec::len), Some(1), "{links}");
    assert_eq!(links[0]["target"], "file:///nowhere/parts/other.vpr");
    assert_eq!(links[0]["range"]["start"], json!({ "line": 0, "character": 8 }));
    client.end();
}

#[test]
fn what_is_called_is_told_with_the_argument_at_work() {
    let mut client = opened(&program());
    let line = 13;
    let call = "  t := callee(y, Seq(1, 2), 3)";
    assert_eq!(program().lines().nth(line), Some(call));
    let mut told = |character: usize| {
        client.at("textDocument/signatureHelp", URI, line as u32, character as u32)
    };
    for (before, argument) in [("callee(", 0), ("callee(y, S", 1), ("Seq(1, 2),", 2)] {
        let at = call.find(before).expect("it is there") + before.len();
        let help = told(at);
        let label = "method callee(x: Ref, s: Seq[Int], n: Int) returns (r: Int)";
        assert_eq!(help["signatures"][0]["label"], label, "{help}");
        assert_eq!(help["activeParameter"], argument, "{before}: {help}");
        let parts = help["signatures"][0]["parameters"].as_array().expect("a list");
        let words = |part: &Value| {
            let end = |at: usize| part["label"][at].as_u64().expect("a number") as usize;
            label[end(0)..end(1)].to_owned()
        };
        let parts: Vec<String> = parts.iter().map(words).collect();
        assert_eq!(parts, ["x: Ref", "s: Seq[Int]", "n: Int"]);
    }
    // A built-in function has no declaration: the call around it is told; outside, none.
    assert_eq!(told(call.find("1, 2").expect("it is there") + 1)["activeParameter"], 1);
    assert_eq!(told(4), Value::Null);
    // Also while the call is no program yet.
    let begin = json!({ "line": line, "character": 14 });
    let end = json!({ "line": line, "character": call.len() });
    client.change(URI, json!([{ "range": { "start": begin, "end": end }, "text": "y, " }]));
    let help = client.at("textDocument/signatureHelp", URI, line as u32, 17);
    assert_eq!(help["activeParameter"], 1, "{help}");
    client.end();
}

#[test]
fn selections_grow_outwards() {
    let mut client = opened(&program());
    let parameters = json!({
        "textDocument": { "uri": URI },
        "positions": [{ "line": 13, "character": 21 }],
    });
    let mut selection = client.ask("textDocument/selectionRange", parameters)["result"][0].take();
    let text = program();
    let lines: Vec<&str> = text.lines().collect();
    let mut selected = Vec::new();
    while !selection.is_null() {
        let end = |end: &str, key: &str| {
            selection["range"][end][key].as_u64().expect("a number") as usize
        };
        let (first, last) = (end("start", "line"), end("end", "line"));
        let (from, to) = (end("start", "character"), end("end", "character"));
        selected.push(if first == last {
            lines[first][from..to].to_owned()
        } else {
            format!("{} lines", last - first + 1)
        });
        selection = selection["parent"].take();
    }
    let expected = [
        "1",
        "1, 2",
        "(1, 2)",
        "y, Seq(1, 2), 3",
        "(y, Seq(1, 2), 3)",
        "4 lines",
        "4 lines",
        "6 lines",
        "16 lines",
    ];
    assert_eq!(selected, expected);
    client.end();
}

#[test]
fn verdicts_stand_beside_members_where_they_are_wanted() {
    let mut client = opened(&program());
    client.settled(URI);
    let whole = json!({
        "textDocument": { "uri": URI },
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } },
    });
    let hints = client.ask("textDocument/inlayHint", whole.clone())["result"].take();
    let shown: Vec<(u64, bool)> = (hints.as_array().expect("a list").iter())
        .map(|it| {
            let label = it["label"].as_str().expect("a text");
            (it["position"]["line"].as_u64().expect("a number"), label.starts_with("✓ verified"))
        })
        .collect();
    assert_eq!(shown, [(1, true), (2, true), (9, true)]);
    // At the end of the line.
    let length = "method caller(y: Ref)".len();
    assert_eq!(hints[2]["position"]["character"], length);
    client.end();
    let mut client = Client::with(&json!({ "hints": false }));
    client.open(URI, &program());
    client.settled(URI);
    assert_eq!(client.ask("textDocument/inlayHint", whole)["result"], json!([]));
    client.end();
}

#[test]
fn symbols_of_all_texts_are_found_by_a_part_of_their_name() {
    let mut client = opened(&program());
    client.open("file:///nowhere/b.chalice", "class Caller { method m() { } }\n");
    client.at("textDocument/hover", "file:///nowhere/b.chalice", 0, 0);
    client.at("textDocument/hover", URI, 0, 0);
    let found = client.ask("workspace/symbol", json!({ "query": "CALL" }))["result"].take();
    let names: Vec<&str> =
        found.as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["Caller", "callee", "caller"], "{found}");
    let found = client.ask("workspace/symbol", json!({ "query": "pair" }))["result"].take();
    assert_eq!(found[1]["containerName"], "Pair", "{found}");
    client.end();
}

#[test]
fn labels_and_types_are_completed_where_nothing_else_may_stand() {
    let mut client = opened(&program());
    let mut labels = |line: u32, character: u32| {
        let found = client.at("textDocument/completion", URI, line, character);
        let items = found.as_array().expect("a list").iter();
        let labels = items.filter_map(|it| it["label"].as_str().map(str::to_owned));
        labels.collect::<Vec<_>>()
    };
    assert_eq!(labels(7, "  r := old[".len() as u32), ["before"]);
    let types = labels(12, "  var t: ".len() as u32);
    assert!(["Int", "Ref", "Pair"].iter().all(|it| types.iter().any(|one| one == it)), "{types:?}");
    assert!(!types.iter().any(|one| one == "callee" || one == "y" || one == "while"), "{types:?}");
    client.end();
}

#[test]
fn what_is_completed_fits_the_place() {
    let text = "field f: Int
predicate cell(x: Ref) { acc(x.f) }
method callee() {}
method caller(y: Ref)
  requires cell(y)
{
  unfold c
  c
  assert c
}

c";
    let mut client = opened(text);
    let mut labels = |line: u32, character: u32| {
        let found = client.at("textDocument/completion", URI, line, character);
        let items = found.as_array().expect("a list").iter();
        let labels = items.filter_map(|it| it["label"].as_str().map(str::to_owned));
        labels.collect::<Vec<_>>()
    };
    assert_eq!(labels(6, "  unfold c".len() as u32), ["acc", "cell"]);
    let has = |labels: &[String], word: &str| labels.iter().any(|label| label == word);
    let claims = labels(8, "  assert c".len() as u32);
    assert!(has(&claims, "cell") && has(&claims, "forall") && has(&claims, "y"), "{claims:?}");
    assert!(!has(&claims, "callee") && !has(&claims, "while"), "{claims:?}");
    let declarations = labels(11, 1);
    assert!(has(&declarations, "method") && !has(&declarations, "y"), "{declarations:?}");
    assert!(!has(&declarations, "assert") && !has(&declarations, "callee"), "{declarations:?}");
    client.end();
}

#[test]
fn keywords_are_explained() {
    let mut client = opened(&program());
    let hover = client.at("textDocument/hover", URI, 2, 1)["contents"]["value"].take();
    let told = hover.as_str().expect("a text");
    assert!(told.contains("verified against its contract"), "{told}");
    let (uri, chalice) = ("file:///nowhere/c.chalice", "class C { method m() { share this; } }");
    client.open(uri, chalice);
    let hover = client.at("textDocument/hover", uri, 0, 25)["contents"]["value"].take();
    assert!(hover.as_str().is_some_and(|told| told.contains("monitor")), "{hover}");
    client.end();
}

#[test]
fn texts_are_laid_out_by_changes_of_blanks() {
    let mut client = opened("method m(){\nvar x:Int // kept\nx:=1 }\n");
    let asked = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4 } });
    let edits = client.ask("textDocument/formatting", asked.clone())["result"].take();
    let texts: Vec<&str> =
        edits.as_array().expect("a list").iter().filter_map(|it| it["newText"].as_str()).collect();
    assert_eq!(texts, [" ", "\n  ", " ", "\n  ", " ", " ", "\n"], "{edits}");
    client.change(URI, json!([{ "text": "method m( {" }]));
    let refused = client.ask("textDocument/formatting", asked);
    assert!(refused["error"]["message"].is_string(), "{refused}");
    client.end();
}

#[test]
fn what_a_message_proposes_is_offered_once() {
    let text = "method m(value: Int)\n{\n  var x: Int\n  x = value\n}\n";
    let mut client = opened(text);
    client.diagnostics(URI, 1);
    let at = |line: u32| json!({ "line": line, "character": 0 });
    let asked = json!({
        "textDocument": { "uri": URI }, "range": { "start": at(3), "end": at(4) },
        "context": { "diagnostics": [] },
    });
    let offered = client.ask("textDocument/codeAction", asked)["result"].take();
    let titles: Vec<&str> =
        offered.as_array().expect("a list").iter().filter_map(|it| it["title"].as_str()).collect();
    let count = titles.iter().filter(|title| title.starts_with("Change `=` to `:=`")).count();
    assert_eq!(count, 1, "{titles:?}");
    client.end();
}

#[test]
fn a_part_of_a_text_has_the_colours_that_it_has_in_the_whole() {
    let mut client = opened(&program());
    let document = json!({ "uri": URI });
    let range = json!({
        "start": { "line": 3, "character": 0 }, "end": { "line": 5, "character": 0 },
    });
    let parameters = json!({ "textDocument": document, "range": range });
    let part = client.ask("textDocument/semanticTokens/range", parameters)["result"].take();
    let whole = client.ask("textDocument/semanticTokens/full", json!({ "textDocument": document }));
    let placed = |data: &Value| {
        let numbers: Vec<u64> =
            data["data"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
        let (mut line, mut start) = (0, 0);
        let mut tokens = Vec::new();
        for five in numbers.chunks(5) {
            start = if five[0] == 0 { start + five[1] } else { five[1] };
            line += five[0];
            tokens.push((line, start, five[2], five[3]));
        }
        tokens
    };
    let (part, mut whole) = (placed(&part), placed(&whole["result"]));
    whole.retain(|it| (3..5).contains(&it.0));
    assert_eq!(part, whole);
    assert!(!part.is_empty());
    client.end();
}

#[test]
fn what_was_found_before_can_be_forgotten() {
    let mut client = opened(&program());
    client.settled(URI);
    let command = |name: &str| json!({ "command": name, "arguments": [URI] });
    let again = |client: &mut Client| {
        client.ask("workspace/executeCommand", command("silicon.verify"));
        // Messages before the answer are about the run before.
        client.heard.clear();
        let members = client.settled(URI);
        members.iter().filter(|it| it["recalled"] == true).count()
    };
    assert_eq!(again(&mut client), 3);
    client.ask("workspace/executeCommand", command("silicon.flush"));
    // A domain without axioms is no work.
    assert!(again(&mut client) < 2);
    client.end();
}
