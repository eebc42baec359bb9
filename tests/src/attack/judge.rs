//! The verifier's answer about a program with probes.

use std::collections::BTreeSet;
use std::time::Duration;

use sil::load::{Loaded, load_text};
use silicon::Request;
use silicon::options::{Join, Options};
use silicon::report::{Report, Severity, Verdict};

use super::program::{Attack, METHOD};

/// The limits of one verification.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The solver's resource limit for one obligation.
    pub obligation: u32,
    /// Wall-clock time of one member.
    pub member: Duration,
    pub join: Join,
}

/// The fate of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// Every probe is reported, and nothing else.
    Reached,
    /// Every probe is reported, and so are other obligations, at these lines: they hold in the run.
    Incomplete(Vec<(u32, String)>),
    /// Other obligations are reported, and not every probe: what is assumed behind a failure may be
    /// contradictory.
    Hidden(Vec<(u32, String)>),
    /// A limit was met.
    Undecided,
    /// The method verifies, or nothing but probes is reported in it, and not all: those at these
    /// lines are not.
    Accepted(Vec<u32>),
    /// No verdict: the front end refuses the program, or the verifier broke.
    Defect(String),
}

impl Fate {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Incomplete(_) => "incomplete",
            Self::Hidden(_) => "hidden",
            Self::Undecided => "undecided",
            Self::Accepted(_) => "ACCEPTED",
            Self::Defect(_) => "DEFECT",
        }
    }
}

/// Verifies all members of a text; the first error of its front end if there is one.
pub(super) fn verify(text: &str, limits: Limits) -> Result<(Loaded, Report), String> {
    let loaded = load_text("attack.sil", text);
    let Some(program) = &loaded.program else {
        let first = loaded.diagnostics.iter().find(|one| !one.code.is_warning());
        return Err(first.map_or("no program".to_owned(), |one| one.message.clone()));
    };
    let mut options = Options::default();
    options.threads = 1;
    options.obligation_limit = limits.obligation;
    options.member_time_limit = Some(limits.member);
    options.join = limits.join;
    let report = Request::new(program, &loaded.sources, &options).verify();
    Ok((loaded, report))
}

/// Verifies the program of an attack.
pub fn judge(attack: &Attack, limits: Limits) -> Fate {
    judge_text(&attack.text(), &attack.reached(), limits)
}

/// Verifies a program, in which the probes on some lines must be reported.
pub(super) fn judge_text(text: &str, reached: &BTreeSet<u32>, limits: Limits) -> Fate {
    let (loaded, report) = match verify(text, limits) {
        Ok(verified) => verified,
        Err(error) => return Fate::Defect(format!("refused: {error}")),
    };
    if let Some(broken) = report.members.iter().find(|member| member.verdict == Verdict::Error) {
        let words = broken.findings.first().map_or("", |finding| &finding.message);
        return Fate::Defect(format!("{} is broken: {words}", broken.name));
    }
    let Some(method) = report.members.iter().find(|member| member.name == METHOD) else {
        return Fate::Defect("no verdict on the method".into());
    };
    let line = |span| loaded.sources.range(span).map_or(0, |(start, _)| start.line);
    let probes = Attack::probes(text);
    let mut reported = BTreeSet::new();
    let mut others = Vec::new();
    for member in &report.members {
        for finding in member.findings.iter().filter(|one| one.severity == Severity::Error) {
            let at = line(finding.span);
            if probes.contains(&at) {
                reported.insert(at);
            } else {
                others.push((at, finding.full_id()));
            }
        }
    }
    let silent: Vec<u32> = reached.difference(&reported).copied().collect();
    match method.verdict {
        Verdict::Verified => Fate::Accepted(silent),
        Verdict::Failed if others.is_empty() && silent.is_empty() => Fate::Reached,
        Verdict::Failed if others.is_empty() => Fate::Accepted(silent),
        Verdict::Failed if silent.is_empty() => Fate::Incomplete(others),
        Verdict::Failed => Fate::Hidden(others),
        Verdict::Inconclusive | Verdict::Unsupported | Verdict::Error => Fate::Undecided,
    }
}
