//! The findings of a run, in a file that `silicon merge` reads: a line about the run, then a line
//! for each input.

use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use silicon::session::shard::Shard;
use silicon::session::{MemberOutcome, Outcome};

use crate::reports::write_whole;
use crate::wire::{Head, Verified};

/// The version of this format. A change raises it: what cannot be read as it was meant is not
/// merged.
const VERSION: u32 = 2;

/// A run, without what it has found. Those of one run over shards differ in the shard and in the
/// time only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the format.
    silicon_saved: u32,
    /// The verifier, with its version and the solver's.
    pub(crate) made_by: String,
    /// The options on which findings depend, as they could be given.
    pub(crate) options: Vec<String>,
    /// The names of the inputs.
    pub(crate) inputs: Vec<String>,
    number: usize,
    of: NonZeroUsize,
    /// The run was stopped before its end.
    pub(crate) interrupted: bool,
    pub(crate) time: Duration,
}

#[derive(Serialize, Deserialize)]
struct File {
    head: Head,
    members: Vec<Verified>,
    time: Duration,
}

/// A run, and its outcomes in the order of the inputs.
pub(crate) struct Saved {
    pub(crate) header: Header,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Header {
    pub(crate) fn new(shard: Shard, options: Vec<String>, inputs: Vec<String>) -> Self {
        Self {
            silicon_saved: VERSION,
            made_by: crate::args::VERSION.clone(),
            options,
            inputs,
            number: shard.number,
            of: shard.of,
            interrupted: false,
            time: Duration::ZERO,
        }
    }

    pub(crate) fn shard(&self) -> Shard {
        Shard { number: self.number, of: self.of }
    }
}

/// Saves a run. The file has what it had before, or all of it.
pub(crate) fn write(path: &Path, header: &Header, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(header)?;
    text.push('\n');
    for outcome in outcomes {
        let members = outcome.members.iter().map(Verified::from).collect();
        let file = File { head: Head::of(outcome, true), members, time: outcome.time };
        writeln!(text, "{}", serde_json::to_string(&file)?)?;
    }
    write_whole(path, &text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a run that was saved.
pub(crate) fn read(path: &Path) -> anyhow::Result<Saved> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is no run that was saved", path.display()))
}

fn parse(text: &str) -> anyhow::Result<Saved> {
    #[derive(Deserialize)]
    struct Version {
        silicon_saved: u32,
    }
    let mut lines = text.lines();
    let first = lines.next().context("it is empty")?;
    let Version { silicon_saved } = serde_json::from_str(first)?;
    if silicon_saved != VERSION {
        bail!("it has version {silicon_saved} of the format, not {VERSION}");
    }
    let header: Header = serde_json::from_str(first)?;
    if !(1..=header.of.get()).contains(&header.number) {
        bail!("there is no shard {}", header.shard());
    }
    let mut outcomes = Vec::with_capacity(header.inputs.len());
    for (line, index) in lines.zip(2..) {
        let file: File = serde_json::from_str(line).with_context(|| format!("line {index}"))?;
        let outcome = file.head.outcome().with_context(|| format!("line {index}: no verdict"))?;
        let members = file.members.into_iter().map(MemberOutcome::from).collect();
        outcomes.push(Outcome { members, time: file.time, ..outcome });
    }
    let names: Vec<&String> = outcomes.iter().map(|outcome| &outcome.file).collect();
    if names != header.inputs.iter().collect::<Vec<_>>() {
        bail!("it does not have what it says it has: it may have been cut off");
    }
    Ok(Saved { header, outcomes })
}
