//! The trial of an edit: the edited text is verified, and its findings are compared with the
//! earlier ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use silicon::report::{ErrorId, Reason};
use silicon::session::{Follower, Input, Session};

use crate::convert::Files;
use crate::positions::Text;
use crate::protocol::{Attempt, Found, Judged, Trial};

/// So long all attempts together may take.
const BUDGET: Duration = Duration::from_secs(1);
/// The number of helpful edits that are enough for one finding.
const ENOUGH: usize = 3;

/// Judges each attempt of a trial, as far as there is time.
pub(crate) fn judge(trial: &Trial, wanted: &AtomicU64, session: &Session) -> Vec<Judged> {
    let until = Instant::now() + BUDGET;
    let run = Run { trial, session, patience: Patience { number: trial.number, wanted, until } };
    let before = counts(&trial.found);
    let mut smoke = FxHashMap::default();
    let mut helping: FxHashMap<usize, usize> = FxHashMap::default();
    let mut judged = Vec::with_capacity(trial.attempts.len());
    for attempt in &trial.attempts {
        let helped = helping.entry(attempt.cures).or_default();
        if *helped >= ENOUGH {
            judged.push(Judged::Rejected);
            continue;
        }
        let verdict = run.of(attempt, &before, &mut smoke);
        *helped += usize::from(verdict == Judged::Cures);
        judged.push(verdict);
    }
    judged
}

/// How far a text got before something was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Parsed,
    Checked,
    Verified,
}

/// The words of a finding, without its place.
type Said = (Option<String>, String, String);

fn said(found: &Found) -> Said {
    let diagnostic = &found.diagnostic;
    let member = diagnostic.data.as_ref().and_then(|data| data["member"].as_str());
    let code = serde_json::to_string(&(&diagnostic.code, diagnostic.severity));
    (member.map(str::to_owned), code.unwrap_or_default(), diagnostic.message.clone())
}

fn counts(found: &[Found]) -> FxHashMap<Said, usize> {
    let mut counts = FxHashMap::default();
    for one in found {
        *counts.entry(said(one)).or_default() += 1;
    }
    counts
}

struct Run<'a> {
    trial: &'a Trial,
    session: &'a Session,
    patience: Patience<'a>,
}

impl Run<'_> {
    fn of(
        &self,
        attempt: &Attempt,
        before: &FxHashMap<Said, usize>,
        smoke: &mut FxHashMap<String, Option<usize>>,
    ) -> Judged {
        let Some(cured) = self.trial.found.get(attempt.cures) else { return Judged::Rejected };
        let text = attempt.applied(&self.trial.text);
        let Some(found) = self.found(&text, self.session) else { return Judged::Open };
        let after = counts(&found);
        let of =
            |counts: &FxHashMap<Said, usize>, one: &Said| counts.get(one).copied().unwrap_or(0);
        let cured = said(cured);
        if of(&after, &cured) >= of(before, &cured) {
            return Judged::Rejected;
        }
        let mut new = after.iter().filter(|&(one, &count)| count > of(before, one)).peekable();
        if new.peek().is_some() {
            // Nothing was known of members while the text was no program, nor of names and types
            // while it could not be parsed: they are not made wrong by the edit.
            let stage = |one: &Said| match &one.0 {
                Some(_) => Stage::Verified,
                None if one.1.contains(ErrorId::ParserError.id()) => Stage::Parsed,
                None => Stage::Checked,
            };
            let was = stage(&cured);
            let is_later = was != Stage::Verified && new.all(|(one, _)| stage(one) > was);
            return if is_later { Judged::Open } else { Judged::Rejected };
        }
        let Some(member) = cured.0 else { return Judged::Cures };
        // Where nothing can happen, nothing goes wrong. What fails is not gone past, either: so it
        // is known only of a member without errors that all of it has to be reached.
        let fails = after.keys().any(|one| one.0.as_ref() == Some(&member));
        let before = smoke
            .entry(member.clone())
            .or_insert_with(|| self.unreachable(&self.trial.text, &member));
        match (*before, self.unreachable(&text, &member)) {
            (Some(before), Some(after)) if after <= if fails { before } else { 0 } => Judged::Cures,
            (Some(_), Some(_)) => Judged::Rejected,
            _ => Judged::Open,
        }
    }

    /// Returns the findings in a text, or nothing if time is up.
    fn found(&self, text: &str, session: &Session) -> Option<Vec<Found>> {
        if self.patience.is_cancelled() {
            return None;
        }
        let (name, uri) = (&self.trial.name, &self.trial.uri);
        let text = Text::new(text);
        let input = Input::text(name.as_str(), Arc::clone(&text.text));
        let outcome = session.run_with(&input, &self.patience);
        let files = Files::new(name, uri, &text, &outcome.texts);
        let found = outcome.diagnostics.iter().map(|one| files.diagnostic(one)).collect();
        (!self.patience.is_cancelled()).then_some(found)
    }

    /// Returns how many places in a member no execution gets to.
    fn unreachable(&self, text: &str, member: &str) -> Option<usize> {
        let members = vec![member.to_owned()];
        let mut session = self.session.clone();
        session.options.smoke = true;
        session.options.members = members;
        let found = self.found(text, &session)?;
        let is_it = |found: &&Found| said(found).1.contains(Reason::RefutationTrue.id());
        Some(found.iter().filter(is_it).count())
    }
}

impl Attempt {
    /// Returns the text with the edits.
    pub(crate) fn applied(&self, text: &str) -> String {
        let mut edited = text.to_owned();
        for edit in self.edits.iter().rev() {
            edited.replace_range(edit.range.clone(), &edit.text);
        }
        edited
    }
}

/// Stops when nobody waits any more, or has waited long enough.
struct Patience<'a> {
    number: u64,
    wanted: &'a AtomicU64,
    until: Instant,
}

impl Follower for Patience<'_> {
    fn is_cancelled(&self) -> bool {
        Instant::now() >= self.until || self.wanted.load(Ordering::Relaxed) != self.number
    }
}
