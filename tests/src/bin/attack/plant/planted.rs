//! Programs that errors are planted into: as SIL, which the engine judges, or as the text of a
//! Chalice program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sil::load::Assumptions;
use sil::print::Form;
use sil::program::Program;
use sil::source::Span;
use sil_tests::plant::source::{self, Subject};
use sil_tests::plant::{self, Fate, Kind, Limits, Mutant};
use silicon::report::Verdict;
use silicon::session::place::Places;
use silicon::session::{Input, load, name_and_span, on_large_stack};

use super::{Done, Job, Options, Tried, Way};

pub(super) enum Planted {
    Engine { loaded: load::Loaded, program: Box<Program> },
    Source { text: String, members: Vec<(Subject, Vec<source::Mutant>)>, way: source::Way },
}

impl Planted {
    /// A program, if the front end accepts it and it is one that the way judges.
    pub(super) fn read(path: &Path, way: Way) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let way = match way {
            Way::Engine => {
                let mut loaded = on_large_stack(|| {
                    load::load(&Input::file(path), text.as_str().into(), Assumptions::default())
                })
                .ok()?;
                let program = Box::new(loaded.program.take()?);
                return Some(Self::Engine { loaded, program });
            }
            Way::Translated => source::Way::Translated,
            Way::Direct => source::Way::Direct,
        };
        if path.extension().is_none_or(|ending| ending != "chalice") {
            return None;
        }
        let members = source::mutants(&text);
        Some(Self::Source { text, members, way })
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        match self {
            Self::Engine { program, .. } => program.order.len(),
            Self::Source { members, .. } => members.len(),
        }
    }

    pub(super) fn name(&self, member: usize) -> &str {
        match self {
            Self::Engine { program, .. } => name_and_span(program, program.order[member]).0,
            Self::Source { members, .. } => members[member].0.name(),
        }
    }

    /// Lists the kinds of errors that can be planted into a member.
    pub(super) fn kinds(&self, member: usize) -> Vec<Kind> {
        match self {
            Self::Engine { program, .. } => {
                let mutants = plant::mutants(program, program.order[member]);
                mutants.iter().map(|mutant| mutant.kind).collect()
            }
            Self::Source { members, .. } => {
                members[member].1.iter().map(|mutant| mutant.kind).collect()
            }
        }
    }

    /// Does a job, of which `index` is the number.
    pub(super) fn judge(&self, job: &Job, index: usize, args: &Options) -> Done {
        let member = Duration::from_secs_f64(args.timeout);
        let limits = Limits { obligation: 5_000_000, member };
        match self {
            Self::Engine { loaded, program } => {
                judge_translation(loaded, program, job, index, args, limits)
            }
            Self::Source { text, members, way } => {
                judge_text(text, &members[job.member], *way, job, index, args, limits)
            }
        }
    }
}

fn judge_translation(
    loaded: &load::Loaded,
    program: &Program,
    job: &Job,
    index: usize,
    args: &Options,
    limits: Limits,
) -> Done {
    let sources = &loaded.sources;
    let member = program.order[job.member];
    let slice = plant::slice(program, member);
    if plant::verifies(&slice, sources, member, limits) != Some(true) {
        return Done::NotVerified;
    }
    let texts = loaded.texts();
    let places = Places::new(program, sources, &texts);
    let line = |span: Span| places.of(span).start.line;
    let mutants = plant::mutants(&slice, member);
    let fates = job.numbers.iter().map(|&number| {
        let mutant = &mutants[number];
        let fate = plant::judge(&slice, sources, member, mutant, limits);
        debug_assert!(mutant.must_fail() || fate != Fate::Suspect);
        let survives = matches!(fate, Fate::Suspect | Fate::MayVerify | Fate::Unreachable(_));
        let oracle = match &args.oracle {
            Some(command) if survives => ask(command, program, mutant, index, number),
            _ => None,
        };
        let name = format!("{index:05}-{number:03}.vpr");
        let written = write(args, name, || print(program, mutant));
        let cause_line = match &fate {
            Fate::Unreachable(cause) => Some(line(cause.span)),
            _ => None,
        };
        Tried { kind: mutant.kind, line: line(mutant.span), fate, cause_line, oracle, written }
    });
    Done::Fates(fates.collect())
}

fn judge_text(
    text: &str,
    (subject, mutants): &(Subject, Vec<source::Mutant>),
    way: source::Way,
    job: &Job,
    index: usize,
    args: &Options,
    limits: Limits,
) -> Done {
    if let Subject::Member(name) = subject
        && source::verdict(text, name, way, limits) != Some(Verdict::Verified)
    {
        return Done::NotVerified;
    }
    let fates = job.numbers.iter().map(|&number| {
        let mutant = &mutants[number];
        let fate = source::judge(text, subject, mutant, way, limits);
        let before = &text[..mutant.span.start as usize];
        let line = 1 + before.matches('\n').count() as u32;
        let name = format!("{index:05}-{number:03}.chalice");
        let written = write(args, name, || mutant.text(text));
        let cause_line = matches!(fate, Fate::Unreachable(_)).then_some(line);
        Tried { kind: mutant.kind, line, fate, cause_line, oracle: None, written }
    });
    Done::Fates(fates.collect())
}

/// Writes a mutant where that is asked for, and gives the name of its file.
fn write(args: &Options, name: String, text: impl FnOnce() -> String) -> Option<String> {
    let path = args.write.as_ref()?.join(&name);
    if let Err(error) = std::fs::write(&path, text()) {
        eprintln!("cannot write {}: {error}", path.display());
    }
    Some(name)
}

/// The mutant as a Viper program.
fn print(program: &Program, mutant: &Mutant) -> String {
    sil::print::program(&mutant.program(program), Form::Structured)
}

/// Asks whether the other verifier accepts the mutant; `None` if it gives no answer.
fn ask(
    command: &str,
    program: &Program,
    mutant: &Mutant,
    index: usize,
    number: usize,
) -> Option<bool> {
    let name = format!("plant-{}-{index}-{number}.vpr", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, print(program, mutant)).ok()?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let (first, rest) = words.split_first()?;
    let status = Command::new(first)
        .args(rest)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Left behind, it is a file in the directory for such files.
    let _ = std::fs::remove_file(&path);
    match status.ok()?.code()? {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}
