//! Answers in a directory, one file each, for later runs and for runs beside this one.
//!
//! `DIR/secret` is a random key; `DIR/ENGINE/ab/cdef…` is the answer to the key `abcdef…`, as this
//! build with this solver gives it. A file is a code of authenticity (HMAC-SHA256 under the secret)
//! and the answer as MessagePack. A file is written under a temporary name and renamed, so that a
//! reader sees all of it or nothing.
//!
//! Runs that are saved tell their answers as text: the key and the answer, without a code.
//!
//! SOUNDNESS: a file counts only if its code fits secret, engine and key. Anything else is no
//! answer.

use std::fmt::Write as _;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256};

use super::Answer;
use super::encode::Digest;

/// The store of one engine in a directory.
pub(super) struct Store {
    root: PathBuf,
    engine: String,
    secret: [u8; LENGTH],
}

/// The length of the secret, and of a code.
const LENGTH: usize = 32;
const SECRET: &str = "secret";
/// An answer that is used is marked as used so often.
const USED_AGAIN: Duration = Duration::from_secs(60 * 60);

impl Store {
    /// Opens the store in a directory; makes the directory if there is none.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        let secret = secret(root)?;
        Ok(Self { root: root.to_owned(), engine: engine(), secret })
    }

    /// The answer to a key, if there is one that can be trusted.
    pub(super) fn get(&self, key: &Digest) -> Option<Answer> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let (code, payload) = bytes.split_at_checked(LENGTH)?;
        self.code(key, payload).verify_slice(code).ok()?;
        let answer = rmp_serde::from_slice(payload).ok()?;
        mark_used(&path);
        Some(answer)
    }

    /// Writes an answer.
    pub(super) fn put(&self, key: &Digest, answer: &Answer) -> io::Result<()> {
        let payload = rmp_serde::to_vec_named(answer).map_err(io::Error::other)?;
        let path = self.path(key);
        let directory = path.parent().expect("an answer lies in a directory");
        fs::create_dir_all(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&self.code(key, &payload).finalize().into_bytes())?;
        file.write_all(&payload)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, key: &Digest) -> PathBuf {
        let name = hex(key);
        let (first, rest) = name.split_at(2);
        self.root.join(&self.engine).join(first).join(rest)
    }

    fn code(&self, key: &Digest, payload: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.secret).expect("any length will do");
        code.update(self.engine.as_bytes());
        code.update(key);
        code.update(payload);
        code
    }
}

/// The text of an answer and its key.
pub(super) fn tell(key: &Digest, answer: &Answer) -> Option<String> {
    let mut bytes = key.to_vec();
    rmp_serde::encode::write_named(&mut bytes, answer).ok()?;
    Some(BASE64.encode(bytes))
}

/// The key, and the answer as it is in a store.
pub(super) fn told(text: &str) -> Option<(Digest, Vec<u8>)> {
    let bytes = BASE64.decode(text).ok()?;
    let (key, payload) = bytes.split_first_chunk::<{ size_of::<Digest>() }>()?;
    Some((*key, payload.to_vec()))
}

/// The secret of a directory. Who comes first makes it.
fn secret(root: &Path) -> io::Result<[u8; LENGTH]> {
    let path = root.join(SECRET);
    if !path.exists() {
        let mut secret = [0; LENGTH];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(root)?;
        file.write_all(&secret)?;
        match file.persist_noclobber(&path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error.error);
            }
            _ => {}
        }
    }
    let text = fs::read(&path)?;
    text.try_into().map_err(|_| io::Error::other(format!("{} is no secret", path.display())))
}

/// The identity of who answers: this build, and the solver with its library. Answers of others are
/// of no use.
pub fn engine() -> String {
    let mut digest = Sha256::new();
    digest.update(crate::BUILD);
    digest.update(crate::solver_version());
    digest.update(library().unwrap_or_default());
    hex(&digest.finalize())[..16].to_owned()
}

/// The digest of the solver's library, where that is a file of its own.
fn library() -> Option<[u8; 32]> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| path));
    let path = paths.into_iter().find(|path| path.contains("libz3."))?;
    let mut digest = Sha256::new();
    io::copy(&mut File::open(format!("/{path}")).ok()?, &mut digest).ok()?;
    Some(digest.finalize().into())
}

/// Lets [`collect`] see that an answer is still used.
fn mark_used(path: &Path) {
    let now = SystemTime::now();
    let mark = || -> io::Result<()> {
        let age = now.duration_since(fs::metadata(path)?.modified()?).unwrap_or_default();
        if age > USED_AGAIN {
            File::open(path)?.set_times(FileTimes::new().set_modified(now))?;
        }
        Ok(())
    };
    // The answer is as good without the mark.
    let _ = mark();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An answer in a directory of answers.
struct Stored {
    path: PathBuf,
    size: u64,
    used: SystemTime,
    /// Tells whether this engine gave the answer.
    is_ours: bool,
}

/// The contents of a directory of answers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Contents {
    pub answers: usize,
    /// The number of answers that this build can use.
    pub usable: usize,
    /// In bytes.
    pub size: u64,
}

/// Counts the answers in a directory.
pub fn contents(root: &Path) -> io::Result<Contents> {
    let mut contents = Contents::default();
    for stored in stored(root)? {
        contents.answers += 1;
        contents.usable += usize::from(stored.is_ours);
        contents.size += stored.size;
    }
    Ok(contents)
}

/// Removes the answers that were not used for `age`, then those not used for longest until `size`
/// bytes are left at most. Returns how many it has removed.
pub fn collect(root: &Path, age: Duration, size: u64) -> io::Result<usize> {
    let mut all = stored(root)?;
    all.sort_by(|a, b| (b.used, &b.path).cmp(&(a.used, &a.path)));
    let oldest = SystemTime::now().checked_sub(age);
    let (mut kept, mut removed) = (0, 0);
    for stored in all {
        if oldest.is_some_and(|oldest| stored.used < oldest) || kept + stored.size > size {
            fs::remove_file(&stored.path)?;
            removed += 1;
        } else {
            kept += stored.size;
        }
    }
    Ok(removed)
}

/// Removes the answers of this engine that are not what was written. Returns how many there were.
pub fn sweep(root: &Path) -> io::Result<usize> {
    let store = Store::open(root)?;
    let mut removed = 0;
    for Stored { path, .. } in stored(root)?.into_iter().filter(|stored| stored.is_ours) {
        if key_of(&path).and_then(|key| store.get(&key)).is_none() {
            fs::remove_file(path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The key in the path of an answer.
fn key_of(path: &Path) -> Option<Digest> {
    let parent = path.parent()?.file_name()?.to_str()?;
    let name = format!("{parent}{}", path.file_name()?.to_str()?);
    let byte = |index: usize| u8::from_str_radix(name.get(2 * index..2 * index + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..name.len().div_ceil(2)).map(byte).collect();
    bytes?.try_into().ok()
}

fn stored(root: &Path) -> io::Result<Vec<Stored>> {
    let engine = engine();
    let mut all = Vec::new();
    for of_engine in directories(root)? {
        let is_ours = of_engine.file_name().is_some_and(|name| *name == *engine);
        for group in directories(&of_engine)? {
            for entry in fs::read_dir(group)? {
                let entry = entry?;
                let about = entry.metadata()?;
                let (size, used) = (about.len(), about.modified()?);
                all.push(Stored { path: entry.path(), size, used, is_ours });
            }
        }
    }
    Ok(all)
}

/// The directories in a directory, by name.
fn directories(within: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(within)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
