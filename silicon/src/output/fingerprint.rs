//! Findings of several runs that are the same one.

use std::path::{Component, Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::session::{Diagnostic, Outcome};

/// The name and version of how fingerprints are made: those of another way are not compared.
pub(super) const FINGERPRINT: &str = "silicon/v1";

/// The fingerprints of a run; its findings come in the order of the inputs.
#[derive(Default, Debug)]
pub(super) struct Fingerprints {
    seen: FxHashMap<u64, u64>,
}

impl Fingerprints {
    /// Returns a number that stays the same while the lines around a finding move: made of what it
    /// is, the member it is in, the text it is about, and how many there are like it before.
    pub(super) fn of(&mut self, diagnostic: &Diagnostic, outcome: &Outcome) -> String {
        let message = &diagnostic.message;
        let text = outcome.texts.locate(&message.place).map_or("", |(text, range)| &text[range]);
        let words = text.split_whitespace();
        let member = diagnostic.member.as_deref().unwrap_or_default();
        let hash = [&*message.place.file, &*message.id, member]
            .into_iter()
            .chain(words)
            .flat_map(|part| part.bytes().chain([0]))
            .fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        format!("{hash:016x}:{count}")
    }
}

/// The start value of the hash function FNV-1a with 64 bits, which is the same on every machine and
/// in every version.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Returns a path as it is seen from the root, if it is one seen from `directory` below the root.
pub(super) fn rooted(directory: &Path, name: &str) -> String {
    let mut rooted = PathBuf::new();
    for part in directory.join(name).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if rooted.file_name().is_some() => {
                rooted.pop();
            }
            part => rooted.push(part),
        }
    }
    rooted.display().to_string()
}

/// A text that is no report of an earlier run.
#[derive(Debug, thiserror::Error)]
pub enum NoBaseline {
    #[error(transparent)]
    Unread(#[from] serde_json::Error),
    #[error("it is no report in SARIF")]
    Other,
    #[error("a result has no `{FINGERPRINT}`")]
    Unmarked,
}

/// The findings of an earlier run.
#[derive(Debug)]
pub struct Baseline {
    known: FxHashSet<String>,
    prints: Fingerprints,
}

impl Baseline {
    /// Reads a report in SARIF of this verifier.
    pub fn read(text: &str) -> Result<Self, NoBaseline> {
        let log: Value = serde_json::from_str(text)?;
        let results = log["runs"][0]["results"].as_array().ok_or(NoBaseline::Other)?;
        let print = |result: &Value| {
            let print = result["partialFingerprints"][FINGERPRINT].as_str();
            print.map(str::to_owned).ok_or(NoBaseline::Unmarked)
        };
        let known = results.iter().map(print).collect::<Result<_, NoBaseline>>()?;
        Ok(Self { known, prints: Fingerprints::default() })
    }

    /// Marks the findings that are known; outcomes come in the order of the inputs.
    pub fn mark(&mut self, outcome: &mut Outcome) {
        let prints = outcome.diagnostics.iter().map(|one| self.prints.of(one, outcome));
        let prints: Vec<String> = prints.collect();
        for (diagnostic, print) in outcome.diagnostics.iter_mut().zip(prints) {
            diagnostic.is_known = self.known.contains(&print);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_seen_from_the_root() {
        for (directory, name, seen) in [
            ("", "a/b", "a/b"),
            ("s/t", "x", "s/t/x"),
            ("s/t", "../x", "s/x"),
            ("s", "./x", "s/x"),
            ("s", "/x", "/x"),
        ] {
            assert_eq!(rooted(Path::new(directory), name), seen);
        }
    }
}
