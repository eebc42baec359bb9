//! Runs that are stopped, by who started them or by a limit: what is done is told, and the rest is
//! not called verified.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sil_tests::binaries::{self, Scratch};
use sil_tests::sample;

/// Long enough for a slow machine.
const PATIENCE: Duration = Duration::from_secs(240);
/// The directory of a run in its scratch directory.
const WORK: &str = "work";

/// A run of `silicon` in a directory of its own.
pub(crate) struct Running {
    scratch: Scratch,
    child: Child,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// Starts a run on these files. Temporary files stand beside them: a run that is killed leaves
    /// some behind.
    pub(crate) fn start(files: &[(&str, &str)], arguments: &[&str]) -> Self {
        let scratch = Scratch::empty();
        let directory = scratch.path().join(WORK);
        fs::create_dir(&directory).expect("a directory can be made");
        for (name, text) in files {
            fs::write(directory.join(name), text).expect("a temporary file can be written");
        }
        let output = |name: &str| File::create(directory.join(name)).expect("can be written");
        let child = Command::new(binaries::path("silicon"))
            .args(arguments)
            .current_dir(&directory)
            .env("TMPDIR", scratch.path())
            .stdin(Stdio::null())
            .stdout(output("stdout"))
            .stderr(output("stderr"))
            .spawn()
            .expect("silicon starts");
        Self { scratch, child }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(WORK).join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until there is a file, or something in it.
    pub(crate) fn wait_for(&self, what: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !what(self) {
            assert!(started.elapsed() < PATIENCE, "{}{}", self.read("stdout"), self.read("stderr"));
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(pid(self.child.id()), signal).expect("it runs");
    }

    /// Signals the process in which members are verified.
    fn signal_worker(&self, signal: Signal) {
        let worker = *self.workers().first().expect("there is a worker");
        kill_process(pid(worker), signal).expect("it runs");
    }

    /// The processes in which members are verified.
    pub(crate) fn workers(&self) -> Vec<u32> {
        let own = self.child.id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let children = children.expect("a process has a list of its children");
        children.split_whitespace().map(|child| child.parse().expect("a number")).collect()
    }

    pub(crate) fn end(mut self) -> Ended {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("silicon can be waited for") {
                break status;
            }
            if started.elapsed() > PATIENCE {
                self.child.kill().expect("silicon can be stopped");
                panic!("no end: {}{}", self.read("stdout"), self.read("stderr"));
            }
            thread::sleep(Duration::from_millis(5));
        };
        Ended { status, stdout: self.read("stdout"), stderr: self.read("stderr") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pid(number: u32) -> Pid {
    i32::try_from(number).ok().and_then(Pid::from_raw).expect("a number of a process")
}

impl Ended {
    /// The verdict on a member.
    fn verdict(&self, name: &str) -> String {
        let line = self.find("member", |line| line["name"] == name);
        line["verdict"].as_str().expect("a verdict").to_owned()
    }

    /// Returns the message about a member.
    fn message(&self, member: &str) -> String {
        let line = self.find("diagnostic", |line| line["member"] == member);
        line["message"].as_str().expect("a message").to_owned()
    }

    fn find(&self, kind: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let lines = self.stdout.lines().map(serde_json::from_str::<Value>);
        let mut lines = lines.map(|line| line.expect("each line is an object"));
        let found = lines.find(|line| line["type"] == kind && is_it(line));
        found.unwrap_or_else(|| panic!("no such {kind}: {}{}", self.stdout, self.stderr))
    }
}

/// A method whose proof takes longer than anybody waits.
fn slow(name: &str) -> String {
    sample::pigeons(name, 19)
}

/// Quick, slow, quick; the slow one waits for the first.
fn mixed() -> String {
    let first = "function first(x: Int): Int requires x > 0 ensures result > 0 { x }\n";
    let slow = slow("slow").replacen("{\n", "{\n  assume first(1) == 1\n", 1);
    let last = "method last(x: Int) requires x > 0 { assert x != 0 }\n";
    format!("{first}{slow}{last}")
}

/// No limit but those of the test.
const UNLIMITED: [&str; 8] =
    ["--message-format", "json", "-j", "1", "--limit", "0", "--member-limit", "0"];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&UNLIMITED, arguments].concat()
}

#[test]
fn who_interrupts_learns_what_is_done() {
    let _alone = super::alone();
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let program = format!("domain D {{ axiom {{ 1 < 2 }} }}\n{}", mixed());
        let run = Running::start(
            &[
                ("a.sil", "method m() { assert false }"),
                ("b.sil", &program),
                ("c.sil", "method n() { }"),
            ],
            &with(&[
                "--smt-log",
                "log",
                "--report",
                "sarif=s",
                "--report",
                "junit=j",
                "a.sil",
                "b.sil",
                "c.sil",
            ]),
        );
        run.wait_for(|run| run.path("log/b.sil/slow.smt2").exists());
        assert!(!run.path("s").exists(), "a report that is not written looks like none");
        run.signal(signal);
        let (sarif, junit) = (run.path("s"), run.path("j"));
        run.wait_for(|_| sarif.exists() && junit.exists());
        let sarif: Value = serde_json::from_str(&run.read("s")).expect("a whole report");
        assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
        let junit = run.read("j");
        assert!(junit.ends_with("</testsuites>\n"));
        for (suite, of_members) in [("a.sil", 0), ("b.sil", 2), ("c.sil", 1)] {
            let suites = || junit.split("<testsuite ").skip(1);
            let name = format!("name=\"{suite}\"");
            let text = suites().find(|one| one.starts_with(&name)).expect("each file has a suite");
            assert!(text.contains(&format!("errors=\"{of_members}\"")), "{text}");
            assert_eq!(text.matches("<error ").count(), of_members, "{text}");
        }
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(code), "{}", ended.stderr);
        assert_eq!(ended.verdict("m"), "failed");
        assert_eq!(ended.verdict("first"), "verified");
        assert_eq!(ended.verdict("D"), "verified", "nothing of it is to be done");
        assert_eq!(ended.verdict("slow"), "inconclusive");
        assert_eq!(ended.verdict("last"), "inconclusive");
        assert!(ended.message("slow").contains(name), "{}", ended.message("slow"));
        assert!(ended.stderr.contains("1 of 3 files were not begun"), "{}", ended.stderr);
        let of_run = ended.find("run", |_| true);
        assert_eq!((&of_run["interrupted"], &of_run["verdict"]), (&true.into(), &"failed".into()));
    }
}

/// Nobody reads its output, so that it cannot end by itself.
#[test]
fn a_second_signal_ends_it_at_once() {
    let _alone = super::alone();
    let mut program = String::new();
    for number in 0..2000 {
        let _ = writeln!(program, "method a_method_with_a_long_name_{number}() {{ assert false }}");
    }
    let scratch = Scratch::new(&[("a.sil", program)]);
    let mut child = Command::new(binaries::path("silicon"))
        .args(["--message-format", "json", "a.sil"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("silicon starts");
    let mut first = [0];
    let mut stdout = child.stdout.take().expect("a pipe");
    std::io::Read::read_exact(&mut stdout, &mut first).expect("it says something");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("silicon can be waited for") {
            break status;
        }
        assert!(started.elapsed() < PATIENCE, "it does not end");
        let _ = kill_process(pid(child.id()), Signal::INT);
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
}

/// A solver that does not look at its clock: here, one whose process stands still.
#[test]
fn a_member_that_does_not_stop_by_itself_is_ended() {
    let _alone = super::alone();
    let own = ["--member-limit", "1", "--smt-log", "log", "a.sil"];
    let run = Running::start(&[("a.sil", &mixed())], &[&UNLIMITED[..6], &own].concat());
    run.wait_for(|run| run.path("log/slow.smt2").exists());
    run.signal_worker(Signal::STOP);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    let verdicts = ["first", "slow", "last"].map(|name| ended.verdict(name));
    assert_eq!(verdicts, ["verified", "inconclusive", "verified"]);
    let message = ended.message("slow");
    assert!(message.contains("--member-limit") && message.contains("did not stop"), "{message}");
    assert!(ended.find("member", |one| one["name"] == "slow")["time_ms"].as_f64() > Some(1000.0));
}

/// A worker's answer counts, also if the listening process is interrupted before it hears the
/// answer.
#[test]
fn who_is_interrupted_hears_what_was_said_before() {
    let _alone = super::alone();
    let run = Running::start(&[("a.sil", &mixed())], &with(&["--smt-log", "log", "a.sil"]));
    let is_at_slow = |run: &Running| run.path("log/slow.smt2").exists();
    run.wait_for(|run| !run.workers().is_empty());
    run.signal(Signal::STOP);
    for _ in 0..400 {
        if is_at_slow(&run) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    if !is_at_slow(&run) {
        // The process was stopped before it had said what to do.
        run.signal(Signal::CONT);
        run.wait_for(is_at_slow);
    }
    run.signal(Signal::INT);
    run.signal(Signal::CONT);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(130), "{}", ended.stderr);
    assert_eq!(ended.verdict("first"), "verified");
    assert_eq!(ended.verdict("slow"), "inconclusive");
}

/// More pigeons than holes: no state satisfies it, and nobody waits for a proof of that.
fn pigeons() -> (String, String) {
    let (pigeons, holes) = (19, 18);
    let names: Vec<String> = (0..pigeons).map(|pigeon| format!("p{pigeon}")).collect();
    let mut parts: Vec<String> =
        names.iter().map(|name| format!("0 <= {name} && {name} < {holes}")).collect();
    for (index, name) in names.iter().enumerate() {
        parts.extend(names[..index].iter().map(|other| format!("{other} != {name}")));
    }
    let parameters: Vec<String> = names.iter().map(|name| format!("{name}: Int")).collect();
    (parameters.join(", "), parts.join(" && "))
}

/// Whatever is done for a member, it is that member which is given up, once; the others have their
/// verdicts.
#[test]
fn each_piece_of_work_is_given_up_as_its_member() {
    let _alone = super::alone();
    let (parameters, all) = pigeons();
    let names: Vec<&str> =
        parameters.split(", ").map(|one| one.trim_end_matches(": Int")).collect();
    let arguments = names.join(", ");
    let functions: String =
        names.iter().fold(String::new(), |text, name| text + "  function " + name + "(): Int\n");
    let constants = names.iter().rev().fold(all.clone(), |text, name| {
        text.replace(&format!("{name} "), &format!("{name}() "))
            .replace(&format!("{name}&"), &format!("{name}()&"))
    });
    let constants = format!("{constants}()");
    for (piece, text, log) in [
        (
            "contract",
            format!(
                "function slow({parameters}): Int\n  requires {all} ==> 1 \\ (p0 - p1 + p1 - p0) == 1\n{{ 1 }}\n"
            ),
            "slow.contract",
        ),
        (
            "body",
            format!(
                "function slow({parameters}): Int\n  requires {all}\n  ensures false\n{{ 1 }}\n"
            ),
            "slow.body",
        ),
        (
            "termination",
            format!(
                "function slow({parameters}): Int\n  requires {all}\n  decreases p0\n{{ slow({arguments}) }}\n"
            ),
            "slow_termination_proof",
        ),
        (
            "predicate",
            format!("predicate slow({parameters}) {{ {all} ==> 1 \\ (p0 - p1 + p1 - p0) == 1 }}\n"),
            "slow",
        ),
        // Ground axioms of a domain without parameters would keep the other members busy, too.
        (
            "axioms",
            format!("domain slow[T] {{\n{functions}  axiom {{ {constants} }}\n}}\n"),
            "slow.axioms",
        ),
    ] {
        // A worker that dies is noticed alike, whatever it works on.
        let is_first = piece == "contract";
        for signal in [Signal::STOP].into_iter().chain(is_first.then_some(Signal::KILL)) {
            let program = format!("method first() {{ assert false }}\n{text}method last() {{ }}\n");
            let arguments = ["--member-limit", "1", "--smoke", "--smt-log", "log", "a.vpr"];
            let arguments = [&UNLIMITED[..6], &arguments].concat();
            let run = Running::start(&[("a.vpr", &program)], &arguments);
            let path = run.path(&format!("log/{log}.smt2"));
            run.wait_for(|_| path.exists());
            run.signal_worker(signal);
            let ended = run.end();
            assert_eq!(ended.status.code(), Some(1), "{piece}: {}{}", ended.stdout, ended.stderr);
            assert_eq!(ended.verdict("first"), "failed", "{piece}");
            assert_eq!(ended.verdict("slow"), "inconclusive", "{piece}");
            assert_eq!(ended.verdict("last"), "verified", "{piece}");
        }
    }
}

/// The first process knows nothing of a signal to another one: neither of them does anything, and
/// it goes on waiting.
#[test]
fn a_signal_to_a_worker_wakes_nobody() {
    let _alone = super::alone();
    let files = [("a.sil", &*slow("slow"))];
    let run = Running::start(&files, &with(&["--smt-log", "log", "a.sil"]));
    run.wait_for(|run| run.path("log/slow.smt2").exists());
    run.signal_worker(Signal::TERM);
    let waits = |run: &Running| {
        let status = fs::read_to_string(format!("/proc/{}/status", run.child.id()));
        let status = status.expect("a process has a status");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|number| number.trim().parse::<u64>().ok()).expect("a number")
    };
    // One that is woken all the time never waits.
    let before = waits(&run);
    run.wait_for(|run| waits(run) >= before + 10);
    run.signal(Signal::TERM);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(143), "{}", ended.stderr);
    assert!(ended.message("slow").contains("SIGTERM"), "{}", ended.message("slow"));
}

/// A member with which the process ends costs that member, and what is told depends on how it
/// ended.
#[test]
fn a_member_that_ends_the_process_costs_that_member() {
    let _alone = super::alone();
    for (signal, name, verdict, code) in
        [(Signal::KILL, "SIGKILL", "inconclusive", 4), (Signal::ILL, "SIGILL", "error", 70)]
    {
        let run = Running::start(
            &[("a.sil", &mixed()), ("b.sil", "method other() { }")],
            &with(&["--smt-log", "log", "a.sil", "b.sil"]),
        );
        run.wait_for(|run| run.path("log/a.sil/slow.smt2").exists());
        run.signal_worker(signal);
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(code), "{}", ended.stdout);
        assert_eq!(ended.verdict("slow"), verdict);
        for quick in ["first", "last", "other"] {
            assert_eq!(ended.verdict(quick), "verified");
        }
        assert!(ended.message("slow").contains(name), "{}", ended.message("slow"));
    }
}

/// A program that is only checked is never in memory as a whole: 4 MB of text as trees would take
/// some 280 MB.
#[test]
fn checking_takes_the_memory_of_one_member() {
    let _alone = super::alone();
    let mut text = String::from("field value: Int\n");
    for number in 0.. {
        if text.len() > 4_000_000 {
            break;
        }
        let _ = writeln!(
            text,
            "method m{number}(c: Ref, n: Int) returns (r: Int)
  requires acc(c.value) && n >= 0
  ensures acc(c.value) && c.value == old(c.value) + n
{{
  var i: Int := 0
  while (i < n)
    invariant acc(c.value) && 0 <= i && i <= n && c.value == old(c.value) + i
  {{
    c.value := c.value + 1
    if (c.value > 10 && i % 2 == 0) {{ r := r + i * 3 }} else {{ r := r - |Seq(i, n)| }}
    i := i + 1
  }}
}}"
        );
    }
    let directory = Scratch::new(&[("large.sil", text)]);
    let ended = with_memory(350_000, directory.path(), &["--check", "-j", "1", "large.sil"]);
    assert_eq!(ended.status.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
}

/// Stacks are smaller where the address space is.
#[test]
fn little_memory_is_enough_for_small_programs() {
    let _alone = super::alone();
    let text = "method fails(x: Int) { assert x != 1 }\nmethod holds(x: Int) { assert x == x }\n";
    let directory = Scratch::new(&[("small.sil", text)]);
    let ended = with_memory(600_000, directory.path(), &["-j", "2", "small.sil"]);
    assert_eq!(ended.status.code(), Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("1 of 2 members verified, 1 failed"), "{}", ended.stdout);
}

/// Runs `silicon` with so many kilobytes of address space.
fn with_memory(kilobytes: u32, directory: &Path, arguments: &[&str]) -> Ended {
    let command = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &command])
        .arg(binaries::path("silicon"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("a shell starts");
    Ended {
        status: output.status,
        stdout: String::from_utf8(output.stdout).expect("it is text"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A thousand files with little memory: in one of them a question has more instances than fit,
/// another one needs more time than it gets. All others have their verdicts, and these two cost
/// their members only.
#[test]
fn a_thousand_files_under_a_memory_limit_have_verdicts() {
    let _alone = super::alone();
    let hungry = hungry();
    let slow =
        format!("{}method beside(x: Int) requires x > 0 {{ assert x != 0 }}\n", slow("slow"));
    let mut files = vec![("hungry.sil".to_owned(), hungry), ("slow.sil".to_owned(), slow)];
    files.extend((0..998).map(|number| {
        let holds = format!("method m{number}(x: Int) requires x > {number} {{ assert x != 0 }}\n");
        let fails = format!("method f{number}(x: Int) {{ assert x != {number} }}\n");
        (format!("file{number}.sil"), holds + &fails)
    }));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let directory = Scratch::new(&files);
    let arguments =
        ["--message-format", "json", "-j", "2", "--limit", "0", "--member-limit", "8", "."];
    let ended = with_memory(700_000, directory.path(), &arguments);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let run = ended.find("run", |_| true);
    assert_eq!(
        (&run["files"], &run["members"], &run["verified"]),
        (&1000.into(), &2002.into(), &1002.into())
    );
    for (member, verdict) in [
        ("hungry", "inconclusive"),
        ("slow", "inconclusive"),
        ("before", "verified"),
        ("behind", "verified"),
        ("beside", "verified"),
        ("m997", "verified"),
        ("f997", "failed"),
    ] {
        assert_eq!(ended.verdict(member), verdict, "{member}");
    }
    assert!(ended.message("hungry").contains("memory"), "{}", ended.message("hungry"));
    assert!(ended.message("slow").contains("--member-limit"), "{}", ended.message("slow"));
}

/// The quantifier has a trigger of four terms, each of which occurs often enough.
fn hungry() -> String {
    let mut text = String::from(
        "domain D {
  function f(i: Int): Int
  function g(a: Int, b: Int, c: Int, d: Int): Int
  axiom {
    forall a: Int, b: Int, c: Int, d: Int :: { f(a), f(b), f(c), f(d) }
      g(a, b, c, d) > f(a) + f(b) + f(c) + f(d)
  }
}
method before(x: Int) requires x > 0 { assert x != 0 }
method hungry() {
",
    );
    for number in 0..60 {
        let _ = writeln!(text, "  assume f({}) > {number}", 7 * number + 1);
    }
    text + "  assert false\n}\nmethod behind(x: Int) requires x > 0 { assert x != 0 }\n"
}

#[test]
fn under_a_time_limit_quick_members_have_their_turn() {
    let _alone = super::alone();
    let program = format!("{}{}", slow("before"), mixed());
    let run = Running::start(&[("a.sil", &program)], &with(&["--time-limit", "8", "a.sil"]));
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    for (name, verdict) in [
        ("before", "inconclusive"),
        ("first", "verified"),
        ("slow", "inconclusive"),
        ("last", "verified"),
    ] {
        assert_eq!(ended.verdict(name), verdict, "{name}");
    }
    for name in ["before", "slow"] {
        assert!(ended.message(name).contains("--time-limit"), "{}", ended.message(name));
    }
}

#[test]
fn a_limit_that_is_reached_is_named() {
    let _alone = super::alone();
    let arguments = ["--member-limit", "0.5", "a.sil"];
    let program = slow("slow");
    let run = Running::start(&[("a.sil", &program)], &[&UNLIMITED[..6], &arguments].concat());
    let ended = run.end();
    let message = ended.message("slow");
    assert!(message.contains("0.5 s") && message.contains("--member-limit"), "{message}");
    // The last statement is the one that takes so long.
    let diagnostic = ended.find("diagnostic", |line| line["member"] == "slow");
    let [note] = &diagnostic["notes"].as_array().expect("a list")[..] else {
        panic!("{diagnostic:#}");
    };
    assert_eq!(note["message"], "this was being verified (assert)");
    assert_eq!(note["start"]["line"], program.lines().count() - 1);
}

/// A reader of a report that is being written sees the earlier report, also through a link.
#[test]
fn reports_replace_what_was_there() {
    let _alone = super::alone();
    let scratch = Scratch::new(&[("a.sil", "method m() { }"), ("old", "before")]);
    std::os::unix::fs::symlink("old", scratch.path().join("link")).expect("a link can be made");
    let again = scratch.silicon(&["--report", "sarif=link", "a.sil"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    let link = fs::symlink_metadata(scratch.path().join("link"));
    assert!(link.expect("it is there").is_symlink());
    let report: Value = serde_json::from_str(&scratch.read("old")).expect("a whole report");
    assert_eq!(report["version"], "2.1.0");
    let names = fs::read_dir(scratch.path()).expect("it is there").filter_map(Result::ok);
    assert!(
        !names.map(|one| one.file_name()).any(|name| name.to_string_lossy().contains(".silicon-"))
    );
}
