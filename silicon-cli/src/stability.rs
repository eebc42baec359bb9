//! `silicon stability`: whether verdicts depend on chance.
//!
//! The same program is verified several times, each time in another
//! [variation](silicon::options::Options::variation): nothing that is to be shown differs, only how
//! the solver looks for it. A verdict that is not the same in all of them depends on luck, and may
//! be lost with any change of the program. An obligation that takes almost as many steps as it may
//! is the next to be lost.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, ValueEnum, ValueHint};
use serde::Serialize;
use sil::render::Place;
use sil::source::LineColumn;
use silicon::options::Options;
use silicon::report::{MemberKind, Verdict};
use silicon::session::input;
use silicon::session::{Diagnostic, FileVerdict, Input, Lines, Obligation, Outcome, Session};

use crate::args::{default_member_limit, duration, seconds, threads};
use crate::run::workers;
use crate::signals::Signals;
use crate::supervise::{Audience, End, Plan, run as supervise};
use crate::{USAGE, complain};

const EXIT_CODES: &str = "\
Exit codes:
  0 all verdicts are the same in all runs, whatever they are   1 some verdict flips
  2 wrong use, or nothing to verify   3 input error   70 internal error";

/// Verify programs several times, with other seeds of the solver, orders of members and names of
/// symbols, and say which verdicts flip, and which obligations are near their limit.
#[derive(Parser, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Stability {
    /// Programs, directories of programs, or - for SIL on standard input
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath, required = true)]
    inputs: Vec<PathBuf>,

    /// So many runs beside the usual one
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    runs: u32,

    /// The seed of the first of them; the others have those that follow
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000_000)
    )]
    seed: u32,

    /// An obligation is near its limit if it takes so many percent of the steps
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    near: u32,

    /// How the result is shown on standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: Shown,

    /// Verify only members whose name matches (repeatable)
    #[arg(long = "member", value_name = "GLOB")]
    members: Vec<String>,

    /// Verify only members that stand on these lines (repeatable)
    #[arg(long = "at", value_name = "FILE:LINE[-LINE]")]
    at: Vec<Lines>,

    /// Worker threads, at most four per core; 0: one per core
    #[arg(
        short = 'j',
        long = "threads",
        value_name = "N",
        default_value_t = 0,
        value_parser = threads
    )]
    threads: usize,

    /// The solver's resource limit for one obligation, in its units; 0: none
    #[arg(long, value_name = "UNITS", default_value_t = Options::default().obligation_limit)]
    limit: u32,

    /// Give up on a member after this time; 0: never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = default_member_limit(),
        value_parser = seconds
    )]
    member_limit: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Shown {
    Human,
    Json,
}

/// Verifies everything as often as asked, and returns the exit code.
pub(crate) fn run(asked: &Stability) -> anyhow::Result<u8> {
    let inputs: Vec<Input> = input::expand(&asked.inputs)
        .into_iter()
        .map(Input::fetched)
        .collect::<Result<_, _>>()
        .context("cannot read standard input")?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut files: Vec<File> = inputs.iter().map(|input| File::new(&input.name)).collect();
    // The usual run is first: input errors show there.
    let seeds = std::iter::once(0).chain(asked.seed..asked.seed + asked.runs);
    for seed in seeds {
        let session = asked.session(seed, inputs.len());
        let plan = Plan {
            inputs: &inputs,
            session: &|_| session.clone(),
            processes: workers(asked.threads).min(inputs.len()),
            with_texts: false,
            with_answers: false,
            interrupt: &signals,
            deadline: None,
            member_limit: session.options.member_time_limit,
            memory_limit: None,
        };
        let mut runs = Runs { seed, files: files.iter_mut() };
        let end = supervise(&plan, &mut runs)?;
        if let (End::Stopped { .. }, Some(by)) = (end, signals.come()) {
            complain(&format!("stopped by {}", by.name()));
            return Ok(by.exit_code());
        }
    }
    let mut text = Vec::new();
    for file in &files {
        file.problems.iter().for_each(|problem| complain(problem));
        match asked.message_format {
            Shown::Human => file.for_people(asked, &mut text)?,
            Shown::Json => file.for_scripts(asked, &mut text)?,
        }
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text)?;
    stdout.flush()?;
    Ok(exit_code(&files))
}

/// Returns the first that applies, in the order 70, 3, 2, 1, 0.
fn exit_code(files: &[File]) -> u8 {
    let any = |verdict| files.iter().any(|file| file.worst == Some(verdict));
    if any(FileVerdict::Error) {
        FileVerdict::Error.exit_code()
    } else if any(FileVerdict::InputError) {
        FileVerdict::InputError.exit_code()
    } else if files.iter().all(|file| file.members.is_empty()) {
        complain("error: nothing to verify");
        USAGE
    } else if files.iter().any(|file| file.members.values().any(Member::flips)) {
        FileVerdict::Failed.exit_code()
    } else {
        0
    }
}

impl Stability {
    fn session(&self, seed: u32, files: usize) -> Session {
        let mut options = Options::default();
        options.threads = (workers(self.threads) / files.max(1)).max(1);
        options.members.clone_from(&self.members);
        options.obligation_limit = self.limit;
        options.member_time_limit = duration(self.member_limit);
        options.variation = seed;
        Session { options, at: self.at.clone(), ..Session::default() }
    }

    /// Tells whether a number of steps is near the limit.
    fn is_near(&self, steps: u64) -> bool {
        self.limit > 0 && steps * 100 >= u64::from(self.limit) * u64::from(self.near)
    }
}

/// Takes the outcomes of one run.
struct Runs<'f, F: Iterator<Item = &'f mut File>> {
    seed: u32,
    files: F,
}

impl<'f, F: Iterator<Item = &'f mut File>> Audience for Runs<'f, F> {
    fn show(&mut self, outcome: Outcome) -> anyhow::Result<()> {
        if let Some(file) = self.files.next() {
            file.add(self.seed, outcome);
        }
        Ok(())
    }
}

/// The results of all runs for a file.
struct File {
    name: String,
    worst: Option<FileVerdict>,
    /// The problems of the file itself, a line each.
    problems: Vec<String>,
    /// In the order of the text.
    members: BTreeMap<(Place, MemberKind, String), Member>,
}

/// The results of all runs for a member.
#[derive(Default)]
struct Member {
    /// By the seed.
    verdicts: BTreeMap<u32, Verdict>,
    /// By place and kind: in the order of the text.
    obligations: BTreeMap<(Place, String), Steps>,
}

/// The steps of the obligation that takes most at a place.
#[derive(Clone, Copy, Serialize)]
struct Steps {
    least: u64,
    most: u64,
}

impl Member {
    fn flips(&self) -> bool {
        let mut verdicts = self.verdicts.values();
        let first = verdicts.next();
        verdicts.any(|verdict| Some(verdict) != first)
    }

    /// Returns how many runs have come to each verdict, the lightest first.
    fn counts(&self) -> BTreeMap<Verdict, usize> {
        let mut counts = BTreeMap::new();
        for &verdict in self.verdicts.values() {
            *counts.entry(verdict).or_default() += 1;
        }
        counts
    }

    fn near<'a>(&'a self, asked: &'a Stability) -> impl Iterator<Item = Near<'a>> {
        let obligations = self.obligations.iter().filter(|(_, steps)| asked.is_near(steps.most));
        obligations.map(|((place, kind), &steps)| Near { kind, place, steps })
    }
}

impl File {
    fn new(name: &str) -> Self {
        let (problems, members) = Default::default();
        Self { name: name.to_owned(), worst: None, problems, members }
    }

    fn add(&mut self, seed: u32, outcome: Outcome) {
        self.worst = self.worst.max(Some(outcome.verdict));
        let is_of_file = matches!(outcome.verdict, FileVerdict::InputError | FileVerdict::Error);
        if is_of_file && self.problems.is_empty() {
            self.problems = outcome
                .diagnostics
                .iter()
                .map(|Diagnostic { message, .. }| {
                    let Place { file, start, .. } = &message.place;
                    let (line, column) = (start.line, start.column);
                    format!("{file}:{line}:{column}: {} ({})", message.text, message.id)
                })
                .collect();
        }
        for member in outcome.members {
            let known = self.members.entry((member.place, member.kind, member.name)).or_default();
            // Several proofs may be about one member.
            let verdict = known.verdicts.entry(seed).or_insert(member.verdict);
            *verdict = member.verdict.max(*verdict);
            for Obligation { place, kind, cost } in member.obligations {
                let steps = Steps { least: cost.hardest, most: cost.hardest };
                let known = known.obligations.entry((place, kind)).or_insert(steps);
                known.least = known.least.min(steps.least);
                known.most = known.most.max(steps.most);
            }
        }
    }

    fn for_people(&self, asked: &Stability, to: &mut Vec<u8>) -> io::Result<()> {
        for ((place, kind, name), member) in &self.members {
            let at = format!("{}:{}", place.file, place.start.line);
            if member.flips() {
                let counts = member.counts();
                let counts =
                    counts.iter().map(|(verdict, count)| format!("{} in {count}", verdict.name()));
                let counts = counts.collect::<Vec<_>>().join(", ");
                let runs = member.verdicts.len();
                writeln!(to, "{at}: {} {name} flips: {counts} of {runs} runs", kind.name())?;
                for (seed, verdict) in &member.verdicts {
                    writeln!(to, "  seed {seed}: {}", verdict.name())?;
                }
            }
            for Near { kind, place, steps } in member.near(asked) {
                let Steps { least, most } = steps;
                let (file, line, limit) = (&place.file, place.start.line, asked.limit);
                writeln!(
                    to,
                    "{file}:{line}: {kind} in {name} is near its limit: {least} to {most} of {limit} steps"
                )?;
            }
        }
        let flipping = self.members.values().filter(|member| member.flips()).count();
        let (members, runs) = (self.members.len(), asked.runs + 1);
        if members == 0 {
            return writeln!(to, "{}: no verdict to compare", self.name);
        }
        writeln!(to, "{}: {flipping} of {members} verdicts flip in {runs} runs", self.name)
    }

    fn for_scripts(&self, asked: &Stability, to: &mut Vec<u8>) -> io::Result<()> {
        for ((place, kind, name), member) in &self.members {
            let line = Line {
                v: 1,
                r#type: "stability",
                file: &place.file,
                start: place.start,
                kind: kind.name(),
                name,
                flips: member.flips(),
                runs: member
                    .verdicts
                    .iter()
                    .map(|(&seed, verdict)| OneRun { seed, verdict: verdict.name() })
                    .collect(),
                near: member.near(asked).collect(),
            };
            serde_json::to_writer(&mut *to, &line)?;
            writeln!(to)?;
        }
        Ok(())
    }
}

/// The JSON line of a member: `docs/schemas/output.schema.json`.
#[derive(Serialize)]
struct Line<'a> {
    v: u32,
    r#type: &'a str,
    file: &'a str,
    start: LineColumn,
    kind: &'a str,
    name: &'a str,
    flips: bool,
    runs: Vec<OneRun>,
    near: Vec<Near<'a>>,
}

#[derive(Serialize)]
struct OneRun {
    seed: u32,
    verdict: &'static str,
}

/// An obligation that is near its limit.
#[derive(Serialize)]
struct Near<'a> {
    kind: &'a str,
    #[serde(flatten)]
    place: &'a Place,
    steps: Steps,
}
