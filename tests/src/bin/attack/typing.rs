//! Types into programs as somebody would in an editor, and measures how long the language server
//! takes to say what is wrong with the text.
//!
//! `cargo run --release -p sil-tests --bin attack -- typing --edits 20 --seed 1 DIR` opens each
//! program below a directory, and edits it: a letter more or less, a word doubled, a line away. The
//! time is that from the edit to the diagnostics of the front end for that very version. At the end
//! of each program they have to be those of a fresh check. Exit code: 0 if they are and 97 % of the
//! programs have 95 % of their edits answered within the bound, 1 otherwise.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use fastrand::Rng;
use serde_json::{Value, json};
use sil_tests::editor::Client;
use sil_tests::plant::lot;
use silicon::session::input::programs_below;
use silicon::session::{Input, Session, Task};

/// Types into programs, and measures how long the language server takes to say what is wrong with
/// the text.
#[derive(Args)]
pub(super) struct Options {
    /// Which edits are made
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many in each program
    #[arg(long, default_value_t = 20)]
    edits: usize,
    /// How long to wait between edits, in milliseconds: what was begun meanwhile is stopped by the
    /// next edit
    #[arg(long, default_value_t = 0)]
    pause: u64,
    /// How long an answer may take, in milliseconds
    #[arg(long, default_value_t = 50)]
    bound: u64,
    /// The command, if not the one that is built
    #[arg(long, value_name = "FILE")]
    silicon: Option<PathBuf>,
    /// Where programs are
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
}

/// The measurements of one program.
struct Typed {
    name: String,
    bytes: usize,
    /// The times of its edits, the shortest first.
    times: Vec<Duration>,
    /// How long the server was at work for an edit, on average: that does not depend on who else
    /// is.
    work: Duration,
    /// The last diagnostics, where a fresh check yields others.
    difference: Option<String>,
}

impl Typed {
    /// The time within which so many hundredths of the edits were answered.
    fn within(&self, hundredths: usize) -> Duration {
        let last = (self.times.len() * hundredths).div_ceil(100).max(1) - 1;
        self.times.get(last).copied().unwrap_or_default()
    }
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let mut client = match &args.silicon {
        Some(path) => Client::of(path),
        None => Client::built(),
    };
    let mut all = Vec::new();
    for path in args.directories.iter().flat_map(|directory| programs_below(directory)) {
        let bytes = std::fs::read(&path).context("cannot read a program")?;
        // Editors hand over nothing else.
        if let Ok(text) = String::from_utf8(bytes) {
            all.push(typed(&mut client, args, &path, text));
        }
    }
    client.end();
    anyhow::ensure!(!all.is_empty(), "there are no programs");
    all.sort_by_key(|it| it.within(95));
    let bound = Duration::from_millis(args.bound);
    let mut out = io::stdout().lock();
    for it in all.iter().filter(|it| it.within(95) > bound) {
        let (half, most) = (it.within(50), it.within(95));
        writeln!(
            out,
            "LATE {:.1?} (half of them {half:.1?}), {} bytes: {}",
            most, it.bytes, it.name
        )?;
    }
    for (it, words) in all.iter().filter_map(|it| Some((it, it.difference.as_ref()?))) {
        writeln!(out, "DIFFERENT {}: {words}", it.name)?;
    }
    let late = all.iter().filter(|it| it.within(95) > bound).count();
    let different = all.iter().filter(|it| it.difference.is_some()).count();
    let at = |hundredths: usize| all[(all.len() * hundredths).div_ceil(100).max(1) - 1].within(95);
    let edits: usize = all.iter().map(|it| it.times.len()).sum();
    let late_edits = all.iter().flat_map(|it| &it.times).filter(|&&time| time > bound).count();
    writeln!(
        out,
        "{} programs, {edits} edits; 95 % of the edits of a program are answered within {:.1?} for half of the programs, {:.1?} for \
         90 %, {:.1?} for 97 %, {:.1?} for all",
        all.len(),
        at(50),
        at(90),
        at(97),
        at(100)
    )?;
    let mut work: Vec<Duration> = all.iter().map(|it| it.work).collect();
    work.sort();
    let at = |hundredths: usize| work[(all.len() * hundredths).div_ceil(100).max(1) - 1];
    let within = work.iter().filter(|&&it| it <= bound).count();
    writeln!(
        out,
        "the server's own work for an edit, on average: {:.1?} for half of the programs, {:.1?} for 90 %, {:.1?} for 97 %, {:.1?} for \
         all; within {} ms for {:.1} % of the programs",
        at(50),
        at(90),
        at(97),
        at(100),
        args.bound,
        100.0 * within as f64 / all.len() as f64,
    )?;
    writeln!(
        out,
        "within {} ms: {:.1} % of the programs, {:.1} % of the edits; {different} programs end with other diagnostics than a check",
        args.bound,
        100.0 * (all.len() - late) as f64 / all.len() as f64,
        100.0 * (edits - late_edits) as f64 / edits.max(1) as f64,
    )?;
    let is_fine = different == 0 && late * 100 <= all.len() * 3;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn typed(client: &mut Client, args: &Options, path: &Path, mut text: String) -> Typed {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let uri = uri(&absolute);
    let seed = lot(args.seed, "typing", &path.display().to_string(), 0);
    let mut rng = Rng::with_seed(seed);
    let bytes = text.len();
    client.open(&uri, &text);
    answered(client, &uri);
    let mut times = Vec::new();
    let mut last = Value::Null;
    let before = worked(client.process());
    for _ in 0..args.edits {
        let (range, new) = edit(&text, &mut rng);
        let change = json!({ "range": { "start": position(&text, range.start), "end": position(&text, range.end) }, "text": new });
        text.replace_range(range, &new);
        thread::sleep(Duration::from_millis(args.pause));
        let begun = Instant::now();
        client.change(&uri, json!([change]));
        last = answered(client, &uri);
        times.push(begun.elapsed());
        client.heard.clear();
    }
    let work = worked(client.process()).saturating_sub(before) / args.edits.max(1) as u32;
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let expected = checked(&absolute, &text);
    let found = said(&last);
    let difference = (expected != found).then(|| format!("{found:?} for {expected:?}\n{text}"));
    times.sort();
    Typed { name: path.display().to_string(), bytes, times, work, difference }
}

/// How long a process has been at work, in steps of a hundredth of a second.
fn worked(process: u32) -> Duration {
    let of = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which may have blanks, the times are the 12th and 13th fields.
    let fields = of.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.display().to_string().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The diagnostics of the present version that come first.
fn answered(client: &mut Client, uri: &str) -> Value {
    let version = client.version;
    client.wait("diagnostics", |it| {
        it["method"] == "textDocument/publishDiagnostics"
            && it["params"]["uri"] == uri
            && it["params"]["version"] == version
    })
}

/// The ids and lines of what was published.
fn said(published: &Value) -> Vec<(String, u64)> {
    let all = published["params"]["diagnostics"].as_array().into_iter().flatten();
    let one = |it: &Value| {
        let line = it["range"]["start"]["line"].as_u64().unwrap_or_default();
        (it["code"].as_str().unwrap_or_default().to_owned(), line)
    };
    let mut all: Vec<_> = all.map(one).collect();
    all.sort();
    all
}

/// The same of a fresh check.
fn checked(path: &Path, text: &str) -> Vec<(String, u64)> {
    let session = Session { task: Task::Check, ..Session::default() };
    let name = path.display().to_string();
    let outcome = session.run(&Input::text(name.as_str(), text));
    let own = outcome.diagnostics.iter().filter(|it| *it.message.place.file == *name);
    let line = |line: u32| u64::from(line.saturating_sub(1));
    let mut all: Vec<_> =
        own.map(|it| (it.message.id.clone(), line(it.message.place.start.line))).collect();
    all.sort();
    all
}

/// The place of an offset as editors count: in units of UTF-16.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let character = before[start..].encode_utf16().count();
    json!({ "line": before.matches('\n').count(), "character": character })
}

/// Makes the next edit: the replaced range, and the new text.
fn edit(text: &str, rng: &mut Rng) -> (std::ops::Range<usize>, String) {
    let mut at = rng.usize(..=text.len());
    // Editors have no place inside of a character, or of the end of a line.
    let is_place = |at: usize| {
        text.is_char_boundary(at) && !(text[..at].ends_with('\r') && text[at..].starts_with('\n'))
    };
    while !is_place(at) {
        at -= 1;
    }
    let next = (at + 1..=text.len()).find(|&next| is_place(next)).unwrap_or(at);
    match rng.u8(..5) {
        0 => (at..next, String::new()),
        1 => {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            (start..end, String::new())
        }
        2 => (at..at, text[at..next].to_owned()),
        3 => (at..at, rng.choice([" ", "\n", "(", "}", " // "]).unwrap_or(" ").to_owned()),
        _ => (at..at, rng.alphabetic().to_string()),
    }
}
