//! Comparisons of lock levels, and the wait level: the greatest level of what a thread holds or
//! owes messages to.
//!
//! The wait level is no value: comparisons with it speak of all the levels that it stands for
//! (Leino and Müller 2009).

use chalice::Span;

use crate::choices::About;
use crate::code::LevelSide;
use crate::fault::{Res, Trouble};
use crate::machine::{Evaluator, World};
use crate::value::{Level, Value};
use chalice_rt::levels::Below;

/// The treatment of a question about two levels that nothing orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// The program goes one way or the other, and it is that order from then on: a decision.
    Decide,
    /// Something is checked, which has to hold in either order. This is the answer for now.
    Judge {
        /// The answer.
        is_below: bool,
        /// Was such a question asked?
        asked: bool,
    },
}

impl Evaluator<'_> {
    /// `left << right`. Where nothing says which of two levels is below the other, [`Open`] says
    /// what comes of it.
    pub(super) fn below(
        &mut self,
        left: &LevelSide,
        right: &LevelSide,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Value> {
        let truth = match (left, right) {
            (LevelSide::Value(left), LevelSide::Value(right)) => {
                let left = self.level(left, slots)?;
                let right = self.level(right, slots)?;
                self.comes_below(left, right)
            }
            (LevelSide::Wait { old }, LevelSide::Value(right)) => {
                let right = self.level(right, slots)?;
                let wait = self.wait_of(*old, span)?;
                right != Level::BOTTOM && wait.iter().all(|level| self.comes_below(*level, right))
            }
            (LevelSide::Value(left), LevelSide::Wait { old }) => {
                let left = self.level(left, slots)?;
                let wait = self.wait_of(*old, span)?;
                wait.iter().any(|level| self.comes_below(left, *level))
            }
            (LevelSide::Wait { old: one }, LevelSide::Wait { old: other }) => {
                let (one, other) = (self.wait_of(*one, span)?, self.wait_of(*other, span)?);
                other.iter().any(|high| one.iter().all(|low| self.comes_below(*low, *high)))
            }
        };
        Ok(Value::Bool(truth))
    }

    /// Equality where a side is the wait level: nothing that it stands for is above the other side.
    pub(super) fn equal_levels(
        &mut self,
        left: &LevelSide,
        right: &LevelSide,
        slots: &mut [Value],
    ) -> Res<bool> {
        match (left, right) {
            (LevelSide::Value(left), LevelSide::Value(right)) => {
                Ok(self.level(left, slots)? == self.level(right, slots)?)
            }
            (LevelSide::Wait { old }, LevelSide::Value(value))
            | (LevelSide::Value(value), LevelSide::Wait { old }) => {
                let level = self.level(value, slots)?;
                let wait = self.wait_of(*old, value.span)?;
                Ok(wait.iter().all(|one| *one == level || self.comes_below(*one, level)))
            }
            (LevelSide::Wait { old: one }, LevelSide::Wait { old: other }) => {
                let span = Span::default();
                let (mut one, mut other) = (self.wait_of(*one, span)?, self.wait_of(*other, span)?);
                one.sort_unstable();
                other.sort_unstable();
                if one == other {
                    return Ok(true);
                }
                let greatest = |machine: &mut Self, levels: &[Level]| {
                    let is_greatest = |machine: &mut Self, high: Level| {
                        levels.iter().all(|low| *low == high || machine.comes_below(*low, high))
                    };
                    levels.iter().copied().find(|level| is_greatest(machine, *level))
                };
                let greatest_one = greatest(self, &one);
                Ok(greatest_one.is_some() && greatest_one == greatest(self, &other))
            }
        }
    }

    fn level(&mut self, e: &crate::code::Expr, slots: &mut [Value]) -> Res<Level> {
        match self.eval(e, slots)? {
            Value::Level(level) => Ok(level),
            _ => Ok(Level::BOTTOM),
        }
    }

    fn wait_of(&mut self, old: bool, span: Span) -> Res<Vec<Level>> {
        if !old {
            return Ok(self.wait_levels());
        }
        match self.old_state() {
            Some(state) => Ok(state.held.iter().map(|held| held.level).collect()),
            None => Err(Box::new(Trouble::NoOldState(span))),
        }
    }

    /// Is one level below another, for an expression?
    fn comes_below(&mut self, one: Level, other: Level) -> bool {
        if self.granting || self.levels.below(one, other) != Below::Open {
            return self.is_below(one, other);
        }
        let is_below = match &mut self.open {
            Open::Decide => self.choices.choose(2, About::Value) == 1,
            Open::Judge { is_below, asked } => {
                *asked = true;
                *is_below
            }
        };
        if is_below {
            self.levels.relate(one, other);
        } else if matches!(self.open, Open::Decide) {
            self.levels.part(one, other);
        }
        is_below
    }

    /// Returns the truth of a claim, for each way in which levels may be ordered that nothing
    /// orders: true only if it is for all that are tried. A run of a program that has decided to go
    /// one way keeps to that order.
    pub(crate) fn truth_in_any_order(
        &mut self,
        evaluate: &mut dyn FnMut(&mut Self) -> Res<Option<bool>>,
    ) -> Res<Option<bool>> {
        let outer =
            std::mem::replace(&mut self.open, Open::Judge { is_below: false, asked: false });
        let mut truth = evaluate(self);
        let was_asked = matches!(self.open, Open::Judge { asked: true, .. });
        if was_asked && matches!(truth, Ok(Some(true))) {
            let levels = self.levels.clone();
            self.open = Open::Judge { is_below: true, asked: false };
            truth = evaluate(self);
            self.levels = levels;
        }
        self.open = outer;
        truth
    }
}

impl World<'_> {
    /// Is one level known to be below another? A generated start puts them in order.
    pub(crate) fn is_below(&mut self, one: Level, other: Level) -> bool {
        match self.levels.below(one, other) {
            Below::Yes => true,
            Below::No => false,
            Below::Open => {
                let relate = self.granting && self.choices.choose(2, About::Value) == 0;
                if relate {
                    self.levels.relate(one, other);
                }
                relate
            }
        }
    }
}
