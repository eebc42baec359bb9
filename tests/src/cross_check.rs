//! Compares what the verifier proves of Chalice programs with what happens when they run.
//!
//! Each method runs from starts made of its precondition (`chalice_run::generate`). A check that
//! fails in a method that is verified is a **disagreement**: one of the two is wrong. A failure
//! that the program announces is **reproduced** if some run fails with that id on that line.

mod smaller;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chalice_run::code::Code;
use chalice_run::generate::{Bounds, Found, Order, Starts};
use chalice_run::machine::{Assume, ByContract, Config, Machine, Undefined};
use chalice_run::run::explore;
use chalice_run::run::{Failure, Scheduling, Verdict, run};
use chalice_run::sources::Sources;
use silicon::options::Join;
use silicon::session::{Task, input};

use self::smaller::{Wrong, smaller};
use crate::expectations::{self, Expectations, Output};
use crate::observation::{MemberVerdict, Observation, observe, session_for};

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Starts of each method.
    pub starts: u64,
    /// Chooses values and schedules.
    pub seed: u64,
    /// Statements that a thread may execute.
    pub steps: u64,
    /// Contradictions in a row that end the search for a start.
    pub patience: u32,
    /// Are all schedules of each start explored, and how many steps that threads can notice may
    /// they have? Without it each start runs under one schedule.
    pub visible: Option<u64>,
}

/// A failure in a method that is verified, or a contradiction inside the machine that runs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    pub method: String,
    pub line: u32,
    pub id: String,
    pub message: String,
    /// The method that was started, and how.
    pub start: String,
    /// Arguments of `chalice-run` that lead to it again; absent where all schedules were explored.
    pub again: Option<String>,
}

/// The numbers of a comparison.
#[derive(Clone, Default, Debug)]
pub struct Totals {
    pub methods: u64,
    /// Methods that are verified.
    pub verified: u64,
    /// Methods that were run at least once.
    pub with_inputs: u64,
    /// Verified methods that were run at least once.
    pub verified_with_inputs: u64,
    pub runs: u64,
    /// Runs in which some contract gave whatever it allows.
    pub runs_by_contract: u64,
    /// Starts whose schedules were explored, and schedules.
    pub explored: (u64, u64),
    /// Programs with a start that has several threads, and those of them of which all schedules of
    /// all starts were explored, up to the number of steps that each may have.
    pub threaded: (u64, u64),
    /// Runs by how they ended.
    pub ends: BTreeMap<&'static str, u64>,
    /// Announced lines whose check is executed when the program runs.
    pub executable: u64,
    pub reproduced: u64,
    /// The parts that were not run, by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// The comparison for one file.
#[derive(Clone, Default, Debug)]
pub struct Comparison {
    pub totals: Totals,
    pub disagreements: Vec<Disagreement>,
    /// Announced and executable, and not seen in any run.
    pub not_reproduced: Vec<Output>,
}

impl Totals {
    fn skip(&mut self, why: impl Into<String>) {
        *self.skipped.entry(why.into()).or_default() += 1;
    }

    /// Adds the numbers of another file.
    pub fn add(&mut self, other: &Self) {
        self.methods += other.methods;
        self.verified += other.verified;
        self.with_inputs += other.with_inputs;
        self.verified_with_inputs += other.verified_with_inputs;
        self.runs += other.runs;
        self.runs_by_contract += other.runs_by_contract;
        self.executable += other.executable;
        self.reproduced += other.reproduced;
        for (own, more) in
            [(&mut self.explored, other.explored), (&mut self.threaded, other.threaded)]
        {
            *own = (own.0 + more.0, own.1 + more.1);
        }
        for (end, count) in &other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        for (why, count) in &other.skipped {
            *self.skipped.entry(why.clone()).or_default() += count;
        }
    }
}

/// The Chalice programs below a directory, in order; a file stands for itself.
pub fn programs(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let mut programs = input::programs_below(path);
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "chalice"));
    programs
}

/// Verifies and runs a file.
///
/// # Errors
/// If the file cannot be read.
pub fn compare(path: &Path, limits: Limits) -> std::io::Result<Comparison> {
    let text = fs::read_to_string(path)?;
    let observation = observe(path, &session_for(path, Task::Verify, Join::Auto));
    Ok(compare_with(&path.display().to_string(), text, &observation, limits))
}

/// Runs a program, and compares with what the verifier says about it.
pub fn compare_with(
    name: &str,
    text: String,
    observation: &Observation,
    limits: Limits,
) -> Comparison {
    let announced = expectations::read(&text, "sil");
    let sources = Sources::new(vec![(name.to_owned(), text)]);
    let mut comparison = Comparison::default();
    let Some(program) = sources.check().0 else {
        comparison.totals.skip("file: rejected");
        return comparison;
    };
    let code = Code::new(program, sources.options());
    let comparer = Comparer { sources: &sources, code: &code, observation, limits };
    let mut failures = Vec::new();
    for method in 0..code.methods.len() as u32 {
        comparer.method(method, &mut comparison, &mut failures);
    }
    comparer.announced(&announced, &failures, &mut comparison);
    comparison
}

struct Comparer<'c> {
    sources: &'c Sources,
    code: &'c Code,
    observation: &'c Observation,
    limits: Limits,
}

/// The number of statements that are executed of a method's starts together, if some do not end;
/// each start has a share.
const STATEMENTS: u64 = 10_000_000;

/// The highest number of statements that may be executed from any start.
const SHARE: u64 = 1_000;

/// The number of schedules of a start that are explored.
const SCHEDULES: u64 = 20_000;

/// How methods are run.
pub(crate) fn config(limits: Limits) -> Config {
    Config {
        undefined: Undefined::Choose,
        // The verifier assumes it, too.
        assume: Assume::Discard,
        steps: limits.steps,
        visible_steps: limits.visible.unwrap_or(2_000),
        // So that what comes behind an `assert` that fails is seen, too.
        keep_going: true,
        ..Config::default()
    }
}

impl Comparer<'_> {
    /// Tells whether the verifier says of this method only that it is verified.
    fn is_verified(&self, method: &str) -> bool {
        let mut members = self.observation.members.iter().filter(|one| one.name == method);
        members.next().is_some_and(|one| one.verdict == MemberVerdict::Verified)
            && members.all(|one| one.verdict == MemberVerdict::Verified)
    }

    /// Tells whether a failure contradicts the verifier. A deadlock does if every member is
    /// verified, since all of its threads cause it.
    fn is_disagreement(&self, verdict: Verdict, failure: &Failure) -> bool {
        let is_verified = |one: &crate::observation::Member| one.verdict == MemberVerdict::Verified;
        // An invariant's statement about two states is judged where it is declared, in no method.
        let is_about_a_class = failure.id.starts_with("invariant.not.reflexive")
            || failure.id.starts_with("invariant.not.transitive");
        match verdict {
            Verdict::Failed if is_about_a_class => self.observation.members.iter().all(is_verified),
            Verdict::Failed => self.is_verified(&failure.method),
            Verdict::Deadlock => self.observation.members.iter().all(is_verified),
            Verdict::Error => true,
            Verdict::Passed | Verdict::Discarded | Verdict::Bounded | Verdict::Stopped => false,
        }
    }

    /// Runs a method from its starts: first with all code as it is, then with what contracts allow
    /// in place of calls, loops, joins and what other threads do. A verified method may not fail in
    /// any of these runs.
    fn method(&self, method: u32, comparison: &mut Comparison, failures: &mut Vec<Output>) {
        let described = &self.code.methods[method as usize];
        let is_verified = self.is_verified(&described.name);
        let totals = &mut comparison.totals;
        totals.methods += 1;
        totals.verified += u64::from(is_verified);
        let found = self.starts(method, None, comparison, failures);
        comparison.totals.with_inputs += u64::from(found > 0);
        comparison.totals.verified_with_inputs += u64::from(is_verified && found > 0);
        let sites = ByContract::all_sites(self.code, method);
        if is_verified && found > 0 && !sites.is_empty() && self.limits.visible.is_none() {
            let chosen = Arc::new(ByContract::new(self.code, method, sites));
            self.starts(method, Some(chosen), comparison, &mut Vec::new());
        }
    }

    /// Runs a method from starts. Says how many there were.
    fn starts(
        &self,
        method: u32,
        by_contract: Option<Arc<ByContract>>,
        comparison: &mut Comparison,
        failures: &mut Vec<Output>,
    ) -> u64 {
        let described = &self.code.methods[method as usize];
        let order = Order::Random(self.limits.seed);
        let is_real = by_contract.is_none();
        // Behind an assert that fails, nothing is said of what contracts allow.
        let config = Config { keep_going: is_real, by_contract, ..config(self.limits) };
        let mut starts = Starts::new(self.code, method, config.clone(), Bounds::default(), order);
        starts.patience = self.limits.patience;
        let mut left = STATEMENTS.max(self.limits.steps);
        while starts.found < self.limits.starts {
            let mut machine = match starts.next_start() {
                Found::Start(machine) => machine,
                nothing => {
                    if starts.found == 0 && is_real {
                        comparison.totals.skip(format!("method: {}", why_not(&nothing)));
                    }
                    break;
                }
            };
            let start = format!("{}: {}", described.name, machine.start_text());
            let share = left / (self.limits.starts - starts.found + 1);
            machine.config.steps = self.limits.steps.min(share.max(SHARE));
            let known = comparison.disagreements.len();
            self.one_run(&mut machine, starts.found, &start, comparison, failures);
            if self.limits.visible.is_none() {
                for one in &mut comparison.disagreements[known..] {
                    let given = Wrong { start: start.clone(), again: starts.text_of(&machine) };
                    self.make_smaller(method, &config, given, one);
                }
            }
            left = left.saturating_sub(machine.counts.steps);
            starts.go_on(&machine);
        }
        starts.found
    }

    /// Looks for a smaller run in which the same goes wrong, and says how to come back to it.
    fn make_smaller(&self, method: u32, config: &Config, given: Wrong, found: &mut Disagreement) {
        let is_it = |failure: &Failure, verdict: Verdict| {
            self.sources.line(failure.span) as u32 == found.line
                && as_announced(&failure.id) == found.id
                && self.is_disagreement(verdict, failure)
        };
        let smallest = smaller(self.code, method, config, given, |machine, outcome| {
            let mut failures = outcome.failure.iter().chain(&outcome.more);
            machine.doubt.is_none()
                && (config.by_contract.is_none() || machine.fails_by_contract())
                && failures.any(|failure| is_it(failure, outcome.verdict))
        });
        let name = &self.code.methods[method as usize].name;
        let by_contract = if config.by_contract.is_some() { " --by-contract all" } else { "" };
        found.again = Some(format!("--entry {name} --start {}{by_contract}", smallest.again));
        found.start = smallest.start;
    }

    /// Runs once. The first start runs under the first schedule, each other one under a schedule of
    /// its own.
    fn one_run(
        &self,
        machine: &mut Machine<'_>,
        number: u64,
        start: &str,
        comparison: &mut Comparison,
        failures: &mut Vec<Output>,
    ) {
        let scheduling = match number {
            1 => Scheduling::First,
            number => Scheduling::Seed(self.limits.seed.wrapping_add(number)),
        };
        if self.limits.visible.is_some() {
            self.all_schedules(machine, start, comparison, failures);
            return;
        }
        let outcome = run(machine, &scheduling);
        if machine.config.by_contract.is_some() {
            let relied = u64::from(!machine.relied.is_empty() && machine.doubt.is_none());
            comparison.totals.runs_by_contract += relied;
            if !machine.fails_by_contract() {
                return;
            }
        }
        comparison.totals.runs += 1;
        *comparison.totals.ends.entry(outcome.verdict.as_str()).or_default() += 1;
        if machine.doubt.is_some() && outcome.verdict == Verdict::Failed {
            comparison.totals.skip("failed run: its start may be none");
            return;
        }
        for (_, what) in machine.skipped.keys() {
            comparison.totals.skip(format!("part of a run: {what}"));
        }
        for failure in outcome.failure.iter().chain(&outcome.more) {
            if outcome.verdict == Verdict::Stopped {
                comparison.totals.skip(format!("rest of a run: {}", failure.id));
            }
            self.judge(outcome.verdict, failure, start, comparison, failures);
        }
    }

    /// Runs under all schedules that matter.
    fn all_schedules(
        &self,
        machine: &Machine<'_>,
        start: &str,
        comparison: &mut Comparison,
        failures: &mut Vec<Output>,
    ) {
        let limits = explore::Limits {
            schedules: SCHEDULES,
            preemptions: None,
            keep_going: true,
            deadline: None,
        };
        let explored = explore::explore(machine, limits);
        let totals = &mut comparison.totals;
        totals.runs += 1;
        for (verdict, count) in &explored.verdicts {
            *totals.ends.entry(verdict.as_str()).or_default() += count;
        }
        totals.explored.0 += 1;
        totals.explored.1 += explored.schedules;
        if explored.threads {
            let was_whole = totals.threaded.0 == totals.threaded.1;
            totals.threaded = (1, u64::from(was_whole && explored.exhausted));
        }
        if machine.doubt.is_some() {
            totals.skip("failed run: its start may be none");
            return;
        }
        for ((id, _), failure) in &explored.failures {
            let verdict = match id.as_str() {
                "deadlock" => Verdict::Deadlock,
                "machine.inconsistent" => Verdict::Error,
                _ => Verdict::Failed,
            };
            self.judge(verdict, failure, start, comparison, failures);
        }
    }

    /// Notes a failure, and whether it contradicts the verifier.
    fn judge(
        &self,
        verdict: Verdict,
        failure: &Failure,
        start: &str,
        comparison: &mut Comparison,
        failures: &mut Vec<Output>,
    ) {
        let output = Output::new(self.sources.line(failure.span) as u32, as_announced(&failure.id));
        if self.is_disagreement(verdict, failure) {
            let known = |one: &Disagreement| one.line == output.line && one.id == output.id;
            if !comparison.disagreements.iter().any(known) {
                comparison.disagreements.push(Disagreement {
                    method: failure.method.clone(),
                    line: output.line,
                    id: output.id.clone(),
                    message: failure.message.clone(),
                    start: start.to_owned(),
                    again: None,
                });
            }
        }
        if verdict == Verdict::Failed && !failures.contains(&output) {
            failures.push(output);
        }
    }

    /// Counts which announced errors were seen.
    fn announced(
        &self,
        announced: &Expectations,
        failures: &[Output],
        comparison: &mut Comparison,
    ) {
        let missing = announced.compare(failures).missing;
        for output in &announced.expected {
            match self.why_not_executable(output) {
                Some(why) => comparison.totals.skip(format!("announced: {why}")),
                None => {
                    comparison.totals.executable += 1;
                    if missing.contains(output) {
                        comparison.not_reproduced.push(output.clone());
                    } else {
                        comparison.totals.reproduced += 1;
                    }
                }
            }
        }
    }

    /// Why a run cannot reproduce an announced error.
    fn why_not_executable(&self, output: &Output) -> Option<&'static str> {
        let (kind, reason) = output.id.split_once(':').unwrap_or((output.id.as_str(), ""));
        match kind {
            "internal" | "notsupported" => return Some("says what the verifier cannot do"),
            "not.wellformed" | "invariant.not.reflexive" | "invariant.not.transitive" => {
                return Some("about a contract, not about a run");
            }
            "termination.failed" => return Some("a run cannot show that it never ends"),
            _ if output.is_warning() || reason.is_empty() => return Some("not a check"),
            _ => {}
        }
        let is_in_method = self.code.methods.iter().any(|method| {
            let (_, range) = self.sources.range(method.span);
            let (file, _) = &self.sources.files()[0];
            let line = |offset: usize| file.line_column(offset as u32).line;
            (line(range.start)..=line(range.end)).contains(&output.line)
        });
        (!is_in_method).then_some("outside of methods")
    }
}

/// The id that the verifier has for a failure: a token that was joined already is a false assertion
/// to it.
fn as_announced(id: &str) -> &str {
    match id {
        "join.failed:not.joinable" => "assert.failed:assertion.false",
        id => id,
    }
}

/// Why there is no start.
fn why_not(found: &Found<'_>) -> String {
    match found {
        Found::Start(_) => "started".to_owned(),
        Found::Exhausted => "no start within the bounds satisfies the precondition".to_owned(),
        Found::GaveUp => "no start found".to_owned(),
        Found::Impossible(what) => format!("the precondition cannot be granted ({what})"),
    }
}

#[cfg(test)]
mod tests;
