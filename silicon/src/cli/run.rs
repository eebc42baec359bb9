//! Verifying the inputs, several at a time, and showing them in the order given.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use silicon::output::Summary;
use silicon::session::{FileVerdict, Input, Outcome, Session, input};

use super::args::Args;
use super::progress::Progress;
use super::{USAGE, complain, reports};

/// Verifies everything and returns the exit code.
pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let started = Instant::now();
    let inputs = input::expand(&args.inputs);
    if inputs.is_empty() {
        complain(
            "error: no program found: directories are searched for .sil, .vpr, .chalice and .spl",
        );
        return Ok(USAGE);
    }
    let session = session_for(args, inputs.len());
    if let Err(error) = prepare(args, &session, &inputs) {
        complain(&format!("error: {error:#}"));
        return Ok(USAGE);
    }
    let format = args.format();
    let progress = Progress::new(inputs.len(), args.wants_progress());
    let mut summary = Summary::default();
    let mut outcomes = Vec::new();
    in_order(&session, workers(args).min(inputs.len()), &inputs, |outcome| {
        summary.add(&outcome);
        progress.aside(|| -> io::Result<()> {
            let mut text = Vec::new();
            format.outcome(&outcome, &mut text)?;
            let mut stdout = io::stdout().lock();
            stdout.write_all(&text)?;
            stdout.flush()
        })?;
        if outcome.verdict == FileVerdict::Empty && format.exit_code(outcome.verdict) == USAGE {
            let file = &outcome.file;
            let text = format!("error: nothing to verify in {file}: it declares nothing");
            progress.aside(|| complain(&text));
        }
        progress.advance();
        if !args.reports.is_empty() {
            outcomes.push(outcome);
        }
        Ok(())
    })?;
    progress.finish();
    summary.time = started.elapsed();
    let mut stdout = io::stdout().lock();
    format.summary(&summary, &mut stdout)?;
    stdout.flush()?;
    reports::write(&args.reports, &outcomes, &summary)?;
    let code = format.exit_code(summary.verdict());
    if code == USAGE && summary.verdict() == FileVerdict::NothingSelected {
        complain("error: nothing to verify: no member was selected");
    }
    Ok(code)
}

/// Several files at a time share the threads; one file has them all.
fn session_for(args: &Args, files: usize) -> Session {
    let mut session = args.session();
    if files > 1 {
        session.options.threads = (workers(args) / files).max(1);
    }
    session
}

/// Makes sure that what is asked for can be written, before work is spent on it.
fn prepare(args: &Args, session: &Session, inputs: &[Input]) -> anyhow::Result<()> {
    if let Some(directory) = &session.options.smt_log {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    reports::prepare(&args.reports, inputs)
}

/// Runs the session on all inputs, `workers` at a time, and shows the outcomes in the
/// order of the inputs. An error in `show` ends the run.
fn in_order(
    session: &Session,
    workers: usize,
    inputs: &[Input],
    mut show: impl FnMut(Outcome) -> io::Result<()>,
) -> io::Result<()> {
    if workers <= 1 {
        return inputs
            .iter()
            .try_for_each(|input| show(session_of(session, inputs, input).run(input)));
    }
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((index, input)) = take(next, inputs) {
                    // Nobody listens any more: the run has ended.
                    if sender.send((index, session_of(session, inputs, input).run(input))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut shown = 0;
        for (index, outcome) in &receiver {
            early.insert(index, outcome);
            while let Some(outcome) = early.remove(&shown) {
                if let Err(error) = show(outcome) {
                    // What has not begun need not.
                    next.store(inputs.len(), Ordering::Relaxed);
                    return Err(error);
                }
                shown += 1;
            }
        }
        Ok(())
    })
}

/// Members of different files may have the same name, so their logs go to directories of their own.
fn session_of(session: &Session, inputs: &[Input], input: &Input) -> Session {
    let mut session = session.clone();
    if inputs.len() > 1
        && let Some(directory) = &mut session.options.smt_log
    {
        directory.push(input.name.replace(['/', '\\', ':'], "_"));
        // A directory that cannot be made shows when a log is opened in it.
        let _ = std::fs::create_dir_all(directory);
    }
    session
}

fn take<'a>(next: &AtomicUsize, inputs: &'a [Input]) -> Option<(usize, &'a Input)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    inputs.get(index).map(|input| (index, input))
}

fn workers(args: &Args) -> usize {
    match args.threads {
        0 => thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}
