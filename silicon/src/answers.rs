//! Answers from an earlier run, used again where a new run would find the same.
//!
//! An answer is the outcome of a task: of a method, a predicate, a group of functions, a proof that
//! a function terminates. It is used again under two conditions. The key is the same ([`key`]). The
//! facts about the program as a whole are the same that the task, or a task below it, has asked
//! for. So an answer may be used although the member has moved, and is not used although only a
//! distant part was edited that matters.
//!
//! SOUNDNESS: what a clock, the memory, or who stopped the run had a part in is not kept, nor what
//! builds on it. With answers each task has a workspace of its own, so that it does not depend on
//! which other tasks are answered.

mod encode;
mod key;
mod recall;
#[cfg(feature = "remote-cache")]
mod remote;
mod seal;
pub mod store;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
#[cfg(feature = "remote-cache")]
use std::time::Duration;

use rustc_hash::FxHashMap;

pub(crate) use key::{Own, Subject};
pub(crate) use recall::{Recall, Recalled, Work};
pub use seal::{Signers, make_keys};

use encode::Digest;
use serde::{Deserialize, Serialize};
use store::Store;
use symex::knowledge::functions::{FunctionAxioms, Phase};

/// The answers of earlier runs, of any programs. They live as long as this does, in a directory, at
/// a URL, or in a file that a run leaves; runs on several threads may share it.
#[derive(Default)]
pub struct Answers {
    kept: Mutex<Kept>,
    /// Answers of this run are none of an earlier one.
    is_forgetful: bool,
    store: Option<Store>,
    seeds: Seeds,
    /// The seeds are of this run, which goes on.
    goes_on: bool,
    /// The share of answers that are verified again, and compared.
    audit: f64,
    /// Tells whether a task without an answer is given up.
    is_complete: bool,
}

/// The answers that another run has told, by key.
type Seeds = FxHashMap<Digest, Vec<Vec<u8>>>;

#[derive(Default)]
struct Kept {
    by_key: FxHashMap<Digest, Vec<Entry>>,
    entries: usize,
    /// Counts uses.
    now: u64,
}

struct Entry {
    answer: Arc<Answer>,
    used: u64,
}

/// The number of answers that are kept. Beyond that, the half that was not used for longest is
/// forgotten.
const MOST: usize = 20_000;

/// The outcome of a task.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The questions about the program as a whole, asked by the task or by tasks that it builds on.
    facts: Vec<(FactByName, bool)>,
    /// The reports of its members, and where their spans are.
    reports: Vec<recall::Kept>,
    /// Numbers and places in them are those of programs with this numbering.
    axioms: Axioms,
    numbering: Digest,
}

/// The axioms that the functions of a task give to others. Most answers are used without them, so
/// they are read when somebody needs them.
#[derive(Serialize, Deserialize)]
struct Axioms {
    #[serde(with = "serde_bytes")]
    packed: Vec<u8>,
    #[serde(skip)]
    read: OnceLock<Vec<OfFunction>>,
}

/// The position of a function in its task, and axioms of it.
type OfFunction = (usize, Phase, Arc<FunctionAxioms>);

impl Axioms {
    /// `None`: they cannot be written.
    fn new(axioms: Vec<OfFunction>) -> Option<Self> {
        Some(Self { packed: rmp_serde::to_vec(&axioms).ok()?, read: axioms.into() })
    }

    /// `None`: they are not what was written.
    fn get(&self) -> Option<&[OfFunction]> {
        if self.read.get().is_none() {
            let read = rmp_serde::from_slice(&self.packed).ok()?;
            self.read.get_or_init(|| read);
        }
        self.read.get().map(Vec::as_slice)
    }
}

/// A fact as it can be asked of another program: which one, and of what.
type FactByName = (u8, String);

impl Answers {
    /// Answers that are kept in a directory, too, or at a URL. The directory is made if there is
    /// none. With signers answers are signed, and those at a URL have to be.
    ///
    /// # Errors
    /// Where the place cannot be used, whatever is there.
    pub fn stored(place: &Path, signers: Option<Signers>) -> io::Result<Self> {
        Ok(Self { store: Some(Store::open(place, signers)?), ..Self::default() })
    }

    /// Uses none of these answers again in the same run, so that what is found does not depend on
    /// who has found what before.
    #[must_use]
    pub fn forgetful(self) -> Self {
        Self { is_forgetful: true, ..self }
    }

    /// Adds what [`crate::Observer::answered`] was told by a run of this build. If that was the
    /// beginning of this run, its answers are not marked as cached.
    #[must_use]
    pub fn seeded<'t>(mut self, told: impl Iterator<Item = &'t str>, goes_on: bool) -> Self {
        for (key, payload) in told.filter_map(store::told) {
            self.seeds.entry(key).or_default().push(payload);
        }
        Self { goes_on, ..self }
    }

    /// Returns how many are remembered.
    pub fn len(&self) -> usize {
        self.lock().entries
    }

    /// Tells whether no answers are remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Verifies a share of the answers again, from 0 to 1. A difference is a defect of the
    /// verifier, and reported as one.
    #[must_use]
    pub fn audited(self, share: f64) -> Self {
        Self { audit: share, ..self }
    }

    /// Gives up what has no answer, instead of verifying it.
    #[must_use]
    pub fn complete(self) -> Self {
        Self { is_complete: true, ..self }
    }

    /// Words of what went wrong with the place of answers, each time once.
    pub fn remark(&self) -> Option<String> {
        self.store.as_ref()?.remark()
    }

    /// Waits a little for answers that are still being written.
    fn finish(&self) {
        if let Some(store) = &self.store {
            store.finish();
        }
    }

    /// Returns the answers to these keys, and whether each is one of an earlier run.
    fn find_all(
        &self,
        keys: &[Digest],
        fits: impl Fn(&Answer) -> bool,
    ) -> Vec<Option<(Arc<Answer>, bool)>> {
        let here = |key: &Digest| {
            let mut seeds = self.seeds.get(key).into_iter().flatten();
            let of_seeds = seeds
                .find_map(|seed| rmp_serde::from_slice(seed).ok().filter(|answer| fits(answer)));
            let of_seeds = of_seeds.map(|answer| (Arc::new(answer), !self.goes_on));
            of_seeds.or_else(|| Some((self.recollect(key, &fits)?, true)))
        };
        let mut found: Vec<_> = keys.iter().map(here).collect();
        let Some(store) = &self.store else { return found };
        let is_open = |index: &usize| found[*index].is_none();
        let open: Vec<usize> = (0..keys.len()).filter(is_open).collect();
        let asked: Vec<Digest> = open.iter().map(|&index| keys[index]).collect();
        let answers = store.get_all(&asked, self.is_forgetful, self.is_complete);
        for (index, answer) in open.into_iter().zip(answers) {
            let answer = answer.filter(&fits).map(Arc::new);
            found[index] = answer.map(|answer| (self.remember(keys[index], answer), true));
        }
        found
    }

    fn recollect(&self, key: &Digest, fits: impl Fn(&Answer) -> bool) -> Option<Arc<Answer>> {
        let mut kept = self.lock();
        kept.now += 1;
        let now = kept.now;
        let entries = kept.by_key.get_mut(key)?;
        let entry = entries.iter_mut().find(|entry| fits(&entry.answer))?;
        entry.used = now;
        Some(Arc::clone(&entry.answer))
    }

    /// Keeps an answer; it takes the place of one to the same question.
    fn keep(&self, key: Digest, answer: Arc<Answer>) {
        if let Some(store) = &self.store {
            // A store that takes no answer, as on a full disk, costs the answer only.
            let _ = store.put(&key, &answer);
        }
        self.remember(key, answer);
    }

    fn remember(&self, key: Digest, answer: Arc<Answer>) -> Arc<Answer> {
        if self.is_forgetful {
            return answer;
        }
        let mut kept = self.lock();
        kept.now += 1;
        let entry = Entry { answer: Arc::clone(&answer), used: kept.now };
        let entries = kept.by_key.entry(key).or_default();
        match entries.iter_mut().find(|old| old.answer.facts == entry.answer.facts) {
            Some(old) => *old = entry,
            None => {
                entries.push(entry);
                kept.entries += 1;
            }
        }
        if kept.entries > MOST {
            kept.forget_half();
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "remote-cache")]
impl Answer {
    /// Returns the time that it took.
    fn time(&self) -> Duration {
        self.reports.iter().map(recall::Kept::time).sum()
    }
}

impl Kept {
    fn forget_half(&mut self) {
        let mut used: Vec<u64> = self.by_key.values().flatten().map(|entry| entry.used).collect();
        used.sort_unstable();
        let oldest = used[used.len() / 2];
        self.by_key.retain(|_, entries| {
            entries.retain(|entry| entry.used >= oldest);
            !entries.is_empty()
        });
        self.entries = self.by_key.values().map(Vec::len).sum();
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("len", &self.len()).finish()
    }
}
