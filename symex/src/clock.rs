//! The time that a piece of work may take.
//!
//! A limit of a member is about the time that its thread has worked, so other users of the machine
//! have no part in a verdict. Where threads have no clock, the limit is about the time that has
//! passed.

use std::time::{Duration, Instant};

/// The end of a piece of work, which one thread does.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// The time by which the whole run is to be over.
    run: Option<Instant>,
    own: Option<Own>,
}

/// The time of the work alone.
#[derive(Clone, Copy, Debug)]
struct Own {
    limit: Duration,
    begun: Instant,
    /// The time that the thread had worked at the beginning.
    worked: Option<Duration>,
}

impl Own {
    fn new(limit: Duration) -> Self {
        Self { limit, begun: Instant::now(), worked: worked() }
    }

    fn left(&self) -> Duration {
        let spent = match (self.worked, worked()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.begun.elapsed(),
        };
        self.limit.saturating_sub(spent)
    }
}

impl Until {
    /// Makes the end of work that begins on this thread now.
    pub fn new(limit: Option<Duration>, run: Option<Instant>) -> Self {
        Self { run, own: limit.map(Own::new) }
    }

    /// Returns the time that is left; `None` if there is no limit.
    pub fn left(&self) -> Option<Duration> {
        let run = self.run.map(|run| run.saturating_duration_since(Instant::now()));
        self.own.map(|own| own.left()).into_iter().chain(run).min()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

/// Returns the time that this thread has worked.
#[cfg(target_os = "linux")]
fn worked() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn worked() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn only_work_counts() {
        let until = Until::new(Some(Duration::from_millis(30)), None);
        if worked().is_some() {
            thread::sleep(Duration::from_millis(60));
            assert!(!until.is_over());
        }
        let begun = Instant::now();
        while !until.is_over() {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn the_end_of_the_run_counts_whoever_works() {
        let now = Instant::now();
        assert!(Until::new(None, Some(now)).is_over());
        assert!(Until::new(Some(Duration::from_secs(9)), Some(now)).is_over());
        assert_eq!(Until::new(None, None).left(), None);
    }
}
