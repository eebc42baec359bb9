//! Comparisons of lock levels, and the wait level: the levels of what a thread holds or owes
//! messages to.

use std::sync::{Arc, PoisonError};

use super::{Thread, blamed};
use crate::flaw::Flaw;
use crate::levels::{Below, Level};
use crate::object::Object;
use crate::trouble::{At, Res, fail};
use crate::value::Value;

/// A side of a comparison.
#[derive(Debug, Clone, Copy)]
pub enum Side {
    /// A level.
    Value(Level),
    /// `waitlevel`
    Wait,
    /// `old(waitlevel)`
    OldWait,
}

/// Bounds of a new level, each with its place.
#[derive(Debug, Clone)]
pub struct Bound {
    level: Level,
    at: At,
}

impl Thread {
    /// Returns the levels that the wait level stands for.
    pub(super) fn wait_levels(&self) -> Vec<Level> {
        if self.is_nobody {
            return Vec::new();
        }
        let mut levels: Vec<_> = self.held.iter().map(|held| held.level).collect();
        if self.ignores_debts {
            return levels;
        }
        for (at, frame) in self.frames.iter().enumerate() {
            let is_reader = self.reader == super::Place::Frame(at);
            let given: &[(Arc<Object>, i64)] = if is_reader { &self.given } else { &[] };
            for (channel, _) in frame.holding.credits.iter().chain(given) {
                let gone = given.iter().filter(|(other, _)| other == channel);
                let gone: i64 = gone.map(|(_, count)| count).sum();
                if frame.holding.balance(channel) < gone {
                    levels.push(channel.get(0).level());
                }
            }
        }
        levels
    }

    fn levels_of(&self, side: Side) -> Vec<Level> {
        match side {
            Side::Value(level) => vec![level],
            Side::Wait => self.wait_levels(),
            Side::OldWait => self.held_at_entry().iter().map(|held| held.level).collect(),
        }
    }

    /// `left << right`
    pub fn below(&mut self, left: Side, right: Side) -> bool {
        let (low, high) = (self.levels_of(left), self.levels_of(right));
        match (left, right) {
            (Side::Value(left), Side::Value(right)) => self.comes_below(left, right),
            (_, Side::Value(right)) => {
                right != Level::BOTTOM && low.iter().all(|level| self.comes_below(*level, right))
            }
            (Side::Value(left), _) => high.iter().any(|level| self.comes_below(left, *level)),
            _ => high.iter().any(|high| low.iter().all(|low| self.comes_below(*low, *high))),
        }
    }

    /// Equality where a side is the wait level: nothing that it stands for is above the other side.
    pub fn equal_levels(&mut self, left: Side, right: Side) -> bool {
        let (mut one, mut other) = (self.levels_of(left), self.levels_of(right));
        match (left, right) {
            (Side::Value(left), Side::Value(right)) => left == right,
            (Side::Value(level), _) => {
                other.iter().all(|one| *one == level || self.comes_below(*one, level))
            }
            (_, Side::Value(level)) => {
                one.iter().all(|one| *one == level || self.comes_below(*one, level))
            }
            _ => {
                one.sort_unstable();
                other.sort_unstable();
                if one == other {
                    return true;
                }
                let mut greatest = |levels: &[Level]| {
                    levels.iter().copied().find(|high| {
                        levels.iter().all(|low| low == high || self.comes_below(*low, *high))
                    })
                };
                let greatest_one = greatest(&one);
                greatest_one.is_some() && greatest_one == greatest(&other)
            }
        }
    }

    /// Is one level below another? Where nothing says so, a claim has to hold either way, and a
    /// program that asks has decided that it is not.
    fn comes_below(&mut self, one: Level, other: Level) -> bool {
        if let Some(judging) = &mut self.judging {
            let known = match &judging.supposed {
                Some(levels) => levels.below(one, other),
                None => {
                    let levels = self.world.levels.read();
                    levels.unwrap_or_else(PoisonError::into_inner).below(one, other)
                }
            };
            if known != Below::Open {
                return known == Below::Yes;
            }
            judging.asked = true;
            if let Some(levels) = &mut judging.supposed {
                levels.relate(one, other);
            }
            return judging.is_below;
        }
        let mut levels = self.world.levels.write().unwrap_or_else(PoisonError::into_inner);
        let known = levels.below(one, other);
        if known == Below::Open {
            levels.part(one, other);
        }
        known == Below::Yes
    }

    /// Is one level known to be below another?
    pub(super) fn is_below(&self, one: Level, other: Level) -> bool {
        let levels = self.world.levels.read().unwrap_or_else(PoisonError::into_inner);
        levels.below(one, other) == Below::Yes
    }

    /// Returns the bounds that the wait level is.
    pub fn wait_bounds(&self, at: At) -> Vec<Bound> {
        self.wait_levels().into_iter().map(|level| Bound { level, at }).collect()
    }

    /// Returns the bound that a level is.
    ///
    /// # Errors
    /// It has no value.
    pub fn level_bound(&self, level: Res<Value>, at: At) -> Res<Vec<Bound>> {
        let level = blamed(level, "bounds.failed", Some(at))?.level();
        Ok(vec![Bound { level, at }])
    }

    /// Returns the bound that the level of an object is; null is none.
    ///
    /// # Errors
    /// The object or its level has no value.
    pub fn object_bound(&self, object: Res<Value>, at: At) -> Res<Vec<Bound>> {
        let value = blamed(object, "bounds.failed", Some(at))?;
        let Value::Ref(object) = value else { return Ok(Vec::new()) };
        self.level_bound(self.read(&object, 0, at), at)
    }

    /// Returns a new level between bounds; without any, it is above all that the thread holds.
    pub(super) fn place(&self, (lower, upper): (Vec<Bound>, Vec<Bound>)) -> Res<Level> {
        let levels = |bounds: &[Bound]| bounds.iter().map(|one| one.level).collect::<Vec<_>>();
        for high in &upper {
            let implied = Bound { level: Level::BOTTOM, at: high.at };
            for low in lower.iter().chain([&implied]) {
                if self.checks() && !self.is_below(low.level, high.level) {
                    return fail(Flaw::BoundsInNoOrder, low.at, &[]);
                }
            }
        }
        let mut all = self.world.levels.write().unwrap_or_else(PoisonError::into_inner);
        Ok(all.between(&levels(&lower), &levels(&upper)))
    }

    /// Returns the bounds of what is placed without bounds.
    pub fn above_all(&self) -> (Vec<Bound>, Vec<Bound>) {
        (self.wait_bounds(At::default()), Vec::new())
    }
}
