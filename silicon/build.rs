//! Makes a digest of all that the verdicts of this build depend on: `SILICON_BUILD`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// The crates that have a part in a verdict, beside this one.
const CRATES: [&str; 10] = [
    "chalice",
    "chalice-run",
    "chalice2sil",
    "front",
    "hints",
    "sil",
    "smt",
    "spl",
    "spl2sil",
    "translator",
];

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let workspace = own.parent().expect("the crate lies in a workspace").to_owned();
    let mut files = vec![workspace.join("Cargo.toml"), workspace.join("Cargo.lock")];
    for name in CRATES.into_iter().chain(["silicon"]) {
        files.push(workspace.join(name).join("Cargo.toml"));
        collect(&workspace.join(name).join("src"), &mut files);
        println!("cargo::rerun-if-changed={}", workspace.join(name).join("src").display());
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&workspace).expect("it is found there");
        digest.update(name.as_os_str().as_encoded_bytes());
        digest.update(fs::read(&file).unwrap_or_default());
    }
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let version = Command::new(rustc).arg("-vV").output().expect("the compiler runs");
    digest.update(version.stdout);
    for (name, value) in env::vars_os().filter(|(name, _)| {
        let name = name.as_encoded_bytes();
        [b"PROFILE", b"TARGET" as &[u8], b"OPT_LEVEL"].contains(&name)
            || name.starts_with(b"CARGO_FEATURE_")
            || name.starts_with(b"CARGO_CFG_")
    }) {
        digest.update(name.as_encoded_bytes());
        digest.update(value.as_encoded_bytes());
    }
    println!("cargo::rustc-env=SILICON_BUILD={:x}", digest.finalize());
}

/// All files below a directory.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a crate has sources") {
        let path = entry.expect("a directory can be read").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
