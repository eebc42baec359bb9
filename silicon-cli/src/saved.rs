//! The findings of a run, in a file that grows as they come: `--save`, `--resume` and
//! `silicon merge`.
//!
//! The first line is about the run, and each other line about an event. A line begins with a digest
//! of the first line and of its own text. So a run that ends at any moment leaves a file that can
//! be read, and a line that is damaged or of another run is as if it were not there.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use silicon::answers::store;
use silicon::session::shard::Shard;
use silicon::session::{Input, Outcome};

use crate::args::config;
use crate::complain;
use crate::reports::write_whole;
use crate::supervise::known::{Known, News};
use crate::supervise::wire::Event;

/// The version of this format. A change raises it: what cannot be read as it was meant is not
/// merged.
const VERSION: u32 = 4;

/// A run, without what it has found. Those of one run over shards differ in the number of the shard
/// only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the format.
    silicon_saved: u32,
    /// The verifier, with its version and the solver's.
    pub(crate) made_by: String,
    /// The build, and the solver's library: answers of others are of no use.
    engine: String,
    /// The options on which findings depend, as they could be given.
    pub(crate) options: Vec<String>,
    /// Where the run was started, seen from the root of the checkout.
    pub(crate) directory: PathBuf,
    pub(crate) inputs: Vec<Named>,
    number: usize,
    of: NonZeroUsize,
}

/// An input: its name, and a digest of its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// `None`: it could not be read.
    digest: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum Line {
    /// An event about an input.
    Said(usize, Event),
    /// The time that an input took.
    Took(usize, Duration),
    Over(Ending),
}

/// The end of a run.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// Why some members were not verified.
    pub(crate) stopped: Option<String>,
    pub(crate) interrupted: bool,
    pub(crate) time: Duration,
}

/// A run that was saved.
pub(crate) struct Saved {
    pub(crate) header: Header,
    /// By input; `None`: nobody came to it.
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// See [`silicon::Observer::answered`].
    pub(crate) answers: Vec<String>,
    /// `None`: it was ended from outside, or still goes on.
    pub(crate) ending: Option<Ending>,
    /// The number of members that are finished.
    pub(crate) finished: usize,
    /// The number of lines that are damaged.
    pub(crate) damaged: usize,
}

impl Header {
    pub(crate) fn new(
        shard: Shard,
        options: Vec<String>,
        inputs: &[Input],
    ) -> anyhow::Result<Self> {
        let named = |input: &Input| Named { name: input.name.clone(), digest: input.digest() };
        Ok(Self {
            silicon_saved: VERSION,
            made_by: crate::args::VERSION.clone(),
            engine: store::engine(),
            options,
            directory: Checkout::here()?.directory,
            inputs: inputs.iter().map(named).collect(),
            number: shard.number,
            of: shard.of,
        })
    }

    pub(crate) fn shard(&self) -> Shard {
        Shard { number: self.number, of: self.of }
    }

    /// Tells whether the same build has made it.
    pub(crate) fn is_of_build(&self, other: &Self) -> bool {
        (&self.engine, &self.made_by) == (&other.engine, &other.made_by)
    }
}

/// The directory in which this process was started.
pub(crate) struct Checkout {
    /// The nearest directory with a repository or a `silicon.toml`.
    root: PathBuf,
    /// The directory, seen from the root.
    pub(crate) directory: PathBuf,
}

impl Checkout {
    pub(crate) fn here() -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("no current directory")?;
        let root = config::root(&here);
        let directory = here.strip_prefix(&root).unwrap_or(Path::new("")).to_owned();
        Ok(Self { root, directory })
    }

    /// Returns a path as every checkout has it: below the root, it is seen from here.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        if path.is_relative() {
            return path.to_owned();
        }
        let below = |path: &Path| path.strip_prefix(&self.root).map(Path::to_owned).ok();
        let found = below(path).or_else(|| below(&fs::canonicalize(path).ok()?));
        let Some(below) = found else { return path.to_owned() };
        let common = self.directory.ancestors().find(|it| below.starts_with(it));
        let common = common.unwrap_or(Path::new(""));
        let up = self.directory.components().count() - common.components().count();
        let down = below.strip_prefix(common).unwrap_or(&below);
        let relative: PathBuf = std::iter::repeat_n(Path::new(".."), up).chain([down]).collect();
        if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative }
    }
}

impl Saved {
    /// So many members there are, as far as they are known.
    pub(crate) fn planned(&self) -> usize {
        self.outcomes.iter().flatten().map(|outcome| outcome.members.len()).sum()
    }

    /// Says that lines of its file are damaged, if some are.
    pub(crate) fn complain_of_damage(&self, path: &Path) {
        if self.damaged > 0 {
            let (damaged, path) = (self.damaged, path.display());
            complain(&format!("warning: {damaged} lines of {path} are damaged, and do not count"));
        }
    }
}

/// The file of a run that goes on.
pub(crate) struct Recorder {
    path: PathBuf,
    file: File,
    header: String,
    /// The inputs whose members are known.
    loaded: HashSet<usize>,
    /// The answers in the file, by their digests.
    answers: HashSet<[u8; 32]>,
}

impl Recorder {
    /// Begins the file. Until it has the answers of the run that it goes on with, the file has what
    /// it had before.
    pub(crate) fn new(path: &Path, header: &Header, begun: &[String]) -> anyhow::Result<Self> {
        if let Ok(text) = fs::read(path)
            && !text.is_empty()
            && first_line(&String::from_utf8_lossy(&text)).is_err()
        {
            bail!("cannot write {}: it is no run that was saved", path.display());
        }
        let header = serde_json::to_string(header)?;
        let mut text = sealed("", &header);
        let mut answers = HashSet::new();
        for answer in begun {
            answers.insert(Sha256::digest(answer).into());
            let line = Line::Said(0, Event::Answered(answer.clone()));
            text.push_str(&sealed(&header, &serde_json::to_string(&line)?));
        }
        let open = || OpenOptions::new().append(true).open(path);
        let file = write_whole(path, &text).and_then(|()| open());
        let file = file.with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), file, header, loaded: HashSet::new(), answers })
    }

    /// Adds what later runs want to know of an event.
    pub(crate) fn heard(&mut self, input: usize, event: &Event) -> anyhow::Result<()> {
        let is_news = match event {
            Event::Started { .. } | Event::Ended { .. } => false,
            Event::Loaded { .. } => self.loaded.insert(input),
            Event::Answered(answer) => self.answers.insert(Sha256::digest(answer).into()),
            Event::Finished { .. } | Event::Done { .. } => true,
        };
        if is_news { self.add(&Line::Said(input, event.clone())) } else { Ok(()) }
    }

    /// Adds the time that an input took.
    pub(crate) fn took(&mut self, input: usize, time: Duration) -> anyhow::Result<()> {
        self.add(&Line::Took(input, time))
    }

    /// Adds the end of the run.
    pub(crate) fn end(&mut self, ending: Ending) -> anyhow::Result<()> {
        self.add(&Line::Over(ending))
    }

    fn add(&mut self, line: &Line) -> anyhow::Result<()> {
        let text = sealed(&self.header, &serde_json::to_string(line)?);
        self.file.write_all(text.as_bytes()).with_context(|| cannot_write(&self.path))
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Returns a line of a file with this header; the header itself has none.
fn sealed(header: &str, text: &str) -> String {
    format!("{} {text}\n", seal(header, text))
}

fn seal(header: &str, text: &str) -> String {
    let digest = Sha256::new().chain_update(header).chain_update(b"\n").chain_update(text);
    format!("{:x}", digest.finalize())[..16].to_owned()
}

/// Returns the text of a line, if it is what was written.
fn opened<'t>(header: &str, line: &'t str) -> Option<&'t str> {
    let (code, text) = line.split_once(' ')?;
    (code == seal(header, text)).then_some(text)
}

/// Returns the header of a file: as text, and as what it says.
fn first_line(text: &str) -> anyhow::Result<(&str, Header)> {
    #[derive(Deserialize)]
    struct Version {
        silicon_saved: u32,
    }
    let line = text.lines().next().context("it is empty")?;
    let text = line.split_once(' ').filter(|(code, _)| code.len() == 16).map(|(_, text)| text);
    let text = text.unwrap_or(line);
    let Version { silicon_saved } = serde_json::from_str(text)?;
    if silicon_saved != VERSION {
        bail!("it has version {silicon_saved} of the format, not {VERSION}");
    }
    opened("", line).context("its first line is damaged")?;
    let header: Header = serde_json::from_str(text)?;
    if !(1..=header.of.get()).contains(&header.number) {
        bail!("there is no shard {}", header.shard());
    }
    Ok((text, header))
}

/// Reads a run that was saved.
pub(crate) fn read(path: &Path) -> anyhow::Result<Saved> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    // A damaged file need not be text.
    let text = String::from_utf8_lossy(&text);
    parse(&text).with_context(|| format!("{} is no run that was saved", path.display()))
}

fn parse(text: &str) -> anyhow::Result<Saved> {
    let (first, header) = first_line(text)?;
    let mut known: Vec<Known> = header.inputs.iter().map(|_| Known::default()).collect();
    let mut times = vec![None; known.len()];
    let (mut answers, mut ending) = (Vec::new(), None);
    let (mut finished, mut damaged) = (0, 0);
    let whole = text.strip_suffix('\n').or_else(|| Some(text.rsplit_once('\n')?.0));
    for line in whole.unwrap_or_default().split('\n').skip(1) {
        let line = opened(first, line).and_then(|text| serde_json::from_str(text).ok());
        match line {
            Some(Line::Said(_, Event::Answered(answer))) => answers.push(answer),
            Some(Line::Said(input, event)) if input < known.len() => {
                finished += usize::from(matches!(known[input].hear(event), News::Finished(..)));
            }
            Some(Line::Took(input, time)) if input < known.len() => times[input] = Some(time),
            Some(Line::Over(how)) => ending = Some(how),
            _ => damaged += 1,
        }
    }
    let shard = header.shard();
    let stopped = ending.as_ref().and_then(|ending: &Ending| ending.stopped.clone());
    let why = stopped.unwrap_or_else(|| format!("shard {shard} did not come to it"));
    let outcomes = known.iter_mut().zip(times).map(|(known, time)| {
        let outcome = known.composed(&why)?;
        Some(Outcome { time: time.unwrap_or_default(), ..outcome })
    });
    let outcomes = outcomes.collect();
    Ok(Saved { header, outcomes, answers, ending, finished, damaged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_checkout_are_seen_from_here() {
        let checkout = Checkout { root: "/home/r".into(), directory: "s/t".into() };
        for (path, seen) in [
            ("x.vpr", "x.vpr"),
            ("/home/r/s/t/x.vpr", "x.vpr"),
            ("/home/r/s/x.vpr", "../x.vpr"),
            ("/home/r/u/x.vpr", "../../u/x.vpr"),
            ("/home/r/s/t", "."),
            ("/elsewhere/x.vpr", "/elsewhere/x.vpr"),
        ] {
            assert_eq!(checkout.relative(Path::new(path)), Path::new(seen));
        }
    }

    #[test]
    fn lines_of_another_run_are_none() {
        let line = sealed("one", "text");
        let line = line.trim_end();
        assert_eq!(opened("one", line), Some("text"));
        assert_eq!(opened("two", line), None);
        assert_eq!(opened("one", &line.replace("text", "test")), None);
        assert_eq!(opened("one", ""), None);
    }
}
