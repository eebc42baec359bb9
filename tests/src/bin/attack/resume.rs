//! Ends a run at random moments and lets it go on, and compares what it finds at last with what one
//! run finds.
//!
//! `cargo run --release -p sil-tests --bin attack -- resume --seed 1 --moments 20 DIR` ends
//! `silicon --save FILE --resume FILE` when the file has a random length, by SIGKILL or by SIGINT.
//! Exit code: 0 if the last run prints what one run prints but for times, 1 otherwise.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use sil_tests::binaries::Run;
use sil_tests::sample::timeless;

/// Ends a run at random moments and lets it go on, and compares with what one run finds.
#[derive(Args)]
pub(super) struct Options {
    /// Which moments
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many
    #[arg(long, default_value_t = 20)]
    moments: usize,
    /// The command [default: the one beside this one]
    #[arg(long)]
    silicon: Option<PathBuf>,
    /// Programs, and directories of programs
    #[arg(required = true, value_name = "FILE|DIR")]
    programs: Vec<PathBuf>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let beside = std::env::current_exe().context("no path of this command")?;
    let silicon = args.silicon.clone().unwrap_or_else(|| beside.with_file_name("silicon"));
    let directory = tempfile::tempdir().context("cannot make a directory")?;
    let file = |name: &str| directory.path().join(name);
    let begin = |saved: &Path, resumed: Option<&Path>| {
        let mut command = Command::new(&silicon);
        command.args(["--message-format", "json", "--no-config", "--save"]).arg(saved);
        command.args(resumed.map(|_| "--resume")).args(resumed).arg("--").args(&args.programs);
        command.env_remove("CI").stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let finish = |mut command: Command| -> anyhow::Result<Run> {
        Ok(command.output().context("silicon does not start")?.into())
    };
    let (whole, saved) = (file("whole"), file("saved"));
    let one = finish(begin(&whole, None))?;
    let length = fs::metadata(&whole).context("nothing is saved: are there programs?")?.len();
    let mut rng = Rng::with_seed(args.seed);
    let mut moments: Vec<u64> = (0..args.moments).map(|_| rng.u64(..length)).collect();
    moments.sort_unstable();
    let mut out = io::stdout().lock();
    let mut ended = 0;
    for moment in moments {
        let resumed = saved.exists().then_some(&*saved);
        let mut child = begin(&saved, resumed).stdout(Stdio::null()).spawn()?;
        let signal = if rng.bool() { Signal::KILL } else { Signal::INT };
        if end_at(&mut child, &saved, moment, signal)? {
            ended += 1;
            let length = fs::metadata(&saved).map_or(0, |about| about.len());
            writeln!(out, "ended by {signal:?} at byte {moment}: {length} bytes are saved")?;
        }
    }
    let last = finish(begin(&saved, saved.exists().then_some(&saved)))?;
    let (expected, found) = (timeless(&one), timeless(&last));
    let differs = expected.iter().zip(&found).find(|(expected, found)| expected != found);
    if let Some((expected, found)) = differs {
        writeln!(out, "DIFFERENT\n  one run: {expected}\n  resumed: {found}")?;
    }
    let (lines, moments) = (expected.len(), args.moments);
    writeln!(out, "{ended} of {moments} runs ended early; {} of {lines} lines", found.len())?;
    ensure!(ended > 0 || moments == 0, "no run was ended: the programs are too small");
    let is_same = expected == found && one.code == last.code;
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Sends a signal when the file is so long, and waits for the end; whether the run was still going
/// on.
fn end_at(child: &mut Child, file: &Path, length: u64, signal: Signal) -> anyhow::Result<bool> {
    while fs::metadata(file).map_or(0, |about| about.len()) < length {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(1));
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let is_sent = kill_process(pid.context("a process has a number")?, signal).is_ok();
    child.wait()?;
    Ok(is_sent)
}
