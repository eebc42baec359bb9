//! Makes a digest of all that the verdicts of this build depend on: `SILICON_BUILD`.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let workspace = own.parent().expect("the crate lies in a workspace").to_owned();
    let mut files = vec![workspace.join("Cargo.toml"), workspace.join("Cargo.lock")];
    for folder in crates(&workspace, own) {
        files.push(folder.join("Cargo.toml"));
        collect(&folder.join("src"), &mut files);
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
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

/// Returns a crate and all crates of the workspace that it depends on, by their folders.
fn crates(workspace: &Path, own: PathBuf) -> BTreeSet<PathBuf> {
    let known = table(&workspace.join("Cargo.toml"));
    let mut found = BTreeSet::new();
    let mut open = vec![own];
    while let Some(folder) = open.pop() {
        let manifest = table(&folder.join("Cargo.toml"));
        let needed = manifest["dependencies"].as_table().into_iter().flatten();
        let paths = needed.filter_map(|(name, _)| {
            known["workspace"]["dependencies"].get(name)?.get("path")?.as_str()
        });
        open.extend(paths.map(|path| workspace.join(path)).filter(|path| !found.contains(path)));
        found.insert(folder);
    }
    found
}

fn table(manifest: &Path) -> toml::Table {
    let text = fs::read_to_string(manifest).expect("a crate has a manifest");
    text.parse().expect("cargo reads it, too")
}

/// All files below a directory.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a crate has sources") {
        let path = entry.expect("a directory can be read").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
