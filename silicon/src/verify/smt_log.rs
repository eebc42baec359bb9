//! Replayable solver logs: a file a member; one for each phase of a function, each attempt at a
//! method and each part of it.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::engine::Stop;
use crate::options::Options;

/// Opens the log of a member where logs are asked for.
pub(super) fn open(
    options: &Options,
    member: &str,
    part: &str,
) -> Result<Option<Box<dyn Write>>, Stop> {
    let Some(directory) = &options.smt_log else { return Ok(None) };
    let dot = if part.is_empty() { "" } else { "." };
    let path = directory.join(format!("{member}{dot}{part}.smt2"));
    match File::create(&path) {
        Ok(file) => Ok(Some(Box::new(BufWriter::new(file)))),
        Err(error) => Err(Stop::Broken(format!("cannot write {}: {error}", path.display()))),
    }
}
