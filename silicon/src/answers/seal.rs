//! Seals of answers: the sign that an answer comes from somebody who is believed.
//!
//! Answers of one user are sealed with a secret that lies beside them. Answers that are shared are
//! signed (Ed25519): whoever has the signing key can write, and readers list public keys. There is
//! no way to believe everybody.
//!
//! SOUNDNESS: a seal covers the engine, the key and the answer. So an answer to another question,
//! of another build, or of an unknown writer is no answer.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::encode::Digest;

/// The length of a secret, of a code under it, and of a public key.
pub(super) const LENGTH: usize = 32;

/// The signers whose answers are believed, and the key that new answers are signed with.
#[derive(Clone, Debug)]
pub struct Signers {
    trusted: Vec<VerifyingKey>,
    own: Option<SigningKey>,
}

/// How answers are sealed in one store.
pub(super) enum Seal {
    /// HMAC-SHA256 under a secret: the code, then the answer.
    Secret([u8; LENGTH]),
    /// The public key, the signature, then the answer.
    Signed(Signers),
}

/// The begin of all that is signed, so that no signature for another purpose fits an answer.
const PURPOSE: &[u8] = b"silicon.signed-answer.1\0";

const PUBLIC: &str = "silicon-public-key:";
const SECRET: &str = "silicon-signing-key:";

impl Signers {
    /// Reads a file of public keys, one a line, and a file with a signing key. Whoever signs
    /// believes that key, too.
    ///
    /// # Errors
    /// Where a file cannot be read or is none of keys, and where nobody would be believed.
    pub fn read(trusted: Option<&Path>, own: Option<&Path>) -> io::Result<Self> {
        let own = own.map(signing_key).transpose()?;
        let mut keys = Vec::new();
        if let Some(path) = trusted {
            keys = public_keys(&read(path)?).map_err(|problem| of_file(path, &problem))?;
        }
        keys.extend(own.as_ref().map(SigningKey::verifying_key));
        if keys.is_empty() {
            return Err(io::Error::other("there is no public key, so no answer can be used"));
        }
        Ok(Self { trusted: keys, own })
    }
}

/// Makes a signing key in a new file, and its public key in a file beside it, whose path is
/// returned.
///
/// # Errors
/// Where one of the files exists, or cannot be written.
pub fn make_keys(path: &Path) -> io::Result<PathBuf> {
    let mut secret = [0; LENGTH];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let key = SigningKey::from_bytes(&secret);
    let mut public = path.as_os_str().to_owned();
    public.push(".pub");
    let public = PathBuf::from(public);
    let write = |path: &Path, mode, text: String| {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| of_file(path, &error.to_string()))
    };
    write(path, 0o600, format!("{SECRET}{}\n", BASE64.encode(secret)))?;
    let public_text = format!("{PUBLIC}{}\n", BASE64.encode(key.verifying_key()));
    if let Err(error) = write(&public, 0o666, public_text) {
        // A key without its public half is of no use.
        fs::remove_file(path)?;
        return Err(error);
    }
    Ok(public)
}

fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(|error| of_file(path, &error.to_string()))
}

fn of_file(path: &Path, problem: &str) -> io::Error {
    io::Error::other(format!("{}: {problem}", path.display()))
}

fn signing_key(path: &Path) -> io::Result<SigningKey> {
    let text = read(path)?;
    let key = text.trim().strip_prefix(SECRET).and_then(bytes);
    let key = key.ok_or_else(|| of_file(path, "no signing key (see silicon cache keygen)"))?;
    Ok(SigningKey::from_bytes(&key))
}

/// The keys of a text; empty lines, and what follows `#`, say nothing.
fn public_keys(text: &str) -> Result<Vec<VerifyingKey>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let keys = lines.enumerate().filter(|(_, line)| !line.is_empty()).map(|(index, line)| {
        let key = line.strip_prefix(PUBLIC).and_then(bytes);
        let key = key.and_then(|key| VerifyingKey::from_bytes(&key).ok());
        key.filter(|key| !key.is_weak()).ok_or_else(|| {
            let place = index + 1;
            if line.starts_with(SECRET) {
                format!("line {place} is a signing key, and no public key")
            } else {
                format!("line {place} is no public key (see silicon cache keygen)")
            }
        })
    });
    keys.collect()
}

fn bytes(text: &str) -> Option<[u8; LENGTH]> {
    BASE64.decode(text).ok()?.try_into().ok()
}

impl Seal {
    /// Tells whether answers can be sealed.
    pub(super) fn can_close(&self) -> bool {
        match self {
            Self::Secret(_) => true,
            Self::Signed(signers) => signers.own.is_some(),
        }
    }

    /// Tells whether answers are those of several users.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Signed(_))
    }

    /// Seals an answer; `None`: there is no key to sign with.
    pub(super) fn close(&self, engine: &str, key: &Digest, answer: &[u8]) -> Option<Vec<u8>> {
        let mut sealed = match self {
            Self::Secret(secret) => {
                code(secret, engine, key, answer).finalize().into_bytes().to_vec()
            }
            Self::Signed(signers) => {
                let own = signers.own.as_ref()?;
                let mut sealed = own.verifying_key().to_bytes().to_vec();
                sealed.extend(own.sign(&signed(engine, key, answer)).to_bytes());
                sealed
            }
        };
        sealed.extend_from_slice(answer);
        Some(sealed)
    }

    /// Returns the answer below a seal, if the seal is one that is believed.
    pub(super) fn open<'b>(
        &self,
        engine: &str,
        key: &Digest,
        sealed: &'b [u8],
    ) -> Option<&'b [u8]> {
        match self {
            Self::Secret(secret) => {
                let (sign, answer) = sealed.split_at_checked(LENGTH)?;
                code(secret, engine, key, answer).verify_slice(sign).ok()?;
                Some(answer)
            }
            Self::Signed(signers) => {
                let (by, rest) = sealed.split_at_checked(LENGTH)?;
                let (signature, answer) = rest.split_first_chunk()?;
                let by = signers.trusted.iter().find(|trusted| trusted.as_bytes() == by)?;
                let signature = Signature::from_bytes(signature);
                by.verify_strict(&signed(engine, key, answer), &signature).ok()?;
                Some(answer)
            }
        }
    }
}

fn code(secret: &[u8; LENGTH], engine: &str, key: &Digest, answer: &[u8]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(secret).expect("any length will do");
    code.update(engine.as_bytes());
    code.update(key);
    code.update(answer);
    code
}

/// Returns the text that is signed. All engines have names of the same length, so that no two
/// questions have the same text.
fn signed(engine: &str, key: &Digest, answer: &[u8]) -> Vec<u8> {
    [PURPOSE, engine.as_bytes(), key, answer].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: &str = "0123456789abcdef";
    const OTHER_ENGINE: &str = "0123456789abcdee";
    const KEY: Digest = [7; 32];

    fn signers(trusted: &[u8], own: Option<u8>) -> Signers {
        let key = |number: &u8| SigningKey::from_bytes(&[*number; LENGTH]);
        Signers {
            trusted: trusted.iter().map(|number| key(number).verifying_key()).collect(),
            own: own.as_ref().map(key),
        }
    }

    #[test]
    fn seals_of_the_believed_can_be_opened() {
        let shared = Seal::Signed(signers(&[1, 2], Some(2)));
        let reader = Seal::Signed(signers(&[3, 2], None));
        let sealed = shared.close(ENGINE, &KEY, b"verified").expect("there is a key");
        assert_eq!(reader.open(ENGINE, &KEY, &sealed), Some(&b"verified"[..]));
        assert_eq!(reader.close(ENGINE, &KEY, b"verified"), None);
        let own = Seal::Secret([9; LENGTH]);
        let sealed = own.close(ENGINE, &KEY, b"verified").expect("there is a secret");
        assert_eq!(own.open(ENGINE, &KEY, &sealed), Some(&b"verified"[..]));
    }

    /// Seals of strangers, and those of other answers, keys and engines.
    #[test]
    fn no_other_seal_can_be_opened() {
        let secret = Seal::Secret([9; LENGTH]);
        let reader = Seal::Signed(signers(&[1], Some(1)));
        let stranger = Seal::Signed(signers(&[1, 2], Some(2)));
        for (reader, others) in
            [(&reader, [&stranger, &secret]), (&secret, [&reader, &Seal::Secret([8; LENGTH])])]
        {
            for other in others {
                let sealed = other.close(ENGINE, &KEY, b"verified").expect("there is a key");
                assert_eq!(reader.open(ENGINE, &KEY, &sealed), None);
            }
            let sealed = reader.close(ENGINE, &KEY, b"verified").expect("there is a key");
            assert_eq!(reader.open(OTHER_ENGINE, &KEY, &sealed), None);
            assert_eq!(reader.open(ENGINE, &[8; 32], &sealed), None);
            assert_eq!(reader.open(ENGINE, &KEY, b"verified"), None);
            for length in 0..sealed.len() {
                assert_eq!(reader.open(ENGINE, &KEY, &sealed[..length]), None, "{length}");
            }
            for bit in 0..8 * sealed.len() {
                let mut sealed = sealed.clone();
                sealed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(reader.open(ENGINE, &KEY, &sealed), None, "{bit}");
            }
        }
    }

    /// A stranger cannot put the name of somebody else over a signature.
    #[test]
    fn the_name_of_the_writer_is_no_signature() {
        let reader = Seal::Signed(signers(&[1], None));
        let stranger = Seal::Signed(signers(&[2], Some(2)));
        let mut sealed = stranger.close(ENGINE, &KEY, b"verified").expect("there is a key");
        let named = SigningKey::from_bytes(&[1; LENGTH]).verifying_key();
        sealed[..LENGTH].copy_from_slice(named.as_bytes());
        assert_eq!(reader.open(ENGINE, &KEY, &sealed), None);
    }

    #[test]
    fn files_of_keys_are_read_as_written() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("ci");
        let public = make_keys(&path).expect("it is new");
        let writer = Signers::read(None, Some(&path)).expect("it is a key");
        let reader = Signers::read(Some(&public), None).expect("it is a key");
        assert_eq!(writer.trusted, reader.trusted);
        assert!(make_keys(&path).is_err(), "it is there");
        let problem = |trusted: &Path, own: Option<&Path>| {
            Signers::read(Some(trusted), own).expect_err("it is none").to_string()
        };
        assert!(problem(&path, None).contains("line 1 is a signing key"));
        assert!(problem(&public, Some(&public)).contains("no signing key"));
        let key = fs::read_to_string(&public).expect("it can be read");
        fs::write(&public, format!("# of CI\n\n{}  # main\n", key.trim())).expect("can be written");
        assert_eq!(Signers::read(Some(&public), None).expect("a list").trusted, reader.trusted);
        // The neutral element signs anything, and this is no point of the curve.
        let weak = format!("{PUBLIC}AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
        for text in [&weak[..], "silicon-public-key:AAAA\n", "x\n", ""] {
            fs::write(&public, text).expect("can be written");
            assert!(Signers::read(Some(&public), None).is_err(), "{text}");
        }
    }
}
