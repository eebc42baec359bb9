//! How fast the front end is, phase by phase, and how much memory it takes.
//!
//! Times are those of the thread on a processor, which other processes disturb less than the clock's; the least of
//! several runs counts. Memory is the peak of a process that does nothing else, which is why each program is
//! measured in a process of its own; it is known on Linux only.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, io};

use sil::diagnostics::Diagnostic;
use sil::imports::FileSystem;
use sil::print::Form;
use sil::program::Program;
use sil::source::Sources;

/// The passes of the front end, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Text to parse tree, of imported files too.
    Parse,
    /// Macros and plugins.
    Expand,
    Resolve,
    Consistency,
    /// The control-flow graphs of all bodies.
    Graphs,
    /// The text with graphs, their construction included.
    PrintGraphs,
    /// The text as plain Viper.
    Print,
}

impl Phase {
    pub const ALL: [Phase; 7] = [
        Phase::Parse,
        Phase::Expand,
        Phase::Resolve,
        Phase::Consistency,
        Phase::Graphs,
        Phase::PrintGraphs,
        Phase::Print,
    ];

    /// The heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Parse => "parse",
            Phase::Expand => "expand",
            Phase::Resolve => "resolve",
            Phase::Consistency => "consist",
            Phase::Graphs => "graphs",
            Phase::PrintGraphs => "pr.graph",
            Phase::Print => "pr.plain",
        }
    }
}

/// What the front end needed for one program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    times: [Duration; Phase::ALL.len()],
    /// The peak after each phase, less what the process had when the text was read; `None` where it is unknown.
    memory: [Option<u64>; Phase::ALL.len()],
}

impl Cost {
    pub fn time(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }

    /// Bytes.
    pub fn memory(&self, phase: Phase) -> Option<u64> {
        self.memory[phase as usize]
    }

    /// The time up to where a verifier begins: everything but the printing.
    pub fn front_end(&self) -> Duration {
        let phases = Phase::ALL.into_iter().filter(|phase| *phase <= Phase::Graphs);
        phases.map(|phase| self.time(phase)).sum()
    }

    /// One line that [`Cost::from_line`] reads.
    fn to_line(&self) -> String {
        let mut line = String::new();
        for phase in Phase::ALL {
            let memory = self.memory(phase).map_or("-".to_owned(), |bytes| bytes.to_string());
            let _ = write!(line, "{} {memory} ", self.time(phase).as_nanos());
        }
        line
    }

    fn from_line(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let mut cost = Self::default();
        for phase in Phase::ALL {
            cost.times[phase as usize] = Duration::from_nanos(words.next()?.parse().ok()?);
            cost.memory[phase as usize] = words.next()?.parse().ok();
        }
        Some(cost)
    }

    /// The lesser time of each phase; memory stays as it is here.
    pub fn least(mut self, other: &Cost) -> Cost {
        for (time, others) in self.times.iter_mut().zip(other.times) {
            *time = others.min(*time);
        }
        self
    }
}

/// Takes a program through all phases.
///
/// # Errors
/// The first error of a program that does not pass.
pub fn measure(name: &str, text: &str) -> Result<Cost, String> {
    let mut cost = Cost::default();
    let at_start = peak_memory();
    let mut clock = |phase: Phase, start: Watch| {
        cost.times[phase as usize] = start.elapsed();
        cost.memory[phase as usize] =
            peak_memory().zip(at_start).map(|(peak, start)| peak.saturating_sub(start));
    };
    let mut sources = Sources::default();
    let mut problems: Vec<Diagnostic> = Vec::new();
    let bytes = text.as_bytes().to_vec();

    let start = Watch::start();
    let mut syntax = sil::imports::read_all(name, bytes, &FileSystem, &mut sources, &mut problems);
    clock(Phase::Parse, start);

    let start = Watch::start();
    sil::macros::expand(&mut syntax, &mut problems);
    sil::plugins::desugar(&mut syntax, &mut sources, &mut problems);
    clock(Phase::Expand, start);

    let start = Watch::start();
    let program = sil::resolve::resolve(&syntax, &mut problems);
    clock(Phase::Resolve, start);
    let Some(program) = program else { return Err(first_error(&problems)) };

    let start = Watch::start();
    sil::consistency::check(&program, &mut problems);
    clock(Phase::Consistency, start);
    if problems.iter().any(|problem| !problem.code.is_warning()) {
        return Err(first_error(&problems));
    }

    let start = Watch::start();
    graphs(&program);
    clock(Phase::Graphs, start);

    for (phase, form) in [(Phase::PrintGraphs, Form::Graph), (Phase::Print, Form::Structured)] {
        let start = Watch::start();
        let printed = sil::print::program(&program, form);
        clock(phase, start);
        drop(printed);
    }
    Ok(cost)
}

/// Builds all graphs, one at a time.
fn graphs(program: &Program) {
    for (id, method) in program.methods.iter() {
        for index in 0..method.implementations.len() {
            sil::cfg::build(program, id, index, &mut Vec::new());
        }
    }
}

fn first_error(problems: &[Diagnostic]) -> String {
    let first = problems.iter().find(|problem| !problem.code.is_warning());
    first.map_or_else(|| "no program".to_owned(), |problem| problem.message.clone())
}

/// A stopwatch for the time of this thread on a processor.
struct Watch(Duration);

impl Watch {
    fn start() -> Self {
        Self(thread_time())
    }

    fn elapsed(&self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The most memory the process has had, in bytes.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

/// The argument that makes this program the child of [`in_own_process`].
pub const CHILD: &str = "--front-end-child";

/// Measures a program in a new process: this one, started again.
///
/// # Errors
/// What keeps the program from passing, or the process from running.
pub fn in_own_process(name: &str, text: &str, runs: usize) -> Result<Cost, String> {
    let run = || -> io::Result<(bool, String)> {
        let mut child = Command::new(env::current_exe()?)
            .args([CHILD, name, &runs.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(text.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    match run() {
        Ok((true, line)) => Cost::from_line(&line).ok_or_else(|| format!("it says: {line}")),
        Ok((false, problem)) => Err(problem),
        Err(error) => Err(error.to_string()),
    }
}

/// What the child does: measures the program on standard input and answers with a line for the parent.
///
/// # Errors
/// As [`measure`].
pub fn child(name: &str, runs: usize) -> Result<String, String> {
    let text = io::read_to_string(io::stdin()).map_err(|error| error.to_string())?;
    // The first run is the one whose memory nobody used before.
    let mut cost = measure(name, &text)?;
    for _ in 1..runs {
        cost = cost.least(&measure(name, &text)?);
    }
    Ok(cost.to_line())
}

/// A table: a line for each program, with its speed in each phase.
pub fn table(rows: &[(String, usize, Cost)]) -> String {
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(7);
    let mut text = format!("{:width$} {:>8}", "Program", "KB");
    for phase in Phase::ALL {
        let _ = write!(text, " {:>8}", phase.name());
    }
    text.push_str("   all ms  tree B/B  peak B/B\n");
    for (name, bytes, cost) in rows {
        let _ = write!(text, "{name:width$} {:>8.1}", *bytes as f64 / 1024.0);
        for phase in Phase::ALL {
            let _ = write!(text, " {:>8.1}", megabytes_per_second(*bytes, cost.time(phase)));
        }
        let _ = write!(text, " {:>8.1}", 1000.0 * cost.front_end().as_secs_f64());
        for phase in [Phase::Parse, Phase::Print] {
            match cost.memory(phase) {
                Some(memory) => {
                    let _ = write!(text, " {:>9.1}", memory as f64 / *bytes as f64);
                }
                None => text.push_str("         -"),
            }
        }
        text.push('\n');
    }
    text.push_str(
        "\nMB of source a second in each phase (expand: macros and plugins; pr.graph, pr.plain: printing). All: parse to \
         graphs.\nMemory in bytes for a byte of source: after parsing, and at the peak.\n",
    );
    text
}

fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    // What takes no measurable time has no speed to speak of.
    if time.is_zero() { f64::INFINITY } else { bytes as f64 / 1e6 / time.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_cost() {
        let cost = measure("m.sil", "method m(x: Int) { assert x == x }").expect("a program");
        assert!(cost.time(Phase::Parse) > Duration::ZERO);
        assert!(cost.front_end() >= cost.time(Phase::Parse) + cost.time(Phase::Resolve));
        assert!(measure("m.sil", "method m(x: Int) { assert y }").is_err());
    }

    #[test]
    fn costs_pass_from_process_to_process() {
        let mut cost = Cost::default();
        cost.times[Phase::Resolve as usize] = Duration::from_micros(17);
        cost.memory[Phase::Print as usize] = Some(4096);
        assert_eq!(Cost::from_line(&cost.to_line()).as_ref(), Some(&cost));
        assert_eq!(Cost::from_line("no numbers"), None);
        let faster = Cost::default();
        assert_eq!(cost.clone().least(&faster).time(Phase::Resolve), Duration::ZERO);
        assert_eq!(cost.least(&faster).memory(Phase::Print), Some(4096));
    }

    #[test]
    fn the_table_has_a_line_a_program() {
        let mut cost = Cost::default();
        cost.times[Phase::Parse as usize] = Duration::from_millis(1);
        cost.memory[Phase::Parse as usize] = Some(20_480);
        let text = table(&[("a.vpr".to_owned(), 2048, cost)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("a.vpr") && lines[1].contains(" 2.0 "), "{text}");
        assert!(lines[1].contains(" 10.0 ") && lines[1].ends_with('-'), "{text}");
    }
}
