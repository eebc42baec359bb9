//! Lays programs out, and looks whether they stay the same.
//!
//! `cargo run --release -p sil-tests --bin attack -- layout DIR..` says of each program below `DIR`
//! what has changed (`sil_tests::layouts`). Exit code: 0 if nothing has, 1 otherwise.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rayon::prelude::*;
use sil_tests::layouts::judge;
use silicon::session::input;

/// Lays programs out, and looks whether they stay the same.
#[derive(Args)]
pub(super) struct Options {
    /// Programs, and directories of programs
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
}

pub(super) fn run_command(options: &Options) -> anyhow::Result<ExitCode> {
    let inputs = input::expand(&options.paths);
    let paths: Vec<_> = inputs.iter().filter_map(input::Input::path).collect();
    let judged: Vec<_> = paths.par_iter().map(|path| judge(path)).collect();
    let mut changed = 0;
    let mut out = io::stdout().lock();
    for (path, judged) in paths.iter().zip(&judged) {
        if let Err(why) = judged {
            writeln!(out, "CHANGED {}: {why}", path.display())?;
            changed += 1;
        }
    }
    let laid_out = judged.iter().filter(|judged| matches!(judged, Ok(true))).count();
    let refused = judged.len() - laid_out - changed;
    writeln!(out, "{laid_out} programs stay the same, {changed} change, {refused} are none")?;
    Ok(ExitCode::from(u8::from(changed > 0)))
}
