//! `silicon serve`, and the client that the manual shows.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sil_tests::binaries::{self, Scratch};
use sil_tests::clients::installed;
use sil_tests::sample::{FAILS, VERIFIES, endless};
use sil_tests::schema::violations;

const MANUAL: &str = include_str!("../../../docs/front-ends.md");

/// A process that serves, and what it says.
struct Server {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        Self::start_in(&std::env::temp_dir())
    }

    /// With another directory for what is temporary.
    fn start_in(directory: &Path) -> Self {
        let mut process = Command::new(binaries::path("silicon"))
            .args(["serve", "--stdio"])
            .env("TMPDIR", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let said = BufReader::new(process.stdout.take().expect("it is a pipe"));
        Self { process, said }
    }

    fn say(&mut self, message: &str) {
        let stdin = self.process.stdin.as_mut().expect("it is a pipe");
        writeln!(stdin, "{message}").expect("it listens");
    }

    fn ask(&mut self, id: &Value, text: &str, options: &[&str]) {
        let verify = json!({ "name": "a.vpr", "text": text, "options": options });
        self.say(&json!({ "id": id, "verify": verify }).to_string());
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("it says something");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// The lines of the answer to a request, up to its end.
    fn answer(&mut self, id: &Value) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let mut answer = self.hear();
            assert_eq!(answer["to"], *id, "{answer}");
            assert!(answer["error"].is_null(), "{answer}");
            let line = answer["line"].take();
            let is_end = line["type"] == "run";
            lines.push(line);
            if is_end {
                return lines;
            }
        }
    }

    /// Ends its input, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.process.stdin.take());
        self.process.wait().expect("it ends").code()
    }
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["type"].as_str()).collect()
}

#[test]
fn answers_come_line_by_line_and_are_kept() {
    let schema = include_str!("../../../docs/schemas/output.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let mut server = Server::start();
    let text = format!("{VERIFIES}\nmethod wrong() {{ assert false }}\n");
    for (id, is_cached) in [(json!(1), false), (json!("again"), true), (json!({ "n": 3 }), false)] {
        let options: &[&str] = if id.is_object() { &["--no-cache"] } else { &[] };
        server.ask(&id, &text, options);
        let lines = server.answer(&id);
        let found = types(&lines);
        assert_eq!((found[0], &found[4..]), ("members", &["file", "run"][..]), "{lines:#?}");
        let of_members = types(&lines[1..4]).into_iter().filter(|&kind| kind == "member").count();
        assert_eq!((of_members, found.contains(&"diagnostic")), (2, true), "{lines:#?}");
        for line in &lines {
            assert_eq!(violations(&schema, line), Vec::<String>::new(), "{line}");
            if line["type"] == "member" {
                assert_eq!(line["cached"] == json!(true), is_cached, "{line}");
            }
        }
        let run = lines.last().expect("there is one");
        assert_eq!((&run["verdict"], &run["members"]), (&json!("failed"), &json!(2)));
        assert_eq!(run["verified"], 1);
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_makes_no_request_is_told_and_forgotten() {
    let mut server = Server::start();
    for message in ["nonsense", "{}", r#"{"id": 1}"#, r#"{"id": 1, "cancel": 1}"#, r#"{"x": 1}"#] {
        server.say(message);
        assert!(server.hear()["error"].is_string(), "{message}");
    }
    for options in [&["--no-such"][..], &["b.vpr"], &["lsp"], &["--report", "html=a.html"]] {
        server.ask(&json!(2), VERIFIES, options);
        let answer = server.hear();
        assert_eq!(answer["to"], 2, "{options:?}");
        assert!(answer["error"].is_string(), "{options:?}: {answer}");
    }
    server.ask(&json!(3), "method m( {", &[]);
    assert_eq!(server.answer(&json!(3)).last().expect("an end")["verdict"], "input-error");
    server.ask(&json!(4), VERIFIES, &["--compat", "silicon", "--z3Exe", "z3", "a.vpr"]);
    assert_eq!(server.answer(&json!(4)).last().expect("an end")["verdict"], "verified");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn requests_are_cancelled_before_and_while_they_are_worked_on() {
    let mut server = Server::start();
    let options = ["--join=never", "--member-limit=0"];
    server.ask(&json!(1), &endless(), &options);
    server.ask(&json!(2), &endless(), &options);
    server.ask(&json!(3), FAILS, &[]);
    server.say(r#"{"cancel": 2}"#);
    assert_eq!(server.hear()["line"]["type"], "members", "the first one is worked on");
    server.say(r#"{"cancel": 1}"#);
    for id in [json!(1), json!(2)] {
        let lines = server.answer(&id);
        let run = lines.last().expect("an end");
        assert_eq!((&run["interrupted"], &run["verdict"]), (&json!(true), &json!("inconclusive")));
    }
    assert_eq!(server.answer(&json!(3)).last().expect("an end")["verdict"], "failed");
    server.ask(&json!(4), &endless(), &options);
    assert_eq!(server.hear()["line"]["type"], "members");
    assert_eq!(server.end(), Some(0), "it does not wait for what nobody wants to know");
}

#[test]
fn nothing_is_left_where_a_signal_ends_it() {
    let scratch = Scratch::empty();
    for text in [None, Some(endless())] {
        let mut server = Server::start_in(scratch.path());
        server.ask(&json!(1), VERIFIES, &[]);
        server.answer(&json!(1));
        if let Some(text) = text {
            server.ask(&json!(2), &text, &["--join=never", "--member-limit=0"]);
            assert_eq!(server.hear()["line"]["type"], "members");
        }
        let pid = Pid::from_child(&server.process);
        kill_process(pid, Signal::TERM).expect("it is there");
        assert_eq!(server.process.wait().expect("it ends").code(), Some(143));
        let left: Vec<_> = fs::read_dir(scratch.path()).expect("it is there").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The text of the block of the manual that begins with this line.
fn block(head: &str) -> &'static str {
    let (_, rest) = MANUAL.split_once(&format!("```{head}\n")).expect("the block is there");
    rest.split_once("```").expect("the block has an end").0
}

#[test]
fn the_client_of_the_manual_works() {
    let Some(python) = installed("python3") else { return };
    let scratch = Scratch::new(&[
        ("client.py", block("python")),
        ("account.sil", block("sil")),
        ("good.vpr", VERIFIES),
    ]);
    let run = |directory: &Path| {
        let silicon = binaries::path("silicon");
        let run = Command::new(&python)
            .args(["client.py".as_ref(), silicon.as_os_str()])
            .args(["account.sil", "good.vpr"])
            .current_dir(directory)
            .output();
        binaries::Run::from(run.expect("it starts"))
    };
    let lines = |run: &binaries::Run| run.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
    let without = run(scratch.path());
    let message = "account.lang:4: Account.withdraw breaks its promise: this.balance >= 0";
    let verdicts = ["account.sil: failed, 0 of 1", "good.vpr: verified, 1 of 1"];
    assert_eq!(lines(&without), [&[message], &verdicts[..]].concat(), "{without:#?}");
    // Where the original program is, its words are quoted.
    let original = "\n\n\n  ensures balance > -1\n";
    fs::write(scratch.path().join("account.lang"), original).expect("it can be written");
    let with = run(scratch.path());
    let message = "account.lang:4: Account.withdraw breaks its promise: balance > -1";
    assert_eq!(lines(&with), [&[message], &verdicts[..]].concat(), "{with:#?}");
}
