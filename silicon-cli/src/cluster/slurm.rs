//! `silicon cluster slurm`: a job array, each job of which verifies a shard and saves what it
//! finds, member by member.
//!
//! A job may die: its machine fails, or its time is over. Whether a shard is done is seen in its
//! file, not in what Slurm says of the job. What died is submitted again, and goes on where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args as ClapArgs, ValueHint};

use super::{Work, quoted};
use crate::run::progress::Progress;
use crate::signals::{Signal, Signals};
use crate::{complain, merge, refuse, reports, saved};

const AFTER_HELP: &str = "\
The jobs share the directory of their files and the programs. Options behind -- are those of sbatch:
  silicon cluster slurm --shards 32 src -- --partition=long --mem=8G --time=2:00:00

Exit codes:
  those of one run; 4 also for members of a shard that died three times, or was cancelled";

/// Verify on a Slurm cluster: submits a job array, follows it, submits again what died, and shows
/// what one run would have found
#[derive(ClapArgs, Debug)]
#[command(after_help = AFTER_HELP, args_override_self = true)]
pub(crate) struct Slurm {
    #[command(flatten)]
    work: Work,

    /// Print the job script, and do nothing else
    #[arg(long)]
    dry_run: bool,

    /// Keep the files of the jobs in DIR, and go on with those that are there; all machines have to
    /// see it [default: a new directory here, removed at the end]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,

    /// Options of sbatch
    #[arg(last = true, value_name = "SBATCH OPTION")]
    sbatch: Vec<String>,
}

const CANCELLED: &str = "CANCELLED";
/// The states of jobs that have ended.
const ENDED: [&str; 10] = [
    "BOOT_FAIL",
    CANCELLED,
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// How often a shard is begun.
const ATTEMPTS: usize = 3;

/// Verifies everything and returns the exit code.
pub(crate) fn run(mut asked: Slurm) -> anyhow::Result<u8> {
    if let Some(complaint) = asked.work.complaint() {
        return Ok(refuse(complaint));
    }
    let checkout = saved::Checkout::here()?;
    asked.work.args.inputs.iter_mut().for_each(|input| *input = checkout.relative(input));
    let inputs = asked.work.args.programs();
    if inputs.is_empty() {
        return Ok(refuse("no program found"));
    }
    if asked.dry_run {
        let directory = asked.directory.clone().unwrap_or_else(|| "DIR".into());
        write!(io::stdout(), "{}", asked.script(&directory)?)?;
        return Ok(0);
    }
    let reports = &asked.work.args.presentation.reports;
    if let Err(error) = reports::prepare(&reports::paths(reports), &inputs) {
        return Ok(refuse(&format!("{error:#}")));
    }
    let (directory, temporary) = asked.directory()?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut run = Run {
        shards: (1..=asked.work.shards.get()).map(|number| (number, State::default())).collect(),
        progress: Progress::new(
            asked.work.shards.get(),
            "shards",
            asked.work.args.wants_progress(),
        ),
        failures: 0,
        asked: &asked,
        directory: &directory,
    };
    let end = run.follow(&signals);
    run.progress.finish();
    if let Some(by) = end? {
        complain(&format!("stopped by {}", by.name()));
        keep(temporary);
        return Ok(by.exit_code());
    }
    let lost = run.lost();
    for number in &lost {
        let log = directory.join(format!("{number}.log"));
        let log = log.display();
        let is_cancelled = run.shards[number].is_cancelled;
        let end =
            if is_cancelled { "was cancelled".into() } else { format!("died {ATTEMPTS} times") };
        complain(&format!("warning: the job of shard {number} {end} (see {log})"));
    }
    let files: Vec<PathBuf> = run.shards.keys().map(|&number| run.file(number)).collect();
    let files: Vec<PathBuf> = files.into_iter().filter(|file| file.exists()).collect();
    if files.is_empty() {
        keep(temporary);
        bail!("no job has verified anything");
    }
    if !lost.is_empty() {
        keep(temporary);
    }
    merge::merge(&files, asked.work.args.format(), &asked.work.args.presentation)
}

/// Keeps the files of the jobs, and says how to go on with them.
fn keep(temporary: Option<tempfile::TempDir>) {
    if let Some(directory) = temporary {
        let directory = directory.keep();
        let directory = directory.display();
        complain(&format!("note: the files of the jobs are kept, see --directory {directory}"));
    }
}

/// The state of a shard.
#[derive(Default)]
struct State {
    /// The job that works on it, if one does.
    job: Option<String>,
    attempts: usize,
    /// The job has ended; its file is looked at once more, as it may come late.
    is_gone: bool,
    /// Somebody has cancelled the job, who does not want it submitted again.
    is_cancelled: bool,
    is_done: bool,
    /// So many members it has, and so many are finished.
    members: (usize, usize),
}

struct Run<'a> {
    asked: &'a Slurm,
    directory: &'a Path,
    shards: BTreeMap<usize, State>,
    progress: Progress,
    /// So many questions to Slurm, one after the other, had no answer.
    failures: usize,
}

/// How long to wait between two looks at the queue.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);
/// After so many questions without an answer Slurm is not asked any more.
const MOST_FAILURES: usize = 100;

impl Run<'_> {
    /// Returns when every shard is done or lost, or a signal has come.
    fn follow(&mut self, signals: &Signals) -> anyhow::Result<Option<Signal>> {
        let script = self.directory.join("job.sh");
        fs::write(&script, self.asked.script(self.directory)?)
            .context("cannot write the script")?;
        for &number in self.shards.keys() {
            // The file of an earlier run is a beginning, and not the end.
            let file = self.file(number);
            if file.exists() {
                fs::rename(&file, file.with_extension("before"))?;
            }
        }
        let mut pause = SHORTEST;
        loop {
            self.submit(&script)?;
            let jobs: BTreeSet<String> =
                self.shards.values().filter_map(|state| state.job.clone()).collect();
            if jobs.is_empty() {
                return Ok(None);
            }
            signals.wait(pause);
            if let Some(by) = signals.come() {
                // The jobs may be over by now.
                let _ = Command::new("scancel").args(&jobs).output();
                return Ok(Some(by));
            }
            pause = (pause * 3 / 2).min(LONGEST);
            let Some(queue) = self.queue(&jobs)? else { continue };
            self.look(&queue);
        }
    }

    /// Submits the shards that nobody works on and that are not done.
    fn submit(&mut self, script: &Path) -> anyhow::Result<()> {
        let is_open = |state: &State| {
            !(state.is_done || state.is_cancelled)
                && state.job.is_none()
                && state.attempts < ATTEMPTS
        };
        let open: Vec<usize> =
            self.shards.iter().filter(|(_, state)| is_open(state)).map(|(it, _)| *it).collect();
        if open.is_empty() {
            return Ok(());
        }
        let numbers: Vec<String> = open.iter().map(ToString::to_string).collect();
        let array = if open.len() == self.shards.len() {
            format!("1-{}", open.len())
        } else {
            numbers.join(",")
        };
        let mut command = Command::new("sbatch");
        command.arg("--parsable").args(&self.asked.sbatch).arg(format!("--array={array}"));
        let output = command.arg(script).output().context("cannot run sbatch")?;
        if !output.status.success() {
            bail!("sbatch: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        // `JOB` or `JOB;CLUSTER`.
        let told = String::from_utf8_lossy(&output.stdout);
        let job = told.trim().split(';').next().unwrap_or_default().to_owned();
        if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
            bail!("sbatch tells no number of a job: {}", told.trim());
        }
        for number in open {
            let state = self.shards.entry(number).or_default();
            (state.job, state.is_gone) = (Some(job.clone()), false);
            state.attempts += 1;
        }
        Ok(())
    }

    /// Returns the states of jobs by `JOB_SHARD`; `None`: Slurm does not answer for the time being.
    fn queue(
        &mut self,
        jobs: &BTreeSet<String>,
    ) -> anyhow::Result<Option<BTreeMap<String, String>>> {
        let mut queue = BTreeMap::new();
        // A job that is long gone would make the whole question invalid.
        for job in jobs {
            let mut command = Command::new("squeue");
            command.args([
                "--noheader",
                "--array",
                "--states=all",
                "--format=%i %T",
                "--jobs",
                job,
            ]);
            let output = command.output().context("cannot run squeue")?;
            let complaint = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() && !complaint.contains("Invalid job id") {
                self.failures += 1;
                if self.failures > MOST_FAILURES {
                    bail!("squeue: {}", complaint.trim());
                }
                return Ok(None);
            }
            let told = String::from_utf8_lossy(&output.stdout);
            let jobs = told.lines().filter_map(|line| line.trim().split_once(' '));
            queue.extend(jobs.map(|(job, state)| (job.to_owned(), state.trim().to_owned())));
        }
        self.failures = 0;
        Ok(Some(queue))
    }

    /// Sees how far the shards are.
    fn look(&mut self, queue: &BTreeMap<String, String>) {
        for number in 1..=self.shards.len() {
            let file = self.file(number);
            let Some(state) = self.shards.get_mut(&number) else { continue };
            let Some(job) = &state.job else { continue };
            let saved = saved::read(&file).ok();
            if let Some(saved) = &saved {
                state.members = (saved.planned(), saved.finished);
            }
            let known = queue.get(&format!("{job}_{number}"));
            if known.is_some_and(|known| !ENDED.contains(&&**known)) {
                continue;
            }
            state.is_cancelled |= known.is_some_and(|known| known == CANCELLED);
            let ending = saved.and_then(|saved| saved.ending);
            if ending.is_some_and(|ending| !ending.interrupted) {
                (state.is_done, state.job) = (true, None);
            } else if state.is_gone {
                state.job = None;
            } else {
                state.is_gone = true;
            }
        }
        let members = || self.shards.values().map(|state| state.members);
        let (planned, finished) = (members().map(|it| it.0).sum(), members().map(|it| it.1).sum());
        let done = self.shards.values().filter(|state| state.is_done).count();
        self.progress.set(planned, finished, done);
        self.progress.draw();
    }

    /// Returns the shards that are not done.
    fn lost(&self) -> Vec<usize> {
        let lost = self.shards.iter().filter(|(_, state)| !state.is_done);
        lost.map(|(number, _)| *number).collect()
    }

    fn file(&self, number: usize) -> PathBuf {
        self.directory.join(format!("{number}.saved"))
    }
}

impl Slurm {
    /// Returns the directory of the jobs' files, and whether it is one for this run only.
    fn directory(&self) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
        if let Some(directory) = &self.directory {
            let made = fs::create_dir_all(directory).and_then(|()| fs::canonicalize(directory));
            let directory = made.with_context(|| format!("cannot make {}", directory.display()))?;
            return Ok((directory, None));
        }
        let here = std::env::current_dir().context("no current directory")?;
        let made = tempfile::Builder::new().prefix("silicon-cluster-").tempdir_in(here);
        let made = made.context("cannot make a directory for the jobs (see --directory)")?;
        Ok((made.path().to_owned(), Some(made)))
    }

    /// Returns the script of every job of the array.
    fn script(&self, directory: &Path) -> anyhow::Result<String> {
        let silicon = std::env::current_exe().context("cannot tell where silicon is")?;
        let here = std::env::current_dir().context("no current directory")?;
        let [silicon, here, directory] =
            [&silicon, &here, directory].map(|path| quoted(&path.display().to_string()));
        let seed = self.work.args.resume.as_ref().map(|path| quoted(&path.display().to_string()));
        let seed = seed.map_or(String::new(), |path| format!(" {path}"));
        let command = self.work.command(&silicon, "\"$SLURM_ARRAY_TASK_ID\"");
        let (shards, programs) = (self.work.shards, self.work.programs());
        Ok(format!(
            r#"#!/bin/sh
#SBATCH --job-name=silicon
#SBATCH --array=1-{shards}
#SBATCH --output={directory}/%a.log
#SBATCH --open-mode=append
cd {here} || exit
saved={directory}/$SLURM_ARRAY_TASK_ID
set --
for begun in "$saved.saved" "$saved.before"{seed}; do
  if [ -s "$begun" ]; then
    set -- --resume "$begun"
    break
  fi
done
{command} --no-config \
  --save "$saved.saved" "$@" -- {programs}
code=$?
# A shard with failures is done, too.
case $code in 1 | 3 | 4) exit 0 ;; esac
exit $code
"#
        ))
    }
}
