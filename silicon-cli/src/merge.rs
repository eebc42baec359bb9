//! `silicon merge`: the outcome of a run from those of its shards.
//!
//! A verdict counts only if it is known to be about the same program: shards that were made by
//! another version, with other options or from other texts are refused. A member that no shard has
//! verified is inconclusive.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueHint};
use sil::render::Texts;
use silicon::output::{Baseline, Format, Summary};
use silicon::session::follow::Member;
use silicon::session::shard::{Dealt, Shard};
use silicon::session::{Diagnostic, FileVerdict, Input, MemberOutcome, Outcome};

use crate::args::presentation::Presentation;
use crate::reports::ReportFile;
use crate::saved::{self, Header, Named, Saved};
use crate::{USAGE, complain, reports};

const EXIT_CODES: &str = "\
Exit codes:
  those of the run, were it one; 2 also for shards that do not belong together, 4 also for shards that are missing";

/// Put the shards of a run together: shows and reports what one run would have found, and names
/// members that no shard verified.
#[derive(Parser, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Merge {
    /// The files of `silicon --shard I/N --save FILE`, in any order
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    presentation: Presentation,
}

/// Merges, shows the outcome and returns the exit code.
pub(crate) fn run(asked: &Merge) -> anyhow::Result<u8> {
    merge(&asked.files, asked.presentation.format(), &asked.presentation)
}

/// The same, for shards in these files.
pub(crate) fn merge(files: &[PathBuf], format: Format, shown: &Presentation) -> anyhow::Result<u8> {
    match read(files, shown) {
        Ok((outcomes, mut summary)) => {
            summary.about = shown.about_run();
            show(format, &shown.reports, &outcomes, &summary)
        }
        Err(error) => {
            complain(&format!("error: {error:#}"));
            Ok(USAGE)
        }
    }
}

fn read(files: &[PathBuf], shown: &Presentation) -> anyhow::Result<(Vec<Outcome>, Summary)> {
    let inputs: Vec<Input> = files.iter().map(|path| Input::file(path)).collect();
    reports::prepare(&reports::paths(&shown.reports), &inputs)?;
    let baseline = shown.baseline()?;
    let mut shards = Vec::with_capacity(files.len());
    for path in files {
        let saved = saved::read(path)?;
        saved.complain_of_damage(path);
        shards.push(saved);
    }
    merged(shards, baseline).map_err(anyhow::Error::msg)
}

fn show(
    format: Format,
    reports: &[ReportFile],
    outcomes: &[Outcome],
    summary: &Summary,
) -> anyhow::Result<u8> {
    let mut stdout = io::stdout().lock();
    for outcome in outcomes {
        format.outcome(outcome, &mut stdout)?;
    }
    format.summary(summary, &mut stdout)?;
    if let Some(report) = format.at_end() {
        stdout.write_all(report.report(outcomes, summary).as_bytes())?;
    }
    stdout.flush()?;
    if let Some(problem) = reports::conflict(&reports::paths(reports), outcomes) {
        complain(&format!("error: {problem}"));
        return Ok(USAGE);
    }
    reports::write(reports, outcomes, summary)?;
    Ok(format.exit_code(summary.news()))
}

/// Returns the outcomes of the run of which these are the shards. `Err`: why they do not belong
/// together.
fn merged(
    shards: Vec<Saved>,
    mut baseline: Option<Baseline>,
) -> Result<(Vec<Outcome>, Summary), String> {
    let mut headers = shards.iter().map(|shard| &shard.header);
    let first = headers.next().ok_or("there are no shards")?.clone();
    headers.try_for_each(|other| belongs(&first, other))?;
    let endings = || shards.iter().map(|shard| &shard.ending);
    let is_interrupted = endings().flatten().any(|ending| ending.interrupted);
    let time = endings().flatten().map(|ending| ending.time).max().unwrap_or_default();
    let mut columns = BTreeMap::new();
    for Saved { header, outcomes, .. } in shards {
        let shard = header.shard();
        if columns.insert(shard.number, outcomes.into_iter()).is_some() {
            return Err(format!("shard {shard} is given twice"));
        }
    }
    let of = first.shard().of;
    let mut summary = Summary::of_run(first.directory.clone(), baseline.is_some());
    summary.interrupted = is_interrupted;
    summary.time = time;
    let mut outcomes = Vec::with_capacity(first.inputs.len());
    for Named { name, .. } in &first.inputs {
        let parts =
            columns.iter_mut().filter_map(|(&number, column)| Some((number, column.next()?)));
        let outcome = outcome_of(of, name, parts.collect());
        let mut outcome = outcome.map_err(|why| format!("{name}: {why}"))?;
        if let Some(baseline) = &mut baseline {
            baseline.mark(&mut outcome);
        }
        summary.add(&outcome);
        outcomes.push(outcome);
    }
    Ok((outcomes, summary))
}

/// Checks that two shards belong to one run.
fn belongs(one: &Header, other: &Header) -> Result<(), String> {
    let (left, right) = (one.shard(), other.shard());
    let differ =
        |what: String| Err(format!("shards {left} and {right} are not of one run: {what}"));
    if left.of != right.of {
        return differ("there are as many shards as the second number says".to_owned());
    }
    if one.made_by != other.made_by {
        return differ(format!("one was made by {}, one by {}", one.made_by, other.made_by));
    }
    if !one.is_of_build(other) {
        return differ("they were made by two builds".to_owned());
    }
    if one.options != other.options {
        let not_in = |some: &Header, all: &Header| {
            let some = some.options.iter().filter(|option| !all.options.contains(option));
            some.cloned().collect::<Vec<_>>().join(" ")
        };
        let (left, right) = (not_in(one, other), not_in(other, one));
        return differ(format!("one has the options `{left}`, one `{right}`"));
    }
    if one.directory != other.directory {
        let [left, right] = [one, other].map(|header| header.directory.display());
        return differ(format!("one was started in ./{left} of a checkout, one in ./{right}"));
    }
    if !one.inputs.iter().map(|it| &it.name).eq(other.inputs.iter().map(|it| &it.name)) {
        return differ("they have other inputs".to_owned());
    }
    if let Some((input, _)) = one.inputs.iter().zip(&other.inputs).find(|(a, b)| a != b) {
        return differ(format!("they have other texts of {}", input.name));
    }
    Ok(())
}

/// Returns the outcome of an input of which these are the parts, by their shards.
fn outcome_of(
    of: NonZeroUsize,
    file: &str,
    parts: BTreeMap<usize, Option<Outcome>>,
) -> Result<Outcome, String> {
    let given: Vec<usize> = parts.keys().copied().collect();
    let parts = parts.into_iter().filter_map(|(number, part)| Some((number, part?)));
    let parts: BTreeMap<usize, Outcome> = parts.collect();
    if parts.is_empty() {
        let text = "gave up: no shard came to it".to_owned();
        let (verdict, id) = (FileVerdict::Inconclusive, "timeout.error");
        return Ok(Outcome::without_members(file, verdict, id, text));
    }
    agree(&parts)?;
    // The verdict on the work as a whole; those on members follow from them.
    let about_file = parts.values().filter(|part| part.is_about_file()).map(|part| part.verdict);
    let worst = about_file.max().unwrap_or(FileVerdict::NothingSelected);
    let time = parts.values().map(|part| part.time).max().unwrap_or(Duration::ZERO);
    let dealt = parts.values().map(|part| &part.dealt).find(|dealt| !dealt.is_empty());
    let dealt = dealt.cloned().unwrap_or_default();
    let mut whole: Option<Outcome> = None;
    let mut members = BTreeMap::new();
    for (number, mut part) in parts {
        let begun = !part.dealt.is_empty();
        members.insert(number, (begun, std::mem::take(&mut part.members).into_iter()));
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                whole.diagnostics.append(&mut part.diagnostics);
                if whole.texts.names().next().is_none() {
                    whole.texts = part.texts;
                    whole.trusted = part.trusted;
                }
            }
        }
    }
    let mut whole = whole.ok_or("no shard has it")?;
    for member in dealt {
        let shard = Shard { number: member.shard, of };
        let (member, found) = match members.get_mut(&shard.number) {
            Some((true, done)) => {
                let is_it =
                    |one: &MemberOutcome| (one.kind, &one.name) == (member.kind, &member.name);
                let lacks = || format!("shard {shard} lacks {}", member.name);
                (done.next().filter(is_it).ok_or_else(lacks)?, Vec::new())
            }
            _ if given.contains(&shard.number) => {
                lost(member, &format!("shard {shard} did not come to it"))
            }
            _ => lost(member, &format!("shard {shard} is missing")),
        };
        whole.add(member, found);
    }
    if members.values_mut().any(|(_, done)| done.next().is_some()) {
        return Err("a shard has members that are not its own".to_owned());
    }
    whole.dealt.clear();
    whole.complete();
    whole.verdict = if whole.members.is_empty() { worst } else { whole.verdict.max(worst) };
    whole.time = time;
    Ok(whole)
}

/// Checks that all shards have seen the same program.
fn agree(parts: &BTreeMap<usize, Outcome>) -> Result<(), String> {
    let differ = |one: usize, other: usize, in_what: &str| {
        Err(format!("shards {one} and {other} were made from other {in_what}"))
    };
    let with_texts = || parts.iter().filter(|(_, part)| part.texts.names().next().is_some());
    for ((&one, left), (&other, right)) in with_texts().zip(with_texts().skip(1)) {
        if contents(&left.texts) != contents(&right.texts) {
            return differ(one, other, "texts");
        }
    }
    let dealt = || parts.iter().filter(|(_, part)| !part.dealt.is_empty());
    for ((&one, left), (&other, right)) in dealt().zip(dealt().skip(1)) {
        if left.dealt != right.dealt {
            return differ(one, other, "costs");
        }
    }
    Ok(())
}

/// Returns all files with their texts.
fn contents(texts: &Texts) -> Vec<(&str, &str)> {
    let files = texts.names().filter_map(|name| Some((name, &*texts.get(name)?.text)));
    files.collect()
}

/// Makes the outcome of a member that no shard has verified.
fn lost(member: Dealt, why: &str) -> (MemberOutcome, Vec<Diagnostic>) {
    let Dealt { kind, name, place, shard: _ } = member;
    let (outcome, found) = MemberOutcome::given_up(
        Member { kind, id: name.clone(), name, place },
        why,
        Duration::ZERO,
    );
    (outcome, vec![found])
}
