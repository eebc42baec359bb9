//! The arguments and what they mean.

pub(crate) mod config;
mod configuration;
pub(crate) mod meant;
pub(crate) mod presentation;
pub(crate) mod reference_flags;
mod silicon_flags;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use clap::builder::RangedU64ValueParser;
use clap::{ValueEnum, ValueHint};
use silicon::Answers;
use silicon::options::{Join, Native, Options};
use silicon::output::{Format, ReportFormat};
use silicon::session::input::{self, Input, Language, Source};
use silicon::session::shard::Shard;
use silicon::session::{Lines, Session, Task};

use self::presentation::Presentation;
use self::silicon_flags::SiliconFlags;
use crate::cache::CacheOptions;
use crate::run::selectors::Selectors;

/// With the solver's, since a verdict may depend on it.
pub(crate) static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (Z3 {})", env!("CARGO_PKG_VERSION"), silicon::solver_version()));

/// The programs, and the options for verifying them.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Programs, directories of programs, or - for standard input: SIL, unless --language or
    /// --stdin-filename says otherwise
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) presentation: Presentation,

    /// Verify only members whose name matches (repeatable)
    #[arg(long = "member", value_name = "GLOB", help_heading = SELECTION)]
    members: Vec<String>,

    /// Leave out members whose name matches (repeatable)
    #[arg(long = "exclude", value_name = "GLOB", help_heading = SELECTION)]
    excluded: Vec<String>,

    /// Verify all functions and predicates, and only methods whose name matches (repeatable)
    #[arg(long = "includeMethods", value_name = "GLOB", help_heading = SELECTION)]
    methods: Vec<String>,

    /// Leave out methods whose name matches (repeatable)
    #[arg(long = "excludeMethods", value_name = "GLOB", help_heading = SELECTION)]
    excluded_methods: Vec<String>,

    /// Verify only members that stand on these lines (repeatable)
    #[arg(long = "at", value_name = "FILE:LINE[-LINE]", help_heading = SELECTION)]
    at: Vec<Lines>,

    /// Verify only the members of one of N shards; each member belongs to one. See silicon merge
    #[arg(
        long,
        value_name = "I/N",
        requires = "save",
        conflicts_with_all = ["expect", "state", "dump"],
        help_heading = SELECTION
    )]
    pub(crate) shard: Option<Shard>,

    /// Deal members to shards by their times in FILE, which an earlier run printed with
    /// --message-format json, or saved
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = SELECTION
    )]
    pub(crate) costs: Option<PathBuf>,

    /// Save all that is found in FILE as it comes, for silicon merge and --resume
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["state", "dump"])]
    pub(crate) save: Option<PathBuf>,

    /// Do not verify again what the run that was saved in FILE has verified, unless it has changed.
    /// With --save and the same FILE an interrupted run goes on
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["state", "dump"])]
    pub(crate) resume: Option<PathBuf>,

    /// Worker threads, at most four per core; 0: one per core
    #[arg(
        short = 'j',
        long = "threads",
        visible_alias = "numberOfParallelVerifiers",
        value_name = "N",
        default_value_t = 0,
        value_parser = threads,
        help_heading = RESOURCES
    )]
    pub(crate) threads: usize,

    /// Report at most N errors per member; 0: all [default: 0, with --compat 1]
    #[arg(long, visible_alias = "numberOfErrorsToReport", value_name = "N")]
    errors_per_member: Option<usize>,

    /// The language of all inputs, whatever their names say
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    language: Option<Dialect>,

    /// The name of standard input in messages; its end says which language the text is in
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,

    /// An option of Chalice beside those in the first line of a program, as -noTermination
    /// (repeatable)
    #[arg(
        long = "chalice-parameter",
        value_name = "OPTION",
        allow_hyphen_values = true,
        value_parser = silicon::session::input::chalice_option
    )]
    parameters: Vec<String>,

    /// The solver's resource limit for one obligation, in its units; 0: none
    #[arg(
        long,
        value_name = "UNITS",
        default_value_t = Options::default().obligation_limit,
        help_heading = RESOURCES
    )]
    limit: u32,

    /// Give up on a member with which a process needs more memory
    #[arg(
        long,
        value_name = "MB",
        value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000_000),
        help_heading = RESOURCES
    )]
    pub(crate) memory_limit: Option<u64>,

    /// Give up on a member after so much work of its thread; 0: never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = default_member_limit(),
        value_parser = seconds,
        help_heading = RESOURCES
    )]
    member_limit: f64,

    /// Give up on what is left after this time; 0: never
    #[arg(
        long,
        visible_alias = "timeout",
        value_name = "SECONDS",
        default_value_t = 0.0,
        value_parser = seconds,
        help_heading = RESOURCES
    )]
    time_limit: f64,

    /// When branches of a method are merged again
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    join: JoinWhen,

    /// Ask Z3 also what takes few steps without it: slower, and the verdicts are the same
    #[arg(long, overrides_with = "native")]
    no_native: bool,
    #[arg(long, overrides_with = "no_native", hide = true)]
    native: bool,

    /// Report places that no execution can reach, since what is said there is contradictory
    #[arg(long, visible_alias = "enableSmokeDetection", overrides_with = "no_smoke")]
    smoke: bool,
    #[arg(long, overrides_with = "smoke", hide = true)]
    no_smoke: bool,

    /// Amounts in preconditions of functions count, not only whether there is some permission
    #[arg(
        long,
        visible_alias = "respectFunctionPrePermAmounts",
        overrides_with = "no_exact_amounts_in_functions"
    )]
    exact_amounts_in_functions: bool,
    #[arg(long, overrides_with = "exact_amounts_in_functions", hide = true)]
    no_exact_amounts_in_functions: bool,

    /// Take for granted that receivers of quantified permissions differ where they are inhaled
    #[arg(
        long,
        visible_alias = "assumeInjectivityOnInhale",
        overrides_with = "no_assume_injectivity_on_inhale"
    )]
    assume_injectivity_on_inhale: bool,
    #[arg(long, overrides_with = "assume_injectivity_on_inhale", hide = true)]
    no_assume_injectivity_on_inhale: bool,

    /// Take for granted that functions and methods without a termination clause end
    #[arg(long, overrides_with = "no_assume_termination")]
    assume_termination: bool,
    #[arg(long, overrides_with = "assume_termination", hide = true)]
    no_assume_termination: bool,

    /// Say nothing behind what is certainly false, as the reference does [default: with --compat]
    #[arg(long, overrides_with = "no_assume_failures")]
    assume_failures: bool,
    #[arg(long, overrides_with = "assume_failures", hide = true)]
    no_assume_failures: bool,

    /// Write what the solver is asked to DIR, a replayable .smt2 file a member
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    smt_log: Option<PathBuf>,

    /// Count with --stats how often the solver instantiated each quantifier (slow)
    #[arg(long, overrides_with = "no_profile")]
    pub(crate) profile: bool,
    #[arg(long, overrides_with = "profile", hide = true)]
    no_profile: bool,

    /// Name every assume and inhale among what was trusted
    #[arg(long, overrides_with = "no_audit")]
    audit: bool,
    #[arg(long, overrides_with = "audit", hide = true)]
    no_audit: bool,

    /// Parse, resolve and check only, do not verify
    #[arg(long, overrides_with = "no_check")]
    check: bool,
    #[arg(long, overrides_with = "check", hide = true)]
    no_check: bool,

    /// Compare what is found with the ExpectedOutput annotations beside the lines: only differences
    /// count
    #[arg(long, overrides_with = "no_expect", conflicts_with_all = ["reports", "compat"])]
    pub(crate) expect: bool,
    #[arg(long, overrides_with = "expect", hide = true)]
    no_expect: bool,

    /// Verify again after each edit of the programs, and of what they import, until Ctrl-C: only
    /// what the edit concerns
    #[arg(long, conflicts_with_all = ["save", "resume", "state", "dump", "print_config"])]
    pub(crate) watch: bool,

    /// Show no progress bar
    #[arg(long, overrides_with = "progress")]
    no_progress: bool,
    #[arg(long, overrides_with = "no_progress", hide = true)]
    progress: bool,

    /// Print what the front end makes of the programs, and do not verify
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) dump: Option<Dump>,

    /// The form of bodies in --dump sil [default: graph]
    #[arg(long, value_enum, value_name = "FORM", requires = "dump")]
    form: Option<Form>,

    /// Take options from FILE, not from the nearest silicon.toml here or above
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, overrides_with = "no_config")]
    config: Option<PathBuf>,
    /// Take options from no file
    #[arg(long, overrides_with = "config")]
    no_config: bool,

    /// Print the options in effect, and do nothing else
    #[arg(long)]
    pub(crate) print_config: bool,

    /// Show what is known where execution comes to a line: permissions held, values, facts; once
    /// for each path
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["reports", "compat", "dump", "expect", "check"])]
    pub(crate) state: Option<Lines>,
    /// Show the states of all paths, not of the first eight only
    #[arg(long, requires = "state")]
    pub(crate) all: bool,

    /// Show with every error a state in which it may go wrong
    #[arg(long, overrides_with = "no_counterexample")]
    counterexample: bool,
    #[arg(long, overrides_with = "counterexample", hide = true)]
    no_counterexample: bool,

    /// Run Chalice methods that fail, and say which of their errors a run shows (implies
    /// --counterexample)
    #[arg(long, overrides_with = "no_replay")]
    replay: bool,
    #[arg(long, overrides_with = "replay", hide = true)]
    no_replay: bool,

    /// Execute Chalice programs directly, without translating them; what has no rule there is
    /// unsupported
    #[arg(long, overrides_with = "no_direct")]
    direct: bool,
    #[arg(long, overrides_with = "direct", hide = true)]
    no_direct: bool,

    /// Print text and exit codes as another verifier does
    #[arg(long, value_enum, value_name = "TOOL", conflicts_with = "message_format")]
    compat: Option<Tool>,

    #[command(flatten)]
    pub(crate) cache: CacheOptions,

    #[command(flatten)]
    silicon_flags: SiliconFlags,
}

/// More make no machine faster, and each has a stack and a solver of its own.
const MOST_THREADS: usize = 256;

const SELECTION: &str = "Selection";
const RESOURCES: &str = "Resources";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Dialect {
    /// SIL, and Viper
    Sil,
    Chalice,
    Spl,
}

impl From<Dialect> for Language {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Sil => Self::Sil,
            Dialect::Chalice => Self::Chalice,
            Dialect::Spl => Self::Spl,
        }
    }
}

/// A verifier whose output is imitated.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Tool {
    /// ETH's Silicon
    Silicon,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum JoinWhen {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Dump {
    /// The resolved program
    Ast,
    /// The control-flow graphs of all bodies, in Graphviz's language
    Cfg,
    /// The program as SIL text, see --form
    Sil,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Form {
    /// Explicit control-flow graphs
    Graph,
    /// Statements, as in plain Viper
    Structured,
}

impl Args {
    /// Returns a mistake in the arguments that clap does not see.
    pub(crate) fn complaint(&self) -> Option<&'static str> {
        if self.inputs.is_empty() && self.state.is_none() {
            Some("no input: name a file, a directory, or - for standard input (see --help)")
        } else if self.inputs.iter().filter(|input| input.as_os_str() == "-").count() > 1 {
            Some("standard input can be read only once")
        } else if self.watch && self.inputs.iter().any(|input| input.as_os_str() == "-") {
            Some("--watch does not go with standard input")
        } else if self.profile && !self.presentation.stats {
            Some("--profile goes with --stats")
        } else if self.form.is_some() && self.dump != Some(Dump::Sil) {
            Some("--form goes with --dump sil")
        } else if self.costs.is_some() && self.shard.is_none() {
            Some("--costs goes with --shard")
        } else if self.expect && self.format().at_end().is_some() {
            Some("--expect does not go with --message-format gitlab")
        } else {
            None
        }
    }

    /// Returns remarks about the arguments, a line each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.silicon_flags.notes();
        notes.extend(self.cache.note(self.keeps_no_answers()));
        if let (Some(_), Some(option)) = (&self.resume, self.keeps_no_answers()) {
            notes.push(format!("--resume has no effect with {option}"));
        }
        if self.presentation.stats && self.presentation.is_without_stats() {
            notes.push(
                "--stats has no effect with this --message-format: human and json show it".into(),
            );
        }
        if self.language.is_none() && self.compat.is_none() {
            let is_known = |path: &Path| input::Language::of_name(path).is_some();
            let guessed = self.inputs.iter().filter(|path| path.is_file() && !is_known(path));
            notes.extend(guessed.map(|path| {
                let path = path.display();
                format!("{path} is read as SIL, as no language has its ending (see --language)")
            }));
        }
        if let (true, Some(option)) = (self.watch, self.keeps_no_answers()) {
            notes.push(format!("each edit verifies everything with {option}"));
        }
        if self.stdin_filename.is_some() && self.inputs.iter().all(|one| one.as_os_str() != "-") {
            notes
                .push("--stdin-filename has no effect: nothing is read from standard input".into());
        }
        notes
    }

    /// Returns the selectors, of which each is to select something.
    pub(crate) fn selectors(&self) -> Selectors {
        Selectors::new(&self.members, &self.at)
    }

    pub(crate) fn session(&self) -> Session {
        Session {
            task: if self.check { Task::Check } else { Task::Verify },
            options: self.options(),
            audit: self.audit,
            replay: self.replay,
            direct: self.direct,
            at: self.at.clone(),
            errors_per_member: self.errors_per_member(),
            graphs: self.wants_graphs(),
            ..Session::default()
        }
    }

    /// Returns the option that leaves answers of no use, if there is one.
    fn keeps_no_answers(&self) -> Option<&'static str> {
        let reasons = [
            ("--replay", self.replay),
            ("--direct", self.direct),
            ("--profile", self.profile),
            ("--smt-log", self.smt_log.is_some()),
            ("--check", self.check),
        ];
        reasons.into_iter().find(|(_, is_on)| *is_on).map(|(option, _)| option)
    }

    /// Returns the answers of earlier runs in the cache; without one, those that are `kept` in a
    /// directory, or a place for answers where a file has or gets them.
    pub(crate) fn answers(&self, kept: Option<&Path>) -> anyhow::Result<Option<Answers>> {
        if self.keeps_no_answers().is_some() {
            return Ok(None);
        }
        let saves = self.save.is_some() || self.resume.is_some();
        let answers = match (self.cache.answers()?, kept) {
            (None, Some(kept)) if !self.cache.is_off() => Some(Answers::stored(kept, None)?),
            (None, _) => saves.then(Answers::default),
            (named, _) => named,
        };
        Ok(answers.map(Answers::forgetful))
    }

    /// Returns an option that says something about the run of a command, and nothing about how a
    /// text is verified, if there is one.
    pub(crate) fn of_no_use_to_clients(&self) -> Option<&'static str> {
        let given = [
            ("the name of a program", !self.inputs.is_empty() && self.compat.is_none()),
            ("--report", !self.presentation.reports.is_empty()),
            ("--shard", self.shard.is_some()),
            ("--save", self.save.is_some()),
            ("--resume", self.resume.is_some()),
            ("--watch", self.watch),
            ("--profile", self.profile),
            ("--smt-log", self.smt_log.is_some()),
            ("--state", self.state.is_some()),
            ("--dump", self.dump.is_some()),
            ("--expect", self.expect),
            ("--print-config", self.print_config),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Tells whether answers of earlier runs may be used.
    pub(crate) fn wants_answers(&self) -> bool {
        self.keeps_no_answers().is_none() && !self.cache.is_off()
    }

    /// Tells whether a report may draw graphs: a page, now or when runs are merged.
    fn wants_graphs(&self) -> bool {
        let reports = &self.presentation.reports;
        self.save.is_some() || reports.iter().any(|report| report.format == ReportFormat::Html)
    }

    fn assumes_failures(&self) -> bool {
        self.assume_failures || self.compat.is_some() && !self.no_assume_failures
    }

    /// The reference stops at the first error of a member.
    fn errors_per_member(&self) -> usize {
        self.errors_per_member.unwrap_or(usize::from(self.compat.is_some()))
    }

    /// Returns the directories that were named and hold no program.
    pub(crate) fn without_programs(&self) -> Vec<&Path> {
        input::without_programs(&self.inputs)
    }

    /// Returns the programs that the arguments stand for.
    pub(crate) fn programs(&self) -> Vec<Input> {
        let mut inputs = input::expand(&self.inputs);
        for input in &mut inputs {
            if let (Source::Stdin, Some(name)) = (&input.source, &self.stdin_filename) {
                input.name = input::harmless(name);
            }
            input.parameters.clone_from(&self.parameters);
            input.language = self.language.map(Language::from);
        }
        inputs
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        options.threads = self.threads;
        options.members.clone_from(&self.members);
        options.excluded.clone_from(&self.excluded);
        options.methods.clone_from(&self.methods);
        options.excluded_methods.clone_from(&self.excluded_methods);
        options.obligation_limit = self.limit;
        options.member_time_limit = duration(self.member_limit);
        options.deadline = duration(self.time_limit).map(|limit| Instant::now() + limit);
        options.smt_log.clone_from(&self.smt_log);
        options.smoke = self.smoke;
        options.exact_amounts_in_functions = self.exact_amounts_in_functions;
        options.assume_injectivity_on_inhale = self.assume_injectivity_on_inhale;
        options.assume_termination = self.assume_termination;
        options.assume_failures = self.assumes_failures();
        options.join = match self.join {
            JoinWhen::Auto => Join::Auto,
            JoinWhen::Always => Join::Always,
            JoinWhen::Never => Join::Never,
        };
        options.native = if self.no_native { Native::Off } else { Native::On };
        options.counterexample = self.counterexample || self.replay;
        options
    }

    pub(crate) fn form(&self) -> sil::print::Form {
        match self.form {
            None | Some(Form::Graph) => sil::print::Form::Graph,
            Some(Form::Structured) => sil::print::Form::Structured,
        }
    }

    pub(crate) fn format(&self) -> Format {
        if let Some(Tool::Silicon) = self.compat {
            return Format::Silicon;
        }
        self.presentation.format()
    }

    /// Tells whether a bar may be drawn on standard error.
    pub(crate) fn wants_progress(&self) -> bool {
        !self.no_progress && io::stderr().is_terminal()
    }
}

pub(crate) fn default_member_limit() -> f64 {
    Options::default().member_time_limit.map_or(0.0, |limit| limit.as_secs_f64())
}

pub(crate) fn duration(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds))
}

/// A century is the longest time that means anything here.
const LONGEST: f64 = 3.2e9;

pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| *threads <= MOST_THREADS);
    threads.ok_or_else(|| format!("expected a whole number from 0 to {MOST_THREADS}"))
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=LONGEST).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected a number of seconds that is not negative".into())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::commands::Cli;

    #[test]
    fn the_last_of_a_switch_and_its_negation_wins() {
        let args = |words: &[&str]| Cli::try_parse_from(words).expect("well formed").args;
        assert!(!args(&["silicon", "--stats", "--no-stats", "x"]).presentation.stats);
        assert!(args(&["silicon", "--no-stats", "--stats", "x"]).presentation.stats);
        assert!(!args(&["silicon", "--no-progress", "--progress", "x"]).no_progress);
    }
}
