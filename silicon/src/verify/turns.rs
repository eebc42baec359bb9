//! Turns: where a run has a time limit, a slow method does not keep those behind it from being
//! verified.
//!
//! Each method may take a part of the time that is left at first: however many are slow, some is
//! left for those behind them. Those that need more are verified again from their start when all
//! others had theirs, in turns that get longer, as long as there is time. What a method did in its
//! first turn is lost: a turn must be long enough that few need another.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The turns of one run.
pub(super) struct Turns {
    /// None: all take the time they need.
    deadline: Option<Instant>,
    state: Mutex<State>,
}

struct State {
    turn: Turn,
    /// The longest time that a method was given.
    longest: Duration,
    postponed: Vec<usize>,
}

/// How long a method may take now.
#[derive(Clone, Copy)]
enum Turn {
    First,
    Slice(Duration),
    ToTheEnd,
}

/// Less is not worth beginning.
const SHORTEST: Duration = Duration::from_secs(1);

/// A method may take one part of that many of what is left in its first turn.
const FIRST_PARTS: u32 = 10;

impl Turns {
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            state: Mutex::new(State {
                turn: Turn::First,
                longest: SHORTEST,
                postponed: Vec::new(),
            }),
        }
    }

    /// Returns how long a method that begins now may take; none: to the end.
    pub(super) fn slice(&self) -> Option<Duration> {
        let mut state = self.lock();
        let slice = match state.turn {
            Turn::First => self.deadline.and_then(|deadline| first(left(deadline))),
            Turn::Slice(slice) => Some(slice),
            Turn::ToTheEnd => None,
        };
        state.longest = state.longest.max(slice.unwrap_or_default());
        slice
    }

    /// A method has had its turn.
    pub(super) fn postpone(&self, task: usize) {
        self.lock().postponed.push(task);
    }

    /// Returns those that get another turn, which begins now; none if all are done.
    pub(super) fn next(&self) -> Option<Vec<usize>> {
        let mut state = self.lock();
        let mut postponed = std::mem::take(&mut state.postponed);
        postponed.sort_unstable();
        let slice = self
            .deadline
            .and_then(|deadline| later(left(deadline), postponed.len(), state.longest));
        state.turn = slice.map_or(Turn::ToTheEnd, Turn::Slice);
        (!postponed.is_empty()).then_some(postponed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Returns how long a first turn is. None if there is not enough time for another one.
fn first(left: Duration) -> Option<Duration> {
    shorter(left / FIRST_PARTS, left)
}

/// Returns how long a later turn of `tasks` is, one after the other, the longest before it having
/// been `before`: half of the time is kept for those that need more. None if there is not enough
/// time for another one.
fn later(left: Duration, tasks: usize, before: Duration) -> Option<Duration> {
    let share = left / u32::try_from(tasks.max(1)).unwrap_or(u32::MAX) / 2;
    shorter(share.max(before * 2), left)
}

fn shorter(slice: Duration, left: Duration) -> Option<Duration> {
    let slice = slice.max(SHORTEST);
    (slice < left / 2).then_some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_get_longer_and_end() {
        let seconds = Duration::from_secs;
        assert_eq!(first(seconds(100)), Some(seconds(10)));
        assert_eq!(first(seconds(5)), Some(SHORTEST));
        assert_eq!(first(seconds(2)), None);
        assert_eq!(later(seconds(100), 5, seconds(1)), Some(seconds(10)));
        assert_eq!(later(seconds(90), 2, seconds(20)), Some(seconds(40)));
        assert_eq!(later(seconds(50), 2, seconds(30)), None);
    }

    #[test]
    fn who_is_postponed_comes_again() {
        let turns = Turns::new(Some(Instant::now() + Duration::from_secs(1000)));
        let first = turns.slice().expect("there is time");
        turns.postpone(7);
        turns.postpone(3);
        assert_eq!(turns.next(), Some(vec![3, 7]));
        assert!(turns.slice().is_some_and(|second| second > first));
        assert_eq!(turns.next(), None);
        assert_eq!(Turns::new(None).slice(), None);
    }
}
