//! The options of the command.

use std::path::PathBuf;

use chalice_run::generate::Bounds;
use chalice_run::machine::{Assume, Folding, Trace, Undefined, View};
use clap::{Parser, ValueEnum, ValueHint};

const EXAMPLES: &str = "\
Examples:
  chalice-run program.chalice                        run its method main
  chalice-run program.chalice --entry C.m -- 5 true  run a method with arguments
  chalice-run program.chalice --with start.chalice   add classes that start it
  chalice-run program.chalice --schedules all        run it under all schedules that matter
  chalice-run program.chalice --entry C.m --generate run a method from starts made of its precondition
  chalice-run program.chalice --emit rust -o out     write it as a Rust program of its own

Exit codes:
  0 every check was executed and holds   1 a check failed   2 wrong use   3 input error
  4 no failure, but a bound was hit or something was not executed   70 a defect of this command";

/// Runs Chalice programs with every permission checked.
#[derive(Parser, Debug)]
#[command(name = "chalice-run", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The program, or - for standard input
    #[arg(value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,

    /// Values of the entry's parameters: literals, [1, 2], new C { f := 1 }
    #[arg(last = true, value_name = "ARG")]
    pub(crate) arguments: Vec<String>,

    /// The method to start with; main, Main or Start by default
    #[arg(long, value_name = "C.m")]
    pub(crate) entry: Option<String>,

    /// A file with further classes, which may start the program
    #[arg(long = "with", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) with: Vec<PathBuf>,

    /// An option of Chalice beside those in the first line of the program, as -noDeadlockChecks
    /// (repeatable)
    #[arg(
        long = "chalice-parameter",
        value_name = "OPTION",
        allow_hyphen_values = true,
        value_parser = chalice::options::parse
    )]
    pub(crate) parameters: Vec<String>,

    /// How permission is counted: by method, as the verifier does, or by thread
    #[arg(long, value_enum, value_name = "VIEW", default_value = "method")]
    pub(crate) view: View,

    /// The permission in a predicate: it is tracked, or folding is ignored and instances stand for
    /// their bodies
    #[arg(long, value_enum, value_name = "HOW", default_value = "track")]
    pub(crate) fold: Folding,

    /// Run without checking permission, contracts, assertions and the order of locks; nothing
    /// passes
    #[arg(long)]
    pub(crate) no_checks: bool,

    /// Write the program in another language instead of running it: a program of its own, whose
    /// threads are those of the system. What cannot be emitted is refused
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = [
        "view", "fold", "undefined", "assume", "schedule", "schedules", "preemptions", "steps",
        "visible_steps", "seconds", "generate", "start", "from", "by_contract", "keep_going",
        "check_functions", "check_old", "trace", "trace_file", "show_state"
    ])]
    pub(crate) emit: Option<EmitArg>,

    /// The directory of the emitted package, which cargo builds without anything else; by default,
    /// the program alone is written to standard output
    #[arg(short, long, value_name = "DIR", requires = "emit", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Leave out ghosts, and what is said of them
    #[arg(long)]
    pub(crate) erase_ghost: bool,

    /// The value of a location that was never written. zero: zero; report: zero, with a warning
    /// where it is used (the default); seed: a value chosen by the seed (the default where starts
    /// are generated)
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) undefined: Option<Undefined>,

    /// The end of a run in which an assumption does not hold
    #[arg(long, value_enum, value_name = "HOW", default_value = "check")]
    pub(crate) assume: Assume,

    /// Which schedule: first, seed:N, pct:N, round-robin:N, or the decisions of a report, as 0.1.1
    #[arg(long, value_name = "SCHEDULE", default_value = "first",
        conflicts_with_all = ["schedules", "preemptions"])]
    pub(crate) schedule: String,

    /// Explore schedules: all that matter, or so many of them
    #[arg(long, value_name = "N|all", value_parser = parse_schedules)]
    pub(crate) schedules: Option<Schedules>,

    /// Explore schedules with at most so many interruptions of threads that could go on
    #[arg(long, value_name = "K")]
    pub(crate) preemptions: Option<u32>,

    /// How many statements a thread may execute: 1,000,000, or 50,000 where starts are generated
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,

    /// How many steps that threads can notice a run may have: 100,000, or 5,000 where starts are
    /// generated, or 200 where schedules are explored
    #[arg(long, value_name = "N")]
    pub(crate) visible_steps: Option<u64>,

    /// End what is not finished after so many seconds
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<u64>,

    /// The seed of everything that is chosen at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Start the entry, or without one every method, in states made of the precondition
    #[arg(long, conflicts_with = "arguments")]
    pub(crate) generate: bool,

    /// Start the entry from a start that a report names
    #[arg(long, value_name = "START", conflicts_with_all = ["generate", "arguments"])]
    pub(crate) start: Option<String>,

    /// Start the entry at the head of a loop, in a state that a report of silicon names; nothing
    /// passes
    #[arg(long, value_name = "STATE", conflicts_with_all = ["generate", "arguments"])]
    pub(crate) from: Option<String>,

    /// Calls, loops, joins, acquires and receives of the entry give whatever their contracts allow:
    /// all of them, or those at these places; nothing passes
    #[arg(long, value_name = "LINE[:COLUMN],..|all")]
    pub(crate) by_contract: Option<String>,

    /// How many starts are made at random
    #[arg(long, value_name = "N", default_value_t = 100, requires = "generate",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) inputs: u64,

    /// Make all starts within bounds: objects of a class, size of integers, length of sequences,
    /// depth of predicates
    #[arg(long, value_name = "n,k,l,d", value_parser = parse_scope, requires = "generate")]
    pub(crate) scope: Option<Bounds>,

    /// Go on after a failure: behind an assert, and with the next schedule or start
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Check that functions read only what their preconditions give
    #[arg(long)]
    pub(crate) check_functions: bool,

    /// Check that `old` reads only what the precondition gives
    #[arg(long)]
    pub(crate) check_old: bool,

    /// Accepted for the sake of those who pass it to silicon: there is no progress to be shown
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// The effect of permission that is left behind: a failure, or only a note
    #[arg(long, value_enum, value_name = "HOW", default_value = "note")]
    pub(crate) leaks: LeaksArg,

    /// Show what each step did: those that other threads can notice, or all
    #[arg(long, value_enum, value_name = "WHAT", default_value = "none", num_args = 0..=1,
        default_missing_value = "all")]
    pub(crate) trace: Trace,

    /// Write the trace to a file, an object a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace_file: Option<PathBuf>,

    /// Show the heap and who holds what: at the end, or after so many steps
    #[arg(long, value_name = "STEP", num_args = 0..=1, require_equals = true,
        default_missing_value = "end", value_parser = parse_when)]
    pub(crate) show_state: Option<When>,

    /// Colour the output: on a terminal, always, or never
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorArg,

    /// How findings are shown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(crate) message_format: FormatArg,
}

/// The language of an emitted program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EmitArg {
    Rust,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LeaksArg {
    Note,
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    Human,
    Short,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorArg {
    Auto,
    Always,
    Never,
}

/// When the state is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// At the end.
    End,
    /// After so many steps.
    After(u64),
}

/// How many schedules are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Schedules {
    All,
    Some(u64),
}

fn parse_schedules(text: &str) -> Result<Schedules, String> {
    match text.parse() {
        _ if text == "all" => Ok(Schedules::All),
        Ok(0) | Err(_) => Err("`all` or a number from 1 on expected".to_owned()),
        Ok(count) => Ok(Schedules::Some(count)),
    }
}

fn parse_when(text: &str) -> Result<When, String> {
    match text {
        "end" => Ok(When::End),
        _ => text.parse().map(When::After).map_err(|_| "a number of steps expected".to_owned()),
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
