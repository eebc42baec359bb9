//! Turns: where a run has a time limit, a slow method does not keep those behind it from being verified.
//!
//! Each method may take some time at first. Those that need more are verified again from their start when all others had
//! theirs, in turns that get longer, as long as there is time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The turns of one run.
pub(super) struct Turns {
    /// None: all take the time they need.
    deadline: Option<Instant>,
    state: Mutex<State>,
}

struct State {
    /// How long this turn is; none: to the end.
    slice: Option<Duration>,
    postponed: Vec<usize>,
}

/// Less is not worth beginning.
const SHORTEST: Duration = Duration::from_secs(1);

impl Turns {
    /// Before any of `tasks` has begun.
    pub(super) fn new(deadline: Option<Instant>, tasks: usize) -> Self {
        let slice = deadline.and_then(|deadline| slice(left(deadline), tasks, Duration::ZERO));
        Self { deadline, state: Mutex::new(State { slice, postponed: Vec::new() }) }
    }

    /// How long a method may take now.
    pub(super) fn slice(&self) -> Option<Duration> {
        self.lock().slice
    }

    /// A method has had its turn.
    pub(super) fn postpone(&self, task: usize) {
        self.lock().postponed.push(task);
    }

    /// Those that get another turn, which begins now; none if all are done.
    pub(super) fn next(&self) -> Option<Vec<usize>> {
        let mut state = self.lock();
        let mut postponed = std::mem::take(&mut state.postponed);
        postponed.sort_unstable();
        let before = state.slice.unwrap_or(SHORTEST);
        let of_deadline = |deadline| slice(left(deadline), postponed.len(), before);
        state.slice = self.deadline.and_then(of_deadline);
        (!postponed.is_empty()).then_some(postponed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// How long a turn of `tasks` is, one after the other, the one before it having been `before`: half of the time is kept for those
/// that need more. None if there is not enough time for another one.
fn slice(left: Duration, tasks: usize, before: Duration) -> Option<Duration> {
    let share = left / u32::try_from(tasks.max(1)).unwrap_or(u32::MAX) / 2;
    let slice = share.max(before * 2).max(SHORTEST);
    (slice < left / 2).then_some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_get_longer_and_end() {
        let seconds = Duration::from_secs;
        assert_eq!(slice(seconds(100), 5, Duration::ZERO), Some(seconds(10)));
        assert_eq!(slice(seconds(100), 1000, Duration::ZERO), Some(SHORTEST));
        assert_eq!(slice(seconds(90), 2, seconds(20)), Some(seconds(40)));
        assert_eq!(slice(seconds(50), 2, seconds(30)), None);
        assert_eq!(slice(seconds(1), 1, Duration::ZERO), None);
    }

    #[test]
    fn who_is_postponed_comes_again() {
        let turns = Turns::new(Some(Instant::now() + Duration::from_secs(1000)), 10);
        let first = turns.slice().expect("there is time");
        turns.postpone(7);
        turns.postpone(3);
        assert_eq!(turns.next(), Some(vec![3, 7]));
        assert!(turns.slice().is_some_and(|second| second > first));
        assert_eq!(turns.next(), None);
        assert_eq!(Turns::new(None, 10).slice(), None);
    }
}
