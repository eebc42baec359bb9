//! Going through the choices of something that may turn out not to fit: the youngest one changes
//! first.

use crate::choices::Decision;

/// Choices to take next, and where each of them began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    all: Vec<Position>,
    is_exhausted: bool,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    choice: u32,
    of: u32,
    first: u32,
}

impl Positions {
    /// Positions from which choices that are known go on.
    pub(super) fn from_choices(choices: &[u32]) -> Self {
        let position = |&choice: &u32| Position { choice, of: choice + 1, first: choice };
        Self { all: choices.iter().map(position).collect(), is_exhausted: false }
    }

    /// Returns the choices to take.
    pub(crate) fn script(&self) -> Vec<u32> {
        self.all.iter().map(|position| position.choice).collect()
    }

    /// Were all choices taken?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Notes the choices that an attempt has taken; those that it has not come to do not matter.
    pub(crate) fn remember(&mut self, taken: &[Decision]) {
        for (at, decision) in taken.iter().enumerate() {
            match self.all.get_mut(at) {
                Some(position) => position.of = decision.of,
                None => self.all.push(Position {
                    choice: decision.choice,
                    of: decision.of,
                    first: decision.choice,
                }),
            }
        }
    }

    /// Drops the choices from one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.all.truncate(len);
    }

    /// The next choices: the last one that has something left changes.
    pub(crate) fn step_on(&mut self) {
        while let Some(last) = self.all.last_mut() {
            last.choice = (last.choice + 1) % last.of;
            if last.choice != last.first {
                return;
            }
            self.all.pop();
        }
        self.is_exhausted = true;
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
