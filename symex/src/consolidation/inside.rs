//! Consequences of the heaps inside of a condition for the whole of it.
//!
//! Inside of `unfolding`, `applying` and `old` there is another heap. Facts about that heap (see
//! [`super`]) are not known outside, where a goal is asked for. So a condition that fails is
//! evaluated again, and the facts are learnt inside. For the bodies of functions this happens in
//! any case, since a postcondition may depend on it.

use smt::terms::Term;

use crate::{Configuration, Engine, Stop, View};

impl Engine<'_> {
    /// Learns from the heaps inside of a condition. Tells whether any fact was new.
    pub(crate) fn learn_inside(
        &mut self,
        again: impl FnOnce(&mut Self) -> Result<Term, Stop>,
    ) -> Result<bool, Stop> {
        let before = self.facts_known();
        self.learning_inside(again)?;
        self.noted("learnt", |engine| engine.facts_known() != before)
    }

    /// Evaluates something, and learns from the heaps on the way.
    pub(crate) fn learning_inside<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.in_mode(|mode| mode.learns_inside = true, run)
    }
}

impl Configuration<'_> {
    /// Learns from the present heap, inside of an expression.
    pub fn note_inside(&mut self) -> Result<(), Stop> {
        if !self.mode.learns_inside || self.mode.in_trigger {
            return Ok(());
        }
        let heap = self.here.heap.clone();
        self.learn_from(&heap)
    }
}
