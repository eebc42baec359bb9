//! Profiles of instantiation: members are verified with a context of Z3 of their own, which writes
//! a trace.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use smt::prover::{Workspace, profile};

use symex::options::Options;

/// The trace of one member, a file that is gone when its profile has been read, or is not wanted
/// any more.
pub(super) struct Trace(io::Result<PathBuf>);

impl Trace {
    /// Where profiles are asked for.
    pub(super) fn new(options: &Options) -> Option<Self> {
        options.profile.as_deref().map(|directory| Self(new_file(directory)))
    }

    /// None where there is no file to write to, as [`Self::read`] says.
    pub(super) fn workspace(&self) -> Option<Workspace> {
        self.0.as_ref().ok().map(|path| Workspace::traced(path))
    }

    /// Instances by quantifier; only once the workspace is gone has all been written.
    pub(super) fn read(&self) -> Result<BTreeMap<String, u64>, NoProfile> {
        let path = self.0.as_ref().map_err(|error| NoProfile::Unwritten(error.to_string()))?;
        File::open(path)
            .and_then(|file| profile::instances(BufReader::new(file)))
            .map_err(|error| NoProfile::Unread(path.clone(), error))
    }
}

/// An end of a trace without a profile.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoProfile {
    #[error("cannot write a trace: {0}")]
    Unwritten(String),
    #[error("cannot read {path}: {error}", path = .0.display(), error = .1)]
    Unread(PathBuf, io::Error),
}

impl Drop for Trace {
    fn drop(&mut self) {
        if let Ok(path) = &self.0 {
            // The directory is the caller's to remove.
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns an empty file that nobody else has: members of several programs may share the directory.
fn new_file(directory: &Path) -> io::Result<PathBuf> {
    for number in 0_u64.. {
        let path = directory.join(format!("{number}.trace"));
        match File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("numbers do not end")
}
