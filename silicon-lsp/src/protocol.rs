//! The messages between the server and the process that verifies, an object of JSON a line.

use std::ops::Range;

use lsp_types::{Diagnostic, NumberOrString};
use serde::{Deserialize, Serialize};
use silicon::options::GivenUp;
use silicon::report::{MemberKind, Verdict};
use silicon::session::FileVerdict;

/// A message to the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Verify(Job),
    /// Nobody wants to know any more.
    Cancel(u64),
    States(Question),
    Try(Trial),
    /// Forgets the answers of earlier runs.
    Forget,
}

/// Edits that may remove a finding, to be tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) text: String,
    /// All that is found in the text as it is.
    pub(crate) found: Vec<Found>,
    pub(crate) arguments: String,
    pub(crate) attempts: Vec<Attempt>,
}

/// Edits, and the number of the finding that they are to remove.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) cures: usize,
    /// In the order of the text, apart from each other.
    pub(crate) edits: Vec<Edit>,
}

/// A piece of a text is another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// In bytes.
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// The judgement of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Judged {
    /// The finding is gone, there is no new one, and all that could be reached can be.
    Cures,
    /// The answer was not found out.
    Open,
    Rejected,
}

/// A text, and a line of which is to be told what is known there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) text: String,
    /// From 1.
    pub(crate) line: u32,
}

/// A text to be verified.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) number: u64,
    /// The path of the file, or what stands for one.
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) text: String,
    /// One member at a time, so that it is known which one ends the process.
    pub(crate) is_alone: bool,
    /// The arguments of the run.
    pub(crate) arguments: String,
    pub(crate) given_up: Vec<GivenUp>,
}

/// A message of the worker, with the number of the job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    Planned {
        job: u64,
        members: Vec<Planned>,
    },
    Started {
        job: u64,
        kind: MemberKind,
        id: String,
    },
    Ended {
        job: u64,
        kind: MemberKind,
        id: String,
    },
    Finished {
        job: u64,
        id: String,
        kind: MemberKind,
        done: Done,
        found: Vec<Found>,
    },
    /// All is said; this is what was found altogether, and the verdict on the text.
    /// `None`: the work was stopped.
    Done {
        job: u64,
        verdict: FileVerdict,
        found: Option<Vec<Found>>,
    },
    /// The judgements of the attempts of a trial, one after the other.
    Tried {
        job: u64,
        judged: Vec<Judged>,
    },
    /// The states of the first paths to a line, and how many paths there are.
    States {
        job: u64,
        found: Vec<Reached>,
        all: usize,
    },
}

/// A path that comes to a statement, and what is known there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// Where the statement stands.
    pub(crate) range: lsp_types::Range,
    /// The conditions that lead there.
    pub(crate) path: Vec<String>,
    /// As `--state` gives it with `--message-format json`.
    pub(crate) state: serde_json::Value,
    /// The same for people.
    pub(crate) words: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) kind: MemberKind,
    pub(crate) id: String,
    pub(crate) name: String,
    /// Where it stands in the text; none: in another file.
    pub(crate) range: Option<lsp_types::Range>,
}

/// The verdict on a member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) verdict: Verdict,
    pub(crate) errors: usize,
    pub(crate) milliseconds: f64,
    /// The verdict was known from an earlier run.
    pub(crate) is_recalled: bool,
}

/// A finding, and the file that it is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) uri: String,
    pub(crate) diagnostic: Diagnostic,
}

impl Found {
    /// Tells whether the finding is about syntax, not about meaning.
    pub(crate) fn is_syntax(&self) -> bool {
        let code = self.diagnostic.code.as_ref();
        matches!(code, Some(NumberOrString::String(id)) if id.starts_with("parser."))
    }
}

impl Event {
    pub(crate) fn job(&self) -> u64 {
        match self {
            Self::Planned { job, .. }
            | Self::Started { job, .. }
            | Self::Ended { job, .. }
            | Self::Finished { job, .. }
            | Self::Done { job, .. }
            | Self::Tried { job, .. }
            | Self::States { job, .. } => *job,
        }
    }
}
