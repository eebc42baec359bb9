//! For continuous integration: JUnit's XML, a suite a file and a case a member.

use std::fmt::Write as _;

use sil::render::{Place, Severity};

use super::{Summary, short};
use crate::session::{Diagnostic, FileVerdict, MemberOutcome, Outcome};
use symex::report::Verdict;

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
        attribute(&outcome.file),
        outcome.members.len() + whole(outcome),
        failures(outcome),
        errors(outcome),
        outcome.time.as_secs_f64()
    );
    properties(outcome, xml);
    if whole(outcome) == 1 {
        open_case(&outcome.file, "(file)", None, 0.0, xml);
        if has_error(outcome) {
            problem("error", outcome.verdict.name(), &findings(outcome, None), xml);
        } else if outcome.verdict == FileVerdict::NothingSelected {
            xml.push_str("      <skipped/>\n");
        }
        xml.push_str("    </testcase>\n");
    }
    for member in &outcome.members {
        case(outcome, member, xml);
    }
    xml.push_str("  </testsuite>\n");
}

/// Writes the unproved assumptions of the verdicts, a property each.
fn properties(outcome: &Outcome, xml: &mut String) {
    if outcome.trusted.is_empty() {
        return;
    }
    xml.push_str("    <properties>\n");
    for trusted in &outcome.trusted {
        let value = attribute(trusted);
        let _ = writeln!(xml, "      <property name=\"trusted\" value=\"{value}\"/>");
    }
    xml.push_str("    </properties>\n");
}

/// 1 where the result is about the file and not about members, so that no file vanishes from the
/// report.
fn whole(outcome: &Outcome) -> usize {
    usize::from(outcome.is_about_file())
}

/// Tells whether the case of the file is one of its errors.
fn has_error(outcome: &Outcome) -> bool {
    let is_fine = matches!(
        outcome.verdict,
        FileVerdict::Checked
            | FileVerdict::Verified
            | FileVerdict::Empty
            | FileVerdict::NothingSelected
    );
    outcome.is_about_file() && !is_fine
}

fn failures(outcome: &Outcome) -> usize {
    outcome.count(Verdict::Failed)
}

fn errors(outcome: &Outcome) -> usize {
    usize::from(has_error(outcome))
        + outcome.count(Verdict::Error)
        + outcome.count(Verdict::Inconclusive)
        + outcome.count(Verdict::Unsupported)
}

fn case(outcome: &Outcome, member: &MemberOutcome, xml: &mut String) {
    let (name, time) = (&member.name, member.statistics.time.as_secs_f64());
    open_case(&outcome.file, name, Some(&member.place), time, xml);
    let details = findings(outcome, Some(name));
    match member.verdict {
        Verdict::Verified => {}
        Verdict::Failed => problem("failure", "failed", &details, xml),
        Verdict::Inconclusive => problem("error", "inconclusive", &details, xml),
        Verdict::Unsupported => problem("error", "unsupported", &details, xml),
        Verdict::Error => problem("error", "internal error", &details, xml),
    }
    xml.push_str("    </testcase>\n");
}

/// `place`: where the member stands.
fn open_case(file: &str, name: &str, place: Option<&Place>, time: f64, xml: &mut String) {
    let (class, name) = (attribute(file), attribute(name));
    let at = place.map_or_else(
        || format!("file=\"{class}\""),
        |at| format!("file=\"{}\" line=\"{}\"", attribute(&at.file), at.start.line),
    );
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{class}\" name=\"{name}\" {at} time=\"{time:.3}\">"
    );
}

/// Writes a problem: the first finding in short, all of them below.
fn problem(element: &str, verdict: &str, found: &[&Diagnostic], xml: &mut String) {
    // Warnings are no reason, where there are errors.
    let is_error = |one: &&&Diagnostic| one.message.severity == Severity::Error;
    let first = found.iter().find(is_error).or(found.first());
    let message = first.map_or(verdict, |one| &one.message.text);
    let kind = first.map_or(verdict, |one| &one.message.id);
    let details: String = found.iter().map(|one| short::line(one)).collect();
    let _ = writeln!(
        xml,
        "      <{element} message=\"{verdict}: {}\" type=\"{}\">{}</{element}>",
        attribute(message),
        attribute(kind),
        escaped(&details)
    );
}

/// Returns the findings in a member, or those outside of all members.
fn findings<'o>(outcome: &'o Outcome, member: Option<&str>) -> Vec<&'o Diagnostic> {
    outcome.diagnostics.iter().filter(|one| one.member.as_deref() == member).collect()
}

/// Text for the value of an attribute, where white space would become spaces.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
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
        assert_eq!(attribute("a\n<\tb"), "a&#10;&lt;&#9;b");
    }

    /// The sums agree with the elements below them.
    #[test]
    fn each_error_is_counted() {
        let verdicts = [
            (FileVerdict::Checked, 0),
            (FileVerdict::Verified, 0),
            (FileVerdict::NothingSelected, 0),
            (FileVerdict::Empty, 0),
            (FileVerdict::Inconclusive, 1),
            (FileVerdict::Failed, 1),
            (FileVerdict::InputError, 1),
            (FileVerdict::Error, 1),
        ];
        for (verdict, errors) in verdicts {
            let outcome = Outcome::without_members("a", verdict, "id", "text".to_owned());
            let xml = report(&[outcome], &Summary::default());
            assert_eq!(xml.matches("<error ").count(), errors, "{xml}");
            assert_eq!(xml.matches(&format!("errors=\"{errors}\"")).count(), 2, "{xml}");
        }
    }

    #[test]
    fn a_defect_of_the_work_on_a_file_is_an_error_beside_its_members() {
        let defect =
            || Outcome::without_members("a", FileVerdict::Error, "internal", "x".to_owned());
        let place = Place::start_of("a");
        let (kind, name) = (symex::report::MemberKind::Method, "m".to_owned());
        let member = crate::session::follow::Member { kind, id: name.clone(), name, place };
        let (member, found) = MemberOutcome::given_up(member, "why", std::time::Duration::ZERO);
        let mut outcome = Outcome { diagnostics: Vec::new(), ..defect() };
        outcome.add(member, vec![found]);
        outcome.complete();
        let before = report(&[outcome.clone()], &Summary::default());
        assert_eq!(before.matches("<error ").count(), 1, "{before}");
        outcome.add_defect(defect());
        let xml = report(&[outcome], &Summary::default());
        assert_eq!(xml.matches("<error ").count(), 2, "{xml}");
        assert_eq!(xml.matches("tests=\"2\" failures=\"0\" errors=\"2\"").count(), 2, "{xml}");
    }
}
