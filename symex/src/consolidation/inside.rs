//! Consequences of the heaps inside of a condition for the whole of it.
//!
//! Inside of `unfolding`, `applying` and `old` there is another heap. What it tells (see [`super`])
//! is not known outside, where a goal is asked for. So where a condition fails it is evaluated
//! again, and what follows from each heap is learnt where that heap is. Of the bodies of functions
//! it is learnt in any case: a postcondition may depend on it.

use smt::terms::Term;

use crate::{Configuration, Engine, Stop, View};

impl Engine<'_> {
    /// Learns from the heaps inside of a condition. Whether anything was new.
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
    /// The heap of an expression's inside has become the present one.
    pub fn note_inside(&mut self) -> Result<(), Stop> {
        if !self.mode.learns_inside || self.mode.in_trigger {
            return Ok(());
        }
        let heap = self.here.heap.clone();
        self.learn_from(&heap)
    }
}
