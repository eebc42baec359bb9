//! The `chalice-run` command.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chalice_run::choices::{Choices, parse_schedule};
use chalice_run::code::Code;
use chalice_run::entry::{self, NoStart};
use chalice_run::generate::{Bounds, Found, Head, HeadText, Order, StartText, Starts};
use chalice_run::machine::{ByContract, Config, Machine, Trace, Undefined};
use chalice_run::report::{Summary, human, json, trace};
use chalice_run::run::again;
use chalice_run::run::explore::{Limits, explore};
use chalice_run::run::{Leaks, Note, Outcome, Scheduling, Verdict, leaks, run};
use chalice_run::sources::Sources;

mod args;
mod emitting;
mod streams;

use args::{Args, ColorArg, FormatArg, LeaksArg, Schedules, When};
use streams::{err, out};

impl Args {
    fn colored(&self) -> bool {
        match self.color {
            ColorArg::Always => true,
            ColorArg::Never => false,
            ColorArg::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// The number of steps of each thread that are shown where something goes wrong.
const LAST: usize = 20;

const WRONG_USE: u8 = 2;
const INPUT_ERROR: u8 = 3;
const NOTHING_RUN: u8 = 4;

fn main() -> ExitCode {
    let args: Args = manual::parse();
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
    let files = || std::iter::once(&args.input).chain(&args.with);
    if files().filter(|file| *file == Path::new("-")).count() > 1 {
        err("chalice-run: standard input can be read only once\n");
        return Ok(WRONG_USE);
    }
    let texts = files().map(|file| front::read_input(file)).collect::<Result<_, _>>()?;
    let sources = Sources::new(texts).with_options(args.parameters.clone());
    let (program, found) = sources.check();
    for one in &found {
        match args.message_format {
            FormatArg::Json => out(&json::finding(&sources, one))?,
            _ => err(&human::finding(&sources, one, args.colored())),
        }
    }
    let Some(program) = program else { return Ok(INPUT_ERROR) };
    let code = if args.erase_ghost {
        Code::without_ghosts(program, sources.options())
    } else {
        Code::new(program, sources.options())
    };
    let runner = Runner { args, sources: &sources, code: &code, started: Instant::now() };
    match runner.everything() {
        Ok(code) => Ok(code),
        Err(Problem::Use(words)) => {
            err(&format!("chalice-run: {words}\n"));
            Ok(WRONG_USE)
        }
        Err(Problem::NoStart(words)) => {
            err(&format!("chalice-run: {words}\n"));
            Ok(NOTHING_RUN)
        }
        Err(Problem::Output(error)) => Err(error),
    }
}

/// Why nothing could be run.
enum Problem {
    /// The command line asks for something that there is not.
    Use(String),
    /// No start was found; there may be one.
    NoStart(String),
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
    fn config(&self, entry: u32) -> Result<Config, String> {
        let by_contract = match self.args.by_contract.as_deref() {
            Some(places) => Some(Arc::new(self.sites(entry, places)?)),
            None => None,
        };
        Ok(Config { by_contract, ..self.config_of_all() })
    }

    /// Returns the statements of a method at places that the user has named.
    fn sites(&self, method: u32, places: &str) -> Result<ByContract, String> {
        let all = ByContract::all_sites(self.code, method);
        if places == "all" {
            return Ok(ByContract::new(self.code, method, all));
        }
        let mut sites = Vec::new();
        for place in places.split(',') {
            let (line, column) = match place.split_once(':') {
                Some((line, column)) => (line, Some(column)),
                None => (place, None),
            };
            let is_there = |site: &&u32| {
                let span = self.code.methods[method as usize].body[**site as usize].span;
                let found = self.sources.place(span.start);
                found.line.to_string() == line
                    && column.is_none_or(|column| found.column.to_string() == column)
            };
            let before = sites.len();
            sites.extend(all.iter().filter(is_there));
            if sites.len() == before {
                let name = &self.code.methods[method as usize].name;
                return Err(format!("nothing of {name} relies on a contract at `{place}`"));
            }
        }
        Ok(ByContract::new(self.code, method, sites))
    }

    fn config_of_all(&self) -> Config {
        let args = self.args;
        let undefined = args.undefined.unwrap_or(
            if args.generate || args.start.is_some() || args.from.is_some() {
                Undefined::Choose
            } else {
                Undefined::Report
            },
        );
        let explores = args.schedules.is_some() || args.preemptions.is_some();
        // A run without end is found out a hundred times where starts are generated.
        let (steps, visible_steps) = match () {
            () if explores => (1_000_000, 200),
            () if args.generate => (50_000, 5_000),
            () => (1_000_000, 100_000),
        };
        let traces = args.trace != Trace::None || args.trace_file.is_some();
        Config {
            view: args.view,
            undefined,
            assume: args.assume,
            steps: args.steps.unwrap_or(steps),
            visible_steps: args.visible_steps.unwrap_or(visible_steps),
            deadline: self.deadline(),
            folding: args.fold,
            checks: !args.no_checks && !self.code.needs_ghosts,
            check_old: args.check_old,
            check_functions: args.check_functions,
            leaks_fail: matches!(args.leaks, LeaksArg::Error),
            keep_going: args.keep_going,
            trace: args.trace.max(if traces { Trace::Sync } else { Trace::None }),
            ..Config::default()
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let seconds = self.args.seconds?;
        self.started.checked_add(Duration::from_secs(seconds))
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

    /// Returns how threads are scheduled where the decisions of a report make no sense, as they
    /// belong to one start.
    fn policy(&self) -> Result<Scheduling, String> {
        match self.scheduling()? {
            (scheduling, script) if script.is_empty() => Ok(scheduling),
            _ => Err("the decisions of a generated run are given to --start".to_owned()),
        }
    }

    fn everything(&self) -> Result<u8, Problem> {
        if self.args.generate {
            return self.generated();
        }
        if let Some(text) = &self.args.from {
            return self.start_at(text);
        }
        if let Some(text) = &self.args.start {
            return self.start_again(text);
        }
        let has_arguments = !self.args.arguments.is_empty();
        let entry = entry::entry(self.code, self.args.entry.as_deref(), has_arguments)?;
        let (scheduling, script) = self.scheduling()?;
        let config = self.config(entry)?;
        let started = entry::start(self.code, entry, &config, &self.args.arguments);
        let mut machine = started.map_err(|reason| match reason {
            NoStart::Refused(words) => Problem::Use(words),
            NoStart::Precondition { method, claim, parts } => {
                Problem::Use(human::refused(self.sources, &method, claim, &parts))
            }
            NoStart::NotFound(words) => Problem::NoStart(words),
        })?;
        if self.args.emit.is_some() {
            return self.emitted(&machine, entry);
        }
        machine.choices = Choices::new(script, chalice_run::run::random_values(self.args.seed));
        let mut summary = if self.args.schedules.is_some() || self.args.preemptions.is_some() {
            self.explored(&machine, entry)?
        } else {
            self.once(&mut machine, entry, &scheduling)?
        };
        let (schedule, arguments) = (&summary.outcome.schedule, &self.args.arguments);
        if let Some(failure) = &mut summary.outcome.failure
            && again::passes_by_thread(self.code, entry, &config, arguments, failure, schedule)
        {
            let text = "no race: if permission is counted by thread, this schedule passes; a contract gives too little";
            failure.notes.push(Note { text: text.to_owned(), span: None });
        }
        self.say(&summary)?;
        Ok(summary.exit_code())
    }

    fn blank(&self, entry: u32) -> Summary {
        Summary {
            file: self.sources.files()[0].0.name.clone(),
            entry: self.code.methods[entry as usize].name.clone(),
            outcome: Outcome {
                verdict: Verdict::Passed,
                failure: None,
                more: Vec::new(),
                schedule: "-".to_owned(),
                counts: chalice_run::machine::Counts::default(),
                results: Vec::new(),
            },
            skipped: std::collections::BTreeMap::new(),
            schedules: 0,
            complete: true,
            inputs: 0,
            seed: self.args.seed,
            leaks: Leaks::default(),
            unset: std::collections::BTreeSet::new(),
            start: None,
            granted: self.code.taken_for_granted(entry, self.args.check_functions),
            from: None,
            steps: String::new(),
        }
    }

    /// Returns the last steps of the threads, where something went wrong and people are told.
    fn last_steps(&self, start: &Machine<'_>, outcome: &Outcome) -> String {
        let is_told = matches!(self.args.message_format, FormatArg::Human)
            && self.args.trace == Trace::None
            && matches!(outcome.verdict, Verdict::Failed | Verdict::Deadlock | Verdict::Error);
        let traced = if is_told { again::traced(start, outcome) } else { None };
        traced.map_or_else(String::new, |traced| trace::text(self.sources, &traced, LAST))
    }

    fn once(
        &self,
        machine: &mut Machine<'_>,
        entry: u32,
        scheduling: &Scheduling,
    ) -> Result<Summary, Problem> {
        if let Some(When::After(step)) = self.args.show_state {
            // The same run, as far as that step.
            let mut before = machine.clone();
            before.config.stop_after = Some(step);
            run(&mut before, scheduling);
            err(&trace::state(self.sources, &before));
        }
        let start = machine.clone();
        let outcome = run(machine, scheduling);
        // A run that ends early does not take all decisions. Where threads wait for each other, a
        // run may be stopped before the others have ended.
        let is_over = matches!(outcome.verdict, Verdict::Passed | Verdict::Failed);
        if let Some(words) = machine.choices.misfit(is_over) {
            return Err(Problem::Use(words));
        }
        self.show_output(&machine.output)?;
        self.show_machine(machine)?;
        Ok(Summary {
            steps: self.last_steps(&start, &outcome),
            outcome,
            skipped: machine.skipped.clone(),
            schedules: 1,
            leaks: leaks(machine),
            unset: std::mem::take(&mut machine.unset),
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
        if self.args.trace != Trace::None {
            match self.args.message_format {
                FormatArg::Json => out(&trace::json(self.sources, machine))?,
                _ => err(&trace::text(self.sources, machine, usize::MAX)),
            }
        }
        if self.args.show_state == Some(When::End) {
            err(&trace::state(self.sources, machine));
        }
        Ok(())
    }

    fn explored(&self, machine: &Machine<'_>, entry: u32) -> Result<Summary, Problem> {
        let schedules = match self.args.schedules {
            None | Some(Schedules::All) => 10_000,
            Some(Schedules::Some(count)) => count,
        };
        let limits = Limits {
            schedules,
            preemptions: self.args.preemptions,
            keep_going: self.args.keep_going,
            deadline: self.deadline(),
        };
        let explored = explore(machine, limits);
        let worst = explored.worst.as_ref();
        let steps = worst.map_or_else(String::new, |worst| self.last_steps(machine, worst));
        self.show_output(&explored.output)?;
        let mut summary = Summary {
            skipped: explored.skipped,
            unset: explored.unset,
            schedules: explored.schedules,
            complete: explored.complete,
            steps,
            ..self.blank(entry)
        };
        if let Some(worst) = explored.worst {
            summary.outcome = worst;
        }
        Ok(summary)
    }

    /// Runs once more what a report about generated starts was about.
    fn start_again(&self, text: &str) -> Result<u8, Problem> {
        let wrong = || Problem::Use(format!("`{text}` is no start: see --help"));
        let text = StartText::parse(text).ok_or_else(wrong)?;
        let Some(name) = &self.args.entry else {
            return Err(Problem::Use("--start needs --entry: which method?".to_owned()));
        };
        let entry = entry::entry(self.code, Some(name), true)?;
        let bounds = self.args.scope.unwrap_or_default();
        let starts = Starts::new(self.code, entry, self.config(entry)?, bounds, Order::All);
        let mut starts = starts.from_text(&text);
        // This start, and no other.
        starts.patience = 1;
        let Found::Start(mut machine) = starts.next_start() else {
            return Err(Problem::Use(format!("the precondition of {name} excludes this start")));
        };
        let scheduling = self.policy()?;
        let described = machine.start_text();
        let mut summary = self.once(&mut machine, entry, &scheduling)?;
        summary.outcome.schedule = starts.text_of(&machine).to_string();
        summary.start = Some(described);
        self.say(&summary)?;
        Ok(summary.exit_code())
    }

    /// Runs the entry from the head of a loop on.
    fn start_at(&self, text: &str) -> Result<u8, Problem> {
        let wrong = || Problem::Use(format!("`{text}` is no state at a loop: see --help"));
        let text = HeadText::parse(text).ok_or_else(wrong)?;
        let Some(name) = &self.args.entry else {
            return Err(Problem::Use("--from needs --entry: which method?".to_owned()));
        };
        let entry = entry::entry(self.code, Some(name), true)?;
        let is_at = |span: chalice::Span| {
            let place = self.sources.place(span.start);
            (place.line, place.column) == text.place
        };
        let head = Head::new(self.code, entry, is_at, &text)
            .map_err(|unfit| Problem::Use(format!("{name} cannot be started there: {unfit}")))?;
        let head = Arc::new(head);
        let bounds = self.args.scope.unwrap_or_default();
        let starts = Starts::new(self.code, entry, self.config(entry)?, bounds, Order::All);
        let mut starts = starts.at(head.clone());
        if let Some(text) = &self.args.start {
            let wrong = || Problem::Use(format!("`{text}` is no start: see --help"));
            starts = starts.from_text(&StartText::parse(text).ok_or_else(wrong)?);
            starts.patience = 1;
        }
        let Found::Start(mut machine) = starts.next_start() else {
            return Err(Problem::Use(format!("what {name} has folded there was not found")));
        };
        let scheduling = self.policy()?;
        let described = machine.head_text(&head);
        machine.skip_what_comes_before(head.span);
        let mut summary = self.once(&mut machine, entry, &scheduling)?;
        summary.outcome.schedule = starts.text_of(&machine).to_string();
        summary.start = Some(described);
        summary.from = Some(text.to_string());
        self.say(&summary)?;
        Ok(summary.exit_code())
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
        let scheduling = self.policy()?;
        let mut starts = Starts::new(self.code, method, self.config(method)?, bounds, order);
        let mut summary = self.blank(method);
        while starts.found < limit {
            if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                summary.complete = false;
                summary.start = Some("the time was over".to_owned());
                break;
            }
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
            summary.outcome.counts.steps += outcome.counts.steps;
            summary.outcome.counts.checks += outcome.counts.checks;
            for (place, count) in &machine.skipped {
                *summary.skipped.entry(*place).or_default() += count;
            }
            let is_worse = outcome.verdict > summary.outcome.verdict;
            if is_worse {
                let (counts, results) = (summary.outcome.counts, Vec::new());
                let schedule = starts.text_of(&machine).to_string();
                summary.outcome = Outcome { schedule, counts, results, ..outcome };
                summary.start = Some(format!("number {}: {described}", starts.found));
            }
            if matches!(
                summary.outcome.verdict,
                Verdict::Failed | Verdict::Deadlock | Verdict::Error
            ) && !self.args.keep_going
            {
                break;
            }
            starts.go_on(&machine);
        }
        if summary.inputs == 0 && summary.start.is_none() {
            summary.complete = false;
            summary.start = Some("none within the bounds satisfies the precondition".to_owned());
        }
        if summary.inputs == 0 {
            // Nothing was run, so nothing has passed.
            summary.outcome.verdict = Verdict::Stopped;
        }
        Ok(summary)
    }

    fn say(&self, summary: &Summary) -> Result<(), Problem> {
        let milliseconds = self.started.elapsed().as_secs_f64() * 1000.0;
        match self.args.message_format {
            FormatArg::Json => {
                for failure in summary.outcome.failure.iter().chain(&summary.outcome.more) {
                    out(&json::failure(self.sources, failure, &summary.outcome.schedule))?;
                }
                out(&json::summary(self.sources, summary, milliseconds))?;
            }
            FormatArg::Human | FormatArg::Short => {
                for failure in summary.outcome.failure.iter().chain(&summary.outcome.more) {
                    let again = human::again(summary);
                    err(&match self.args.message_format {
                        FormatArg::Short => human::short(self.sources, failure),
                        _ => human::failure(self.sources, failure, &again, self.args.colored()),
                    });
                }
                err(&human::steps(&summary.steps));
                err(&human::summary(self.sources, summary));
            }
        }
        Ok(())
    }
}
