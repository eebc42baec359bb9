//! `silicon jvm`: clients on the JVM, unchanged.
//!
//! Programs that hold Silver's trees (Nagini, Gobra, VerCors, Prusti) end in one class of the
//! reference verifier. An agent (`jvm/`) puts another class in its place when it is loaded, and
//! that class has programs verified by [`crate::serve`].

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::Subcommand;

use crate::{USAGE, complain};

/// Let clients of the reference verifier on the JVM verify with this command
#[derive(Subcommand, Debug)]
pub(crate) enum Jvm {
    /// Run a client, as in silicon jvm run -- nagini x.py
    Run {
        /// The client and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Print the variable of the environment that does it, as in export "$(silicon jvm env)"
    Env,
}

/// The agent; empty where the command was built without a JDK.
const AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.jar"));

/// The variable that every JVM reads, also one in another program.
const VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// Does what is asked for, and returns the exit code.
pub(crate) fn run(asked: &Jvm) -> anyhow::Result<u8> {
    if AGENT.is_empty() {
        complain("error: this command was built without a JDK, so it has no agent for the JVM");
        return Ok(USAGE);
    }
    let options = options(&agent()?)?;
    match asked {
        Jvm::Env => writeln!(io::stdout(), "{VARIABLE}={options}")?,
        Jvm::Run { command } => {
            let [program, arguments @ ..] = &command[..] else { return Ok(USAGE) };
            let error = Command::new(program).args(arguments).env(VARIABLE, options).exec();
            complain(&format!("error: {}: {error}", program.display()));
            return Ok(USAGE);
        }
    }
    Ok(0)
}

/// Returns the options of the JVM: those that there are, and the agent.
fn options(agent: &Path) -> anyhow::Result<String> {
    let command = env::current_exe().context("cannot find this command")?;
    let own = format!("-javaagent:{}={}", agent.display(), command.display());
    // The JVM cuts the variable at blanks, but not between quotes.
    let own = if own.contains(char::is_whitespace) { format!("\"{own}\"") } else { own };
    let others = env::var(VARIABLE).unwrap_or_default();
    let others = others.split_whitespace().filter(|one| *one != own);
    Ok(others.chain([&*own]).collect::<Vec<_>>().join(" "))
}

/// Returns the file of the agent, and writes it if it is not there.
fn agent() -> anyhow::Result<PathBuf> {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let directory = cache.context("neither HOME nor XDG_CACHE_HOME is set")?.join("silicon");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let mut hasher = DefaultHasher::new();
    AGENT.hash(&mut hasher);
    let path = directory.join(format!("agent-{:016x}.jar", hasher.finish()));
    if fs::read(&path).ok().as_deref() != Some(AGENT) {
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&directory)?;
            file.write_all(AGENT)?;
            file.persist(&path)?;
            Ok(())
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(path)
}
