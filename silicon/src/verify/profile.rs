//! Profiles of instantiation: members are verified with a context of Z3 of their own, which writes a trace.

use std::collections::BTreeMap;
use std::io::{self, BufReader};

use smt::prover::{Workspace, profile};
use tempfile::NamedTempFile;

use crate::options::Options;

/// The trace of one member, a file that is gone when its profile has been read, or is not wanted any more.
pub(super) struct Trace(io::Result<NamedTempFile>);

impl Trace {
    /// Where profiles are asked for.
    pub(super) fn new(options: &Options) -> Option<Self> {
        options.profile.then(|| Self(NamedTempFile::with_prefix("silicon-trace-")))
    }

    /// None where there is no file to write to, as [`Self::read`] says.
    pub(super) fn workspace(&self) -> Option<Workspace> {
        self.0.as_ref().ok().map(|file| Workspace::traced(file.path()))
    }

    /// Instances by quantifier; only once the workspace is gone has all been written.
    pub(super) fn read(&self) -> Result<BTreeMap<String, u64>, String> {
        match &self.0 {
            Ok(file) => file
                .reopen()
                .and_then(|file| profile::instances(BufReader::new(file)))
                .map_err(|error| format!("cannot read {}: {error}", file.path().display())),
            Err(error) => Err(format!("cannot write a trace: {error}")),
        }
    }
}
