//! Reports for programs: an object a line.

use serde_json::{Value, json};

use super::Summary;
use crate::run::Failure;
use crate::sources::Sources;
use chalice::Span;

/// Returns an object as a line, its entries in the order in which they are given: people read these
/// lines, too.
pub(super) fn line(entries: &[(&str, Value)]) -> String {
    let entries: Vec<_> =
        entries.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}\n", entries.join(","))
}

/// As `json!` writes objects, for [`line`].
macro_rules! object {
    ({$($name:literal: $value:expr),* $(,)?}) => {
        crate::report::json::line(&[$(($name, serde_json::json!($value))),*])
    };
}
pub(super) use object;

/// Returns a place.
pub(super) fn place(sources: &Sources, offset: u32) -> Value {
    let place = sources.place(offset);
    json!({"line": place.line, "column": place.column})
}

/// A finding of the front end.
pub fn finding(sources: &Sources, found: &chalice::Diagnostic) -> String {
    let severity = if found.is_error() { "error" } else { "warning" };
    object!({
        "v": 1, "type": "diagnostic", "file": sources.place(found.span.start).file,
        "severity": severity, "id": found.code.id(), "message": found.message,
        "start": place(sources, found.span.start), "end": place(sources, found.span.end),
    })
}

/// Writes a failure.
pub fn failure(sources: &Sources, failure: &Failure, schedule: &str) -> String {
    let span = |span: Option<Span>| span.map(|span| place(sources, span.start));
    let notes: Vec<_> = failure
        .notes
        .iter()
        .map(|note| json!({"message": note.text, "at": span(note.span)}))
        .collect();
    let parts = sources.values(&failure.parts, &failure.values);
    let values = failure.values.iter().chain(&parts);
    let values: Vec<_> =
        values.map(|(name, value)| json!({"name": name, "value": value})).collect();
    let held: Vec<_> = failure
        .held
        .iter()
        .map(|share| {
            json!({
                "location": share.location, "holder": share.holder,
                "amount": share.amount, "since": span(share.since),
            })
        })
        .collect();
    let thread = json!({
        "path": failure.thread, "method": failure.method, "forked": span(failure.forked),
    });
    object!({
        "v": 1, "type": "check", "file": sources.place(failure.span.start).file,
        "severity": "error", "id": failure.id, "message": failure.message,
        "start": place(sources, failure.span.start), "end": place(sources, failure.span.end),
        "thread": thread,
        "notes": notes, "values": values, "held": held,
        "schedule": schedule, "step": failure.step,
    })
}

/// Writes the parts that could not be executed, and the whole.
pub fn summary(sources: &Sources, summary: &Summary, milliseconds: f64) -> String {
    let mut text = String::new();
    for ((span, what), count) in &summary.skipped {
        text.push_str(&object!({
            "v": 1, "type": "skipped", "file": sources.place(span.start).file, "id": what,
            "start": place(sources, span.start), "end": place(sources, span.end), "count": count,
        }));
    }
    for span in &summary.unset {
        text.push_str(&object!({
            "v": 1, "type": "undefined", "file": sources.place(span.start).file,
            "start": place(sources, span.start), "end": place(sources, span.end),
        }));
    }
    let results: Vec<_> = summary
        .outcome
        .results
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    text.push_str(&object!({
        "v": 1, "type": "run", "file": summary.file, "entry": summary.entry,
        "verdict": summary.outcome.verdict.as_str(), "steps": summary.outcome.counts.steps,
        "checks": summary.outcome.counts.checks, "skipped": summary.skipped.values().sum::<u64>(),
        "schedules": summary.schedules, "inputs": summary.inputs, "complete": summary.complete,
        "seed": summary.seed, "schedule": summary.outcome.schedule, "results": results,
        "leaked": summary.leaks.named, "leaked_count": summary.leaks.count, "start": summary.start, "granted": summary.granted, "time_ms": milliseconds,
    }));
    text
}

/// Returns a line that the program has written.
pub fn output(text: &str) -> String {
    object!({"v": 1, "type": "output", "text": text})
}
