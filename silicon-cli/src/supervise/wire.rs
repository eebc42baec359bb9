//! The messages between the processes of one run. The lines of saved runs have the same content.
//!
//! The types of the languages' crates know nothing of this, so they have counterparts here.

use std::io::Read;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sil::render::{Message, Place, Severity, Texts};
use sil::source::{LineColumn, SourceFile};
use silicon::options::GivenUp;
use silicon::report::{Cost, Counterexample, MemberKind, Statistics, Verdict};
use silicon::session::follow::Member;
use silicon::session::graph::{End, Graph, Node, Row, Way};
use silicon::session::replay::Replay;
use silicon::session::shard::Dealt;
use silicon::session::{Diagnostic, FileVerdict, MemberOutcome, Missing, Obligation, Outcome};

/// An order to a worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The number of the input.
    pub(crate) input: usize,
    /// Verifies members one at a time, so that the member that ends the process is known.
    pub(crate) alone: bool,
    /// Sends texts although nothing is found in them.
    pub(crate) with_texts: bool,
    /// Tells answers that a later run may use.
    pub(crate) with_answers: bool,
    /// Members whose outcome is known.
    pub(crate) settled: Vec<(MemberKind, String)>,
    pub(crate) given_up: Vec<GivenUp>,
}

/// A message of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    Loaded {
        head: Head,
        members: Vec<Planned>,
    },
    Started {
        kind: MemberKind,
        id: String,
        /// How long it should take at most.
        within: Option<Duration>,
        /// The number of the thread that is at work on it.
        thread: i32,
    },
    Ended {
        kind: MemberKind,
        id: String,
    },
    Finished {
        id: String,
        member: Verified,
        found: Vec<Found>,
    },
    /// See [`silicon::Observer::answered`].
    Answered(String),
    /// All is said about the input.
    Done {
        /// Where the work on it as a whole came to a defect: what there is instead of all that was
        /// said.
        broken: Option<Head>,
    },
}

impl Event {
    /// Tells whether a worker goes on to another event without work in between.
    pub(crate) fn is_followed_at_once(&self) -> bool {
        matches!(self, Self::Finished { member, .. } if member.statistics.is_cached)
    }
}

/// An outcome without its members.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    file: String,
    verdict: String,
    found: Vec<Found>,
    trusted: Vec<String>,
    is_direct: bool,
    /// Name and text; left out where nobody will ask for them.
    texts: Vec<(String, String)>,
    /// The members of all shards.
    dealt: Vec<Assigned>,
}

/// A member, and its shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Assigned {
    kind: MemberKind,
    name: String,
    at: At,
    shard: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Planned {
    kind: MemberKind,
    id: String,
    name: String,
    at: At,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Verified {
    kind: MemberKind,
    name: String,
    verdict: Verdict,
    at: At,
    trusted: Vec<String>,
    statistics: Statistics,
    obligations: Vec<(At, String, Cost)>,
    graphs: Vec<Drawn>,
}

/// A graph: its name, and its nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Drawn(Option<String>, Vec<DrawnNode>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct DrawnNode {
    depth: usize,
    rows: Vec<(Row, At)>,
    ways: Vec<Way>,
    end: Option<End>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    is_warning: bool,
    id: String,
    text: String,
    at: At,
    notes: Vec<(At, String)>,
    remarks: Vec<String>,
    generated: Option<((u32, u32), (u32, u32))>,
    member: Option<String>,
    reason: Option<At>,
    part: Option<At>,
    subject: Option<At>,
    missing: Option<Missing>,
    is_consequence: bool,
    path: Vec<String>,
    steps: Vec<(At, bool)>,
    counterexample: Option<Counterexample>,
    replay: Option<Replay>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct At {
    file: String,
    start: (u32, u32),
    end: (u32, u32),
}

impl From<&Place> for At {
    fn from(place: &Place) -> Self {
        Self { file: place.file.to_string(), start: pair(place.start), end: pair(place.end) }
    }
}

impl From<At> for Place {
    fn from(At { file, start, end }: At) -> Self {
        Self { file: file.into(), start: position(start), end: position(end) }
    }
}

fn pair(at: LineColumn) -> (u32, u32) {
    (at.line, at.column)
}

fn position((line, column): (u32, u32)) -> LineColumn {
    LineColumn { line, column }
}

impl From<&Diagnostic> for Found {
    fn from(diagnostic: &Diagnostic) -> Self {
        let Message { severity, id, text, place, notes, remarks } = &diagnostic.message;
        Self {
            is_warning: *severity == Severity::Warning,
            id: id.clone(),
            text: text.clone(),
            at: place.into(),
            notes: notes.iter().map(|(place, text)| (place.into(), text.clone())).collect(),
            remarks: remarks.clone(),
            generated: diagnostic.generated.map(|(start, end)| (pair(start), pair(end))),
            member: diagnostic.member.clone(),
            reason: diagnostic.reason.as_ref().map(At::from),
            part: diagnostic.part.as_ref().map(At::from),
            subject: diagnostic.subject.as_ref().map(At::from),
            missing: diagnostic.missing.clone(),
            is_consequence: diagnostic.is_consequence,
            path: diagnostic.path.clone(),
            steps: diagnostic.steps.iter().map(|(at, holds)| (At::from(at), *holds)).collect(),
            counterexample: diagnostic.counterexample.clone(),
            replay: diagnostic.replay.clone(),
        }
    }
}

impl From<Found> for Diagnostic {
    fn from(found: Found) -> Self {
        let message = Message {
            severity: if found.is_warning { Severity::Warning } else { Severity::Error },
            id: found.id,
            text: found.text,
            place: found.at.into(),
            notes: found.notes.into_iter().map(|(at, text)| (at.into(), text)).collect(),
            remarks: found.remarks,
        };
        Self {
            message,
            generated: found.generated.map(|(start, end)| (position(start), position(end))),
            member: found.member,
            reason: found.reason.map(Place::from),
            part: found.part.map(Place::from),
            subject: found.subject.map(Place::from),
            missing: found.missing,
            is_consequence: found.is_consequence,
            path: found.path,
            steps: found.steps.into_iter().map(|(at, holds)| (at.into(), holds)).collect(),
            counterexample: found.counterexample,
            replay: found.replay,
            is_known: false,
        }
    }
}

impl From<&Member> for Planned {
    fn from(Member { kind, id, name, place }: &Member) -> Self {
        Self { kind: *kind, id: id.clone(), name: name.clone(), at: place.into() }
    }
}

impl From<Planned> for Member {
    fn from(Planned { kind, id, name, at }: Planned) -> Self {
        Self { kind, id, name, place: at.into() }
    }
}

impl From<&MemberOutcome> for Verified {
    fn from(member: &MemberOutcome) -> Self {
        Self {
            kind: member.kind,
            name: member.name.clone(),
            verdict: member.verdict,
            at: (&member.place).into(),
            trusted: member.trusted.clone(),
            statistics: member.statistics.clone(),
            obligations: member
                .obligations
                .iter()
                .map(|of| ((&of.place).into(), of.kind.clone(), of.cost))
                .collect(),
            graphs: member.graphs.iter().map(Drawn::from).collect(),
        }
    }
}

impl From<Verified> for MemberOutcome {
    fn from(member: Verified) -> Self {
        Self {
            kind: member.kind,
            name: member.name,
            verdict: member.verdict,
            place: member.at.into(),
            trusted: member.trusted,
            statistics: member.statistics,
            obligations: member
                .obligations
                .into_iter()
                .map(|(at, kind, cost)| Obligation { place: at.into(), kind, cost })
                .collect(),
            graphs: member.graphs.into_iter().map(Graph::from).collect(),
        }
    }
}

impl From<&Graph> for Drawn {
    fn from(Graph { name, nodes }: &Graph) -> Self {
        let node = |Node { depth, rows, ways, end }: &Node| DrawnNode {
            depth: *depth,
            rows: rows.iter().map(|(row, at)| (*row, at.into())).collect(),
            ways: ways.clone(),
            end: *end,
        };
        Self(name.clone(), nodes.iter().map(node).collect())
    }
}

impl From<Drawn> for Graph {
    fn from(Drawn(name, nodes): Drawn) -> Self {
        let node = |DrawnNode { depth, rows, ways, end }| Node {
            depth,
            rows: rows.into_iter().map(|(row, at): (Row, At)| (row, at.into())).collect(),
            ways,
            end,
        };
        Self { name, nodes: nodes.into_iter().map(node).collect() }
    }
}

impl From<&Dealt> for Assigned {
    fn from(Dealt { kind, name, place, shard }: &Dealt) -> Self {
        Self { kind: *kind, name: name.clone(), at: place.into(), shard: *shard }
    }
}

impl From<Assigned> for Dealt {
    fn from(Assigned { kind, name, at, shard }: Assigned) -> Self {
        Self { kind, name, place: at.into(), shard }
    }
}

impl Head {
    /// `with_texts`: whether there is something to be quoted from them.
    pub(crate) fn of(outcome: &Outcome, with_texts: bool) -> Self {
        let texts = outcome.texts.names().filter_map(|name| outcome.texts.get(name));
        let texts = texts.filter(|_| with_texts);
        Self {
            file: outcome.file.clone(),
            verdict: outcome.verdict.name().to_owned(),
            found: outcome.diagnostics.iter().map(Found::from).collect(),
            trusted: outcome.trusted.clone(),
            is_direct: outcome.is_direct,
            texts: texts.map(|file| (file.name.clone(), file.text.to_string())).collect(),
            dealt: outcome.dealt.iter().map(Assigned::from).collect(),
        }
    }

    /// `None`: no verdict has that name.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        let mut texts = Texts::default();
        for (name, text) in self.texts {
            texts.add(SourceFile::new(name, text));
        }
        Some(Outcome {
            file: self.file,
            verdict: FileVerdict::named(&self.verdict)?,
            diagnostics: self.found.into_iter().map(Diagnostic::from).collect(),
            members: Vec::new(),
            trusted: self.trusted,
            texts,
            time: Duration::ZERO,
            is_direct: self.is_direct,
            dealt: self.dealt.into_iter().map(Dealt::from).collect(),
        })
    }
}

/// Returns a message as it goes from process to process: its length, then the message as
/// MessagePack.
pub(crate) fn packed(message: &impl Serialize) -> Result<Vec<u8>, rmp_serde::encode::Error> {
    let mut packed = vec![0; LENGTH];
    rmp_serde::encode::write(&mut packed, message)?;
    let length = (packed.len() - LENGTH) as u64;
    packed[..LENGTH].copy_from_slice(&length.to_le_bytes());
    Ok(packed)
}

/// The length of the length of a message.
const LENGTH: usize = size_of::<u64>();

/// Reads the next message; `None` where there is none, or none of this kind.
pub(crate) fn next<T: DeserializeOwned>(from: &mut impl Read) -> Option<T> {
    let mut length = [0; LENGTH];
    from.read_exact(&mut length).ok()?;
    let mut message = Vec::new();
    from.take(u64::from_le_bytes(length)).read_to_end(&mut message).ok()?;
    rmp_serde::from_slice(&message).ok()
}

/// Takes the messages that are whole from the begin of what was `said`.
pub(crate) fn whole<T: DeserializeOwned>(
    said: &mut Vec<u8>,
) -> Result<Vec<T>, rmp_serde::decode::Error> {
    let mut messages = Vec::new();
    let mut rest = &said[..];
    while let Some((length, behind)) = rest.split_first_chunk()
        && let Some((message, behind)) =
            behind.split_at_checked(u64::from_le_bytes(*length) as usize)
    {
        messages.push(rmp_serde::from_slice(message)?);
        rest = behind;
    }
    let taken = said.len() - rest.len();
    said.drain(..taken);
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_wherever_they_are_cut() {
        let messages = ["one", "", "and two"];
        let packed: Vec<u8> = messages.iter().flat_map(|it| packed(it).unwrap()).collect();
        for cut in 0..=packed.len() {
            let mut said = packed[..cut].to_vec();
            let mut heard: Vec<String> = whole(&mut said).unwrap();
            said.extend_from_slice(&packed[cut..]);
            heard.extend(whole::<String>(&mut said).unwrap());
            assert_eq!((&heard[..], &said[..]), (&messages.map(str::to_owned)[..], &[][..]));
        }
        let mut from = &packed[..packed.len() - 1];
        assert_eq!(next::<String>(&mut from).as_deref(), Some("one"));
        assert_eq!(next::<String>(&mut from).as_deref(), Some(""));
        assert_eq!(next::<String>(&mut from), None);
    }

    #[test]
    fn variants_with_a_tag_come_as_they_went() {
        let none = Replay::None { runs: 3, segment: None };
        let mut said = packed(&none).unwrap();
        assert_eq!(whole::<Replay>(&mut said).unwrap(), [none]);
    }
}
