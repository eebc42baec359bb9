//! The messages between the processes of one run. The lines of saved runs have the same content.

use std::io::Read;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sil::render::Texts;
use silicon::options::GivenUp;
use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::{Diagnostic, MemberOutcome, Outcome};

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
        /// See [`head`].
        head: Outcome,
        members: Vec<Member>,
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
        member: MemberOutcome,
        found: Vec<Diagnostic>,
    },
    /// See [`silicon::Observer::answered`].
    Answered(String),
    /// All is said about the input.
    Done {
        /// Where the work on it as a whole came to a defect: what there is instead of all that was
        /// said.
        broken: Option<Outcome>,
    },
}

impl Event {
    /// Tells whether a worker goes on to another event without work in between.
    pub(crate) fn is_followed_at_once(&self) -> bool {
        matches!(self, Self::Finished { member, .. } if member.statistics.is_cached)
    }
}

/// Returns what is to be told of an outcome whose members are told one by one. `with_texts`: there
/// is something to be quoted from them.
pub(crate) fn head(outcome: &Outcome, with_texts: bool) -> Outcome {
    let mut head = Outcome { members: Vec::new(), time: Duration::ZERO, ..outcome.clone() };
    if !with_texts {
        head.texts = Texts::default();
    }
    head
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
    use silicon::session::replay::Replay;

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
