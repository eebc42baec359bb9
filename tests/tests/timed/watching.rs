//! `--watch`: a run after each edit, until somebody ends it.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use sil_tests::sample::{ILL_TYPED, endless};

use crate::alone;
use crate::stopping::Running;

const IMPORTED: &str = "function bound(): Int { 3 }\n";
const PROGRAM: &str = "import \"lib.vpr\"
method uses(x: Int) requires x > bound() { assert x > 2 }
method other(x: Int) requires x > 0 { assert x != 0 }
";
const WATCH: [&str; 5] = ["a.vpr", "--watch", "--message-format", "json", "--no-config"];

fn start(arguments: &[&str]) -> Running {
    Running::start(&[("a.vpr", PROGRAM), ("lib.vpr", IMPORTED)], arguments)
}

/// Waits for the next run to end, and returns what it has said.
fn next(running: &Running, seen: &mut usize) -> Vec<Value> {
    let ends =
        |running: &Running| running.read("stderr").matches("waiting for an edit").count() > *seen;
    running.wait_for(ends);
    *seen += 1;
    let text = running.read("stdout");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let lines: Vec<Value> = lines.collect();
    let is_end = |line: &Value| line["type"] == "run";
    let last = lines.len() - 1;
    assert!(is_end(&lines[last]), "{text}");
    let begin = lines[..last].iter().rposition(is_end).map_or(0, |index| index + 1);
    lines[begin..].to_vec()
}

/// The members of a run, with their verdicts; those that needed no work in brackets.
fn members(lines: &[Value]) -> String {
    let members = lines.iter().filter(|line| line["type"] == "member").map(|line| {
        let text = format!("{} {}", line["name"], line["verdict"]).replace('"', "");
        if line["cached"] == true { format!("({text})") } else { text }
    });
    members.collect::<Vec<_>>().join(", ")
}

/// Replaces a file at once, as editors do: no run reads half of it.
fn write(running: &Running, name: &str, text: &str) {
    fs::write(running.path("new"), text).expect("it can be written");
    fs::rename(running.path("new"), running.path(name)).expect("it can be renamed");
}

#[test]
fn an_edit_verifies_what_it_concerns() {
    let _alone = alone();
    let (running, mut seen) = (start(&WATCH), 0);
    let first = next(&running, &mut seen);
    assert_eq!(members(&first), "bound verified, uses verified, other verified");
    // An import is watched, too; the answer of what does not read it is kept.
    write(&running, "lib.vpr", &IMPORTED.replace('3', "1"));
    let second = next(&running, &mut seen);
    assert_eq!(members(&second), "bound verified, uses failed, (other verified)");
    write(&running, "a.vpr", &PROGRAM.replace("x > 2", "x > 1"));
    let third = next(&running, &mut seen);
    assert_eq!(members(&third), "(bound verified), uses verified, (other verified)");
    write(&running, "a.vpr", ILL_TYPED);
    let fourth = next(&running, &mut seen);
    assert_eq!(members(&fourth), "");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
}

/// Some editors write into the file: a run may see half of the text, the last one sees it all.
#[test]
fn a_file_is_written_in_place() {
    let _alone = alone();
    let (running, mut seen) = (start(&WATCH), 0);
    next(&running, &mut seen);
    fs::write(running.path("lib.vpr"), IMPORTED.replace('3', "1")).expect("it can be written");
    while !members(&next(&running, &mut seen)).contains("uses failed") {}
}

/// An edit counts, whatever the time of the file says, and so does a file that goes or comes.
#[test]
fn files_are_moved_deleted_and_made() {
    let _alone = alone();
    let (running, mut seen) = (start(&WATCH), 0);
    next(&running, &mut seen);
    write(&running, "older", &IMPORTED.replace('3', "1"));
    let file = fs::File::options().write(true).open(running.path("older")).expect("it is there");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    file.set_modified(long_ago).expect("its time can be set");
    fs::rename(running.path("older"), running.path("lib.vpr")).expect("it can be moved");
    let moved = next(&running, &mut seen);
    assert_eq!(members(&moved), "bound verified, uses failed, (other verified)");
    fs::remove_file(running.path("lib.vpr")).expect("it can be deleted");
    assert_eq!(members(&next(&running, &mut seen)), "");
    write(&running, "lib.vpr", IMPORTED);
    let again = next(&running, &mut seen);
    assert!(members(&again).contains("uses verified"), "{again:?}");
    running.signal(Signal::INT);
    assert_eq!(running.end().status.code(), Some(0));
}

/// Returns the processor time of a process, as far as there is one.
fn busy(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = behind_name.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Duration::from_millis(1000 * ticks / rustix::param::clock_ticks_per_second())
}

#[test]
fn an_edit_ends_the_run_that_is_at_work() {
    let _alone = alone();
    let (running, mut seen) = (start(&[&WATCH[..], &["--join", "never", "-j2"]].concat()), 0);
    next(&running, &mut seen);
    write(&running, "a.vpr", &format!("{PROGRAM}{}", endless()));
    // A worker that is busy for so long has read the program, and does not read the next edit.
    let is_busy = |worker: &u32| busy(*worker) > Duration::from_secs(1);
    running.wait_for(|running| running.workers().iter().any(is_busy));
    write(&running, "a.vpr", &format!("{PROGRAM}method more(x: Int) {{ assert x > 0 }}\n"));
    let last = next(&running, &mut seen);
    let expected = "(bound verified), (uses verified), (other verified), more failed";
    assert_eq!(members(&last), expected);
    running.signal(Signal::INT);
    assert_eq!(running.end().status.code(), Some(1));
}

/// Programs come and go, and so do files that they miss.
#[test]
fn a_directory_is_watched() {
    let _alone = alone();
    let arguments = [&["."], &WATCH[1..]].concat();
    let (running, mut seen) = (start(&arguments), 0);
    assert!(members(&next(&running, &mut seen)).contains("other verified"));
    write(&running, "b.vpr", "import \"c.vpr\"\nmethod b() { assert c() > 0 }\n");
    let missing = next(&running, &mut seen);
    assert!(missing.iter().any(|line| line["verdict"] == "input-error"), "{missing:?}");
    write(&running, "c.vpr", "function c(): Int { 1 }\n");
    let complete = members(&next(&running, &mut seen));
    assert!(complete.contains("b verified"), "{complete}");
    fs::remove_file(running.path("b.vpr")).expect("it is there");
    let last = members(&next(&running, &mut seen));
    assert!(!last.contains("b verified") && last.contains("(c verified)"), "{last}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().status.code(), Some(0));
}
