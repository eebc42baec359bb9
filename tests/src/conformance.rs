//! Running whole suites and sorting their files by how the verdicts compare with what is announced.
//!
//! The number that has to be 0 is `missing`: an error that is announced, and that a member reported
//! as decided does not report. Every file is verified in a process of its own, so that one that
//! hangs or crashes costs only itself.
//!
//! Warnings are advice: one that a file announces has to be given, one that it does not announce is
//! no difference.

pub mod manifest;
pub mod process;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::expectations::{self, Expectations, Output};
use crate::observation::{MemberVerdict, Observation, Reported};
use manifest::{Announced, Manifests};
use process::Ending;

/// How a file's verdict compares with what is announced; from the worst on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// An announced error is not reported, though the member is decided: unsound.
    Missing,
    /// The same for announcements that only some verifiers promise (locks, credits, termination).
    MissingOptional,
    /// The process ended without an answer, or reported a defect of its own.
    Crash,
    Timeout,
    /// The front end refuses a program that it should accept.
    InputError,
    Unsupported,
    /// An error is reported that is not announced: incomplete.
    Extra,
    /// A limit was hit.
    Inconclusive,
    /// A warning that is announced is not given.
    MissingWarning,
    /// A known wrong answer of the named tool is right here.
    Stale,
    Exact,
}

impl Class {
    pub const ALL: [Self; 11] = [
        Self::Missing,
        Self::MissingOptional,
        Self::Crash,
        Self::Timeout,
        Self::InputError,
        Self::Unsupported,
        Self::Extra,
        Self::Inconclusive,
        Self::MissingWarning,
        Self::Stale,
        Self::Exact,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::MissingOptional => "missing-optional",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::InputError => "input-error",
            Self::Unsupported => "unsupported",
            Self::Extra => "extra",
            Self::Inconclusive => "inconclusive",
            Self::MissingWarning => "missing-warning",
            Self::Stale => "stale",
            Self::Exact => "exact",
        }
    }
}

/// The result for one file.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Judgement {
    pub path: String,
    pub class: Class,
    pub missing: Vec<String>,
    pub extra: Vec<String>,
    pub stale: Vec<String>,
    /// Why something is not decided, or how the process ended.
    pub reasons: Vec<String>,
    /// The errors are those of the reference; `None` unless all of these are known.
    pub same: Option<bool>,
}

/// A file to judge, its path below the suite's directory, and what it announces.
#[derive(Clone, Debug)]
pub struct Case {
    pub path: PathBuf,
    pub name: String,
    pub announced: Announced,
    /// The tool that the announcements are read for.
    pub tool: String,
}

/// The programs below `directory` that announce something for `tool`, sorted by path.
///
/// Where a manifest stands beside or above a program, the manifest says what is announced and what
/// is a case; elsewhere the annotations in the programs do. Of programs in several files the first
/// is the case, and what `import <…>` of the suite's programs finds is none.
pub fn cases(directory: &Path, tool: &str) -> anyhow::Result<Vec<Case>> {
    let mut manifests = Manifests::default();
    let mut cases = Vec::new();
    let programs = if directory.is_dir() {
        silicon::session::input::programs_below(directory)
    } else {
        vec![directory.to_owned()]
    };
    for path in programs {
        if is_later_part(&path) || is_library(directory, &path) {
            continue;
        }
        let name = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        let announced = match manifests.find(&path)? {
            Some(Some(announced)) => announced,
            // The manifest does not name the program.
            Some(None) => continue,
            None => {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                Announced::Inline(expectations::read(&text, tool))
            }
        };
        if !announced.is_ignored() {
            cases.push(Case { path, name, announced, tool: tool.to_owned() });
        }
    }
    Ok(cases)
}

/// `name_file2.vpr` and so on belong to `name_file1.vpr`.
fn is_later_part(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.rsplit_once("_file")
        .and_then(|(_, number)| number.parse::<u32>().ok())
        .is_some_and(|number| number > 1)
}

/// The folder `import` of a suite extends the standard library for its programs (see
/// `sil::imports`). In it are parts of programs that mean nothing alone.
fn is_library(suite: &Path, path: &Path) -> bool {
    path.strip_prefix(suite).is_ok_and(|path| path.starts_with("import"))
}

/// Compares how a process ended with what its program announces.
pub fn judge(case: &Case, ending: &Ending) -> Judgement {
    let mut judgement = Judgement {
        path: case.name.clone(),
        class: Class::Exact,
        missing: Vec::new(),
        extra: Vec::new(),
        stale: Vec::new(),
        reasons: Vec::new(),
        same: case.announced.is_same(&[]).map(|_| false),
    };
    match ending {
        Ending::Timeout => judgement.class = Class::Timeout,
        Ending::Crash(reason) => {
            judgement.class = Class::Crash;
            judgement.reasons.push(reason.clone());
        }
        Ending::Answer(observation) => compare(case, observation, &mut judgement),
    }
    judgement
}

fn compare(case: &Case, observation: &Observation, judgement: &mut Judgement) {
    let announced = &case.announced;
    let expectations = announced.expectations();
    // An unsupported construct is an answer only where it is announced.
    let internal = |one: &&Reported| one.is_internal() && !is_announced(expectations, one);
    let answers: Vec<Output> =
        observation.reported.iter().filter(|one| !internal(one)).map(Reported::output).collect();
    let difference = expectations.compare(&answers);
    let (undecided, missing): (Vec<Output>, Vec<Output>) =
        difference.missing.into_iter().partition(|one| is_undecided(observation, one));
    let (warnings, missing): (Vec<Output>, Vec<Output>) =
        missing.into_iter().partition(Output::is_warning);
    let extra: Vec<Output> = difference
        .extra
        .into_iter()
        .filter(|one| !one.is_warning() && !announced.excuses(one, observation))
        .filter(|one| !is_announced_where_it_is(one, observation, &case.tool))
        .collect();

    let rejected = observation.is_rejected() && !extra.is_empty();
    let broken = observation.is_broken();
    judgement.same = announced.is_same(&observation.outputs()).map(|same| same && !broken);
    let has = |verdict| observation.members.iter().any(|member| member.verdict == verdict);
    let optional = |one: &Output| announced.is_optional(one);
    judgement.class = if broken {
        Class::Crash
    } else if rejected {
        Class::InputError
    } else if missing.iter().any(|one| !optional(one)) {
        Class::Missing
    } else if has(MemberVerdict::Unsupported) || observation.is_unsupported() {
        Class::Unsupported
    } else if !extra.is_empty() {
        Class::Extra
    } else if has(MemberVerdict::Inconclusive) {
        Class::Inconclusive
    } else if !missing.is_empty() {
        Class::MissingOptional
    } else if !warnings.is_empty() {
        Class::MissingWarning
    } else if !difference.stale.is_empty() {
        Class::Stale
    } else {
        Class::Exact
    };
    // Missing reports of a rejected program say nothing.
    if !rejected && judgement.class != Class::Crash {
        judgement.missing =
            missing.iter().chain(&warnings).map(|one| announced.describe(one)).collect();
    }
    judgement.extra = extra.iter().map(ToString::to_string).collect();
    judgement.stale = difference.stale.iter().map(ToString::to_string).collect();
    if !observation.is_only_checked() {
        judgement.reasons.extend(undecided.iter().map(|one| format!("undecided {one}")));
    }
    let internal = observation.reported.iter().filter(internal);
    judgement.reasons.extend(internal.map(|one| format!("{}:{} {}", one.line, one.id, one.text)));
    if rejected {
        let errors = observation.reported.iter().filter(|one| extra.contains(&one.output()));
        judgement.reasons.extend(errors.map(|one| format!("{}: {}", one.line, one.text)));
    }
}

/// Tells whether an output without announcement in the program is announced in the imported file
/// that it belongs to.
fn is_announced_where_it_is(output: &Output, observation: &Observation, tool: &str) -> bool {
    let mut reported = observation.reported.iter().filter(|one| one.output() == *output);
    reported.all(|one| {
        let text = one.file.as_ref().and_then(|file| std::fs::read(file).ok());
        text.is_some_and(|text| {
            let imported = expectations::read(&String::from_utf8_lossy(&text), tool);
            imported.compare(&[one.output()]).extra.is_empty()
        })
    })
}

fn is_announced(expectations: &Expectations, reported: &Reported) -> bool {
    let all = expectations.compare(&[]).missing.len();
    expectations.compare(&[reported.output()]).missing.len() < all
}

/// Tells whether the verifier is undecided about the member of this line.
///
/// Errors of the front end are never undecided: the program was accepted.
fn is_undecided(observation: &Observation, output: &Output) -> bool {
    let early = ["parser.", "typechecker.", "consistency."];
    !early.iter().any(|prefix| output.id.starts_with(prefix))
        && (!observation.is_judged()
            || observation
                .members
                .iter()
                .any(|one| one.covers(output.line) && !observation.is_decided(one)))
}

/// A line a file, which is the same in every run that comes to the same results.
pub fn listing(judgement: &Judgement) -> String {
    let mut line = format!("{:<16} {}", judgement.class.name(), judgement.path);
    for (word, outputs) in
        [("missing", &judgement.missing), ("extra", &judgement.extra), ("stale", &judgement.stale)]
    {
        if !outputs.is_empty() {
            let _ = write!(line, "  {word}: {}", outputs.join(", "));
        }
    }
    if !judgement.reasons.is_empty() {
        let reasons: Vec<String> = judgement.reasons.iter().map(|one| one_line(one)).collect();
        let _ = write!(line, "  [{}]", reasons.join("; "));
    }
    line
}

fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > 200 {
        text.chars().take(200).chain("…".chars()).collect()
    } else {
        text
    }
}

/// The number of files of each class, and how many have the errors of the reference.
pub fn totals(judgements: &[Judgement]) -> String {
    let mut text = format!("{} files", judgements.len());
    for class in Class::ALL {
        let count = judgements.iter().filter(|judgement| judgement.class == class).count();
        if count > 0 || class == Class::Missing {
            let _ = write!(text, ", {count} {}", class.name());
        }
    }
    let compared: Vec<bool> = judgements.iter().filter_map(|judgement| judgement.same).collect();
    if !compared.is_empty() {
        let same = compared.iter().filter(|same| **same).count();
        let share = 100.0 * same as f64 / compared.len() as f64;
        let _ = write!(text, "\n{same} of {} files ({share:.1} %)", compared.len());
        text.push_str(" have the same errors as the reference");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Member;

    fn case(text: &str) -> Case {
        Case {
            path: "x.vpr".into(),
            name: "x.vpr".into(),
            announced: Announced::Inline(expectations::read(text, "sil")),
            tool: "sil".into(),
        }
    }

    fn answer(reported: &[(u32, &str)], verdict: MemberVerdict, file: &str) -> Ending {
        let reported = reported
            .iter()
            .map(|&(line, id)| Reported {
                line,
                id: id.into(),
                text: "text".into(),
                member: None,
                file: None,
            })
            .collect();
        let members = if file == "input-error" {
            Vec::new()
        } else {
            vec![Member { name: "m".into(), first_line: 1, last_line: 9, verdict }]
        };
        Ending::Answer(Observation { verdict: file.into(), reported, members })
    }

    fn class(text: &str, ending: &Ending) -> Class {
        judge(&case(text), ending).class
    }

    const ANNOUNCED: &str = "//:: ExpectedOutput(a.b:c.d)\nx";

    #[test]
    fn agreement_is_exact() {
        use MemberVerdict::*;
        assert_eq!(class(ANNOUNCED, &answer(&[(2, "a.b:c.d")], Failed, "failed")), Class::Exact);
        assert_eq!(class("x", &answer(&[], Verified, "verified")), Class::Exact);
    }

    #[test]
    fn silence_is_missing_only_if_decided() {
        use MemberVerdict::*;
        assert_eq!(class(ANNOUNCED, &answer(&[], Verified, "verified")), Class::Missing);
        let gave_up = answer(&[(1, "timeout.error")], Inconclusive, "inconclusive");
        assert_eq!(class(ANNOUNCED, &gave_up), Class::Inconclusive);
        let unsupported =
            answer(&[(1, "internal:feature.unsupported")], Unsupported, "inconclusive");
        assert_eq!(class(ANNOUNCED, &unsupported), Class::Unsupported);
        let early = "//:: ExpectedOutput(typechecker.error)\nx";
        assert_eq!(class(early, &unsupported), Class::Missing);
    }

    #[test]
    fn rejections_are_input_errors_unless_announced() {
        let rejected = answer(&[(2, "typechecker.error")], MemberVerdict::Failed, "input-error");
        assert_eq!(class(ANNOUNCED, &rejected), Class::InputError);
        assert_eq!(class("//:: ExpectedOutput(typechecker.error)\nx", &rejected), Class::Exact);
        let two =
            "//:: ExpectedOutput(typechecker.error)\nx\n//:: ExpectedOutput(consistency.error)\ny";
        assert_eq!(class(two, &rejected), Class::Missing);
    }

    #[test]
    fn warnings_count_only_where_they_are_announced() {
        use MemberVerdict::*;
        let warned = answer(&[(2, "parser.warning")], Verified, "verified");
        let silent = answer(&[], Verified, "verified");
        assert_eq!(class("x\nx", &warned), Class::Exact);
        let announced = "//:: ExpectedOutput(parser.warning)\nx";
        assert_eq!(class(announced, &warned), Class::Exact);
        assert_eq!(class(announced, &silent), Class::MissingWarning);
        // Beside an error that is announced they make no program an input error.
        let rejected = answer(&[(2, "parser.warning"), (4, "parser.error")], Failed, "input-error");
        assert_eq!(class("x\nx\n//:: ExpectedOutput(parser.error)\nx", &rejected), Class::Exact);
    }

    #[test]
    fn other_endings() {
        assert_eq!(class("x", &Ending::Timeout), Class::Timeout);
        assert_eq!(class("x", &Ending::Crash("signal".into())), Class::Crash);
        let extra = answer(&[(2, "a")], MemberVerdict::Failed, "failed");
        assert_eq!(class("x\nx", &extra), Class::Extra);
    }

    #[test]
    fn what_a_suite_adds_to_the_library_is_no_case() {
        let is_library = |path: &str| is_library(Path::new("s"), Path::new(path));
        assert!(is_library("s/import/a/b.vpr"));
        assert!(!is_library("s/all/import/a.vpr") && !is_library("s/imported.vpr"));
    }

    #[test]
    fn only_the_first_of_several_files_is_a_case() {
        assert!(
            is_later_part(Path::new("a/x_file2.vpr")) && is_later_part(Path::new("x_file12.vpr"))
        );
        assert!(
            !is_later_part(Path::new("x_file1.vpr")) && !is_later_part(Path::new("x_file.vpr"))
        );
    }
}
