//! The commands, as users run them.
//!
//! Cargo builds the binaries of a package for that package's own tests only, so these tests build
//! them first; after `cargo build` or a first test that is a matter of a moment.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

use tempfile::TempDir;

/// The results of a command.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs a command of this workspace in a directory, with a text on standard input. The command does
/// not see where the tests run: neither colours nor audits of caches depend on it.
pub fn run(name: &str, arguments: &[&str], directory: &Path, stdin: &[u8]) -> Run {
    let mut child = Command::new(path(name))
        .args(arguments)
        .current_dir(directory)
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    let stdin = stdin.to_owned();
    let writer = thread::spawn(move || {
        // A command that does not read closes the pipe: its right.
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().expect("the command can be waited for");
    writer.join().expect("the writer does not panic");
    output.into()
}

/// A process that runs a program, told from others by its path.
pub fn running(program: &Path) -> Option<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| fs::read_link(process.path().join("exe")).is_ok_and(|it| it == program))
        .find_map(|process| process.file_name().to_str()?.parse().ok())
}

/// A directory of its own for a test, with files; gone when the test is over.
pub struct Scratch(TempDir);

impl Scratch {
    /// With these files, in directories below where their names say so.
    pub fn new(files: &[(&str, impl AsRef<[u8]>)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can be made");
            fs::write(path, text).expect("a temporary file can be written");
        }
        Self(directory)
    }

    /// Without files.
    pub fn empty() -> Self {
        Self::new(&[] as &[(&str, &str)])
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `silicon` there.
    pub fn silicon(&self, arguments: &[&str]) -> Run {
        run("silicon", arguments, self.path(), b"")
    }

    /// The text of a file there.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("it was written")
    }
}

/// Where a command is, built if it is not.
pub fn path(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build).join(name)
}

/// Builds the commands like this test or tool was built, and returns their directory.
fn build() -> PathBuf {
    let this = std::env::current_exe().expect("a running program has a path");
    // Tests are in <profile>/deps, tools in <profile>.
    let outside = |it: &&Path| !it.ends_with("deps");
    let directory = this.ancestors().skip(1).find(outside).expect("<profile>").to_owned();
    let profile = directory.file_name().and_then(|name| name.to_str()).unwrap_or("debug");
    let profile = if profile == "debug" { "dev" } else { profile };
    let target = directory.parent().expect("<target>/<profile>");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--offline", "--profile", profile])
        .args(["-p", "silicon-cli", "-p", "chalice2sil", "-p", "chalice-run", "-p", "spl2sil"])
        .args(["--bins", "--target-dir"])
        .arg(target)
        .args(cfg!(feature = "remote-cache").then_some("--features=silicon-cli/remote-cache"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the commands cannot be built");
    directory
}
