//! One run of one program, phase by phase.

use std::time::{Duration, Instant};

use chalice::source::SourceFile;
use sil::diagnostics::Diagnostic;
use sil::imports::FileSystem;
use sil::print::Form;
use sil::program::Program;
use sil::source::Sources;
use silicon::Request;
use silicon::options::Options;
use silicon::report::{Report, Verdict};

/// The steps between a text and a verdict, in order. Those of Chalice are zero for programs written
/// in SIL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Chalice text to syntax tree.
    ChaliceParse,
    /// Names and types of a Chalice program.
    ChaliceResolve,
    /// Chalice to a resolved SIL program.
    Translate,
    /// SIL program to text.
    Print,
    /// SIL text to syntax tree, imports included.
    Parse,
    /// Macros, names, types and consistency of a SIL program.
    Resolve,
    /// Symbolic execution, the prover included.
    Verify,
    /// Within [`Phase::Verify`]: the time of all workers in Z3, so with several threads it may
    /// exceed it.
    Prover,
}

impl Phase {
    pub const ALL: [Phase; 8] = [
        Phase::ChaliceParse,
        Phase::ChaliceResolve,
        Phase::Translate,
        Phase::Print,
        Phase::Parse,
        Phase::Resolve,
        Phase::Verify,
        Phase::Prover,
    ];

    /// Returns the heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            Phase::ChaliceParse => "ch.parse",
            Phase::ChaliceResolve => "ch.resolve",
            Phase::Translate => "translate",
            Phase::Print => "print",
            Phase::Parse => "parse",
            Phase::Resolve => "resolve",
            Phase::Verify => "verify",
            Phase::Prover => "prover",
        }
    }
}

/// The cost of one run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Run {
    times: [Duration; Phase::ALL.len()],
    /// Questions that reached the prover.
    pub queries: u64,
    pub paths: u64,
}

impl Run {
    pub fn of(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }

    pub fn set(&mut self, phase: Phase, time: Duration) {
        self.times[phase as usize] = time;
    }

    /// Returns all phases, the prover's time being part of verification.
    pub fn total(&self) -> Duration {
        Phase::ALL.into_iter().filter(|&phase| phase != Phase::Prover).map(|p| self.of(p)).sum()
    }

    fn clock<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.times[phase as usize] += start.elapsed();
        result
    }
}

/// A run that got to a verdict, or `Err` with what the front end has to say.
pub type Measured = Result<(Run, &'static str), String>;

/// Returns the translation of a Chalice program in the form that the commands exchange.
pub fn translation(name: &str, text: &str) -> Result<String, String> {
    let (translated, messages) = chalice2sil::translate_text(name, text, &[], Form::Graph);
    translated.ok_or_else(|| messages.first().map_or(String::new(), |first| first.text.clone()))
}

/// Way (b): a Chalice text in one process, as `silicon program.chalice` does it.
///
/// The translation is printed and read back there too: that is what gives a finding its place in a
/// SIL text.
pub fn chalice(name: &str, text: &str, options: &Options) -> Measured {
    let mut run = Run::default();
    let source = SourceFile::new(name, text);
    run.clock(Phase::ChaliceParse, || chalice::syntax::parse(text))
        .map_err(|errors| errors[0].message.clone())?;
    // Parses again: what is left is the resolver's.
    let start = Instant::now();
    let (program, diagnostics) = chalice::check(&source);
    let parsing = run.of(Phase::ChaliceParse);
    run.set(Phase::ChaliceResolve, start.elapsed().saturating_sub(parsing));
    let program = program
        .ok_or_else(|| diagnostics.first().map_or(String::new(), |first| first.message.clone()))?;
    let mut problems: Vec<Diagnostic> = Vec::new();
    let resolved = run.clock(Phase::Translate, || {
        let translation = chalice2sil::translate(&source, &program, &[]);
        sil::resolve::resolve(&translation.program, &mut problems)
    });
    let resolved = resolved.ok_or_else(|| first_of(&problems))?;
    let printed = run.clock(Phase::Print, || sil::print::program(&resolved, Form::Graph));
    verify_text(name, &printed, options, run)
}

/// Returns the translation of an SPL program in the form that the commands exchange.
pub fn spl_translation(name: &str, text: &str) -> Result<String, String> {
    let (settings, options) = Default::default();
    let translated =
        spl2sil::translate_text(name, text, &settings, options, &spl2sil::FileSystem, Form::Graph);
    let first = || translated.messages.first().map_or(String::new(), |first| first.text.clone());
    translated.text.clone().ok_or_else(first)
}

/// Way (b): an SPL text in one process, as `silicon program.spl` does it: reading and checking it
/// count as translation.
pub fn spl(name: &str, text: &str, options: &Options) -> Measured {
    let mut run = Run::default();
    let translated = run.clock(Phase::Translate, || spl_translation(name, text))?;
    verify_text(name, &translated, options, run)
}

/// Way (c): a SIL text.
pub fn sil(name: &str, text: &str, options: &Options) -> Measured {
    verify_text(name, text, options, Run::default())
}

fn verify_text(name: &str, text: &str, options: &Options, mut run: Run) -> Measured {
    let mut sources = Sources::default();
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut syntax = run.clock(Phase::Parse, || {
        let bytes = text.as_bytes().to_vec();
        sil::imports::read_all(name, bytes, &FileSystem, &mut sources, &mut problems)
    });
    let program = run.clock(Phase::Resolve, || {
        sil::macros::expand(&mut syntax, &mut problems);
        if has_errors(&problems) {
            return None;
        }
        let program = sil::resolve::resolve(&syntax, &mut problems)?;
        sil::consistency::check(&program, options.assumptions(), &mut problems);
        (!has_errors(&problems)).then_some(program)
    });
    let program: Program = program.ok_or_else(|| first_of(&problems))?;
    let report = run.clock(Phase::Verify, || Request::new(&program, &sources, options).verify());
    for member in &report.members {
        run.times[Phase::Prover as usize] += member.statistics.questions.prover_time;
        run.queries += member.statistics.questions.by_prover;
        run.paths += member.statistics.paths;
    }
    Ok((run, verdict(&report)))
}

fn has_errors(problems: &[Diagnostic]) -> bool {
    problems.iter().any(|problem| !problem.code.is_warning())
}

fn first_of(problems: &[Diagnostic]) -> String {
    let first = problems.iter().find(|problem| !problem.code.is_warning());
    first.map_or_else(|| "no program".to_owned(), |problem| problem.message.clone())
}

/// Returns the weightiest verdict on a member.
fn verdict(report: &Report) -> &'static str {
    match report.members.iter().map(|member| member.verdict).max() {
        None => "empty",
        Some(Verdict::Verified) => "verified",
        Some(Verdict::Inconclusive) => "inconclusive",
        Some(Verdict::Unsupported) => "unsupported",
        Some(Verdict::Failed) => "failed",
        Some(Verdict::Error) => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prover_is_part_of_verification() {
        let mut run = Run::default();
        run.set(Phase::Parse, Duration::from_millis(2));
        run.set(Phase::Verify, Duration::from_millis(5));
        run.set(Phase::Prover, Duration::from_millis(4));
        assert_eq!(run.total(), Duration::from_millis(7));
    }

    #[test]
    fn a_program_has_times_and_a_verdict() {
        let text = "method m(x: Int) requires x > 3 { assert x * x > 9 }";
        let (run, verdict) = sil("m.sil", text, &Options::default()).expect("a program");
        assert_eq!(verdict, "verified");
        assert!(run.of(Phase::Verify) > Duration::ZERO && run.of(Phase::Print) == Duration::ZERO);
        assert!(sil("m.sil", "method m( {", &Options::default()).is_err());
    }
}
