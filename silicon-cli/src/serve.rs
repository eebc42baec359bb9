//! `silicon serve`: a process that stays, for front ends that verify one program after the other.
//!
//! A request and an answer are objects of JSON, one a line; `docs/front-ends.md` describes them.
//! Requests are worked on one after the other, each as a run of its own ([`crate::supervise`]) in a
//! copy of this process, so that it can be cancelled at any time and no request leaves anything
//! behind but its answers, which are kept in a directory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sil::render::Place;
use silicon::Answers;
use silicon::answers::store;
use silicon::output::{Summary, json};
use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::{Diagnostic, Input, MemberOutcome, Outcome, Session};

use crate::args::Args;
use crate::args::reference_flags;
use crate::cache::CachePlace;
use crate::commands::Cli;
use crate::complain;
use crate::run::workers;
use crate::signals::{Signal, Signals};
use crate::supervise::{Audience, End, Interrupt, Plan, run as supervise};

/// Verify programs that come on standard input, for front ends: docs/front-ends.md has the protocol
#[derive(Parser, Debug)]
pub(crate) struct Serve {
    /// Talk on standard input and output
    #[arg(long, required = true)]
    stdio: bool,
    #[command(flatten)]
    cache: CachePlace,
}

/// A message of the client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    /// The name of the request that is made here.
    id: Option<Value>,
    verify: Option<Verify>,
    /// The request of that name is of no interest any more.
    cancel: Option<Value>,
}

/// A program to be verified.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verify {
    /// The name of its file, which need not exist; its ending tells the language.
    name: String,
    text: String,
    /// As on the command line.
    #[serde(default)]
    options: Vec<String>,
}

/// A request that waits.
struct Request {
    id: Value,
    verify: Verify,
    /// The request was cancelled before it was begun.
    is_cancelled: bool,
}

/// A message to the client: a line of the answer to a request, or what is wrong with it.
#[derive(Serialize)]
struct Answer<'a> {
    to: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Answers requests until standard input ends, and returns the exit code.
pub(crate) fn run(asked: &Serve) -> anyhow::Result<u8> {
    // First of all, so that none leaves the directory behind.
    let signals = Signals::listen().context("cannot listen to signals")?;
    let own = tempfile::Builder::new().prefix("silicon-").tempdir();
    let own = own.context("cannot make a directory for answers")?;
    let named = asked.cache.open()?;
    let is_own = named.is_none();
    let answers = match named {
        Some(answers) => answers,
        None => Answers::stored(own.path(), None).context("no place for answers")?,
    };
    let answers = Arc::new(answers);
    let client = Client { signals, heard: RefCell::default() };
    let mut count = 0_u32;
    while let Some(request) = client.next() {
        serve(&client, &request, &answers)?;
        count += 1;
        if is_own && count.is_multiple_of(TIDIED) {
            // A directory that cannot be tidied is as good as another.
            let _ = store::collect(own.path(), AGE, SIZE);
        }
    }
    Ok(client.signals.come().map_or(0, Signal::exit_code))
}

/// After so many requests, answers that are old or too many are forgotten.
const TIDIED: u32 = 100;
const AGE: Duration = Duration::from_secs(24 * 60 * 60);
const SIZE: u64 = 256 << 20;

/// Answers one request.
fn serve(client: &Client, request: &Request, answers: &Arc<Answers>) -> anyhow::Result<()> {
    let Request { id, verify, is_cancelled } = request;
    let started = Instant::now();
    let mut answering = Answering {
        id,
        file: String::new(),
        summary: Summary::default(),
        statistics: false,
        said: Vec::new(),
        members: Vec::new(),
    };
    let args = match read(&verify.options) {
        Ok(args) => args,
        Err(problem) => return Ok(say(&Answer { to: id, line: None, error: Some(&problem) })?),
    };
    answering.statistics = args.presentation.stats;
    let session = session(&args, answers);
    let inputs = [Input::text(verify.name.as_str(), verify.text.as_str())];
    let plan = Plan {
        inputs: &inputs,
        session: &|_| session.clone(),
        processes: 1,
        with_texts: false,
        with_answers: false,
        interrupt: client,
        memory_limit: args.memory_limit.map(|limit| limit * 1_000_000),
        deadline: session.options.deadline,
        member_limit: session.options.member_time_limit,
    };
    client.begin(id, *is_cancelled);
    let end = supervise(&plan, &mut answering)?;
    answering.summary.interrupted = end != End::Complete;
    answering.summary.time = started.elapsed();
    answering.line(|to| json::summary(&answering.summary, to))?;
    Ok(())
}

/// Returns the options of a request; `Err`: what is wrong with them.
fn read(options: &[String]) -> Result<Args, String> {
    let program = "silicon".to_owned();
    let mut given: Vec<OsString> =
        std::iter::once(&program).chain(options).map(OsString::from).collect();
    if reference_flags::are_wanted(&given) {
        given = reference_flags::translate(given)?.arguments;
    }
    let Cli { command, args } = Cli::try_parse_from(given)
        .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())?;
    let subcommand = command.is_some().then_some("a subcommand");
    match subcommand.or_else(|| args.of_no_use_to_clients()) {
        Some(option) => Err(format!("error: {option} has no meaning in a request")),
        None => Ok(args),
    }
}

fn session(args: &Args, answers: &Arc<Answers>) -> Session {
    let mut session = args.session();
    session.options.threads = workers(session.options.threads);
    if args.wants_answers() {
        session.answers = Some(Arc::clone(answers));
    }
    session
}

/// Says what comes of a request.
struct Answering<'a> {
    id: &'a Value,
    file: String,
    summary: Summary,
    statistics: bool,
    /// The findings and members that have been said.
    said: Vec<Diagnostic>,
    members: Vec<(MemberKind, Place)>,
}

impl Answering<'_> {
    fn found(&mut self, found: &[Diagnostic]) -> io::Result<()> {
        for one in found {
            if !self.said.contains(one) {
                self.said.push(one.clone());
                self.line(|to| json::diagnostic(one, to))?;
            }
        }
        Ok(())
    }

    fn member(&mut self, member: &MemberOutcome) -> io::Result<()> {
        let it = (member.kind, member.place.clone());
        if self.members.contains(&it) {
            return Ok(());
        }
        self.members.push(it);
        self.line(|to| json::member(member, &self.file, self.statistics, to))
    }

    /// Says the lines that `write` writes.
    fn line(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut lines = Vec::new();
        write(&mut lines)?;
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let line: &RawValue = serde_json::from_slice(line)?;
            say(&Answer { to: self.id, line: Some(line), error: None })?;
        }
        Ok(())
    }
}

impl Audience for Answering<'_> {
    fn planned(&mut self, outcome: &Outcome, members: &[Member]) {
        self.file.clone_from(&outcome.file);
        // Where nobody listens, that shows at the end, too.
        let _ = self.line(|to| json::members(&outcome.file, members, to));
        let _ = self.found(&outcome.diagnostics);
    }

    fn finished(&mut self, _: &str, member: &MemberOutcome, found: &[Diagnostic]) {
        let _ = self.found(found);
        let _ = self.member(member);
    }

    /// Says what is known of the file as a whole, and what has not been said of its members.
    fn show(&mut self, outcome: Outcome) -> anyhow::Result<()> {
        self.file.clone_from(&outcome.file);
        self.found(&outcome.diagnostics)?;
        for member in &outcome.members {
            self.member(member)?;
        }
        self.summary.add(&outcome);
        Ok(self.line(|to| json::file(&outcome, to))?)
    }
}

fn say(answer: &Answer<'_>) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

/// The client, as far as it has been heard, and signals that end this process.
struct Client {
    signals: Signals,
    heard: RefCell<Heard>,
}

#[derive(Default)]
struct Heard {
    /// The part of its next line that has arrived.
    said: Vec<u8>,
    waiting: VecDeque<Request>,
    /// The request that is worked on, and whether it is of no interest any more.
    present: Option<(Value, bool)>,
    is_gone: bool,
}

impl Client {
    /// Waits for the next request; `None`: there will be no more.
    fn next(&self) -> Option<Request> {
        loop {
            let mut heard = self.heard.borrow_mut();
            heard.present = None;
            if heard.is_gone || self.signals.come().is_some() {
                return None;
            }
            if let Some(request) = heard.waiting.pop_front() {
                return Some(request);
            }
            if self.has_spoken(None) {
                heard.listen();
            }
        }
    }

    /// Waits for a signal or something to read, so long at most, and tells whether there is
    /// something to read.
    fn has_spoken(&self, within: Option<&Timespec>) -> bool {
        let wakes = self.wakes().into_iter();
        let mut fds: Vec<PollFd<'_>> =
            wakes.map(|wake| PollFd::from_borrowed_fd(wake, PollFlags::IN)).collect();
        poll(&mut fds, within).is_ok_and(|_| !fds[0].revents().is_empty())
    }

    fn begin(&self, id: &Value, is_cancelled: bool) {
        self.heard.borrow_mut().present = Some((id.clone(), is_cancelled));
    }
}

impl Interrupt for Client {
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        let mut wakes = vec![rustix::stdio::stdin()];
        wakes.extend(self.signals.wakes());
        wakes
    }

    fn noted(&self) -> Option<String> {
        let mut heard = self.heard.borrow_mut();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !heard.is_gone && self.has_spoken(Some(&now)) {
            heard.listen();
        }
        let is_cancelled = heard.present.as_ref().is_some_and(|(_, is_cancelled)| *is_cancelled);
        let by_client = (is_cancelled || heard.is_gone).then(|| "its client".to_owned());
        by_client.or_else(|| self.signals.noted())
    }

    fn leave(&self) {
        self.signals.leave();
    }
}

impl Heard {
    /// Reads what has arrived, and waits for something to arrive where nothing has.
    fn listen(&mut self) {
        let mut bytes = [0; 1 << 14];
        // Not by way of the standard library's buffer, which hides what it holds from `poll`.
        let read = match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(read) => read,
            Err(rustix::io::Errno::INTR) => return,
            Err(_) => 0,
        };
        self.is_gone = read == 0;
        let said = whole_lines(&mut self.said, &bytes[..read]);
        for line in said.split(|&byte| byte == b'\n') {
            if !line.iter().all(u8::is_ascii_whitespace) {
                self.hear(line);
            }
        }
    }

    fn hear(&mut self, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(Message { id: Some(id), verify: Some(verify), cancel: None }) => {
                self.waiting.push_back(Request { id, verify, is_cancelled: false });
            }
            Ok(Message { id: None, verify: None, cancel: Some(id) }) => self.cancel(&id),
            Ok(Message { id, .. }) => {
                refuse(id, "a message has id and verify, or cancel");
            }
            Err(problem) => refuse(None, &problem.to_string()),
        }
    }

    fn cancel(&mut self, id: &Value) {
        if let Some((present, is_cancelled)) = &mut self.present
            && present == id
        {
            *is_cancelled = true;
        }
        for request in self.waiting.iter_mut().filter(|request| request.id == *id) {
            request.is_cancelled = true;
        }
    }
}

fn refuse(id: Option<Value>, problem: &str) {
    let answer = Answer { to: &id.unwrap_or_default(), line: None, error: Some(problem) };
    if let Err(error) = say(&answer) {
        complain(&format!("error: {error}"));
    }
}

/// Adds `new` to what was `said`, and takes the lines that are whole now. Only what is new is
/// searched: a line may be as long as a program.
fn whole_lines(said: &mut Vec<u8>, new: &[u8]) -> Vec<u8> {
    let Some(end) = new.iter().rposition(|&byte| byte == b'\n') else {
        said.extend_from_slice(new);
        return Vec::new();
    };
    let (lines, rest) = new.split_at(end + 1);
    said.extend_from_slice(lines);
    std::mem::replace(said, rest.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_wherever_they_are_cut() {
        let text = b"one\n\nand two\nthree";
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut said = Vec::new();
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                let mut lines = Vec::new();
                for piece in pieces {
                    let whole = whole_lines(&mut said, piece);
                    assert!(whole.is_empty() || whole.ends_with(b"\n"));
                    lines.extend(whole);
                }
                assert_eq!((&lines[..], &said[..]), (&text[..13], &text[13..]));
            }
        }
    }
}
