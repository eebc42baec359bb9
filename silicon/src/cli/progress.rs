//! A bar on standard error while a run lasts.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn for runs that are over before somebody starts to wonder.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over the files of a run; hidden where it is not wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: std::time::Instant,
}

impl Progress {
    pub(crate) fn new(files: usize, wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        if wanted {
            // The template is a constant; should it be wrong, the default one does.
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files {elapsed}")
            {
                bar.set_style(style);
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Self { bar, started: std::time::Instant::now() }
    }

    /// Runs `print` with the bar out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// One more file is done.
    pub(crate) fn advance(&self) {
        if self.started.elapsed() > PATIENCE {
            self.bar.inc(1);
        } else {
            self.bar.update(|state| state.set_pos(state.pos() + 1));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
