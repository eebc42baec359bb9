//! One file, one process: a hang, a crash or an overflown stack stays there.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::observation::Observation;

/// How a process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    Answer(Observation),
    Timeout,
    /// Without an answer; with what is known about why.
    Crash(String),
}

/// The arguments that make this program verify one file and answer on standard output.
const ONE: [&str; 2] = ["conformance", "--one"];

/// How often a running process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Starts this program again on one file and waits for its answer, but not longer than `timeout`.
pub fn run(path: &Path, options: &[&str], timeout: Duration) -> anyhow::Result<Ending> {
    let runner = std::env::current_exe().context("cannot find this program")?;
    let mut child = Command::new(runner)
        .args(ONE)
        .arg(path)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start a process")?;
    // Both pipes are drained while the process runs, or it would wait for us.
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, timeout)?;
    let (stdout, stderr) = (text(stdout), text(stderr));
    let Some(status) = status else { return Ok(Ending::Timeout) };
    let answer = stdout.lines().last().and_then(|line| serde_json::from_str(line).ok());
    Ok(match answer {
        Some(observation) if status.success() => Ending::Answer(observation),
        _ => Ending::Crash(reason(status, &stderr)),
    })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Bytes read before an error are all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn text(reader: thread::JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// The status of the process, or `None` if it had to be killed.
fn wait(child: &mut Child, timeout: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

fn reason(status: ExitStatus, stderr: &str) -> String {
    let said = stderr.lines().find(|line| line.contains("panicked") || line.contains("overflow"));
    let said = said.or_else(|| stderr.lines().find(|line| !line.trim().is_empty()));
    match said {
        Some(line) => format!("{status}: {}", line.trim()),
        None => status.to_string(),
    }
}
