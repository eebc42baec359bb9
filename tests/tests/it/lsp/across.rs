//! Names that several files use.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use sil_tests::binaries::Scratch;
use sil_tests::editor::Client;

fn uri(folder: &Path, file: &str) -> String {
    format!("file://{}", folder.join(file).display())
}

/// A folder of files, and a client that has the last one open.
fn opened(files: &[(&str, &str)]) -> (Scratch, Client) {
    let scratch = Scratch::new(files);
    let mut client = Client::in_folder(scratch.path());
    let (name, text) = files.last().expect("there are files");
    client.open(&uri(scratch.path(), name), text);
    (scratch, client)
}

const LIBRARY: &str =
    "field value: Int\nfunction get(c: Ref): Int\n  requires acc(c.value)\n{ c.value }\n";
const MIDDLE: &str = "import \"../library.vpr\"\nmethod get_it(c: Ref) requires acc(c.value) { assert get(c) == c.value }\n";
const UNRELATED: &str = "field value: Int\nmethod other(c: Ref) requires acc(c.value) {}\n";
const CLIENT: &str =
    "import \"below/middle.vpr\"\nmethod use(c: Ref)\n  requires acc(c.value)\n{\n  get_it(c)\n}\n";

fn rename(client: &mut Client, uri: &str, (line, character): (u32, u32), name: &str) -> Value {
    let document = json!({ "uri": uri });
    let position = json!({ "line": line, "character": character });
    let parameters = json!({ "textDocument": document, "position": position, "newName": name });
    client.ask("textDocument/rename", parameters)
}

/// Applies edits of single lines, the last one first.
fn applied(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut edits: Vec<&Value> = edits.as_array().expect("a list").iter().collect();
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let start = |edit: &Value| {
        let start = &edit["range"]["start"];
        (number(&start["line"]), number(&start["character"]))
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(start(edit)));
    for edit in edits {
        let (line, from) = start(edit);
        let to = number(&edit["range"]["end"]["character"]);
        lines[line].replace_range(from..to, edit["newText"].as_str().expect("a text"));
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_name_is_renamed_in_all_files_that_see_it() {
    let files = [
        ("library.vpr", LIBRARY),
        ("below/middle.vpr", MIDDLE),
        ("unrelated.vpr", UNRELATED),
        ("client.vpr", CLIENT),
    ];
    let (scratch, mut client) = opened(&files);
    let own = uri(scratch.path(), "client.vpr");
    client.settled(&own);
    let at = json!({ "line": 2, "character": 17 });
    let document = json!({ "uri": own });
    let context = json!({ "includeDeclaration": true });
    let parameters = json!({ "textDocument": document, "position": at, "context": context });
    let found = client.ask("textDocument/references", parameters)["result"].take();
    let found: Vec<&str> =
        found.as_array().expect("a list").iter().filter_map(|it| it["uri"].as_str()).collect();
    assert_eq!(found.iter().filter(|it| it.ends_with("library.vpr")).count(), 3, "{found:?}");
    assert_eq!(found.iter().filter(|it| it.ends_with("middle.vpr")).count(), 2, "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");

    let edits = rename(&mut client, &own, (2, 17), "content")["result"]["changes"].take();
    let edits: BTreeMap<String, Value> = serde_json::from_value(edits).expect("edits by URI");
    let changed: Vec<&String> = edits.keys().collect();
    let expected = ["below/middle.vpr", "client.vpr", "library.vpr"];
    assert_eq!(changed, expected.map(|name| uri(scratch.path(), name)).iter().collect::<Vec<_>>());
    let of = |name: &str, text: &str| applied(text, &edits[&uri(scratch.path(), name)]);
    assert_eq!(of("library.vpr", LIBRARY), LIBRARY.replace("value", "content"));
    assert_eq!(of("client.vpr", CLIENT), CLIENT.replace("value", "content"));
    assert_eq!(of("below/middle.vpr", MIDDLE), MIDDLE.replace("value", "content"));
    client.end();
}

#[test]
fn a_name_is_not_renamed_where_a_file_that_sees_it_would_break() {
    let refused = |(name, text)| {
        let (scratch, mut client) = opened(&[(name, text), ("library.vpr", LIBRARY)]);
        let uri = uri(scratch.path(), "library.vpr");
        client.settled(&uri);
        let answer = rename(&mut client, &uri, (0, 7), "content");
        client.end();
        answer["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let taken = "import \"library.vpr\"\nmethod taken(content: Ref) {}\n";
    assert!(refused(("taken.vpr", taken)).contains("taken.vpr` already"));
    let broken = "import \"library.vpr\"\nmethod broken() { undeclared() }\n";
    assert!(refused(("broken.vpr", broken)).contains("broken.vpr` has errors"));
}

#[test]
fn names_of_the_standard_library_stay() {
    let text = "import <decreases/int.vpr>\nmethod m(n: Int) { inhale decreasing(n, n) }\n";
    let (scratch, mut client) = opened(&[("client.vpr", text)]);
    let uri = uri(scratch.path(), "client.vpr");
    client.settled(&uri);
    assert!(rename(&mut client, &uri, (1, 28), "sinks")["error"]["message"].is_string());
    client.end();
}

/// While a text is written, it is no program, and what it imports is offered all the same.
#[test]
fn imported_names_are_completed_while_the_text_is_no_program() {
    let text = "import \"library.vpr\"\nmethod use(c: Ref)\n  requires acc(c.value)\n{\n  c.\n  var n: Int := \n}\n";
    let (scratch, mut client) = opened(&[("library.vpr", LIBRARY), ("client.vpr", text)]);
    let uri = uri(scratch.path(), "client.vpr");
    let mut labels = |line: u32, character: u32| {
        let found = client.at("textDocument/completion", &uri, line, character);
        let items = found.as_array().expect("a list").iter();
        items.filter_map(|it| it["label"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(labels(4, "  c.".len() as u32), ["value"]);
    let values = labels(5, "  var n: Int := ".len() as u32);
    assert!(values.iter().any(|label| label == "get"), "{values:?}");
    client.end();
}

#[test]
fn symbols_are_found_in_files_that_are_not_open() {
    let (scratch, mut client) = opened(&[("library.vpr", LIBRARY), ("other.vpr", UNRELATED)]);
    let found = client.ask("workspace/symbol", json!({ "query": "GET" }))["result"].take();
    let places: Vec<&Value> = found.as_array().expect("a list").iter().collect();
    assert_eq!(places.len(), 1, "{found}");
    assert_eq!(places[0]["name"], "get");
    assert_eq!(places[0]["location"]["uri"], uri(scratch.path(), "library.vpr"));
    client.end();
}
