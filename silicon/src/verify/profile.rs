//! Profiles of instantiation: members are verified with a context of Z3 of their own, which writes a trace.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;

use crate::options::Options;
use crate::prover::{Workspace, profile};

/// The trace of one member, a file that is gone when its profile has been read, or is not wanted any more.
pub(super) struct Trace {
    path: PathBuf,
}

impl Trace {
    /// Where profiles are asked for. `task` tells apart what is verified at the same time.
    pub(super) fn new(options: &Options, task: &str) -> Option<Self> {
        options.profile.then(|| {
            let thread = format!("{:?}", std::thread::current().id());
            let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
            let task: String = task.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
            let file = format!("silicon-{}-{thread}-{task}.trace", std::process::id());
            Self { path: std::env::temp_dir().join(file) }
        })
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace::traced(&self.path)
    }

    /// Instances by quantifier; only once the workspace is gone has all been written.
    pub(super) fn read(&self) -> Result<BTreeMap<String, u64>, String> {
        File::open(&self.path)
            .and_then(|file| profile::instances(BufReader::new(file)))
            .map_err(|error| format!("cannot read {}: {error}", self.path.display()))
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // Z3 may not have made it; then there is nothing to remove.
        let _ = fs::remove_file(&self.path);
    }
}
