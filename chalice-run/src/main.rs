//! The `chalice-run` command.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use chalice_run::choices::{Choices, parse_schedule};
use chalice_run::code::Code;
use chalice_run::entry;
use chalice_run::explore::{Limits, explore};
use chalice_run::generate::{Bounds, Found, Order, Starts};
use chalice_run::machine::{Assume, Config, Machine, Trace, Undefined, View};
use chalice_run::report::{Summary, human, json, trace};
use chalice_run::run::{Scheduling, Verdict, leaked, run};
use chalice_run::sources::Sources;
use clap::{Parser, ValueEnum, ValueHint};

const EXAMPLES: &str = "\
Examples:
  chalice-run program.chalice                        run its method main
  chalice-run program.chalice --entry C.m -- 5 true  run a method with arguments
  chalice-run program.chalice --with start.chalice   add classes that start it
  chalice-run program.chalice --schedules all        run it under all schedules that matter
  chalice-run program.chalice --entry C.m --generate run a method from starts made of its precondition

Exit codes:
  0 every check was executed and holds   1 a check failed   2 wrong use   3 input error
  4 no failure, but a bound was hit or something was not executed   70 a defect of this command";

/// Runs Chalice programs with every permission checked.
#[derive(Parser, Debug)]
#[command(name = "chalice-run", version, after_help = EXAMPLES)]
struct Args {
    /// The program, or - for standard input
    #[arg(value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    input: PathBuf,

    /// Values of the entry's parameters: literals, [1, 2], new C { f := 1 }
    #[arg(last = true, value_name = "ARG")]
    arguments: Vec<String>,

    /// The method to start with; main, Main or Start by default
    #[arg(long, value_name = "C.m")]
    entry: Option<String>,

    /// A file with further classes, which may start the program
    #[arg(long = "with", value_name = "FILE", value_hint = ValueHint::FilePath)]
    with: Vec<PathBuf>,

    /// How permission is counted: by method, as the verifier does, or by thread
    #[arg(long, value_enum, value_name = "VIEW", default_value = "method")]
    view: ViewArg,

    /// Values of what nobody gave a value: zero, or chosen by the seed
    #[arg(long, value_enum, value_name = "HOW")]
    undefined: Option<UndefinedArg>,

    /// What becomes of a run in which an assumption does not hold
    #[arg(long, value_enum, value_name = "HOW", default_value = "check")]
    assume: AssumeArg,

    /// Which schedule: first, seed:N, pct:N, round-robin:N, or the decisions of a report, as 0.1.1
    #[arg(long, value_name = "SCHEDULE", default_value = "first")]
    schedule: String,

    /// Explore schedules: all that matter, or so many of them
    #[arg(long, value_name = "N|all")]
    schedules: Option<String>,

    /// Explore schedules with at most so many interruptions of threads that could go on
    #[arg(long, value_name = "K")]
    preemptions: Option<u32>,

    /// How many statements a thread may execute
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    steps: u64,

    /// How many steps that threads can notice a run may have; 200 where schedules are explored
    #[arg(long, value_name = "N")]
    visible_steps: Option<u64>,

    /// The seed of everything that is chosen at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Start the entry, or without one every method, in states made of the precondition
    #[arg(long)]
    generate: bool,

    /// How many starts are made at random
    #[arg(long, value_name = "N", default_value_t = 100)]
    inputs: u64,

    /// Make all starts within bounds: objects of a class, size of integers, length of sequences, depth of predicates
    #[arg(long, value_name = "n,k,l,d", value_parser = parse_scope)]
    scope: Option<Bounds>,

    /// Go on after a failure, where schedules or starts are explored
    #[arg(long)]
    keep_going: bool,

    /// Check that functions read only what their preconditions give
    #[arg(long)]
    check_functions: bool,

    /// Is permission that is left behind a failure?
    #[arg(long, value_enum, value_name = "HOW", default_value = "note")]
    leaks: LeaksArg,

    /// Show what each step did: those that other threads can notice, or all
    #[arg(long, value_enum, value_name = "WHAT", default_value = "none", num_args = 0..=1,
        default_missing_value = "all")]
    trace: TraceArg,

    /// Write the trace to a file, an object a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace_file: Option<PathBuf>,

    /// Show the heap at the end, and who holds what
    #[arg(long)]
    show_state: bool,

    /// How findings are shown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ViewArg {
    Method,
    Thread,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UndefinedArg {
    Zero,
    Seed,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AssumeArg {
    Check,
    Discard,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LeaksArg {
    Note,
    Error,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TraceArg {
    None,
    Sync,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum FormatArg {
    Human,
    Short,
    Json,
}

const WRONG_USE: u8 = 2;
const INPUT_ERROR: u8 = 3;

fn main() -> ExitCode {
    let args = Args::parse();
    match command(&args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "chalice-run: {error:#}");
            ExitCode::from(INPUT_ERROR)
        }
    }
}

/// Runs what is asked for. The result is the exit code.
fn command(args: &Args) -> Result<u8> {
    let mut texts = vec![read(&args.input)?];
    for file in &args.with {
        texts.push(read(file)?);
    }
    let sources = Sources::new(texts);
    let (program, found) = sources.check();
    for one in &found {
        match args.message_format {
            FormatArg::Json => out(&json::finding(&sources, one))?,
            _ => err(&human::finding(&sources, one)),
        }
    }
    let Some(program) = program else { return Ok(INPUT_ERROR) };
    let code = Code::new(program, sources.options());
    let runner = Runner { args, sources: &sources, code: &code, started: Instant::now() };
    match runner.everything() {
        Ok(code) => Ok(code),
        Err(Problem::Use(words)) => {
            err(&format!("chalice-run: {words}\n"));
            Ok(WRONG_USE)
        }
        Err(Problem::Output(error)) => Err(error),
    }
}

/// Why nothing could be run.
enum Problem {
    /// The command line asks for something that there is not.
    Use(String),
    /// Nothing could be written.
    Output(anyhow::Error),
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Self::Output(error)
    }
}

impl From<String> for Problem {
    fn from(words: String) -> Self {
        Self::Use(words)
    }
}

struct Runner<'r> {
    args: &'r Args,
    sources: &'r Sources,
    code: &'r Code,
    started: Instant,
}

impl Runner<'_> {
    fn config(&self) -> Config {
        let args = self.args;
        let undefined = args.undefined.unwrap_or(if args.generate {
            UndefinedArg::Seed
        } else {
            UndefinedArg::Zero
        });
        let explores = args.schedules.is_some() || args.preemptions.is_some();
        let shows_trace = !matches!(args.trace, TraceArg::None) || args.trace_file.is_some();
        Config {
            view: match args.view {
                ViewArg::Method => View::Method,
                ViewArg::Thread => View::Thread,
            },
            undefined: match undefined {
                UndefinedArg::Zero => Undefined::Zero,
                UndefinedArg::Seed => Undefined::Choose,
            },
            assume: match args.assume {
                AssumeArg::Check => Assume::Check,
                AssumeArg::Discard => Assume::Discard,
            },
            steps: args.steps,
            visible_steps: args.visible_steps.unwrap_or(if explores { 200 } else { 100_000 }),
            check_functions: args.check_functions,
            leaks_fail: matches!(args.leaks, LeaksArg::Error),
            trace: match args.trace {
                TraceArg::None if shows_trace => Trace::Sync,
                TraceArg::None => Trace::None,
                TraceArg::Sync => Trace::Sync,
                TraceArg::All => Trace::All,
            },
            ..Config::default()
        }
    }

    fn scheduling(&self) -> Result<(Scheduling, Vec<u32>), String> {
        let text = &self.args.schedule;
        let seed = self.args.seed;
        let number = |text: &str| {
            text.parse::<u32>().map_err(|_| format!("`{text}` is no number of a schedule"))
        };
        let scheduling = match text.split_once(':') {
            None if text == "first" => Scheduling::First,
            None if text == "seed" => Scheduling::Seed(seed),
            None => {
                let script = parse_schedule(text)
                    .ok_or_else(|| format!("`{text}` is no schedule: see --help"))?;
                return Ok((Scheduling::First, script));
            }
            Some(("seed", seed)) => Scheduling::Seed(u64::from(number(seed)?)),
            Some(("pct", changes)) => Scheduling::Pct { seed, changes: number(changes)? },
            Some(("round-robin", turns)) => Scheduling::RoundRobin(number(turns)?),
            Some(_) => return Err(format!("`{text}` is no schedule: see --help")),
        };
        Ok((scheduling, Vec::new()))
    }

    fn everything(&self) -> Result<u8, Problem> {
        if self.args.generate {
            return self.generated();
        }
        let has_arguments = !self.args.arguments.is_empty();
        let entry = entry::entry(self.code, self.args.entry.as_deref(), has_arguments)?;
        let (scheduling, script) = self.scheduling()?;
        let config = self.config();
        let mut machine = entry::start(self.code, entry, &config, &self.args.arguments)?;
        machine.choices = Choices::new(script, chalice_run::run::random_values(self.args.seed));
        let summary = if self.args.schedules.is_some() || self.args.preemptions.is_some() {
            self.explored(&machine, entry)?
        } else {
            self.once(&mut machine, entry, &scheduling)?
        };
        self.say(&summary)?;
        Ok(summary.exit_code())
    }

    fn blank(&self, entry: u32) -> Summary {
        Summary {
            file: self.sources.files()[0].0.name.clone(),
            entry: self.code.methods[entry as usize].name.clone(),
            verdict: Verdict::Passed,
            counts: chalice_run::machine::Counts::default(),
            skipped: std::collections::BTreeMap::new(),
            schedules: 0,
            complete: true,
            inputs: 0,
            seed: self.args.seed,
            failure: None,
            schedule: "-".to_owned(),
            results: Vec::new(),
            leaked: Vec::new(),
            start: None,
        }
    }

    fn once(
        &self,
        machine: &mut Machine<'_>,
        entry: u32,
        scheduling: &Scheduling,
    ) -> Result<Summary, Problem> {
        let outcome = run(machine, scheduling);
        self.show_output(&machine.output)?;
        self.show_machine(machine)?;
        Ok(Summary {
            verdict: outcome.verdict,
            counts: outcome.counts,
            skipped: machine.skipped.clone(),
            schedules: 1,
            failure: outcome.failure,
            schedule: outcome.schedule,
            results: outcome.results,
            leaked: leaked(machine),
            ..self.blank(entry)
        })
    }

    fn show_output(&self, lines: &[String]) -> Result<(), Problem> {
        for line in lines {
            match self.args.message_format {
                FormatArg::Json => out(&json::output(line))?,
                _ => out(&format!("{line}\n"))?,
            }
        }
        Ok(())
    }

    fn show_machine(&self, machine: &Machine<'_>) -> Result<(), Problem> {
        if let Some(file) = &self.args.trace_file {
            let text = trace::json(self.sources, machine);
            fs::write(file, text).with_context(|| file.display().to_string())?;
        }
        if !matches!(self.args.trace, TraceArg::None) {
            match self.args.message_format {
                FormatArg::Json => out(&trace::json(self.sources, machine))?,
                _ => err(&trace::text(self.sources, machine, usize::MAX)),
            }
        }
        if self.args.show_state {
            err(&trace::state(machine));
        }
        Ok(())
    }

    fn explored(&self, machine: &Machine<'_>, entry: u32) -> Result<Summary, Problem> {
        let schedules = match self.args.schedules.as_deref() {
            None | Some("all") => 10_000,
            Some(text) => text
                .parse()
                .map_err(|_| Problem::Use(format!("`{text}` is neither a number nor `all`")))?,
        };
        let limits = Limits {
            schedules,
            preemptions: self.args.preemptions,
            keep_going: self.args.keep_going,
        };
        let explored = explore(machine, limits);
        self.show_output(&explored.output)?;
        let mut summary = Summary {
            skipped: explored.skipped,
            schedules: explored.schedules,
            complete: explored.complete,
            ..self.blank(entry)
        };
        if let Some(worst) = explored.worst {
            summary.verdict = worst.verdict;
            summary.counts = worst.counts;
            summary.failure = worst.failure;
            summary.schedule = worst.schedule;
            summary.results = worst.results;
        }
        Ok(summary)
    }

    fn generated(&self) -> Result<u8, Problem> {
        let methods: Vec<u32> = match &self.args.entry {
            Some(name) => vec![entry::entry(self.code, Some(name), true)?],
            None => (0..self.code.methods.len() as u32).collect(),
        };
        let mut code = 0;
        for method in methods {
            let summary = self.run_starts(method)?;
            self.say(&summary)?;
            let own = summary.exit_code();
            code = match (code, own) {
                (1, _) | (_, 1) => 1,
                (one, other) => one.max(other),
            };
        }
        Ok(code)
    }

    fn run_starts(&self, method: u32) -> Result<Summary, Problem> {
        let (order, bounds, limit) = match self.args.scope {
            Some(bounds) => (Order::All, bounds, u64::MAX),
            None => (Order::Random(self.args.seed), Bounds::default(), self.args.inputs),
        };
        let (scheduling, _) = self.scheduling()?;
        let mut starts = Starts::new(self.code, method, self.config(), bounds, order);
        let mut summary = self.blank(method);
        while starts.found < limit {
            let mut machine = match starts.next_start() {
                Found::Start(machine) => machine,
                Found::Exhausted => break,
                Found::GaveUp => {
                    summary.complete = false;
                    break;
                }
                Found::Impossible(what) => {
                    summary.complete = false;
                    summary.start = Some(format!("the precondition cannot be granted ({what})"));
                    break;
                }
            };
            let described = machine.start_text();
            let outcome = run(&mut machine, &scheduling);
            summary.inputs += 1;
            summary.counts.steps += outcome.counts.steps;
            summary.counts.checks += outcome.counts.checks;
            for (place, count) in &machine.skipped {
                *summary.skipped.entry(*place).or_default() += count;
            }
            let is_worse = outcome.verdict > summary.verdict;
            if is_worse {
                summary.verdict = outcome.verdict;
                summary.failure = outcome.failure;
                summary.schedule = "-".to_owned();
                summary.start = Some(format!("number {}: {described}", starts.found));
            }
            if matches!(summary.verdict, Verdict::Failed | Verdict::Deadlock | Verdict::Error)
                && !self.args.keep_going
            {
                break;
            }
            starts.go_on(&machine);
        }
        if summary.inputs == 0 && summary.start.is_none() {
            summary.complete = false;
            summary.start = Some("no start satisfies the precondition".to_owned());
        }
        if summary.inputs == 0 {
            // Nothing was run, so nothing has passed.
            summary.verdict = Verdict::Stopped;
        }
        Ok(summary)
    }

    fn say(&self, summary: &Summary) -> Result<(), Problem> {
        let milliseconds = self.started.elapsed().as_secs_f64() * 1000.0;
        match self.args.message_format {
            FormatArg::Json => {
                if let Some(failure) = &summary.failure {
                    out(&json::failure(self.sources, failure, &summary.schedule))?;
                }
                out(&json::summary(self.sources, summary, milliseconds))?;
            }
            FormatArg::Human | FormatArg::Short => {
                if let Some(failure) = &summary.failure {
                    err(&match self.args.message_format {
                        FormatArg::Short => human::short(self.sources, failure),
                        _ => human::failure(self.sources, failure, &summary.schedule),
                    });
                }
                err(&human::summary(self.sources, summary));
            }
        }
        Ok(())
    }
}

fn parse_scope(text: &str) -> Result<Bounds, String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([objects, integers, length, depth]) => Ok(Bounds {
            objects: *objects,
            integers: i64::from(*integers),
            length: *length,
            depth: *depth,
        }),
        _ => Err("four numbers between commas expected".to_owned()),
    }
}

fn read(input: &Path) -> Result<(String, String)> {
    let (name, bytes) = if input == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("standard input")?;
        ("<stdin>".to_owned(), bytes)
    } else {
        let name = input.display().to_string();
        let bytes = fs::read(input).with_context(|| name.clone())?;
        (name, bytes)
    };
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok((name, text))
}

fn out(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        // A reader that has enough closes the pipe: its right.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

fn err(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
