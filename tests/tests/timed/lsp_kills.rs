//! The language server while its workers are ended at random: no verdict that is shown is wrong, or
//! about another text, and no process is left behind.

use std::fmt::Write as _;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;
use serde_json::{Value, json};
use sil_tests::binaries;
use sil_tests::editor::{Client, PATIENCE};

const URI: &str = "file:///nowhere/program.vpr";
const MEMBERS: usize = 6;

/// The members that are right.
type Right = [bool; MEMBERS];

/// Members that use each other, and take a while.
fn text(right: Right, version: i32) -> String {
    let mut text =
        format!("// {version}\nfield f: Int\nfunction square(n: Int): Int {{ n * n }}\n");
    for (number, is_right) in right.into_iter().enumerate() {
        let claim = if is_right { "r >= n" } else { "r > n" };
        let _ = writeln!(
            text,
            "method m{number}(x: Ref, n: Int) returns (r: Int)\n  requires acc(x.f)\n  ensures acc(x.f) && {claim}\n{{\n  x.f := square(n)\n  if (x.f < n) {{ r := n }} else {{ r := x.f }}\n}}"
        );
    }
    text
}

/// All that is told of a version has to fit what was right in it.
fn check(told: &Value, versions: &[Right]) {
    let of = &told["params"];
    let Some(version) = of["version"].as_i64() else { return };
    let right = versions[version as usize - 1];
    match told["method"].as_str() {
        Some("silicon/members") => {
            assert!(of["trouble"].is_null(), "{told}");
            for member in of["members"].as_array().expect("a list") {
                let name = member["name"].as_str().expect("a name");
                let number = name.strip_prefix('m').and_then(|it| it.parse::<usize>().ok());
                let is_right = number.is_none_or(|number| right[number]);
                let state = member["state"].as_str().expect("a word");
                let fits = match state {
                    "queued" | "running" => true,
                    "verified" => is_right,
                    "failed" => !is_right,
                    // Nobody is to blame for a process that was ended: it is tried again.
                    _ => false,
                };
                assert!(fits, "{name} is {state} in version {version}: {told}");
            }
        }
        Some("textDocument/publishDiagnostics") => {
            for found in of["diagnostics"].as_array().expect("a list") {
                let member = found["data"]["member"].as_str().expect("a member");
                let number: usize = member[1..].parse().expect("a number");
                assert!(!right[number], "{member} is right in version {version}: {told}");
            }
        }
        _ => {}
    }
}

/// `KILLS_EDITS`: so many edits; `KILLS_SEED`: which.
#[test]
fn no_verdict_is_wrong_whenever_workers_end() {
    let _alone = super::alone();
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let edits = number("KILLS_EDITS").unwrap_or(48);
    let directory = tempfile::tempdir().expect("there is room");
    // A copy, so that its processes are told from those of other tests.
    let silicon = directory.path().join("silicon");
    fs::copy(binaries::path("silicon"), &silicon).expect("there is room");
    let mut rng = Rng::with_seed(number("KILLS_SEED").unwrap_or(27));
    let mut client = Client::of(&silicon);
    let mut right = [true; MEMBERS];
    let mut versions = vec![right];
    client.open(URI, &text(right, 1));
    let (mut struck, mut settled) = (0, 0);
    for _ in 0..edits {
        let number = rng.usize(..MEMBERS);
        right[number] = !right[number];
        versions.push(right);
        client.change(URI, json!([{ "text": text(right, client.version + 1) }]));
        let position = json!({ "line": 8, "character": 3 });
        let document = json!({ "uri": URI });
        match rng.u8(..6) {
            0 => drop(client.start(
                "textDocument/hover",
                json!({ "textDocument": document, "position": position }),
            )),
            1 => drop(client.start(
                "textDocument/codeAction",
                json!({
                    "textDocument": document,
                    "range": { "start": position, "end": position },
                    "context": { "diagnostics": [] },
                }),
            )),
            2 => client.tell("textDocument/didSave", json!({ "textDocument": document })),
            3 => drop(client.start(
                "workspace/executeCommand",
                json!({ "command": "silicon.verify", "arguments": [URI] }),
            )),
            _ => {}
        }
        // Up to a while after everything is said.
        for _ in 0..rng.u8(..3) {
            thread::sleep(Duration::from_micros(rng.u64(..120_000)));
            let signals = [Signal::KILL, Signal::ABORT, Signal::SEGV, Signal::TERM];
            client.strike(signals[rng.usize(..signals.len())]);
            struck += 1;
        }
        if rng.u8(..4) == 0 {
            let members = client.settled(URI);
            let verified = members.iter().filter(|it| it["state"] == "verified").count();
            let expected = right.iter().filter(|it| **it).count() + 1;
            assert_eq!(verified, expected, "{members:?}");
            settled += 1;
        }
        client.listen();
        for told in client.heard.drain(..) {
            check(&told, &versions);
        }
    }
    // At the end all is known.
    client.change(URI, json!([{ "text": text(right, client.version + 1) }]));
    versions.push(right);
    client.settled(URI);
    client.heard.iter().for_each(|told| check(told, &versions));
    assert!(struck > edits / 2 && settled > edits / 8, "{struck} {settled}");
    client.end();
    let end = Instant::now() + PATIENCE;
    while let Some(left) = binaries::running(&silicon) {
        assert!(Instant::now() < end, "process {left} goes on");
        thread::sleep(Duration::from_millis(10));
    }
}
