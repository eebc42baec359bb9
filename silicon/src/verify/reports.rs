//! Reports on members: blank ones, those of what stopped, and one from several.

use sil::program::{Member, Program};
use sil::source::Span;

use super::selection::describe;
use symex::Stop;
use symex::options::Options;
use symex::report::{ErrorId, Finding, MemberReport, Reason, Statistics, Verdict};

/// Returns the report on a member of which nothing has been shown to fail.
pub(super) fn blank(program: &Program, member: Member) -> MemberReport {
    let (kind, name, span) = describe(program, member);
    MemberReport {
        kind,
        name,
        span,
        verdict: Verdict::Verified,
        findings: Vec::new(),
        trusted: Vec::new(),
        statistics: Statistics::default(),
    }
}

/// One report from those of two parts of a member, the first as if it had come first.
pub(super) fn both(first: MemberReport, second: MemberReport) -> MemberReport {
    let mut findings = first.findings;
    for finding in second.findings {
        let known = findings.iter_mut().find(|known| known.key(true) == finding.key(true));
        match known {
            None => findings.push(finding),
            Some(known) => known.meet(finding),
        }
    }
    let mut statistics = first.statistics;
    statistics.add(&second.statistics);
    let verdict = first.verdict.max(second.verdict);
    MemberReport { verdict, findings, statistics, ..second }
}

/// Returns the report of one attempt, with what another one has cost.
pub(super) fn with_cost_of(report: MemberReport, other: &MemberReport) -> MemberReport {
    let mut statistics = other.statistics.clone();
    statistics.add(&report.statistics);
    MemberReport { statistics, ..report }
}

/// A member whose verification stopped early is never verified.
pub(super) fn stopped(options: &Options, report: &mut MemberReport, stop: Stop) {
    let span = report.span;
    let gave_up = |why: &str| {
        (Verdict::Inconclusive, ErrorId::Timeout, None, span, format!("gave up: {why}"))
    };
    let (verdict, error, reason, span, message) = match stop {
        // Contradictory preconditions: nothing is left to show.
        Stop::Infeasible => return,
        Stop::Unsupported { span, what } => {
            let message = format!("not supported yet: {what}");
            (
                Verdict::Unsupported,
                ErrorId::Internal,
                Some(Reason::FeatureUnsupported),
                span,
                message,
            )
        }
        Stop::Cancelled => gave_up("the verification was stopped"),
        Stop::GivenUp(why) => gave_up(&why),
        // Nobody sees the report of the second.
        Stop::OutOfTime | Stop::TooMuch => gave_up(&options.limit_reached()),
        Stop::Broken(what) => (
            Verdict::Error,
            ErrorId::Internal,
            None,
            report.span,
            format!("internal error: {what}"),
        ),
    };
    report.verdict = report.verdict.max(verdict);
    let mut found = Finding::warning(error, reason, span, message);
    if error == ErrorId::Timeout
        && let Some((place, what)) = report.statistics.last
        && place != Span::default()
    {
        found.related.push((place, format!("this was being verified ({what})")));
    }
    report.findings.push(found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use symex::report::Severity;

    #[test]
    fn nothing_that_a_part_finds_is_lost() {
        let words = "gave up".to_owned();
        let gave_up = Finding::warning(ErrorId::AssertFailed, None, Span::default(), words);
        let failed = Finding { severity: Severity::Error, ..gave_up.clone() };
        let report = |verdict, findings| MemberReport {
            kind: symex::report::MemberKind::Method,
            name: "m".to_owned(),
            span: Span::default(),
            verdict,
            findings,
            trusted: Vec::new(),
            statistics: Statistics { paths: 1, ..Statistics::default() },
        };
        let verified = || report(Verdict::Verified, Vec::new());
        let inconclusive = || report(Verdict::Inconclusive, vec![gave_up.clone()]);
        let refuted = || report(Verdict::Failed, vec![failed.clone()]);
        for (first, second, expected) in [
            (verified(), refuted(), refuted()),
            (refuted(), verified(), refuted()),
            (inconclusive(), refuted(), refuted()),
            (refuted(), inconclusive(), refuted()),
            (inconclusive(), verified(), inconclusive()),
            (verified(), verified(), verified()),
        ] {
            let whole = both(first, second);
            assert_eq!((whole.verdict, whole.findings), (expected.verdict, expected.findings));
            assert_eq!(whole.statistics.paths, 2);
        }
    }
}
