//! Being told to stop.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::supervise::Interrupt;

/// The signals that ask this process to stop.
pub(crate) struct Signals {
    number: Arc<AtomicUsize>,
    /// The stream has something to read when a signal has come.
    wake: UnixStream,
    /// The handlers of the signals.
    actions: RefCell<Vec<SigId>>,
}

/// Signals that shells end a program with add this to their number in its exit code.
const BASE: i32 = 128;

impl Signals {
    /// From now on the first SIGINT or SIGTERM is noted, and the second one ends this process at
    /// once.
    pub(crate) fn listen() -> io::Result<Self> {
        let (wake, tell) = UnixStream::pair()?;
        let number = Arc::new(AtomicUsize::new(0));
        let is_second = Arc::new(AtomicBool::new(false));
        let mut actions = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            // In this order: what is noted by the first counts for the second.
            let as_number = usize::try_from(signal).unwrap_or(0);
            actions.extend([
                flag::register_conditional_shutdown(signal, BASE + signal, is_second.clone())?,
                flag::register(signal, is_second.clone())?,
                flag::register_usize(signal, number.clone(), as_number)?,
                low_level::pipe::register(signal, tell.try_clone()?)?,
            ]);
        }
        Ok(Self { number, wake, actions: RefCell::new(actions) })
    }

    /// Waits so long, or until a signal has come.
    pub(crate) fn wait(&self, time: Duration) {
        let nanoseconds = time.subsec_nanos().into();
        let timeout = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: nanoseconds };
        // Whatever comes of it, the next look tells what there is.
        let _ = poll(&mut [PollFd::new(&self.wake, PollFlags::IN)], Some(&timeout));
    }

    /// Returns the one that has come.
    pub(crate) fn come(&self) -> Option<Signal> {
        match i32::try_from(self.number.load(Ordering::Relaxed)) {
            Ok(number) if number > 0 => Some(Signal(number)),
            _ => None,
        }
    }
}

impl Interrupt for Signals {
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.wake.as_fd()]
    }

    fn noted(&self) -> Option<String> {
        self.come().map(|signal| signal.name().to_owned())
    }

    /// From now on this process takes no notice of them: the first process ends the copy. Else a
    /// signal to the copy alone would wake the first process, which knows nothing of it.
    fn leave(&self) {
        for action in self.actions.take() {
            low_level::unregister(action);
        }
    }
}

/// A signal that asks for an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal(i32);

impl Signal {
    pub(crate) fn name(self) -> &'static str {
        low_level::signal_name(self.0).unwrap_or("a signal")
    }

    /// Returns the exit code that shells show for a program that the signal ended.
    pub(crate) fn exit_code(self) -> u8 {
        u8::try_from(BASE + self.0).unwrap_or(u8::MAX)
    }
}
