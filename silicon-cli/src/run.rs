//! Verifying the inputs, several at a time, and showing them in the order given.

mod early;
pub(crate) mod progress;
pub(crate) mod selectors;
mod watch;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use silicon::expectations::differences;
use silicon::output::{Baseline, Format, Summary};
use silicon::session::follow::Member;
use silicon::session::shard::{Costs, Shard, Sharding};
use silicon::session::{Diagnostic, FileVerdict, Input, MemberOutcome, Outcome, Session};

use self::early::Early;
use self::progress::Progress;
use self::selectors::Selectors;
use super::args::Args;
use super::saved::{self, Checkout, Ending, Header, Recorder};
use super::signals::Signals;
use super::supervise::{Audience, End, Interrupt, Plan, run as supervise};
use super::{USAGE, complain, refuse, reports};
use crate::supervise::wire::Event;

/// Verifies everything and returns the exit code.
pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let signals = Signals::listen().context("cannot listen to signals")?;
    if args.watch {
        return watch::run(args, &signals);
    }
    Ok(once(args, &signals, &signals, None)?.code)
}

/// The end of one run.
#[derive(Default)]
struct Once {
    code: u8,
    /// The files that were read, as far as they are known, and directories in which there may be
    /// files that are missing.
    read: BTreeSet<PathBuf>,
    /// Nobody has interrupted it.
    is_whole: bool,
}

impl Once {
    /// Returns a run that begins with a mistake.
    fn refused(code: u8) -> Self {
        Self { code, is_whole: true, ..Self::default() }
    }
}

/// Verifies everything once. Without a cache, verdicts are `kept` in a directory, if there is one.
fn once(
    args: &Args,
    signals: &Signals,
    interrupt: &dyn Interrupt,
    kept: Option<&Path>,
) -> anyhow::Result<Once> {
    let started = Instant::now();
    let inputs = args.programs();
    if inputs.is_empty() {
        complain(
            "error: no program found: directories are searched for .sil, .vpr, .chalice and .spl",
        );
        return Ok(Once::refused(USAGE));
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
    let recorder = match prepare(args, &mut session, &inputs, kept) {
        Ok(recorder) => recorder,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            return Ok(Once::refused(USAGE));
        }
    };
    let baseline = match args.presentation.baseline() {
        Ok(baseline) => baseline,
        Err(error) => return Ok(Once::refused(refuse(&format!("{error:#}")))),
    };
    let format = args.format();
    let mut showing = Showing {
        format,
        progress: Progress::new(inputs.len(), "files", args.wants_progress()),
        keeps: !files(args).is_empty() || args.format().at_end().is_some(),
        expects: args.expect,
        unexpected: 0,
        early: (inputs.len() == 1 && !args.expect && baseline.is_none() && format.comes_in_parts())
            .then(Early::default),
        summary: Summary::of_run(Checkout::here()?.directory, baseline.is_some()),
        outcomes: Vec::new(),
        read: BTreeSet::new(),
        baseline,
        selectors: args.selectors(),
        recorder,
        stopped: None,
    };
    let logs = log_directories(&inputs);
    let plan = Plan {
        inputs: &inputs,
        session: &|input| session_of(&session, &inputs, &logs, input),
        processes: workers(args.threads).min(inputs.len()),
        // Announcements stand in them, and what is a program is not overwritten.
        with_texts: args.expect || args.watch || showing.keeps,
        with_answers: args.save.is_some(),
        interrupt,
        deadline: session.options.deadline,
        member_limit: session.options.member_time_limit,
        memory_limit: args.memory_limit.map(|limit| limit * 1_000_000),
    };
    let end = supervise(&plan, &mut showing);
    showing.progress.finish();
    if let Some(remark) = session.answers.as_ref().and_then(|answers| answers.remark()) {
        complain(&format!("note: the cache {remark}"));
    }
    let Showing { mut summary, outcomes, unexpected, selectors, recorder, stopped, read, .. } =
        showing;
    let end = end?;
    summary.interrupted = end != End::Complete;
    summary.time = started.elapsed();
    summary.about = args.presentation.about_run();
    if !summary.about.is_empty() {
        summary.about.push(("options", args.configuration()));
    }
    if let Some(mut recorder) = recorder {
        let (interrupted, time) = (summary.interrupted, summary.time);
        recorder.end(Ending { stopped, interrupted, time })?;
        tell_share(args, &outcomes, &summary);
    }
    let mut stdout = io::stdout().lock();
    format.summary(&summary, &mut stdout)?;
    if let Some(report) = format.at_end() {
        stdout.write_all(report.report(&outcomes, &summary).as_bytes())?;
    }
    stdout.flush()?;
    let refused = reports::conflict(&files(args), &outcomes);
    match &refused {
        None => {
            reports::write(&args.presentation.reports, &outcomes, &summary)?;
        }
        Some(problem) => complain(&format!("error: {problem}")),
    }
    if let (End::Stopped { not_begun }, Some(by)) = (end, signals.come()) {
        let rest = if not_begun > 0 {
            format!("; {not_begun} of {} files were not begun", inputs.len())
        } else {
            String::new()
        };
        complain(&format!("stopped by {}{rest}", by.name()));
        return Ok(Once { code: by.exit_code(), read, is_whole: false });
    }
    let mut once = Once { code: USAGE, read, is_whole: end == End::Complete };
    if refused.is_some() {
        return Ok(once);
    }
    let has_all = args.shard.is_none() && summary.verdict() != FileVerdict::InputError;
    for complaint in if has_all { selectors.complaints(&inputs) } else { Vec::new() } {
        complain(&format!("warning: {complaint}"));
    }
    let mut code = format.exit_code(summary.news());
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
        code = match (summary.verdict(), unexpected) {
            (FileVerdict::Error, _) => FileVerdict::Error.exit_code(),
            (_, 0) => 0,
            _ => FileVerdict::Failed.exit_code(),
        };
    }
    once.code = code;
    Ok(once)
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
    /// Shows findings before the end of the file, where there is only one.
    early: Option<Early>,
    summary: Summary,
    outcomes: Vec<Outcome>,
    /// See [`Once::read`].
    read: BTreeSet<PathBuf>,
    /// The findings of an earlier run, which do not count.
    baseline: Option<Baseline>,
    /// The selectors that no member has met yet.
    selectors: Selectors,
    /// The file that the run is saved in.
    recorder: Option<Recorder>,
    /// Why some members are not verified.
    stopped: Option<String>,
}

impl Showing {
    fn print(&self, text: &[u8]) -> io::Result<()> {
        self.progress.aside(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text)?;
            stdout.flush()
        })
    }
}

impl Audience for Showing {
    fn planned(&mut self, outcome: &Outcome, members: &[Member]) {
        self.progress.plan(members.len());
        if let Some(early) = &mut self.early {
            early.plan(outcome, members);
        }
    }

    fn finished(&mut self, id: &str, member: &MemberOutcome, found: &[Diagnostic]) {
        self.progress.advance();
        let Some(early) = &mut self.early else { return };
        let text = early.finish((member.kind, id), found, self.format);
        if !text.is_empty() {
            // Where nobody reads, that shows at the end, too.
            let _ = self.print(&text);
        }
    }

    fn heard(&mut self, input: usize, event: &Event) -> anyhow::Result<()> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.heard(input, event))
    }

    fn stopped(&mut self, why: &str) {
        self.stopped = Some(why.to_owned());
    }

    fn show(&mut self, mut outcome: Outcome) -> anyhow::Result<()> {
        if let Some(baseline) = &mut self.baseline {
            baseline.mark(&mut outcome);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.took(self.summary.files, outcome.time)?;
        }
        self.summary.add(&outcome);
        self.selectors.meet(&outcome);
        let mut text = Vec::new();
        if let Some(early) = self.early.take() {
            self.format.rest(&outcome, &early.shown(), &mut text)?;
        } else if self.expects {
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
        self.print(&text)?;
        if outcome.verdict == FileVerdict::Empty {
            let text = format!("warning: {} declares nothing", outcome.file);
            self.progress.aside(|| complain(&text));
        }
        self.progress.file();
        self.read.extend(outcome.texts.names().map(PathBuf::from));
        if outcome.verdict == FileVerdict::InputError {
            let directory = Path::new(&outcome.file).parent().unwrap_or(Path::new(""));
            self.read.insert(Path::new(".").join(directory));
        }
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

/// Makes sure that what is asked for can be written, before work is spent on it, and begins to save
/// the run.
fn prepare(
    args: &Args,
    session: &mut Session,
    inputs: &[Input],
    kept: Option<&Path>,
) -> anyhow::Result<Option<Recorder>> {
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    if args.save.is_some() {
        let costs = args.costs.as_deref().map(costs).transpose()?.unwrap_or_default();
        session.shard = Some(Arc::new(Sharding::new(shard, costs)));
    }
    if let Some(directory) = &session.options.smt_log {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    reports::prepare(&files(args), inputs)?;
    let mut answers = args.answers(kept)?;
    if args.save.is_none() && args.resume.is_none() {
        session.answers = answers.map(Arc::new);
        return Ok(None);
    }
    let header = Header::new(shard, args.decisive(), inputs)?;
    let mut begun = Vec::new();
    if let Some(path) = &args.resume {
        let saved = saved::read(path)?;
        saved.complain_of_damage(path);
        if saved.header.is_of_build(&header) {
            let goes_on = saved.header == header;
            let seeds = saved.answers.iter().map(String::as_str);
            answers = answers.map(|answers| answers.seeded(seeds, goes_on));
            begun = if goes_on { saved.answers } else { begun };
        } else {
            let path = path.display();
            complain(&format!("note: nothing of {path} is used: another build has made it"));
        }
    }
    session.answers = answers.map(Arc::new);
    args.save.as_deref().map(|path| Recorder::new(path, &header, &begun)).transpose()
}

/// Returns the files that are written beside standard output.
fn files(args: &Args) -> Vec<&Path> {
    let mut files = reports::paths(&args.presentation.reports);
    files.extend(args.save.as_deref());
    files
}

/// Returns the costs in a file of a run, saved or printed.
pub(crate) fn costs(path: &Path) -> anyhow::Result<Costs> {
    if let Ok(saved) = saved::read(path) {
        let outcomes = saved.outcomes.iter().flatten();
        let members = outcomes.flat_map(|outcome| {
            let of = |member: &'_ MemberOutcome| member.statistics.time.as_secs_f64() * 1000.0;
            let members = outcome.members.iter();
            members.map(move |it| (&*outcome.file, it.kind, &*it.name, of(it)))
        });
        return Ok(members.collect());
    }
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let costs = Costs::read(&text).map_err(anyhow::Error::new);
    costs.with_context(|| format!("no costs in {}", path.display()))
}

/// Says how much of a run a shard is.
fn tell_share(args: &Args, outcomes: &[Outcome], summary: &Summary) {
    if let Some(shard) = args.shard {
        let all: usize = outcomes.iter().map(|outcome| outcome.dealt.len()).sum();
        let own = summary.members;
        complain(&format!("note: shard {shard} has {own} of {all} members; see silicon merge"));
    }
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
