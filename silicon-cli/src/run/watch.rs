//! `--watch`: a run after each edit, until somebody ends it.
//!
//! Files are looked at again and again: that works on every file system, and costs little for as
//! many files as a project has. An edit ends the run that is at work. Verdicts are kept between
//! runs, so that an edit costs what it concerns.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;

use super::{Once, once};
use crate::args::Args;
use crate::complain;
use crate::signals::Signals;
use crate::supervise::Interrupt;

/// The time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);
/// Files that stand still for so long are written.
const SETTLED: Duration = Duration::from_millis(50);
/// How far clocks of file systems are behind.
const COARSE: Duration = Duration::from_millis(20);

/// Verifies after each edit, and returns the exit code of the last run.
pub(super) fn run(args: &Args, signals: &Signals) -> anyhow::Result<u8> {
    let kept = tempfile::tempdir().context("cannot make a directory for verdicts")?;
    let mut read = BTreeSet::new();
    let mut last = 0;
    loop {
        let mut watch = Watch::new(args, signals, &read);
        if io::stdout().is_terminal() {
            // The screen, what is above it, and the cursor to its beginning.
            io::stdout().write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
        }
        let Once { code, read: names, is_whole } = once(args, signals, &watch, Some(kept.path()))?;
        if is_whole {
            (last, read) = (code, names);
            complain("note: waiting for an edit; Ctrl-C ends");
        } else {
            // Some imports were not met.
            read.extend(names);
        }
        let has_changed = watch.learn(&read);
        while !has_changed && signals.come().is_none() && !watch.sees_edit(&read) {
            signals.wait(PAUSE);
        }
        if signals.come().is_some() {
            return Ok(if is_whole { last } else { code });
        }
        let mut stamps = stamps(args, &read);
        loop {
            signals.wait(SETTLED);
            let now = self::stamps(args, &read);
            if now == stamps || signals.come().is_some() {
                break;
            }
            stamps = now;
        }
    }
}

/// The last change of a file (also by a move, and of its time), its size and its number; `None`:
/// there is no such file.
type Stamp = Option<(Duration, u64, u64)>;

/// The files of a run, and who may interrupt it.
struct Watch<'a> {
    args: &'a Args,
    signals: &'a Signals,
    began: Duration,
    stamps: BTreeMap<PathBuf, Stamp>,
    looked: Cell<Instant>,
}

/// Returns the programs, and the files that they read.
fn stamps(args: &Args, read: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    let programs = args.programs();
    let programs = programs.iter().filter_map(|input| input.path().map(PathBuf::from));
    let stamp = |path: PathBuf| {
        let about = fs::metadata(&path).ok();
        let stamp = about.map(|it| {
            let (seconds, parts) = (it.ctime().max(0) as u64, it.ctime_nsec().max(0) as u32);
            (Duration::new(seconds, parts), it.len(), it.ino())
        });
        (path, stamp)
    };
    programs.chain(read.iter().cloned()).map(stamp).collect()
}

impl<'a> Watch<'a> {
    fn new(args: &'a Args, signals: &'a Signals, read: &BTreeSet<PathBuf>) -> Self {
        let stamps = stamps(args, read);
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { args, signals, began, stamps, looked: Cell::new(Instant::now()) }
    }

    /// Takes note of the files that the run has read, and tells whether one of them has changed
    /// since the run began.
    ///
    /// A directory counts from now on: the run itself may have written into it.
    fn learn(&mut self, read: &BTreeSet<PathBuf>) -> bool {
        let is_new = |stamp: &Stamp| stamp.is_some_and(|(at, ..)| at + COARSE >= self.began);
        let mut has_changed = false;
        for (path, stamp) in stamps(self.args, read) {
            let before = self.stamps.get(&path).copied();
            if !path.is_dir() {
                has_changed |= before.map_or_else(|| is_new(&stamp), |before| before != stamp);
            }
            self.stamps.insert(path, stamp);
        }
        has_changed
    }

    /// Tells whether a file is another one than it was, or new.
    fn sees_edit(&self, read: &BTreeSet<PathBuf>) -> bool {
        stamps(self.args, read).iter().any(|(path, stamp)| self.stamps.get(path) != Some(stamp))
    }
}

impl Interrupt for Watch<'_> {
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.signals.wakes()
    }

    fn noted(&self) -> Option<String> {
        if let Some(by) = self.signals.noted() {
            return Some(by);
        }
        if self.looked.get().elapsed() < PAUSE {
            return None;
        }
        let known = self.stamps.keys().cloned().collect();
        let is_edited = self.sees_edit(&known);
        self.looked.set(Instant::now());
        is_edited.then(|| "an edit".to_owned())
    }

    fn leave(&self) {
        self.signals.leave();
    }
}
