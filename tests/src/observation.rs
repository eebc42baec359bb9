//! The verifier's answer about one file, as far as tests compare it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use silicon::options::{Join, Options};
use silicon::report::Verdict;
use silicon::session::{FEATURE_UNSUPPORTED, FileVerdict, Input, Outcome, Session, Task};

use crate::expectations::Output;

/// The result for one file; what goes from the process that verifies to the one that judges.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Observation {
    pub verdict: String,
    /// Everything reported, in source order.
    pub reported: Vec<Reported>,
    pub members: Vec<Member>,
}

/// A reported error or warning.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Reported {
    pub line: u32,
    pub id: String,
    pub text: String,
    pub member: Option<String>,
    /// The imported file it is in; `None` if it is in the observed one.
    pub file: Option<String>,
}

/// A member with its lines.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Member {
    pub name: String,
    pub first_line: u32,
    pub last_line: u32,
    pub verdict: MemberVerdict,
}

/// [`Verdict`], in a form that can be sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum MemberVerdict {
    Verified,
    Inconclusive,
    Unsupported,
    Failed,
    Error,
}

impl Reported {
    pub fn output(&self) -> Output {
        Output::new(self.line, self.id.as_str())
    }

    /// Says that the verifier cannot do something, and nothing about the program.
    pub fn is_internal(&self) -> bool {
        self.id.starts_with("internal") || self.id == "timeout.error"
    }
}

impl Member {
    pub fn covers(&self, line: u32) -> bool {
        (self.first_line..=self.last_line).contains(&line)
    }
}

/// A session for tests: everything verified, on one thread.
pub fn session(task: Task) -> Session {
    let mut options = Options::default();
    options.threads = 1;
    Session { task, options, ..Session::default() }
}

/// The session for one program, with states merged as `join` says. Suites that try an option of the
/// verifier are folders with its name, as in the Viper test suites.
pub fn session_for(path: &Path, task: Task, join: Join) -> Session {
    let mut session = session(task);
    session.options.join = join;
    for folder in path.ancestors().filter_map(Path::file_name) {
        match folder.to_str() {
            Some("smoke") => session.options.smoke = true,
            Some("oldpermsemantics") => session.options.exact_amounts_in_functions = true,
            Some("assumed_injectivity") => session.options.assume_injectivity_on_inhale = true,
            Some("assumed_termination") => session.options.assume_termination = true,
            _ => {}
        }
    }
    session
}

/// Verifies a file in this process.
pub fn observe(path: &Path, session: &Session) -> Observation {
    Observation::of(&session.run(&Input::file(path)))
}

/// Verifies a text in this process; the ending of its name tells the language.
pub fn observe_text(name: &str, text: &str, session: &Session) -> Observation {
    Observation::of(&session.run(&Input::text(name, text)))
}

impl Observation {
    fn of(outcome: &Outcome) -> Self {
        let reported = outcome.diagnostics.iter().map(|diagnostic| Reported {
            line: diagnostic.message.place.start.line,
            id: diagnostic.message.id.clone(),
            text: diagnostic.message.text.clone(),
            member: diagnostic.member.clone(),
            file: Some(diagnostic.message.place.file.to_string())
                .filter(|file| *file != outcome.file),
        });
        let members = outcome.members.iter().map(|member| Member {
            name: member.name.clone(),
            first_line: member.place.start.line,
            last_line: member.place.end.line,
            verdict: match member.verdict {
                Verdict::Verified => MemberVerdict::Verified,
                Verdict::Inconclusive => MemberVerdict::Inconclusive,
                Verdict::Unsupported => MemberVerdict::Unsupported,
                Verdict::Failed => MemberVerdict::Failed,
                Verdict::Error => MemberVerdict::Error,
            },
        });
        Self {
            verdict: outcome.verdict.name().to_owned(),
            reported: reported.collect(),
            members: members.collect(),
        }
    }

    /// Tells whether the front end refused the program.
    pub fn is_rejected(&self) -> bool {
        self.verdict == FileVerdict::InputError.name()
    }

    /// Tells whether the verifier itself failed.
    pub fn is_broken(&self) -> bool {
        self.verdict == FileVerdict::Error.name()
            || self.members.iter().any(|member| member.verdict == MemberVerdict::Error)
    }

    /// Tells whether everything in this member was decided: a failed member may also have given up.
    pub fn is_decided(&self, member: &Member) -> bool {
        matches!(member.verdict, MemberVerdict::Verified | MemberVerdict::Failed)
            && !self
                .reported
                .iter()
                .any(|one| one.is_internal() && one.member.as_ref() == Some(&member.name))
    }

    /// Tells whether the program was accepted and no more was asked.
    pub fn is_only_checked(&self) -> bool {
        self.verdict == FileVerdict::Checked.name()
    }

    /// Tells whether the program as a whole uses something that is not supported.
    pub fn is_unsupported(&self) -> bool {
        self.members.is_empty() && self.reported.iter().any(|one| one.id == FEATURE_UNSUPPORTED)
    }

    /// Tells whether members got verdicts at all, or the front end answered.
    pub fn is_judged(&self) -> bool {
        !self.is_only_checked() && !self.is_unsupported()
    }

    pub fn outputs(&self) -> Vec<Output> {
        self.reported.iter().map(Reported::output).collect()
    }
}
