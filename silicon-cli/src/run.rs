//! Verifying the inputs, several at a time, and showing them in the order given.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use silicon::expectations::differences;
use silicon::output::{Format, Summary};
use silicon::session::shard::{Costs, Shard, Sharding};
use silicon::session::{FileVerdict, Input, Outcome, Session};

use super::args::Args;
use super::progress::Progress;
use super::saved::{self, Header};
use super::signals::Signals;
use super::supervise::{Audience, End, Plan, run as supervise};
use super::{USAGE, complain, reports};

/// Verifies everything and returns the exit code.
pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let started = Instant::now();
    let inputs = args.programs();
    if inputs.is_empty() {
        complain(
            "error: no program found: directories are searched for .sil, .vpr, .chalice and .spl",
        );
        return Ok(USAGE);
    }
    // Processes that start again could not read it again.
    let inputs: Vec<Input> = inputs
        .into_iter()
        .map(Input::fetched)
        .collect::<Result<_, _>>()
        .context("cannot read standard input")?;
    let mut session = session_for(args, inputs.len());
    // Gone at the end, with what is in it.
    let traces = args.profile.then(tempfile::tempdir).transpose();
    let traces = traces.context("cannot make a directory for traces")?;
    session.options.profile = traces.as_ref().map(|directory| directory.path().to_owned());
    match args.answers() {
        Ok(answers) => session.answers = answers,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            return Ok(USAGE);
        }
    }
    if let Err(error) = prepare(args, &mut session, &inputs) {
        complain(&format!("error: {error:#}"));
        return Ok(USAGE);
    }
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut showing = Showing {
        format: args.format(),
        progress: Progress::new(inputs.len(), args.wants_progress()),
        keeps: !files(args).is_empty(),
        expects: args.expect,
        unexpected: 0,
        summary: Summary::default(),
        outcomes: Vec::new(),
    };
    let logs = log_directories(&inputs);
    let plan = Plan {
        inputs: &inputs,
        session: &|input| session_of(&session, &inputs, &logs, input),
        processes: workers(args.threads).min(inputs.len()),
        // Announcements stand in them, and what is a program is not overwritten.
        with_texts: args.expect || !files(args).is_empty(),
        signals: &signals,
        deadline: session.options.deadline,
        member_limit: session.options.member_time_limit,
    };
    let end = supervise(&plan, &mut showing);
    showing.progress.finish();
    let Showing { format, mut summary, outcomes, unexpected, .. } = showing;
    let end = end?;
    summary.interrupted = end != End::Complete;
    summary.time = started.elapsed();
    let mut stdout = io::stdout().lock();
    format.summary(&summary, &mut stdout)?;
    stdout.flush()?;
    let refused = reports::conflict(&files(args), &outcomes);
    match &refused {
        None => {
            reports::write(&args.presentation.reports, &outcomes, &summary)?;
            save(args, &session, &inputs, &outcomes, &summary)?;
        }
        Some(problem) => complain(&format!("error: {problem}")),
    }
    if let End::Stopped { by, not_begun } = end {
        let rest = if not_begun > 0 {
            format!("; {not_begun} of {} files were not begun", inputs.len())
        } else {
            String::new()
        };
        complain(&format!("stopped by {}{rest}", by.name()));
        return Ok(by.exit_code());
    }
    if refused.is_some() {
        return Ok(USAGE);
    }
    let mut code = format.exit_code(summary.verdict());
    for directory in args.without_programs() {
        complain(&format!("error: no program found in {}", directory.display()));
        if code == 0 {
            code = USAGE;
        }
    }
    if code == USAGE && summary.verdict() == FileVerdict::NothingSelected {
        complain("error: nothing to verify: no member was selected");
    }
    if args.expect && code != USAGE {
        let counts = (inputs.len() - unexpected, inputs.len());
        complain(&format!("{} of {} files as announced", counts.0, counts.1));
        return Ok(match (summary.verdict(), unexpected) {
            (FileVerdict::Error, _) => FileVerdict::Error.exit_code(),
            (_, 0) => 0,
            _ => FileVerdict::Failed.exit_code(),
        });
    }
    Ok(code)
}

/// The shown part of a run, and the kept part.
struct Showing {
    format: Format,
    progress: Progress,
    /// Keeps outcomes for reports.
    keeps: bool,
    /// Compares files with their announcements; `unexpected` counts the files that differ.
    expects: bool,
    unexpected: usize,
    summary: Summary,
    outcomes: Vec<Outcome>,
}

impl Audience for Showing {
    fn planned(&mut self, members: usize) {
        self.progress.plan(members);
    }

    fn finished(&mut self) {
        self.progress.advance();
    }

    fn show(&mut self, outcome: Outcome) -> io::Result<()> {
        self.summary.add(&outcome);
        let mut text = Vec::new();
        if self.expects {
            let differences = differences(&outcome);
            // People want to see what they did not announce.
            if !differences.is_empty() || matches!(self.format, Format::Json { .. }) {
                self.format.outcome(&outcome, &mut text)?;
            }
            self.format.expectation(&outcome, &differences, &mut text)?;
            self.unexpected += usize::from(!differences.is_empty());
        } else {
            self.format.outcome(&outcome, &mut text)?;
        }
        self.progress.aside(|| -> io::Result<()> {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&text)?;
            stdout.flush()
        })?;
        if outcome.verdict == FileVerdict::Empty {
            let text = format!("warning: {} declares nothing", outcome.file);
            self.progress.aside(|| complain(&text));
        }
        self.progress.file();
        if self.keeps {
            self.outcomes.push(outcome);
        }
        Ok(())
    }

    fn left_out(&mut self, outcome: Outcome) {
        if self.keeps {
            self.outcomes.push(outcome);
        }
    }

    fn wait(&mut self) {
        self.progress.draw();
    }
}

/// Several files at a time share the threads; one file has them all.
fn session_for(args: &Args, files: usize) -> Session {
    let mut session = args.session();
    session.options.threads = (workers(args.threads) / files).max(1);
    session
}

/// Makes sure that what is asked for can be written, before work is spent on it.
fn prepare(args: &Args, session: &mut Session, inputs: &[Input]) -> anyhow::Result<()> {
    if args.save.is_some() {
        let costs = args.costs.as_deref().map(costs).transpose()?.unwrap_or_default();
        let shard = args.shard.unwrap_or(Shard::WHOLE);
        session.shard = Some(Arc::new(Sharding::new(shard, costs)));
    }
    if let Some(directory) = &session.options.smt_log {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    reports::prepare(&files(args), inputs)
}

/// The files that are written beside standard output.
fn files(args: &Args) -> Vec<&Path> {
    let mut files = reports::paths(&args.presentation.reports);
    files.extend(args.save.as_deref());
    files
}

fn costs(path: &Path) -> anyhow::Result<Costs> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let costs = Costs::read(&text).map_err(anyhow::Error::msg);
    costs.with_context(|| format!("no costs in {}", path.display()))
}

/// Saves what was found, if that was asked for.
fn save(
    args: &Args,
    session: &Session,
    inputs: &[Input],
    outcomes: &[Outcome],
    summary: &Summary,
) -> anyhow::Result<()> {
    let (Some(path), Some(sharding)) = (&args.save, &session.shard) else { return Ok(()) };
    let names = inputs.iter().map(|input| input.name.clone()).collect();
    let mut header = Header::new(sharding.shard, args.decisive(), names);
    header.interrupted = summary.interrupted;
    header.time = summary.time;
    saved::write(path, &header, outcomes)?;
    if let Some(shard) = args.shard {
        let all: usize = outcomes.iter().map(|outcome| outcome.dealt.len()).sum();
        let own = summary.members;
        complain(&format!("note: shard {shard} has {own} of {all} members; see silicon merge"));
    }
    Ok(())
}

/// Members of different files may have the same name, so their logs go to directories of their own.
fn session_of(session: &Session, inputs: &[Input], logs: &[String], input: &Input) -> Session {
    let mut session = session.clone();
    let number = inputs.iter().position(|other| std::ptr::eq(other, input));
    if let (Some(directory), Some(log)) =
        (&mut session.options.smt_log, number.and_then(|number| logs.get(number)))
    {
        directory.push(log);
        // A directory that cannot be made shows when a log is opened in it.
        let _ = fs::create_dir_all(directory);
    }
    session
}

/// Names the log directory of each input, no two the same; a single input has no directory of its
/// own.
fn log_directories(inputs: &[Input]) -> Vec<String> {
    if inputs.len() < 2 {
        return Vec::new();
    }
    let mut taken = BTreeSet::new();
    let directory = |input: &Input| {
        let name = input.name.replace(['/', '\\', ':'], "_");
        let others = (2..).map(|number| format!("{name}-{number}"));
        let mut names = iter::once(name.clone()).chain(others);
        let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    inputs.iter().map(directory).collect()
}

/// More threads than this on each core make nothing faster, and each has a stack and a solver of
/// its own.
const THREADS_PER_CORE: usize = 4;

/// As many threads as `-j` stands for.
pub(crate) fn workers(threads: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match threads {
        0 => cores,
        threads => threads.min(cores.saturating_mul(THREADS_PER_CORE)),
    }
}
