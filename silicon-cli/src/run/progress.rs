//! A bar on standard error while a run lasts.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn for runs that are over before somebody starts to wonder.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over the members of a run, as far as they are known; hidden where it is not wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    of: usize,
    unit: &'static str,
    shown: usize,
    members: u64,
    verified: u64,
}

impl Progress {
    /// `of` so many files, or shards.
    pub(crate) fn new(of: usize, unit: &'static str, wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if wanted {
            let template = "{bar:30} {pos}/{len} members, {msg}, {elapsed}";
            // The template is a constant; should it be wrong, the default one does.
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let started = Instant::now();
        let progress = Self { bar, started, of, unit, shown: 0, members: 0, verified: 0 };
        progress.tell();
        progress
    }

    /// Puts what is known into the bar, which is drawn whenever a text is printed beside it.
    fn tell(&self) {
        self.bar.set_length(self.members);
        self.bar.set_position(self.verified);
        self.bar.set_message(format!("{}/{} {}", self.shown, self.of, self.unit));
    }

    /// Runs `print` with the bar out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// So many members more are to be verified.
    pub(crate) fn plan(&mut self, members: usize) {
        self.members += members as u64;
    }

    /// One more member is done.
    pub(crate) fn advance(&mut self) {
        self.verified += 1;
    }

    /// So many members are to be verified, so many are done, and so many of the files or shards.
    pub(crate) fn set(&mut self, members: usize, verified: usize, shown: usize) {
        (self.members, self.verified, self.shown) = (members as u64, verified as u64, shown);
    }

    /// One more file has been shown.
    pub(crate) fn file(&mut self) {
        self.shown += 1;
    }

    /// Draws what is known, once there is reason to.
    pub(crate) fn draw(&self) {
        if self.started.elapsed() > PATIENCE {
            self.tell();
            self.bar.tick();
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
