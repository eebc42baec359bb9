//! Showing outcomes: for people, for scripts, for other tools.
//!
//! Each format is one file, and no other file knows it. The formats for standard output are written
//! while files are still being verified; the reports are made at the end.

mod fingerprint;
mod github;
mod gitlab;
mod html;
mod human;
pub mod json;
mod junit;
mod sarif;
mod short;
mod silicon;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use sil::render::Colours;

use crate::expectations::Difference;
use crate::session::outcome::Shown;
use crate::session::{Diagnostic, FileVerdict, Outcome};
use symex::report::{Asked, Questions, Subject, Verdict};

pub use self::fingerprint::Baseline;
pub use self::human::subjects_in_words;
pub use self::sarif::uri;

/// The format on standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// With quoted source lines.
    Human { colours: Colours, statistics: bool },
    /// One line an error.
    Short,
    /// One object a line.
    Json { statistics: bool },
    /// Annotations of lines, as GitHub reads them in the log of a job.
    Github,
    /// A report that is made at the end: see [`Format::at_end`].
    Gitlab,
    /// As the reference verifier of that name prints it.
    Silicon,
}

/// A report on a whole run, in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    Sarif,
    Junit,
    Html,
    Gitlab,
}

impl ReportFormat {
    /// Returns the text of the report; `outcomes` are in the order of the inputs.
    pub fn report(self, outcomes: &[Outcome], summary: &Summary) -> String {
        match self {
            Self::Sarif => sarif::report(outcomes, summary),
            Self::Junit => junit::report(outcomes, summary),
            Self::Html => html::report(outcomes, summary),
            Self::Gitlab => gitlab::report(outcomes, summary),
        }
    }
}

/// The sums over a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub files: usize,
    pub members: usize,
    pub verified: usize,
    /// Members whose verdict an earlier run has found.
    pub cached: usize,
    pub failed: usize,
    pub inconclusive: usize,
    pub unsupported: usize,
    pub broken: usize,
    pub errors: usize,
    pub input_errors: usize,
    pub checked: usize,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// Programs were executed directly, without a translation.
    pub is_direct: bool,
    pub time: Duration,
    /// Where the run was started, seen from the root of the checkout.
    pub directory: PathBuf,
    /// How the run came about: titles and texts.
    pub about: Vec<(&'static str, String)>,
    /// Findings were compared with those of an earlier run.
    pub has_baseline: bool,
    /// Findings of this run that the earlier run had, too.
    pub known: usize,
    /// The questions of all members.
    pub questions: Questions,
    /// The questions that reached the solver, by what they are about; and the first questions of
    /// solvers.
    pub subjects: BTreeMap<Subject, Asked>,
    pub waking: Asked,
    worst: Option<FileVerdict>,
    /// The worst verdict on what is not known from an earlier run.
    worst_news: Option<FileVerdict>,
}

impl Summary {
    /// Returns the sums of a run that begins; see the fields of these names.
    pub fn of_run(directory: PathBuf, has_baseline: bool) -> Self {
        Self { directory, has_baseline, ..Self::default() }
    }

    pub fn add(&mut self, outcome: &Outcome) {
        self.files += 1;
        self.is_direct |= outcome.is_direct;
        self.members += outcome.members.len();
        self.verified += outcome.count(Verdict::Verified);
        self.failed += outcome.count(Verdict::Failed);
        self.inconclusive += outcome.count(Verdict::Inconclusive);
        self.unsupported += outcome.count(Verdict::Unsupported);
        self.broken += outcome.count(Verdict::Error);
        self.errors += outcome.errors();
        self.input_errors += usize::from(outcome.verdict == FileVerdict::InputError);
        self.checked += usize::from(outcome.verdict == FileVerdict::Checked);
        for member in &outcome.members {
            self.cached += usize::from(member.statistics.is_cached);
            self.questions.add(&member.statistics.questions);
            for (&subject, &asked) in &member.statistics.subjects {
                self.subjects.entry(subject).or_default().add(asked);
            }
            self.waking.add(member.statistics.waking);
        }
        self.known += outcome.diagnostics.iter().filter(|one| one.is_known).count();
        self.worst = self.worst.max(Some(outcome.verdict));
        self.worst_news = self.worst_news.max(Some(outcome.news()));
    }

    /// Returns the verdict of the file that weighs most.
    ///
    /// A file in which nothing was selected leaves the verdict to the others; one that declares
    /// nothing does not.
    pub fn verdict(&self) -> FileVerdict {
        self.whole(self.worst)
    }

    /// The same for what is not known from an earlier run: see [`Outcome::news`].
    pub fn news(&self) -> FileVerdict {
        self.whole(self.worst_news)
    }

    fn whole(&self, worst: Option<FileVerdict>) -> FileVerdict {
        let known = worst.unwrap_or(FileVerdict::NothingSelected);
        // Nothing is known of the rest.
        if self.interrupted { known.max(FileVerdict::Inconclusive) } else { known }
    }
}

impl Format {
    /// Quoted source lines, without colours.
    pub fn plain() -> Self {
        Self::Human { colours: Colours::Never, statistics: false }
    }

    /// Returns the exit code for a verdict.
    pub fn exit_code(self, verdict: FileVerdict) -> u8 {
        match (self, verdict) {
            // The reference knows success and everything else.
            (Self::Silicon, FileVerdict::Checked | FileVerdict::Verified) => 0,
            // For it, nothing is verified, too.
            (Self::Silicon, FileVerdict::NothingSelected | FileVerdict::Empty) => 0,
            (Self::Silicon, _) => 1,
            _ => verdict.exit_code(),
        }
    }

    /// Shows one file; to be called in the order of the inputs.
    pub fn outcome(self, outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Github => github::findings(outcome, to),
            Self::Gitlab => Ok(()),
            Self::Silicon => silicon::outcome(outcome, to),
            _ => self.rest(outcome, &Shown::default(), to),
        }
    }

    /// Tells whether findings may be shown before the rest of the file.
    pub fn comes_in_parts(self) -> bool {
        matches!(self, Self::Human { .. } | Self::Short | Self::Json { .. })
    }

    /// Shows one file but for the findings that have been told by [`Self::findings`]; for formats
    /// that come in parts.
    pub fn rest(self, outcome: &Outcome, shown: &Shown, to: &mut dyn Write) -> io::Result<()> {
        let is_new = |one: &&Diagnostic| !shown.contains(one);
        let diagnostics = outcome.diagnostics.iter().filter(is_new).cloned().collect();
        self.findings(&Outcome { diagnostics, ..outcome.clone() }, to)?;
        match self {
            Self::Human { statistics, .. } => human::verdicts(outcome, statistics, to),
            Self::Short => short::verdicts(outcome, to),
            Self::Json { statistics } => json::verdicts(outcome, statistics, to),
            Self::Github | Self::Gitlab | Self::Silicon => Ok(()),
        }
    }

    /// Shows the findings of one file and nothing else.
    pub fn findings(self, outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Human { colours, .. } => human::findings(outcome, colours, to),
            Self::Short => short::findings(outcome, to),
            Self::Json { .. } => json::findings(outcome, to),
            Self::Github => github::findings(outcome, to),
            Self::Gitlab => Ok(()),
            Self::Silicon => silicon::outcome(outcome, to),
        }
    }

    /// Shows whether a file does what it announces; `differences` is what it does not
    /// ([`crate::expectations`]).
    pub fn expectation(
        self,
        outcome: &Outcome,
        differences: &[(String, Difference)],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Json { .. } => {
                json::expectation(outcome, differences.is_empty(), differences, to)
            }
            Self::Human { .. } | Self::Short | Self::Github | Self::Gitlab | Self::Silicon => {
                if differences.is_empty() {
                    let errors = outcome.errors();
                    let word = if errors == 1 { "error" } else { "errors" };
                    return writeln!(to, "{}: as announced: {errors} {word}", outcome.file);
                }
                writeln!(to, "{}: not as announced", outcome.file)?;
                differences
                    .iter()
                    .try_for_each(|(file, difference)| write!(to, "{}", difference.of_file(file)))
            }
        }
    }

    /// Shows the sums, after the last file.
    pub fn summary(self, summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Human { statistics, .. } => human::summary(summary, statistics, to),
            Self::Short | Self::Gitlab | Self::Silicon => Ok(()),
            Self::Github => human::summary(summary, false, to),
            Self::Json { .. } => json::summary(summary, to),
        }
    }

    /// Returns the report that is shown in the place of the files, after all of them.
    pub fn at_end(self) -> Option<ReportFormat> {
        (self == Self::Gitlab).then_some(ReportFormat::Gitlab)
    }
}

/// Long lists of trusted things are cut where people read them: the number says how long they are.
const LISTED: usize = 10;

/// Lists the unproved assumptions of a file's verdict, in one line; `None` if there are none to
/// name.
fn trusted(outcome: &Outcome) -> Option<String> {
    let all = &outcome.trusted;
    if all.is_empty() {
        return None;
    }
    let listed: Vec<&str> = all.iter().take(LISTED).map(String::as_str).collect();
    let rest = all.len() - listed.len();
    let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    Some(format!("trusted: {}{more}", listed.join(", ")))
}

/// Sums up the verdicts on the members and files of a run, in words.
fn sums(summary: &Summary) -> String {
    let mut parts = Vec::new();
    if summary.checked < summary.files {
        let (verified, members) = (summary.verified, summary.members);
        let how = match (summary.is_direct, summary.cached) {
            (true, _) => " (direct)".to_owned(),
            (false, 0) => String::new(),
            (false, cached) => format!(" ({cached} cached)"),
        };
        parts.push(format!("{verified} of {members} members verified{how}"));
    }
    for (count, word) in [
        (summary.failed, "failed"),
        (summary.inconclusive, "inconclusive"),
        (summary.unsupported, "unsupported"),
        (summary.broken, "stopped by an internal error"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    for (count, word) in
        [(summary.checked, "accepted, not verified"), (summary.input_errors, "with input errors")]
    {
        if count > 0 {
            parts.push(format!("{count} {} {word}", if count == 1 { "file" } else { "files" }));
        }
    }
    if summary.known > 0 {
        let word = if summary.known == 1 { "finding" } else { "findings" };
        parts.push(format!("{} {word} known from the baseline", summary.known));
    }
    let files =
        if summary.files == 1 { String::new() } else { format!(" in {} files", summary.files) };
    parts.join(", ") + &files
}

/// Explains a verdict on a member.
fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Verified => "verified",
        Verdict::Inconclusive => "inconclusive: gave up at a limit",
        Verdict::Unsupported => "unsupported: not verified",
        Verdict::Failed => "failed",
        Verdict::Error => "internal error: not verified",
    }
}

/// The number of listed places where the solver took most steps.
const HARDEST: usize = 5;

/// Milliseconds with one decimal, as reports show times.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
