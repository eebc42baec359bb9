//! For continuous integration: JUnit's XML, a suite a file and a case a member.

use std::fmt::Write as _;

use sil::render;

use super::Summary;
use crate::report::Verdict;
use crate::session::{FileVerdict, MemberOutcome, Outcome};

pub(super) fn report(outcomes: &[Outcome], summary: &Summary) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let cases: usize = outcomes.iter().map(|outcome| outcome.members.len() + whole(outcome)).sum();
    let failures: usize = outcomes.iter().map(failures).sum();
    let errors: usize = outcomes.iter().map(errors).sum();
    let time = summary.time.as_secs_f64();
    let _ = writeln!(
        xml,
        "<testsuites name=\"silicon\" tests=\"{cases}\" failures=\"{failures}\" \
         errors=\"{errors}\" time=\"{time:.3}\">"
    );
    for outcome in outcomes {
        suite(outcome, &mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn suite(outcome: &Outcome, xml: &mut String) {
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        escaped(&outcome.file),
        outcome.members.len() + whole(outcome),
        failures(outcome),
        errors(outcome),
        outcome.time.as_secs_f64()
    );
    properties(outcome, xml);
    if whole(outcome) == 1 {
        open_case(&outcome.file, "(file)", 0.0, xml);
        match outcome.verdict {
            FileVerdict::Checked | FileVerdict::Verified => {}
            FileVerdict::NothingSelected => xml.push_str("      <skipped/>\n"),
            verdict => problem("error", verdict.name(), &lines(outcome, None), xml),
        }
        xml.push_str("    </testcase>\n");
    }
    for member in &outcome.members {
        case(outcome, member, xml);
    }
    xml.push_str("  </testsuite>\n");
}

/// What the verdicts rely on, a property each.
fn properties(outcome: &Outcome, xml: &mut String) {
    if outcome.trusted.is_empty() {
        return;
    }
    xml.push_str("    <properties>\n");
    for trusted in &outcome.trusted {
        let _ = writeln!(xml, "      <property name=\"trusted\" value=\"{}\"/>", escaped(trusted));
    }
    xml.push_str("    </properties>\n");
}

/// 1 where the result is about the file and not about members, so that no file vanishes from the report.
fn whole(outcome: &Outcome) -> usize {
    usize::from(outcome.members.is_empty())
}

fn failures(outcome: &Outcome) -> usize {
    outcome.count(Verdict::Failed)
}

fn errors(outcome: &Outcome) -> usize {
    let whole = outcome.members.is_empty()
        && matches!(
            outcome.verdict,
            FileVerdict::Empty | FileVerdict::InputError | FileVerdict::Error
        );
    usize::from(whole)
        + outcome.count(Verdict::Error)
        + outcome.count(Verdict::Inconclusive)
        + outcome.count(Verdict::Unsupported)
}

fn case(outcome: &Outcome, member: &MemberOutcome, xml: &mut String) {
    open_case(&outcome.file, &member.name, member.statistics.time.as_secs_f64(), xml);
    let details = lines(outcome, Some(&member.name));
    match member.verdict {
        Verdict::Verified => {}
        Verdict::Failed => problem("failure", "failed", &details, xml),
        Verdict::Inconclusive => problem("error", "inconclusive", &details, xml),
        Verdict::Unsupported => problem("error", "unsupported", &details, xml),
        Verdict::Error => problem("error", "internal error", &details, xml),
    }
    xml.push_str("    </testcase>\n");
}

fn open_case(file: &str, name: &str, time: f64, xml: &mut String) {
    let (file, name) = (escaped(file), escaped(name));
    let _ = writeln!(xml, "    <testcase classname=\"{file}\" name=\"{name}\" time=\"{time:.3}\">");
}

fn problem(element: &str, verdict: &str, details: &str, xml: &mut String) {
    let details = escaped(details);
    let _ = writeln!(xml, "      <{element} message=\"{verdict}\">{details}</{element}>");
}

/// The findings in a member, or those outside of all members.
fn lines(outcome: &Outcome, member: Option<&str>) -> String {
    let of_member = outcome.diagnostics.iter().filter(|one| one.member.as_deref() == member);
    of_member.map(|diagnostic| render::short(&diagnostic.message)).collect()
}

/// Text for XML 1.0, which has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(escaped("<a & \"b\">\u{1b}"), "&lt;a &amp; &quot;b&quot;&gt;\u{fffd}");
    }
}
