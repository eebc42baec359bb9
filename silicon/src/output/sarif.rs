//! For code-scanning tools: the Static Analysis Results Interchange Format, version 2.1.0 (OASIS
//! 2020).

use std::path::Path;

use indexmap::IndexSet;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sil::render::{Place, Severity};

use super::Summary;
use super::fingerprint::{FINGERPRINT, Fingerprints, rooted};
use crate::explain;
use crate::session::{Diagnostic, FileVerdict, Outcome};
use symex::report::Verdict;

pub(super) fn report(outcomes: &[Outcome], summary: &Summary) -> String {
    let diagnostics = || outcomes.iter().flat_map(|outcome| &outcome.diagnostics);
    let rules: IndexSet<&str> = diagnostics().map(|one| one.message.id.as_str()).collect();
    let notifications: Vec<Value> = outcomes.iter().flat_map(trusted).collect();
    let mut prints = Fingerprints::default();
    let mut results = Vec::new();
    for outcome in outcomes {
        for one in &outcome.diagnostics {
            let mut result = result(one, &rules);
            result["partialFingerprints"] = json!({ FINGERPRINT: prints.of(one, outcome) });
            if summary.has_baseline {
                let state = if one.is_known { "unchanged" } else { "new" };
                result["baselineState"] = state.into();
            }
            results.push(result);
        }
    }
    // Only who has answered everything was successful, whatever the answers are. A file in which a
    // member fails has failed, also where there is no answer on others.
    let is_answer = |outcome: &Outcome| {
        let of_file = matches!(
            outcome.verdict,
            FileVerdict::Verified | FileVerdict::Failed | FileVerdict::Checked
        );
        let mut of_members = outcome.members.iter().map(|member| member.verdict);
        of_file && of_members.all(|verdict| matches!(verdict, Verdict::Verified | Verdict::Failed))
    };
    let successful = !summary.interrupted && outcomes.iter().all(is_answer);
    let mut log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "silicon",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| rule(id)).collect::<Vec<_>>(),
                "notifications": [{ "id": TRUSTED }],
            } },
            // Reports of other tools on the same commit are not replaced.
            "automationDetails": { "id": "silicon/" },
            // SARIF counts columns in UTF-16 units unless told otherwise.
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": successful,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    in_checkout(&mut log, &summary.directory);
    format!("{log:#}\n")
}

/// Sees the names of files from the root of the checkout, as services do that show the report.
fn in_checkout(log: &mut Value, directory: &Path) {
    match log {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(file) if name == "uri" => *file = uri(&rooted(directory, file)),
                    value => in_checkout(value, directory),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| in_checkout(value, directory)),
        _ => {}
    }
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
                "artifactLocation": { "uri": outcome.file },
            } }],
        })
    })
}

fn rule(id: &str) -> Value {
    let (meaning, advice) = (explain::meaning(id), explain::advice(id));
    let help = if advice.is_empty() { meaning.clone() } else { advice };
    let mut rule =
        json!({ "id": id, "shortDescription": { "text": meaning }, "help": { "text": help } });
    if let Some(uri) = help_uri(env!("CARGO_PKG_REPOSITORY")) {
        rule["helpUri"] = uri.into();
    }
    rule
}

/// Returns where ids are explained; a repository without an address has no such page.
fn help_uri(repository: &str) -> Option<String> {
    let repository = repository.trim_end_matches('/');
    (!repository.is_empty()).then(|| format!("{repository}/blob/main/docs/errors.md"))
}

fn result(diagnostic: &Diagnostic, rules: &IndexSet<&str>) -> Value {
    let message = &diagnostic.marked();
    let mut result = json!({
        "ruleId": message.id,
        "ruleIndex": rules.get_index_of(message.id.as_str()),
        "level": match message.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": { "text": diagnostic.sentence() },
        "locations": [location(&message.place)],
    });
    if let Some(member) = &diagnostic.member {
        result["locations"][0]["logicalLocations"] = json!([{ "name": member }]);
    }
    if let Some(counterexample) = &diagnostic.counterexample {
        result["properties"] = json!({ "counterexample": counterexample.shown() });
    }
    if !message.notes.is_empty() {
        let related = message.notes.iter().map(|(place, text)| {
            let mut location = location(place);
            if !text.is_empty() {
                location["message"] = json!({ "text": text });
            }
            location
        });
        result["relatedLocations"] = related.collect();
    }
    if !diagnostic.path.is_empty() {
        let steps = diagnostic.path.iter().zip(diagnostic.steps.iter().map(|(place, _)| place));
        let end = (&message.text, &message.place);
        let locations = steps.chain([end]).map(|(text, place)| {
            let mut location = location(place);
            location["message"] = json!({ "text": text });
            json!({ "location": location })
        });
        let locations: Vec<Value> = locations.collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": locations }] }]);
    }
    result
}

fn location(place: &Place) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": &*place.file },
        "region": {
            "startLine": place.start.line,
            "startColumn": place.start.column,
            "endLine": place.end.line,
            "endColumn": place.end.column,
        },
    } })
}

/// The characters that are escaped in the path of a URI (RFC 3986).
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Returns the path as a URI reference, which is relative where the path is.
pub fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", utf8_percent_encode(path, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/ö.sil"), "a%20b/%C3%B6.sil");
        assert_eq!(uri("/a/b.sil"), "file:///a/b.sil");
    }

    #[test]
    fn ids_are_explained_where_there_is_a_repository() {
        let page = "https://example.org/r/blob/main/docs/errors.md";
        assert_eq!(help_uri("https://example.org/r/").as_deref(), Some(page));
        assert_eq!(help_uri(""), None);
    }

    /// Also where a member fails, so that the file has failed.
    #[test]
    fn a_run_is_successful_if_every_member_has_an_answer() {
        let (kind, name) = (symex::report::MemberKind::Method, "m".to_owned());
        let place = Place::start_of("a");
        let member = crate::session::follow::Member { kind, id: name.clone(), name, place };
        let (given_up, _) =
            crate::session::MemberOutcome::given_up(member, "why", std::time::Duration::ZERO);
        let of = |verdict| crate::session::MemberOutcome { verdict, ..given_up.clone() };
        for (verdicts, expected) in [
            (&[Verdict::Verified, Verdict::Failed][..], true),
            (&[Verdict::Failed, Verdict::Inconclusive], false),
            (&[Verdict::Failed, Verdict::Unsupported], false),
            (&[Verdict::Failed, Verdict::Error], false),
        ] {
            let text = String::new();
            let mut outcome = Outcome::without_members("a", FileVerdict::Verified, "id", text);
            verdicts.iter().for_each(|&verdict| outcome.add(of(verdict), Vec::new()));
            outcome.complete();
            let log = report(&[outcome], &Summary::default());
            let log: Value = serde_json::from_str(&log).expect("it is JSON");
            let successful = &log["runs"][0]["invocations"][0]["executionSuccessful"];
            assert_eq!(successful, expected, "{verdicts:?}");
        }
    }
}
