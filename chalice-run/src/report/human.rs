//! Reports for people.

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::{self, Config};

use super::Summary;
use crate::fault::PartValue;
use crate::run::{Failure, Verdict};
use crate::sources::Sources;
use chalice::Span;
use front::counted;

/// A finding of the front end.
pub fn finding(sources: &Sources, found: &chalice::Diagnostic, colored: bool) -> String {
    let mut report = if found.is_error() { Diagnostic::error() } else { Diagnostic::warning() };
    report = report.with_code(found.code.id()).with_message(&found.message);
    let mut labels = vec![primary(sources, found.span)];
    for (span, remark) in &found.related {
        labels.push(secondary(sources, *span).with_message(remark));
    }
    rendered(sources, &report.with_labels(labels), colored)
}

/// Describes a failure, with its lines.
pub fn failure(sources: &Sources, failure: &Failure, again: &str, colored: bool) -> String {
    let mut labels = vec![primary(sources, failure.span).with_message(&failure.message)];
    let mut notes = Vec::new();
    for note in &failure.notes {
        match note.span {
            Some(span) => labels.push(secondary(sources, span).with_message(&note.text)),
            None => notes.push(note.text.clone()),
        }
    }
    for share in &failure.held {
        let since = share.since.filter(|since| *since != Span::default()).map(|since| {
            let place = sources.place(since.start);
            format!(" since {}:{}", place.line, place.column)
        });
        let since = since.unwrap_or_default();
        notes.push(format!(
            "{} of {} is with {}{since}",
            share.amount, share.location, share.holder
        ));
    }
    let forked = failure.forked.map(|forked| {
        let place = sources.place(forked.start);
        format!(" (forked at {}:{})", place.line, place.column)
    });
    if !failure.thread.is_empty() {
        let forked = forked.unwrap_or_default();
        notes.push(format!("in thread {}{forked}, {}", failure.thread, failure.method));
    }
    let parts = sources.values(&failure.parts, &failure.values);
    if !parts.is_empty() {
        notes.push(format!("it does not hold where {}", in_words(&parts)));
    }
    if !failure.values.is_empty() {
        notes.push(in_words(&failure.values));
    }
    notes.push(format!("after {}{again}", counted(failure.step, "step")));
    let report = Diagnostic::error()
        .with_code(&failure.id)
        .with_message(headline(failure))
        .with_labels(labels)
        .with_notes(notes);
    rendered(sources, &report, colored)
}

/// Lists names with their values.
fn in_words(values: &[(String, String)]) -> String {
    let values = values.iter().map(|(name, value)| format!("{name} = {value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// Says why the entry is not started: its precondition is false of the arguments.
pub fn refused(
    sources: &Sources,
    method: &str,
    claim: Option<Span>,
    parts: &[PartValue],
) -> String {
    let mut text = format!("the precondition of {method} does not hold");
    if let Some(claim) = claim {
        let place = sources.place(claim.start);
        let (file, line, column) = (place.file, place.line, place.column);
        let values = sources.values(parts, &[]);
        let values =
            if values.is_empty() { String::new() } else { format!(" where {}", in_words(&values)) };
        let claim = sources.text(claim);
        text = format!("{text}: `{claim}` is false{values} ({file}:{line}:{column})");
    }
    text
}

/// How to run again what went wrong, as the end of a sentence.
pub fn again(summary: &Summary) -> String {
    match (&summary.start, summary.outcome.schedule.as_str()) {
        (Some(_), start) if summary.from.is_some() || start != "-" => {
            let from = summary.from.as_ref().map(|from| format!(" --from {from}"));
            // From the head of a loop on there may be nothing to choose.
            let start =
                (from.is_none() || !start.starts_with('-')).then(|| format!(" --start {start}"));
            let options = [from, start].into_iter().flatten().collect::<String>();
            format!("; run it again with --entry {}{options}", summary.entry)
        }
        (_, "-") => String::new(),
        (_, schedule) => format!("; run it again with --schedule {schedule}"),
    }
}

fn headline(failure: &Failure) -> String {
    match failure.id.split(':').next().unwrap_or_default() {
        "assert.failed" => "assertion does not hold",
        "call.precondition" => "precondition of the call does not hold",
        "exhale.failed" => "precondition of the fork does not hold",
        "postcondition.violated" => "postcondition does not hold",
        "invariant.not.established" => "invariant does not hold when the loop begins",
        "invariant.not.preserved" => "invariant does not hold after an iteration",
        "application.precondition" => "precondition of the function does not hold",
        "lockchange.violated" => "a lock has changed that may not change",
        "assume.violated" => "assumption does not hold",
        "deadlock" => "threads wait for ever",
        "machine.inconsistent" => "the machine contradicts itself (a defect of this command)",
        "bound" => "the run was not finished",
        "notsupported" => "the program is not emitted",
        _ => "this step fails",
    }
    .to_owned()
}

/// Shows the steps of threads before a failure, as lines of a trace.
pub fn steps(lines: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let indented: Vec<_> = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "what threads did last that others can notice (step, thread, place):\n{}\n",
        indented.concat()
    )
}

/// One line for each thing that could not be executed, and one for the whole.
pub fn summary(sources: &Sources, summary: &Summary) -> String {
    let mut text = String::new();
    for ((span, what), count) in &summary.skipped {
        let place = sources.place(span.start);
        let of_all = match *what {
            "checks.off" => "all checks, as was wanted or as ghosts decide what is held",
            "start.assumed" => "what comes before the loop, as was wanted",
            "contracts.taken" => "code behind contracts, as was wanted",
            _ => "",
        };
        if !of_all.is_empty() {
            text.push_str(&format!("skipped: {of_all}\n"));
            continue;
        }
        let times = if *count == 1 { String::new() } else { format!(", {count} times") };
        text.push_str(&format!(
            "{}:{}:{}: skipped: this cannot be executed ({what}{times})\n",
            place.file, place.line, place.column
        ));
    }
    for span in &summary.unset {
        let place = sources.place(span.start);
        text.push_str(&format!(
            "{}:{}:{}: warning: nobody gave this a value before it is used here\n",
            place.file, place.line, place.column
        ));
    }
    for (name, value) in &summary.outcome.results {
        text.push_str(&format!("{name} = {value}\n"));
    }
    if let Some(first) = summary.leaks.named.first() {
        let locations = counted(summary.leaks.count, "location");
        text.push_str(&format!(
            "note: permission was left behind to {locations}, the first is {first}\n"
        ));
    }
    for granted in &summary.granted {
        text.push_str(&format!("note: {granted}\n"));
    }
    if let Some(start) = &summary.start {
        text.push_str(&format!("start: {start}\n"));
    }
    let counts = summary.outcome.counts;
    let mut facts = vec![counted(counts.steps, "step"), counted(counts.checks, "check")];
    if !summary.skipped.is_empty() {
        facts.push(format!("{} skipped", summary.skipped.values().sum::<u64>()));
    }
    if summary.inputs > 0 {
        facts.push(counted(summary.inputs, "start"));
    }
    match (summary.schedules, summary.complete) {
        (0 | 1, true) => {}
        (count, true) => facts.push(format!("all {count} schedules that matter")),
        (count, false) => facts.push(format!("{}, not all", counted(count, "schedule"))),
    }
    let verdict = summary.outcome.verdict.as_str();
    text.push_str(&format!("{}: {verdict} ({})\n", summary.entry, facts.join(", ")));
    if summary.outcome.verdict == Verdict::Passed && summary.exit_code() != 0 {
        text.push_str("not everything was checked\n");
    }
    text
}

/// Returns a line for each finding.
pub fn short(sources: &Sources, failure: &Failure) -> String {
    let place = sources.place(failure.span.start);
    let (file, line, column) = (place.file, place.line, place.column);
    format!("{file}:{line}:{column}: error[{}]: {}\n", failure.id, failure.message)
}

fn primary(sources: &Sources, span: Span) -> Label<usize> {
    let (file, range) = sources.range(span);
    Label::primary(file, range)
}

fn secondary(sources: &Sources, span: Span) -> Label<usize> {
    let (file, range) = sources.range(span);
    Label::secondary(file, range)
}

fn rendered(sources: &Sources, report: &Diagnostic<usize>, colored: bool) -> String {
    let mut files = SimpleFiles::new();
    for (file, _) in sources.files() {
        files.add(file.name.clone(), quotable(&file.text));
    }
    let config = Config::default();
    if !colored {
        return term::emit_into_string(&config, &files, report).unwrap_or_default();
    }
    let mut text = term::termcolor::Ansi::new(Vec::new());
    let written = term::emit_to_write_style(&mut text, &config, &files, report);
    written.ok().and_then(|()| String::from_utf8(text.into_inner()).ok()).unwrap_or_default()
}

/// Returns a text as it is quoted: what would command the terminal is replaced by as many bytes.
fn quotable(text: &str) -> String {
    let mut quotable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => quotable.push(c),
            _ if c.is_control() => quotable.extend(std::iter::repeat_n('?', c.len_utf8())),
            _ => quotable.push(c),
        }
    }
    quotable
}
