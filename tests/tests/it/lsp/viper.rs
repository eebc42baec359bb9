//! The dialogue that Viper-IDE holds with ViperServer, held with us: message by message, in its
//! order.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sil_tests::binaries;
use sil_tests::editor::{Client, PATIENCE};

const URI: &str = "file:///nowhere/a.vpr";
const RIGHT: &str = "method m(n: Int) { assert n == n }\nmethod k(n: Int) { assert n + 1 > n }\n";
const WRONG: &str = "method m(n: Int) { assert n == n }\nmethod k(n: Int) { assert n > 0 }\n";

/// As the extension begins.
fn begun() -> Client {
    let mut client = Client::as_viper_server();
    let answer = client.ask("GetVersion", json!({ "clientVersion": "5.3.2" }));
    let version = answer["result"]["serverVersion"].as_str().expect("a version");
    let numbers: Vec<u32> = version.split('.').map(|it| it.parse().expect("a number")).collect();
    assert!(numbers >= vec![3, 1, 0], "{version}");
    assert_eq!(answer["result"]["error"], Value::Null, "{answer}");
    client
}

fn verify(client: &mut Client, content: &str, backend: &str, arguments: &str) {
    client.tell(
        "Verify",
        json!({
            "uri": URI,
            "content": content,
            "manuallyTriggered": true,
            "workspace": null,
            "backend": backend,
            "customArgs": arguments,
        }),
    );
}

/// Returns the messages from now to the end of the run, in order: states, and other messages about
/// the file.
fn course(client: &mut Client) -> Vec<Value> {
    let end = |it: &Value| it["method"] == "StateChange" && it["params"]["newState"] == 6;
    client.heard.clear();
    let last = client.wait("the end of the run", end);
    let about = |it: &Value| {
        let method = it["method"].as_str().unwrap_or_default();
        ["StateChange", "textDocument/publishDiagnostics", "SetupProject", "Hint"].contains(&method)
    };
    let mut course: Vec<Value> = client.heard.drain(..).filter(about).collect();
    course.push(last);
    course
}

/// The numbers of the states, `d` for diagnostics with their number, `p` for the project.
fn short(course: &[Value]) -> Vec<String> {
    let word = |it: &Value| match it["method"].as_str().unwrap_or_default() {
        "StateChange" => it["params"]["newState"].to_string(),
        "SetupProject" => "p".to_owned(),
        "Hint" => "h".to_owned(),
        _ => format!("d{}", it["params"]["diagnostics"].as_array().map_or(0, Vec::len)),
    };
    course.iter().map(word).collect()
}

#[test]
fn a_run_is_told_from_its_start_to_its_end() {
    let mut client = begun();
    client.open(URI, WRONG);
    verify(&mut client, WRONG, "silicon", "--disableCaching \"/nowhere/a.vpr\"");
    let told = course(&mut client);
    let states = short(&told);
    assert_eq!(states.iter().find(|it| *it != "d0"), Some(&"h".to_owned()), "{states:?}");
    let position = |word: &str| {
        states.iter().position(|it| it == word).unwrap_or_else(|| panic!("{word} in {states:?}"))
    };
    let order = ["h", "9", "p", "2", "d1", "5", "6"].map(position);
    assert!(order.is_sorted(), "{states:?}");
    let of = |state: u64| {
        let is_it = move |it: &&Value| it["params"]["newState"] == state;
        told.iter().filter(is_it).map(|it| it["params"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(9)[0]["filename"], "a.vpr");
    let progress: Vec<_> = of(2).iter().map(|it| it["progress"].as_u64()).collect();
    assert_eq!(progress, [Some(0), Some(50), Some(100)]);
    let ready = &of(6)[0];
    assert_eq!(ready["success"], 4, "{ready}");
    assert_eq!(ready["verificationCompleted"], 1);
    assert_eq!(ready["manuallyTriggered"], 1);
    assert_eq!(ready["uri"], URI);
    assert_eq!(ready["error"], "");
    assert!(ready["time"].as_f64().is_some_and(|time| time > 0.0));
    let project = told.iter().find(|it| it["method"] == "SetupProject").expect("it is told");
    assert_eq!(project["params"], json!({ "projectUri": URI, "otherUris": [] }));
    let shown = told.iter().rfind(|it| it["method"] == "textDocument/publishDiagnostics");
    let found = &shown.expect("it is shown")["params"]["diagnostics"][0];
    assert_eq!(found["source"], "viper", "the client counts no others");
    assert_eq!(found["range"]["start"], json!({ "line": 1, "character": 26 }));

    // The text is mended, and what was found goes away before the end is told.
    client.change(URI, json!([{ "text": RIGHT }]));
    verify(&mut client, RIGHT, "silicon", "");
    let told = course(&mut client);
    assert_eq!(told.last().expect("it ends")["params"]["success"], 1, "{told:#?}");
    let shown = told.iter().rfind(|it| it["method"] == "textDocument/publishDiagnostics");
    assert_eq!(shown.expect("it is shown")["params"]["diagnostics"], json!([]));
    client.end();
}

#[test]
fn each_outcome_has_its_number() {
    let mut client = begun();
    client.open(URI, "");
    let hard = "method m(a: Int, b: Int, c: Int) requires a > 2 && b > 2 && c > 2\n{ assert a * a * a + b * b * b != c * c * c }\n";
    for (text, arguments, success) in [
        (RIGHT, "", 1),
        ("method m( {", "", 2),
        ("method m() { assert 1 }\n", "", 3),
        (WRONG, "", 4),
        (hard, "--assertTimeout 1 --z3ResourcesPerMillisecond 10", 7),
        // A program that declares nothing has been lost: that is no success.
        ("", "", 6),
        // A run that verifies nothing is no success, either.
        (RIGHT, "--check", 6),
    ] {
        client.change(URI, json!([{ "text": text }]));
        verify(&mut client, text, "silicon", arguments);
        let told = course(&mut client);
        assert_eq!(
            told.last().expect("it ends")["params"]["success"],
            success,
            "{text}: {told:#?}"
        );
    }
    client.end();
}

#[test]
fn what_is_not_done_is_refused() {
    let mut client = begun();
    client.open(URI, RIGHT);
    let refused =
        |it: &Value| it["method"] == "VerificationNotStarted" && it["params"]["uri"] == URI;
    for (backend, arguments, why) in [
        ("carbon", "", "carbon"),
        ("silicon", "--disableShortCircuitingEvaluations", "not supported"),
        ("silicon", "--plugin viper.silver.sif.SIFExtendedPlugin", "not supported"),
    ] {
        verify(&mut client, RIGHT, backend, arguments);
        let hint = client.wait("a hint", |it| it["method"] == "Hint");
        assert!(hint["params"]["message"].as_str().is_some_and(|it| it.contains(why)), "{hint}");
        client.wait("a refusal", refused);
    }
    assert!(!client.heard.iter().any(|it| it["method"] == "StateChange"), "{:?}", client.heard);
    // The document is not verified without being asked, and not by requests about something else.
    client.change(URI, json!([{ "text": WRONG }]));
    let answer = client.ask("GetLanguageServerUrl", Value::Null);
    let url = answer["result"]["url"].as_str().expect("an address").to_owned();
    assert!(url.starts_with("127.0.0.1:"), "{url}");
    assert_eq!(client.ask("GetViperServerUrl", Value::Null)["result"]["url"], url.as_str());
    assert!(client.worker().is_none(), "nobody asked for anything to be verified");
    client.end();
}

/// Makes a program that takes long unless it is stopped: no known proof is short.
fn long() -> String {
    let hard = |number: usize| {
        format!(
            "method m{number}(a: Int, b: Int, c: Int)\n  requires a > {number} && b > 0 && c > 0\n{{ assert a * a * a + b * b * b != c * c * c }}\n"
        )
    };
    (0..3).map(hard).collect()
}

#[test]
fn a_run_can_be_stopped_and_started_again() {
    let mut client = begun();
    client.open(URI, &long());
    let stopped = |it: &Value| it["method"] == "StateChange" && it["params"]["newState"] == 6;
    for round in 0..6 {
        verify(&mut client, &long(), "silicon", "");
        client.wait("the start", |it| it["params"]["newState"] == 9);
        match round % 3 {
            0 => {
                let answer = client.ask("StopVerification", json!({ "uri": URI }));
                assert_eq!(answer["result"]["success"], true);
            }
            1 => client.change(URI, json!([{ "text": long() }])),
            // Somebody is impatient.
            _ => verify(&mut client, &long(), "silicon", ""),
        }
        let end = client.wait("the end", stopped);
        assert_eq!(end["params"]["verificationCompleted"], 0, "{end}");
        assert_eq!(end["params"]["success"], 0, "{end}");
    }
    client.ask("StopVerification", json!({ "uri": URI }));
    client.heard.clear();
    client.change(URI, json!([{ "text": RIGHT }]));
    verify(&mut client, RIGHT, "silicon", "");
    assert_eq!(client.wait("the end", stopped)["params"]["success"], 1);

    // Findings of earlier runs are forgotten when the client asks for it.
    let recalled = |client: &mut Client| {
        client.heard.clear();
        verify(client, RIGHT, "silicon", "");
        client.wait("the end", stopped);
        let members = client.ask("silicon/members", json!({ "textDocument": { "uri": URI } }));
        members["result"]["members"][0]["recalled"].clone()
    };
    assert_eq!(recalled(&mut client), true);
    let flush = json!({ "uri": null, "backend": "silicon" });
    assert_eq!(client.ask("FlushCache", flush)["result"], Value::Null);
    assert_eq!(recalled(&mut client), false);
    assert_eq!(client.ask("RemoveDiagnostics", json!({ "uri": URI }))["result"]["success"], true);
    client.end();
}

#[test]
fn files_that_are_imported_belong_to_the_project() {
    let directory = tempfile::tempdir().expect("there is room");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("f.vpr"), "function f(): Int { 1 }\n").expect("there is room");
    let text = "import \"f.vpr\"\nmethod m() { assert f() == 1 }\n";
    fs::write(path("main.vpr"), text).expect("there is room");
    let uri = |name: &str| format!("file://{}", path(name).display());
    let mut client = begun();
    client.open(&uri("main.vpr"), text);
    client.tell(
        "Verify",
        json!({
            "uri": uri("main.vpr"), "content": text, "manuallyTriggered": false,
            "workspace": null, "backend": "silicon", "customArgs": "",
        }),
    );
    let told = course(&mut client);
    let project = told.iter().find(|it| it["method"] == "SetupProject").expect("it is told");
    assert_eq!(
        project["params"],
        json!({ "projectUri": uri("main.vpr"), "otherUris": [uri("f.vpr")] })
    );
    assert_eq!(told.last().expect("it ends")["params"]["manuallyTriggered"], 0);
    client.end();
}

#[test]
fn it_ends_as_the_client_ends_it_and_java_is_there() {
    let version = binaries::run("silicon", &["-version"], &std::env::temp_dir(), b"");
    assert_eq!(version.code, Some(0));
    let mut client = begun();
    client.open(URI, &long());
    verify(&mut client, &long(), "silicon", "");
    client.wait("the start", |it| it["params"]["newState"] == 2);
    let worker = client.worker().expect("there is one");
    let server = i32::try_from(client.process()).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(server, Signal::TERM).expect("it runs");
    let end = Instant::now() + PATIENCE;
    while fs::metadata(format!("/proc/{worker}")).is_ok() {
        assert!(Instant::now() < end, "the worker goes on");
        thread::sleep(Duration::from_millis(1));
    }
}
