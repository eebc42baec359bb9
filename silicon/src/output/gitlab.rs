//! For GitLab: the findings of a run as a report of code quality, which stands in a merge request.

use serde_json::{Value, json};
use sil::render::Severity;

use super::Summary;
use super::fingerprint::{Fingerprints, rooted};
use crate::session::Outcome;

pub(super) fn report(outcomes: &[Outcome], summary: &Summary) -> String {
    let mut prints = Fingerprints::default();
    let mut findings: Vec<Value> = Vec::new();
    for outcome in outcomes {
        for one in &outcome.diagnostics {
            let message = &one.message;
            findings.push(json!({
                "description": one.sentence(),
                "check_name": message.id,
                "fingerprint": prints.of(one, outcome),
                "severity": match message.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                },
                "location": {
                    "path": rooted(&summary.directory, &message.place.file),
                    "lines": { "begin": message.place.start.line, "end": message.place.end.line },
                },
            }));
        }
    }
    format!("{:#}\n", Value::Array(findings))
}
