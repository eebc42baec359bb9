//! Programs that others wrote and that we are tried with: editors and browsers.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

/// A variable of the environment: where it is set, a program that is not installed is a failure.
pub const REQUIRED: &str = "SIL_TESTS_NEED_CLIENTS";

/// The same for the JVM, its compiler, and clients on it.
pub const JVM_REQUIRED: &str = "SIL_TESTS_NEED_JVM";

/// Where a program is installed. Where it is not, that is said: a test that goes without it has
/// shown nothing.
///
/// # Panics
/// If it is not installed where it has to be ([`REQUIRED`]).
pub fn installed(program: &str) -> Option<PathBuf> {
    found(program, REQUIRED)
}

/// Tells whether there is a JDK.
///
/// # Panics
/// If there is none where there has to be one ([`JVM_REQUIRED`]).
pub fn has_jdk() -> bool {
    found("javac", JVM_REQUIRED).is_some()
}

fn found(program: &str, required: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&paths).map(|path| path.join(program)).find(|path| path.is_file());
    if found.is_none() {
        assert!(env::var_os(required).is_none(), "{program} is not installed");
        let words = format!("NOT TESTED: {program} is not installed\n");
        // Past what the test runner keeps to itself.
        let _ = std::io::stderr().write_all(words.as_bytes());
    }
    found
}
