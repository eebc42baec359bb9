//! For code-scanning tools: the Static Analysis Results Interchange Format, version 2.1.0 (OASIS 2020).

use indexmap::IndexSet;
use serde_json::{Value, json};
use sil::render::{Place, Severity};

use crate::session::{Diagnostic, FileVerdict, Outcome};

pub(super) fn report(outcomes: &[Outcome]) -> String {
    let diagnostics = || outcomes.iter().flat_map(|outcome| &outcome.diagnostics);
    let rules: IndexSet<&str> = diagnostics().map(|one| one.message.id.as_str()).collect();
    let results: Vec<Value> = diagnostics().map(|one| result(one, &rules)).collect();
    let notifications: Vec<Value> = outcomes.iter().flat_map(trusted).collect();
    let successful = outcomes.iter().all(|outcome| outcome.verdict != FileVerdict::Error);
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "silicon",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(),
                "notifications": [{ "id": TRUSTED }],
            } },
            // SARIF counts columns in UTF-16 units unless told otherwise.
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": successful,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The id of notifications of what a verdict relies on. It is no result: nothing is wrong there.
const TRUSTED: &str = "trusted";

fn trusted(outcome: &Outcome) -> impl Iterator<Item = Value> {
    outcome.trusted.iter().map(|trusted| {
        json!({
            "descriptor": { "id": TRUSTED, "index": 0 },
            "level": "note",
            "message": { "text": format!("trusted: {trusted}") },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&outcome.file) },
            } }],
        })
    })
}

fn result(diagnostic: &Diagnostic, rules: &IndexSet<&str>) -> Value {
    let message = &diagnostic.message;
    let mut result = json!({
        "ruleId": message.id,
        "ruleIndex": rules.get_index_of(message.id.as_str()),
        "level": match message.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": { "text": message.text },
        "locations": [location(&message.place)],
    });
    if let Some(member) = &diagnostic.member {
        result["locations"][0]["logicalLocations"] = json!([{ "name": member }]);
    }
    if !message.notes.is_empty() {
        let related = message.notes.iter().map(|(place, text)| {
            let mut location = location(place);
            location["message"] = json!({ "text": text });
            location
        });
        result["relatedLocations"] = related.collect();
    }
    result
}

fn location(place: &Place) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&place.file) },
        "region": {
            "startLine": place.start.line,
            "startColumn": place.start.column,
            "endLine": place.end.line,
            "endColumn": place.end.column,
        },
    } })
}

/// The path as a relative or absolute URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/ö.sil"), "a%20b/%C3%B6.sil");
    }
}
