//! Answers at a URL: in S3, GCS, Azure, or on a server of HTTP with WebDAV.
//!
//! Nothing is expected of the server. It may be slow, broken, or lie: seals tell which of its
//! answers count ([`super::seal`]). Names are digests of questions, so that it does not matter who
//! writes first, or last.
//!
//! Its time is limited. Reading may cost [`PATIENCE`] more than what was read has saved, and
//! writing, which is done beside other work, so much and a small share of the run. A server that
//! needs more is left alone for the rest of the run, by this process and by its copies.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, HeaderMap, HeaderValue, ObjectStore, ObjectStoreExt, ObjectStoreScheme,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{Instant as Moment, timeout_at};
use url::{Position, Url};

use super::store::LARGEST;

/// How much time may be lost by asking, and how much by waiting for what is written.
const PATIENCE: Duration = Duration::from_millis(300);
/// The same for a run that is of no use without answers.
const LONG_PATIENCE: Duration = Duration::from_secs(60);
/// Writing may take one part in so many of the time of a run.
const SHARE: u32 = 20;
/// So many requests at a time.
const AT_ONCE: usize = 64;
/// The highest number of answers that may wait to be written; others are lost.
const MOST_WAITING: usize = 4096;

/// A server's answers.
pub(super) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Shown to people; without a password.
    url: String,
    reading: Fuse,
    writing: Fuse,
    /// Made where it is first used, since threads are lost when a process is copied. `None`: no
    /// thread is to be had.
    client: OnceLock<Option<Client>>,
}

/// The work for a server in one process.
struct Client {
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
    began: Instant,
    spent: Mutex<Spent>,
    writes: Mutex<JoinSet<Result<(), String>>>,
}

/// The time that a server has cost, and saved.
#[derive(Default)]
struct Spent {
    reading: Duration,
    saved: Duration,
    writing: Duration,
}

impl Remote {
    /// Connects to nobody yet. A name and a password in the URL are those of HTTP; other
    /// credentials are in the environment.
    pub(super) fn open(url: &str) -> io::Result<Self> {
        let mut url = Url::parse(url).map_err(io::Error::other)?;
        let (name, password) = (url.username().to_owned(), url.password().map(str::to_owned));
        let is_clean = url.set_username("").and_then(|()| url.set_password(None));
        is_clean.map_err(|()| io::Error::other("the URL has no host"))?;
        let name = (!name.is_empty()).then(|| format!("{name}:{}", password.unwrap_or_default()));
        let (store, prefix) = of_url(&url, name.as_deref()).map_err(io::Error::other)?;
        Ok(Self {
            store,
            prefix,
            url: url.to_string(),
            reading: Fuse::new()?,
            writing: Fuse::new()?,
            client: OnceLock::new(),
        })
    }

    /// Returns the contents of these files, as far as they come in time.
    pub(super) fn read(&self, names: &[String], is_patient: bool) -> Vec<Option<Vec<u8>>> {
        let mut found = vec![None; names.len()];
        if names.is_empty() || self.reading.is_blown() {
            return found;
        }
        let Some(client) = self.client() else { return found };
        let begun = Instant::now();
        let patience = if is_patient { LONG_PATIENCE } else { PATIENCE };
        let end = Moment::from_std(begun) + client.spent().left_for_reading(patience);
        let read = client.runtime().block_on(async {
            let mut waiting = names.iter().enumerate();
            let mut running = JoinSet::new();
            loop {
                while running.len() < AT_ONCE
                    && let Some((index, name)) = waiting.next()
                {
                    let (store, path) = (Arc::clone(&self.store), self.path(name));
                    running.spawn(async move { (index, get(&*store, &path).await) });
                }
                match timeout_at(end, running.join_next()).await {
                    Ok(None) => return Ok(()),
                    Ok(Some(Ok((index, Ok(bytes))))) => found[index] = bytes,
                    Ok(Some(Ok((_, Err(problem))))) => return Err(problem),
                    Ok(Some(Err(problem))) => return Err(problem.to_string()),
                    Err(_) => return Err("it is too slow".to_owned()),
                }
            }
        });
        client.spent().reading += begun.elapsed();
        if let Err(problem) = read {
            self.reading.blow(&problem);
        }
        found
    }

    /// Notes how much work an answer that was read has saved.
    pub(super) fn credit(&self, time: Duration) {
        if let Some(Some(client)) = self.client.get() {
            client.spent().saved += time;
        }
    }

    /// Begins to write a file, whatever is there.
    pub(super) fn write(&self, name: &str, bytes: Vec<u8>) {
        if self.writing.is_blown() {
            return;
        }
        let Some(client) = self.client() else { return };
        let mut writes = client.writes();
        while let Some(done) = writes.try_join_next() {
            if let Ok(Err(problem)) = done {
                self.writing.blow(&problem);
                writes.abort_all();
            }
        }
        if writes.len() < MOST_WAITING {
            let (store, path) = (Arc::clone(&self.store), self.path(name));
            let write = async move {
                let written = store.put(&path, bytes.into()).await;
                written.map(|_| ()).map_err(|error| error.to_string())
            };
            writes.spawn_on(write, client.runtime().handle());
        }
    }

    /// Waits a little for what is being written.
    pub(super) fn finish(&self) {
        let Some(Some(client)) = self.client.get() else { return };
        let mut writes = client.writes();
        let begun = Instant::now();
        let left = client.spent().left_for_writing(client.began.elapsed());
        let end = Moment::from_std(begun) + left;
        let written = client.runtime().block_on(async {
            loop {
                match timeout_at(end, writes.join_next()).await {
                    Ok(None) => return Ok(()),
                    Ok(Some(Ok(Err(problem)))) => return Err(problem),
                    Ok(Some(_)) => {}
                    Err(_) => return Err("it is too slow".to_owned()),
                }
            }
        });
        client.spent().writing += begun.elapsed();
        if let Err(problem) = written {
            self.writing.blow(&problem);
            writes.abort_all();
        }
    }

    pub(super) fn remark(&self) -> Option<String> {
        let url = &self.url;
        let words = |fuse: &Fuse, what: &str| {
            let why = fuse.why()?;
            Some(format!("{url} was not {what} any more: {why}"))
        };
        let remarks = [words(&self.reading, "asked"), words(&self.writing, "written to")];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter(self.prefix.parts().chain(Path::from(name).parts()))
    }

    fn client(&self) -> Option<&Client> {
        let make = || {
            let runtime =
                Builder::new_multi_thread().worker_threads(1).enable_all().build().ok()?;
            Some(Client {
                runtime: Some(runtime),
                began: Instant::now(),
                spent: Mutex::default(),
                writes: Mutex::default(),
            })
        };
        self.client.get_or_init(make).as_ref()
    }
}

/// Returns the store of a URL, and the place of our files in it.
fn of_url(
    url: &Url,
    credentials: Option<&str>,
) -> Result<(Arc<dyn ObjectStore>, Path), object_store::Error> {
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    if scheme != ObjectStoreScheme::Http {
        let of_clouds = env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            let is_theirs = ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|it| name.starts_with(it));
            is_theirs.then_some((name, value))
        });
        let (store, path) = object_store::parse_url_opts(url, of_clouds)?;
        return Ok((store.into(), path));
    }
    let mut headers = HeaderMap::new();
    if let Some(credentials) = credentials
        && let Ok(mut value) =
            HeaderValue::from_str(&format!("Basic {}", BASE64.encode(credentials)))
    {
        value.set_sensitive(true);
        headers.insert("authorization", value);
    }
    let options = ClientOptions::new().with_allow_http(true).with_default_headers(headers);
    let store =
        HttpBuilder::new().with_url(&url[..Position::BeforePath]).with_client_options(options);
    Ok((Arc::new(store.build()?), Path::parse(path)?))
}

/// Returns the contents of a file; `None`: there is none that this user may read.
async fn get(store: &dyn ObjectStore, path: &Path) -> Result<Option<Vec<u8>>, String> {
    let is_missing = |error: &Error| {
        use Error::{NotFound, PermissionDenied, Unauthenticated};
        // A server need not tell that there is nothing.
        matches!(error, NotFound { .. } | PermissionDenied { .. } | Unauthenticated { .. })
    };
    match store.get(path).await {
        Ok(found) if found.meta.size > LARGEST => Ok(None),
        Ok(found) => match found.bytes().await {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(error) => Err(error.to_string()),
        },
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

impl Client {
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until this is dropped")
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writes(&self) -> MutexGuard<'_, JoinSet<Result<(), String>>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A look-up of a name may go on for minutes.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

impl Spent {
    fn left_for_reading(&self, patience: Duration) -> Duration {
        (patience + self.saved).saturating_sub(self.reading)
    }

    fn left_for_writing(&self, run: Duration) -> Duration {
        (PATIENCE + run / SHARE).saturating_sub(self.writing)
    }
}

/// Tells once, to this process and to its copies, why something is not done any more.
struct Fuse {
    /// The pipe has something to read when it is blown.
    why: PipeReader,
    tell: PipeWriter,
}

/// The number of characters of a reason that are told, which a pipe takes in one piece.
const REASON: usize = 300;

impl Fuse {
    fn new() -> io::Result<Self> {
        let (why, tell) = io::pipe()?;
        Ok(Self { why, tell })
    }

    fn is_blown(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.why, PollFlags::IN)], Some(&now)).is_ok_and(|one| one > 0)
    }

    fn blow(&self, why: &str) {
        if !self.is_blown() {
            let line: String =
                why.lines().next().unwrap_or_default().chars().take(REASON).collect();
            // Without words it goes on, and is tried again.
            let _ = (&self.tell).write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Returns the first reason. After that it is as new.
    fn why(&self) -> Option<String> {
        if !self.is_blown() {
            return None;
        }
        let mut words = [0; 4096];
        let read = (&self.why).read(&mut words).ok()?;
        let words = String::from_utf8_lossy(&words[..read]);
        words.lines().next().map(str::to_owned)
    }
}
