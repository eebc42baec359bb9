//! For people: every finding with the lines it is about, then what was verified and what was
//! trusted.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use sil::render::{self, Colours};

use super::{HARDEST, Summary, milliseconds, sums, trusted, words};
use crate::session::{Diagnostic, FileVerdict, Obligation, Outcome};
use symex::report::{Asked, Cost, Questions, Statistics, Subject, Verdict};

pub(super) fn verdicts(outcome: &Outcome, statistics: bool, to: &mut dyn Write) -> io::Result<()> {
    for member in outcome.members.iter().filter(|member| member.verdict != Verdict::Verified) {
        let (kind, name) = (member.kind.name(), &member.name);
        writeln!(to, "{}: {kind} {name}: {}", outcome.file, words(member.verdict))?;
    }
    match outcome.verdict {
        FileVerdict::Checked => writeln!(to, "{}: accepted, not verified", outcome.file)?,
        FileVerdict::InputError => writeln!(to, "{}: input error", outcome.file)?,
        FileVerdict::NothingSelected => writeln!(to, "{}: nothing to verify", outcome.file)?,
        FileVerdict::Empty => writeln!(to, "{}: declares nothing", outcome.file)?,
        _ => writeln!(
            to,
            "{}: {} of {} members verified",
            outcome.file,
            outcome.count(Verdict::Verified),
            outcome.members.len()
        )?,
    }
    if let Some(trusted) = trusted(outcome) {
        writeln!(to, "  {trusted}")?;
    }
    if statistics { self::statistics(outcome, to) } else { Ok(()) }
}

pub(super) fn findings(outcome: &Outcome, colours: Colours, to: &mut dyn Write) -> io::Result<()> {
    for diagnostic in outcome.diagnostics.iter().filter(|one| !one.is_known) {
        let message = with_remarks(diagnostic);
        let text = render::human(&message, &outcome.texts, colours);
        writeln!(to, "{}\n", text.trim_end())?;
    }
    Ok(())
}

fn with_remarks(diagnostic: &Diagnostic) -> render::Message {
    let mut message = diagnostic.marked();
    if let Some(member) = &diagnostic.member {
        message.remarks.push(format!("in {member}"));
    }
    if !diagnostic.path.is_empty() {
        message.remarks.push(format!("on the path where {}", diagnostic.path.join(" and ")));
    }
    if let Some(counterexample) = &diagnostic.counterexample {
        message.remarks.extend(counterexample.words());
    }
    if let Some(replay) = &diagnostic.replay {
        message.remarks.push(replay.words());
    }
    message
}

fn statistics(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    for member in &outcome.members {
        let Statistics { time, questions, constructs, subjects, waking, paths, instances, .. } =
            &member.statistics;
        let (kind, name, time) = (member.kind.name(), &member.name, milliseconds(*time));
        writeln!(to, "  {kind} {name}: {time} ms, {paths} paths, {}", words_of(questions))?;
        for (construct, questions) in constructs {
            writeln!(to, "    {construct}: {}", words_of(questions))?;
        }
        if questions.by_prover > 0 {
            writeln!(to, "    to the prover: {}", subjects_in_words(subjects, *waking))?;
        }
        for Obligation { place, kind, cost } in member.obligations.iter().take(HARDEST) {
            let at = format!("{}:{}", place.file, place.start.line);
            let Cost { asked, steps, .. } = cost;
            let (count, time) = (asked.count, milliseconds(asked.time));
            writeln!(to, "    {at}: {kind}: {count} to the prover, {steps} steps, {time} ms")?;
        }
        for (quantifier, count) in by_weight(instances) {
            writeln!(to, "    {count:>8} instances of {quantifier}")?;
        }
    }
    writeln!(to, "  file: {} ms", milliseconds(outcome.time))
}

/// Describes the questions to the solver, by their subjects.
pub fn subjects_in_words(subjects: &BTreeMap<Subject, Asked>, waking: Asked) -> String {
    let one = |name: &str, asked: Asked| {
        format!("{} about {name} in {} ms", asked.count, milliseconds(asked.time))
    };
    let mut parts: Vec<String> =
        subjects.iter().map(|(subject, &asked)| one(subject.name(), asked)).collect();
    parts.push(format!("waking it took {} ms, {} times", milliseconds(waking.time), waking.count));
    parts.join(", ")
}

/// Returns the most frequent first.
fn by_weight(instances: &BTreeMap<String, u64>) -> Vec<(&String, u64)> {
    let mut all: Vec<_> = instances.iter().map(|(name, &count)| (name, count)).collect();
    all.sort_by_key(|&(_, count)| Reverse(count));
    all
}

fn words_of(questions: &Questions) -> String {
    format!(
        "{} questions, {} answered by form, {} by known facts, {} by the prover in {} ms",
        questions.asked(),
        questions.by_form,
        questions.by_facts,
        questions.by_prover,
        milliseconds(questions.prover_time)
    )
}

pub(super) fn summary(summary: &Summary, statistics: bool, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}", sums(summary))?;
    if statistics {
        write!(to, " ({} ms)", milliseconds(summary.time))?;
        let questions = &summary.questions;
        let share = 100.0 * questions.share_without_prover();
        let (asked, time) = (questions.asked(), milliseconds(questions.prover_time));
        write!(
            to,
            "\n{asked} questions, {share:.1} % answered without the prover, {time} ms in it"
        )?;
        if questions.by_prover > 0 {
            let words = subjects_in_words(&summary.subjects, summary.waking);
            write!(to, "\nto the prover: {words}")?;
        }
    }
    writeln!(to)
}
