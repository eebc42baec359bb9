//! Answers outside of this process, for later runs and for runs beside this one: in a directory,
//! or at a URL (`remote`).
//!
//! `DIR/ENGINE/ab/cdef…` is the answer to the key `abcdef…`, as this build with this solver gives
//! it, below a seal ([`super::seal`]). What is below it is the number of the run that put it there
//! and the answer as MessagePack. `DIR/secret` is the secret of seals that are not signed; signed
//! answers lie in `DIR/ENGINE.signed`. A file is written under a temporary name and renamed, so
//! that a reader sees all of it or nothing.
//!
//! Runs that are saved tell their answers as text: the key and the answer, without a seal.
//!
//! SOUNDNESS: an answer counts only if its seal fits engine and key. Anything else is no answer.

use std::fmt::Write as _;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use object::{Object as _, ReadCache};
use sha2::{Digest as _, Sha256};

use super::Answer;
use super::encode::Digest;
#[cfg(feature = "remote-cache")]
use super::remote::Remote;
use super::seal::{LENGTH, Seal, Signers};

/// The answers of one engine at a place.
pub(super) struct Store {
    place: Place,
    engine: String,
    seal: Seal,
    /// Tells the answers of this run from those of others.
    run: [u8; RUN],
}

enum Place {
    Directory(PathBuf),
    #[cfg(feature = "remote-cache")]
    Url(Box<Remote>),
}

const RUN: usize = 8;
const SECRET: &str = "secret";
/// An answer that is used is marked as used so often.
const USED_AGAIN: Duration = Duration::from_secs(60 * 60);

/// Returns the URL that a place is, if it is one.
pub fn url(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| text.contains("://"))
}

impl Store {
    /// Opens the store at a place; makes a directory if there is none and answers can be sealed.
    /// Without signers a directory has a secret of its own.
    pub(super) fn open(place: &Path, signers: Option<Signers>) -> io::Result<Self> {
        let (place, seal) = match url(place) {
            Some(url) => (at_url(url)?, Seal::Signed(signers.ok_or_else(nobody_is_believed)?)),
            None => in_directory(place, signers)?,
        };
        let mut run = [0; RUN];
        getrandom::fill(&mut run).map_err(io::Error::other)?;
        Ok(Self { place, engine: engine(), seal, run })
    }

    /// The answers to these keys that can be trusted, each if there is one. Answers of this run are
    /// left out where `of_others` says so; who `is_patient` waits long for a server.
    #[cfg_attr(
        not(feature = "remote-cache"),
        expect(unused_variables, reason = "directories are not waited for")
    )]
    pub(super) fn get_all(
        &self,
        keys: &[Digest],
        of_others: bool,
        is_patient: bool,
    ) -> Vec<Option<Answer>> {
        let names: Vec<String> = keys.iter().map(|key| self.name(key)).collect();
        match &self.place {
            Place::Directory(root) => {
                let get = |(key, name): (&Digest, &String)| {
                    let path = root.join(name);
                    let (file, about, sealed) = read_bounded(&path)?;
                    let answer = self.opened(key, &sealed, of_others)?;
                    mark_used(&file, &about);
                    Some(answer)
                };
                keys.iter().zip(&names).map(get).collect()
            }
            #[cfg(feature = "remote-cache")]
            Place::Url(remote) => {
                let arrived = remote.read(&names, is_patient);
                let opened = keys.iter().zip(arrived);
                let found: Vec<Option<Answer>> =
                    opened.map(|(key, sealed)| self.opened(key, &sealed?, of_others)).collect();
                remote.credit(found.iter().flatten().map(Answer::time).sum());
                found
            }
        }
    }

    /// Returns the answer below a seal.
    fn opened(&self, key: &Digest, sealed: &[u8], of_others: bool) -> Option<Answer> {
        let (run, answer) = self.seal.open(&self.engine, key, sealed)?.split_at_checked(RUN)?;
        if of_others && run == self.run {
            return None;
        }
        rmp_serde::from_slice(answer).ok()
    }

    /// Writes an answer, if it can be sealed. At a URL that is done beside other work.
    pub(super) fn put(&self, key: &Digest, answer: &Answer) -> io::Result<()> {
        if !self.seal.can_close() {
            return Ok(());
        }
        let mut payload = self.run.to_vec();
        rmp_serde::encode::write(&mut payload, answer).map_err(io::Error::other)?;
        let Some(sealed) = self.seal.close(&self.engine, key, &payload) else { return Ok(()) };
        match &self.place {
            Place::Directory(root) => {
                let path = root.join(self.name(key));
                let directory = path.parent().expect("an answer lies in a directory");
                fs::create_dir_all(directory)?;
                // Others read what is signed.
                let mode = if self.seal.is_shared() { 0o666 } else { 0o600 };
                let mut file = tempfile::Builder::new()
                    .permissions(Permissions::from_mode(mode))
                    .tempfile_in(directory)?;
                file.write_all(&sealed)?;
                file.persist(path)?;
            }
            #[cfg(feature = "remote-cache")]
            Place::Url(remote) => remote.write(&self.name(key), sealed),
        }
        Ok(())
    }

    /// Waits a little for what is still being written.
    pub(super) fn finish(&self) {
        match &self.place {
            Place::Directory(_) => {}
            #[cfg(feature = "remote-cache")]
            Place::Url(remote) => remote.finish(),
        }
    }

    /// Words of what went wrong in this process or in a copy of it, each time once.
    pub(super) fn remark(&self) -> Option<String> {
        match &self.place {
            Place::Directory(_) => None,
            #[cfg(feature = "remote-cache")]
            Place::Url(remote) => remote.remark(),
        }
    }

    fn name(&self, key: &Digest) -> String {
        let name = hex(key);
        let (first, rest) = name.split_at(2);
        format!("{}/{first}/{rest}", self.folder())
    }

    fn folder(&self) -> String {
        let kind = if self.seal.is_shared() { SIGNED } else { "" };
        format!("{}{kind}", self.engine)
    }
}

const SIGNED: &str = ".signed";

/// No answer has so many bytes.
pub(super) const LARGEST: u64 = 16 << 20;

fn nobody_is_believed() -> io::Error {
    io::Error::other("answers at a URL have to be signed (see --cache-trust, --cache-key)")
}

#[cfg(feature = "remote-cache")]
fn at_url(url: &str) -> io::Result<Place> {
    Ok(Place::Url(Box::new(Remote::open(url)?)))
}

#[cfg(not(feature = "remote-cache"))]
fn at_url(_: &str) -> io::Result<Place> {
    Err(io::Error::other("this build knows directories only (cargo's feature remote-cache)"))
}

fn in_directory(root: &Path, signers: Option<Signers>) -> io::Result<(Place, Seal)> {
    // Others read what is signed.
    let mode = if signers.is_some() { 0o777 } else { 0o700 };
    let make = || fs::DirBuilder::new().recursive(true).mode(mode).create(root);
    let seal = match signers {
        None => {
            make()?;
            Seal::Secret(secret(root)?)
        }
        Some(signers) => Seal::Signed(signers),
    };
    if seal.can_close() {
        make()?;
    } else {
        fs::read_dir(root)?;
    }
    Ok((Place::Directory(root.to_owned()), seal))
}

/// Opens a file that may be an answer, and reads its bytes. Whoever may write there may have put a
/// pipe in its place, or a file without end.
fn read_bounded(path: &Path) -> Option<(File, Metadata, Vec<u8>)> {
    // The flag keeps a pipe from waiting for a writer.
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > LARGEST {
        return None;
    }
    let mut bytes = vec![0; about.len() as usize];
    file.read_exact(&mut bytes).ok()?;
    Some((file, about, bytes))
}

/// Returns the text of an answer and its key.
pub(super) fn tell(key: &Digest, answer: &Answer) -> Option<String> {
    let mut bytes = key.to_vec();
    rmp_serde::encode::write(&mut bytes, answer).ok()?;
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

/// Returns the identity of the verifier that answers: this build, and the solver with its library. Answers of
/// others are of no use.
pub fn engine() -> String {
    let mut digest = Sha256::new();
    digest.update(crate::BUILD);
    digest.update(crate::solver_version());
    digest.update(library().unwrap_or_default());
    hex(&digest.finalize())[..16].to_owned()
}

/// Identifies the solver's library, where that is a file of its own: by the id that its linker made
/// of the contents, else by the digest of its tens of megabytes.
fn library() -> Option<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| path));
    let path = paths.into_iter().find(|path| is_solver(path))?;
    let mut file = File::open(format!("/{path}")).ok()?;
    if let Some(id) = build_id(&file) {
        return Some(id);
    }
    let mut digest = Sha256::new();
    file.rewind().ok()?;
    io::copy(&mut BufReader::with_capacity(1 << 20, file), &mut digest).ok()?;
    Some(digest.finalize().to_vec())
}

/// Reads the id of an executable or library, if its linker made one.
fn build_id(file: &File) -> Option<Vec<u8>> {
    let read = ReadCache::new(file);
    let object = object::File::parse(&read).ok()?;
    object.build_id().ok()?.map(<[u8]>::to_vec)
}

/// Tells whether a file is the solver's library. In a wheel its name has a digest: `libz3-7b39.so.4`.
fn is_solver(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_prefix("libz3").is_some_and(|rest| rest.starts_with(['.', '-']))
}

/// Lets [`collect`] see that an answer is still used.
fn mark_used(file: &File, about: &Metadata) {
    let now = SystemTime::now();
    let mark = || -> io::Result<()> {
        let age = now.duration_since(about.modified()?).unwrap_or_default();
        if age > USED_AGAIN {
            file.set_times(FileTimes::new().set_modified(now))?;
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

/// Removes the answers of this engine that are not what was written; with signers, the signed ones
/// that are not believed. Returns how many there were.
pub fn sweep(root: &Path, signers: Option<Signers>) -> io::Result<usize> {
    let store = Store::open(root, signers)?;
    let folder = root.join(store.folder());
    let is_good = |path: &Path| {
        let key = key_of(path)?;
        store.opened(&key, &fs::read(path).ok()?, false)
    };
    let mut removed = 0;
    for Stored { path, .. } in stored(root)?.into_iter().filter(|it| it.path.starts_with(&folder)) {
        if is_good(&path).is_none() {
            fs::remove_file(path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns the key in the path of an answer.
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
        let name = of_engine.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_ours = name.strip_suffix(SIGNED).unwrap_or(name) == engine;
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

/// Returns the directories in a directory, by name.
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

#[cfg(test)]
mod tests {
    use super::is_solver;

    #[test]
    fn the_library_is_known_by_its_name() {
        for path in ["usr/lib/libz3.so.4", "x/silicon_verifier.libs/libz3-7b396b8b.so.4"] {
            assert!(is_solver(path), "{path}");
        }
        for path in ["usr/lib/libz3java.so", "home/libz3.d/bin/silicon", "usr/lib/libc.so.6"] {
            assert!(!is_solver(path), "{path}");
        }
    }
}
