//! Way (a): `chalice2sil program.chalice | silicon -`, or `spl2sil program.spl | silicon -`, as two
//! processes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use silicon::session::input::{Input, Language};

/// The commands.
pub struct Commands {
    directory: PathBuf,
}

impl Commands {
    /// Builds them in the profile of the running program, beside which they end up.
    pub fn build() -> Result<Commands> {
        let running = std::env::current_exe().context("a running program has a path")?;
        let directory = running.parent().context("a program is in a directory")?.to_owned();
        let profile = directory.file_name().and_then(|name| name.to_str()).unwrap_or("release");
        let profile = if profile == "debug" { "dev" } else { profile };
        let target = directory.parent().context("<target>/<profile>")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args([
                "build",
                "--quiet",
                "--profile",
                profile,
                "-p",
                "silicon-cli",
                "-p",
                "chalice2sil",
            ])
            .args(["-p", "spl2sil"])
            .args(["--bins", "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .context("cargo does not start")?;
        ensure!(status.success(), "the commands cannot be built");
        Ok(Commands { directory })
    }

    /// Returns those beside the running program, as they are: nothing is built.
    ///
    /// # Errors
    /// There are none.
    pub fn beside() -> Result<Commands> {
        let running = std::env::current_exe().context("a running program has a path")?;
        let directory = running.parent().context("a program is in a directory")?.to_owned();
        let commands = Commands { directory };
        ensure!(
            commands.silicon().is_file() && commands.runner().is_file(),
            "the commands are not beside this program: build them first, with `cargo build` in the same profile"
        );
        Ok(commands)
    }

    /// Returns the command that runs Chalice.
    pub fn runner(&self) -> PathBuf {
        self.directory.join("chalice-run")
    }

    /// Returns the verifier.
    pub fn silicon(&self) -> PathBuf {
        self.directory.join("silicon")
    }

    /// From the start of the first to the end of the last.
    pub fn time(&self, program: &Path, threads: usize) -> io::Result<Duration> {
        let translator = match Input::file(program).language() {
            Language::Spl => "spl2sil",
            Language::Chalice | Language::Sil => "chalice2sil",
        };
        let start = Instant::now();
        let mut translator = Command::new(self.directory.join(translator))
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let translation = translator.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let mut verifier = Command::new(self.silicon());
        verifier.arg("-").stdin(translation).stdout(Stdio::null()).stderr(Stdio::null());
        if threads > 0 {
            verifier.args(["-j", &threads.to_string()]);
        }
        let verified = verifier.status();
        translator.wait()?;
        verified?;
        Ok(start.elapsed())
    }
}
