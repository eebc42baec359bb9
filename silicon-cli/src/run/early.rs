//! Findings that are shown while their file is being verified.
//!
//! Members end in any order. The findings of a member are shown when all members that stand before
//! it are done, so that the output does not depend on times.

use std::collections::BTreeMap;

use silicon::output::Format;
use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::outcome::Shown;
use silicon::session::{Diagnostic, Outcome};

/// The known part of a file that is being verified.
#[derive(Default)]
pub(crate) struct Early {
    /// The outcome with the findings that are shown next.
    outcome: Option<Outcome>,
    /// In the order of their places, and how many of them are among those.
    members: Vec<(MemberKind, String)>,
    next: usize,
    /// The findings of other members.
    waiting: BTreeMap<(MemberKind, String), Vec<Diagnostic>>,
    shown: Shown,
}

impl Early {
    /// Takes the answer of the front end.
    pub(crate) fn plan(&mut self, outcome: &Outcome, members: &[Member]) {
        self.outcome = Some(outcome.clone());
        let mut members: Vec<&Member> = members.iter().collect();
        members.sort_by_key(|member| &member.place);
        self.members = members.iter().map(|one| (one.kind, one.id.clone())).collect();
    }

    /// Takes what was found in a member, and returns the text of what is to be shown now.
    pub(crate) fn finish(
        &mut self,
        (kind, id): (MemberKind, &str),
        found: &[Diagnostic],
        format: Format,
    ) -> Vec<u8> {
        self.waiting.insert((kind, id.to_owned()), found.to_vec());
        let mut text = Vec::new();
        while let Some(member) = self.members.get(self.next)
            && let Some(found) = self.waiting.remove(member)
        {
            self.next += 1;
            self.show(found, format, &mut text);
        }
        text
    }

    /// Shows the findings of one member, and of the front end before those of the first one.
    fn show(&mut self, found: Vec<Diagnostic>, format: Format, to: &mut Vec<u8>) {
        let Some(outcome) = &mut self.outcome else { return };
        // What is found at one place may say one thing, also where members differ.
        let earlier: Vec<Diagnostic> =
            found.iter().flat_map(|one| self.shown.beside(one)).cloned().collect();
        outcome.diagnostics.extend(earlier);
        outcome.found(found);
        outcome.diagnostics.retain(|one| !self.shown.contains(one));
        // Writing to memory does not fail.
        let _ = format.findings(outcome, to);
        outcome.diagnostics.drain(..).for_each(|one| self.shown.add(one));
    }

    /// Returns all that has been shown.
    pub(crate) fn shown(self) -> Shown {
        self.shown
    }
}
