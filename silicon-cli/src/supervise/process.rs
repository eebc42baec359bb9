//! Processes made by copying this one.
//!
//! A copy has what this process has read, and the libraries that it has loaded: it starts in a
//! fraction of the time that a new process takes.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::{Pid, Resource, Signal, WaitOptions, getrlimit, kill_process, waitpid};

/// Another process, and the way to talk to it. It is gone when this is dropped.
pub(crate) struct Process {
    pid: Pid,
    pub(crate) stream: UnixStream,
    is_waited_for: bool,
}

/// The two processes behind a fork.
pub(crate) enum Side {
    /// The one that there was.
    Old(Process),
    /// The copy; the stream leads to the old one.
    New(UnixStream),
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Exit(i32),
    Signal(i32),
    /// The process was ended, since it had more memory than it may have.
    TooLarge,
    Unknown,
}

/// Makes a copy of this process. It must not have other threads.
#[expect(unsafe_code, reason = "there is no other way to copy a process")]
pub(crate) fn copy() -> io::Result<Side> {
    let (ours, theirs) = UnixStream::pair()?;
    // SAFETY: this process has one thread (nothing before this call starts one), so no lock is held
    // by a thread that the copy does not have, and the copy may do whatever this process may.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Side::New(theirs)),
        pid => {
            let pid =
                Pid::from_raw(pid).ok_or_else(|| io::Error::other("a process without a number"))?;
            Ok(Side::Old(Process { pid, stream: ours, is_waited_for: false }))
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match signal_hook::low_level::signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            Self::TooLarge => f.write_str("it had as much memory as it may have (--memory-limit)"),
            Self::Unknown => f.write_str("nobody knows how"),
        }
    }
}

/// Tells whether processes here may have less memory than the system has.
pub(crate) fn has_memory_limit() -> bool {
    [Resource::As, Resource::Data].into_iter().any(|kind| getrlimit(kind).current.is_some())
}

impl Process {
    /// Ends it, whatever it is doing.
    pub(crate) fn end(mut self) -> Ending {
        self.kill();
        self.wait()
    }

    /// Ends it, and gives what it has said before and nobody has read.
    pub(crate) fn last_words(&mut self) -> Vec<u8> {
        if !self.is_waited_for {
            self.kill();
            self.wait();
        }
        let mut said = Vec::new();
        // All that the process has written is there; nobody waits for more.
        if self.stream.set_nonblocking(true).is_ok() {
            let _ = self.stream.read_to_end(&mut said);
        }
        said
    }

    /// Tells whether the process has ended and [`Self::wait`] has said how.
    pub(crate) fn is_over(&self) -> bool {
        self.is_waited_for
    }

    /// Returns its memory, in bytes, where the system tells.
    pub(crate) fn memory(&self) -> Option<u64> {
        let told = fs::read_to_string(format!("/proc/{}/statm", self.pid.as_raw_nonzero())).ok()?;
        let pages: u64 = told.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Returns how long one of its threads has worked, where the system tells.
    pub(crate) fn worked(&self, thread: i32) -> Option<Duration> {
        let pid = self.pid.as_raw_nonzero();
        let told = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
        // The name of the thread stands in parentheses, and may have any character.
        let mut fields = told.rsplit_once(") ")?.1.split(' ');
        let user: u64 = fields.nth(11)?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        let ticks = rustix::param::clock_ticks_per_second();
        Some(Duration::from_millis((user + system) * 1000 / ticks))
    }

    fn kill(&self) {
        // The process may have ended by itself.
        let _ = kill_process(self.pid, Signal::KILL);
    }

    /// Returns how it ended; to be called when it has closed its stream.
    pub(crate) fn wait(&mut self) -> Ending {
        self.is_waited_for = true;
        match waitpid(Some(self.pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Ending::Exit(code),
                (_, Some(signal)) => Ending::Signal(signal),
                _ => Ending::Unknown,
            },
            _ => Ending::Unknown,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_waited_for {
            self.kill();
            self.wait();
        }
    }
}
