//! The part of an outcome that is known, by the events of those who work on it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::{Diagnostic, MemberOutcome, Outcome};

use crate::supervise::wire::Event;

/// An input, as far as it is known.
#[derive(Default)]
pub(crate) struct Known {
    /// The answer of the front end, and the members.
    loaded: Option<(Outcome, Vec<Member>)>,
    /// When the members were begun that are not done.
    begun: BTreeMap<(MemberKind, String), Instant>,
    done: BTreeMap<(MemberKind, String), (MemberOutcome, Vec<Diagnostic>)>,
    /// The defect of the work on the input as a whole.
    defect: Option<Outcome>,
}

/// The content of an event.
pub(crate) enum News<'k> {
    /// The answer of the front end, and the members that will be verified.
    Planned(&'k Outcome, &'k [Member]),
    /// A member that is done, with its id, and the findings in it.
    Finished(&'k str, &'k MemberOutcome, &'k [Diagnostic]),
    Nothing,
}

/// Why a member has no outcome although all has been said about its file.
pub(crate) const LOST: &str = "this member was lost";

impl Known {
    /// Adds what an event tells. A member that is told twice counts as it was told last.
    pub(crate) fn hear(&mut self, event: Event) -> News<'_> {
        match event {
            Event::Loaded { head, members } if self.loaded.is_none() => {
                let (outcome, members) = self.loaded.insert((head, members));
                News::Planned(outcome, members)
            }
            Event::Started { kind, id, .. } => {
                self.begun.insert((kind, id), Instant::now());
                News::Nothing
            }
            Event::Finished { id, member, found } => {
                let key = (member.kind, id);
                self.done.insert(key.clone(), (member, found));
                match self.done.get_key_value(&key) {
                    Some(((_, id), (member, found))) => News::Finished(id, member, found),
                    None => News::Nothing,
                }
            }
            Event::Done { broken } => {
                self.defect = broken;
                News::Nothing
            }
            _ => News::Nothing,
        }
    }

    /// Returns the members that are done.
    pub(crate) fn settled(&self) -> Vec<(MemberKind, String)> {
        self.done.keys().cloned().collect()
    }

    /// Returns how long a member has been verified that is not done.
    pub(crate) fn time_of(&self, kind: MemberKind, id: &str) -> Duration {
        let begun = self.begun.get(&(kind, id.to_owned()));
        begun.map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Returns the outcome, if there is one; members that are not done end with `why`.
    pub(crate) fn composed(&mut self, why: &str) -> Option<Outcome> {
        let known = self.loaded.take().map(|(mut outcome, members)| {
            for member in members {
                let (member, found) = match self.done.remove(&(member.kind, member.id.clone())) {
                    Some(done) => done,
                    None => {
                        let time = self.time_of(member.kind, &member.id);
                        let (member, found) = MemberOutcome::given_up(member, why, time);
                        (member, vec![found])
                    }
                };
                outcome.add(member, found);
            }
            outcome.complete();
            outcome
        });
        match (known, self.defect.take()) {
            (Some(mut known), Some(defect)) => {
                known.add_defect(defect);
                Some(known)
            }
            (known, defect) => known.or(defect),
        }
    }
}

#[cfg(test)]
mod tests {
    use silicon::session::FileVerdict;

    use super::*;

    #[test]
    fn a_defect_leaves_what_is_known() {
        let outcome =
            |verdict, id, text: &str| Outcome::without_members("a", verdict, id, text.into());
        let place = sil::render::Place::start_of("a");
        let name = "m".to_owned();
        let member = Member { kind: MemberKind::Method, id: name.clone(), name, place };
        let mut known = Known {
            loaded: Some((outcome(FileVerdict::Verified, "note", "y"), vec![member])),
            defect: Some(outcome(FileVerdict::Error, "internal", "x")),
            ..Known::default()
        };
        let outcome = known.composed("why").expect("something is known");
        assert_eq!((outcome.verdict, outcome.members.len()), (FileVerdict::Error, 1));
        assert!(outcome.is_about_file());
        let mut ids: Vec<_> = outcome.diagnostics.iter().map(|one| &*one.message.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["internal", "note", "timeout.error"]);
    }
}
