//! `--cache DIR` and `silicon cache`: answers of earlier runs in a directory.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueHint};
use silicon::Answers;
use silicon::answers::store;

const CACHE: &str = "Cache";

/// Where answers of earlier runs are, and how far they are believed.
#[derive(Args, Debug)]
pub(crate) struct CacheOptions {
    /// Keep verdicts in DIR, and do not verify again what has not changed
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        overrides_with = "no_cache",
        help_heading = CACHE
    )]
    cache: Option<PathBuf>,
    /// Verify everything
    #[arg(long, overrides_with = "cache", help_heading = CACHE)]
    no_cache: bool,

    /// Give up what the cache has no answer for
    #[arg(long, help_heading = CACHE)]
    cache_only: bool,

    /// Verify so many percent of what the cache has again, and compare; a difference is an internal
    /// error [default: 0, with CI=true 1]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = CACHE)]
    cache_audit: Option<f64>,
}

/// The audit of runs that nobody watches, in percent.
const AUDIT_IN_CI: f64 = 1.0;

impl CacheOptions {
    /// Tells whether everything is to be verified.
    pub(crate) fn is_off(&self) -> bool {
        self.no_cache
    }

    /// The answers in the directory, if there is one.
    pub(crate) fn answers(&self) -> anyhow::Result<Option<Answers>> {
        let Some(directory) = &self.cache else { return Ok(None) };
        let answers = open(directory)?.audited(self.audit() / 100.0);
        Ok(Some(if self.cache_only { answers.complete() } else { answers }))
    }

    /// Returns a remark where another option leaves the cache of no use, or no directory
    /// is named.
    pub(crate) fn note(&self, unusable: Option<&str>) -> Option<String> {
        match (&self.cache, unusable) {
            (Some(_), Some(option)) => Some(format!("--cache has no effect with {option}")),
            (None, _) if self.cache_only || self.cache_audit.is_some() => {
                Some("--cache-only and --cache-audit have no effect without --cache".to_owned())
            }
            _ => None,
        }
    }

    /// The options in effect, as they could be given.
    pub(crate) fn configuration(&self) -> Vec<String> {
        let Some(directory) = &self.cache else { return Vec::new() };
        let mut lines = vec![format!("--cache {}", directory.display())];
        lines.extend(self.cache_only.then(|| "--cache-only".to_owned()));
        lines.push(format!("--cache-audit {}", self.audit()));
        lines
    }

    /// In percent.
    fn audit(&self) -> f64 {
        let in_ci = env::var_os("CI").is_some_and(|value| value == "true");
        self.cache_audit.unwrap_or(if in_ci && !self.cache_only { AUDIT_IN_CI } else { 0.0 })
    }
}

/// The answers in a directory.
pub(crate) fn open(directory: &Path) -> anyhow::Result<Answers> {
    Answers::stored(directory).with_context(|| format!("no cache in {}", directory.display()))
}

/// A share from 0 to 100, with or without the sign of percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse();
    number
        .ok()
        .filter(|number| (0.0..=100.0).contains(number))
        .ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// Look after a directory of answers (see --cache).
#[derive(Parser, Debug)]
pub(crate) struct Cache {
    #[command(subcommand)]
    task: CacheTask,
}

#[derive(Subcommand, Debug)]
enum CacheTask {
    /// Say how many answers there are, and how large
    Stat {
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
    /// Remove what was not used for long
    Gc {
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
        /// Remove answers that were not used for so many days
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        max_age: u32,
        /// Remove those not used for longest until so many megabytes are left
        #[arg(long, value_name = "MB", default_value_t = 1000)]
        max_size: u64,
    },
    /// Remove answers that are damaged
    Verify {
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Does what is asked, and says what came of it.
pub(crate) fn run(asked: &Cache) -> anyhow::Result<u8> {
    let within = |directory: &Path| format!("in the cache {}", directory.display());
    let words = match &asked.task {
        CacheTask::Stat { directory } => {
            let contents = store::contents(directory).with_context(|| within(directory))?;
            let store::Contents { answers, usable, size } = contents;
            format!(
                "{answers} answers, {usable} of them for this build, {} kB",
                size.div_ceil(1000)
            )
        }
        CacheTask::Gc { directory, max_age, max_size } => {
            let removed = store::collect(directory, DAY * *max_age, max_size * 1_000_000);
            let removed = removed.with_context(|| within(directory))?;
            format!("{removed} answers removed")
        }
        CacheTask::Verify { directory } => {
            let removed = store::sweep(directory).with_context(|| within(directory))?;
            format!("{removed} damaged answers removed")
        }
    };
    writeln!(io::stdout(), "{words}")?;
    Ok(0)
}
