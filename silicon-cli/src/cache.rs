//! `--cache` and `silicon cache`: answers of earlier runs, in a directory or at a URL.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueHint};
use silicon::Answers;
use silicon::answers::{Signers, make_keys, store};

use crate::refuse;

const CACHE: &str = "Cache";

/// Where answers of earlier runs are, and who is believed.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct CachePlace {
    /// Keep verdicts in the directory DIR or at URL (s3://, gs://, az://, https://), and do not
    /// verify again what has not changed
    #[arg(
        long,
        value_name = "DIR|URL",
        value_hint = ValueHint::DirPath,
        help_heading = CACHE
    )]
    cache: Option<PathBuf>,

    /// Believe verdicts that are signed with one of the keys in FILE, one public key a line, and no
    /// others
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = CACHE
    )]
    cache_trust: Option<PathBuf>,

    /// Sign verdicts with the key in FILE (see silicon cache keygen); without a key nothing is
    /// written to a URL
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = CACHE
    )]
    cache_key: Option<PathBuf>,
}

impl CachePlace {
    /// Returns the answers there, if a place is named.
    pub(crate) fn open(&self) -> anyhow::Result<Option<Answers>> {
        let Some(place) = &self.cache else { return Ok(None) };
        let words = || format!("no cache in {}", shown(place));
        let signers = self.signers().with_context(words)?;
        Ok(Some(Answers::stored(place, signers).with_context(words)?))
    }

    fn signers(&self) -> io::Result<Option<Signers>> {
        match (self.cache_trust.as_deref(), self.cache_key.as_deref()) {
            (None, None) => Ok(None),
            (trusted, own) => Signers::read(trusted, own).map(Some),
        }
    }

    /// Returns the options as they could be given.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let named = [
            ("--cache", &self.cache),
            ("--cache-trust", &self.cache_trust),
            ("--cache-key", &self.cache_key),
        ];
        let given = named.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
        given.flat_map(|(name, path)| [name.into(), path.into()]).collect()
    }
}

/// Returns a place as people may see it: a URL without its password.
fn shown(place: &Path) -> String {
    let text = place.display().to_string();
    match (store::url(place).and_then(|url| url.split_once("://")), text.rfind('@')) {
        (Some((scheme, _)), Some(at)) => format!("{scheme}://{}", &text[at + 1..]),
        _ => text,
    }
}

/// The place of answers, and how far they are believed.
#[derive(Args, Debug)]
pub(crate) struct CacheOptions {
    #[command(flatten)]
    place: CachePlace,

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

    /// Tells whether a place is named.
    pub(crate) fn is_named(&self) -> bool {
        self.place.cache.is_some()
    }

    /// Tells whether it is a URL.
    pub(crate) fn is_at_a_url(&self) -> bool {
        self.place.cache.as_deref().and_then(store::url).is_some()
    }

    /// Returns the answers at the place, if one is named.
    pub(crate) fn answers(&self) -> anyhow::Result<Option<Answers>> {
        let Some(answers) = self.place.open()? else { return Ok(None) };
        let answers = answers.audited(self.audit() / 100.0);
        Ok(Some(if self.cache_only { answers.complete() } else { answers }))
    }

    /// Returns a remark where another option leaves the cache of no use, or no place is named.
    pub(crate) fn note(&self, unusable: Option<&str>) -> Option<String> {
        match (&self.place.cache, unusable) {
            (Some(_), Some(option)) => Some(format!("--cache has no effect with {option}")),
            (None, _) if !self.no_cache => {
                let given = [
                    ("--cache-only", self.cache_only),
                    ("--cache-audit", self.cache_audit.is_some()),
                    ("--cache-trust", self.place.cache_trust.is_some()),
                    ("--cache-key", self.place.cache_key.is_some()),
                ];
                let (option, _) = given.into_iter().find(|(_, is_given)| *is_given)?;
                Some(format!("{option} has no effect without --cache"))
            }
            _ => None,
        }
    }

    /// Returns the options in effect, as they could be given.
    pub(crate) fn configuration(&self) -> Vec<String> {
        if self.place.cache.is_none() {
            return Vec::new();
        }
        let words = self.place.arguments();
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let mut lines: Vec<String> = words.chunks(2).map(|option| option.join(" ")).collect();
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

/// Returns a share from 0 to 100, with or without the sign of percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse();
    number
        .ok()
        .filter(|number| (0.0..=100.0).contains(number))
        .ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// Look after a directory of answers (see --cache), and make keys for shared ones.
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
        /// Look at signed answers, and remove those that none of these keys has signed
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        cache_trust: Option<PathBuf>,
    },
    /// Make a key to sign answers with (see --cache-key) in a new file, and its public key (see
    /// --cache-trust) in FILE.pub
    Keygen {
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Does what is asked, and says what came of it.
pub(crate) fn run(asked: &Cache) -> anyhow::Result<u8> {
    let within = |directory: &Path| format!("in the cache {}", directory.display());
    if let Some(problem) = asked.task.of_no_use_at_a_url() {
        return Ok(refuse(&problem));
    }
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
        CacheTask::Verify { directory, cache_trust } => {
            let trusted = cache_trust.as_deref();
            let signers = trusted.map(|keys| Signers::read(Some(keys), None)).transpose()?;
            let removed = store::sweep(directory, signers).with_context(|| within(directory))?;
            format!("{removed} damaged answers removed")
        }
        CacheTask::Keygen { file } => {
            let public = make_keys(file)?;
            format!("{} signs, {} is for readers", file.display(), public.display())
        }
    };
    writeln!(io::stdout(), "{words}")?;
    Ok(0)
}

impl CacheTask {
    /// Says why there is nothing to do at a URL.
    fn of_no_use_at_a_url(&self) -> Option<String> {
        let (place, why) = match self {
            Self::Stat { directory } => (directory, "the server's own tools count files"),
            Self::Gc { directory, .. } => (
                directory,
                "rules of the server remove old files, such as the life cycle of a bucket",
            ),
            Self::Verify { directory, .. } => (
                directory,
                "each run leaves alone what no trusted key has signed, and one with --cache-key \
                 writes it anew",
            ),
            Self::Keygen { .. } => return None,
        };
        let is_url = store::url(place).is_some();
        is_url.then(|| format!("{} is no directory: {why}", shown(place)))
    }
}
