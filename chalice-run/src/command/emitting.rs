//! Writing a program as one of its own.

use std::fs;
use std::path::Path;

use anyhow::Context;
use chalice_run::emit;
use chalice_run::machine::Machine;
use chalice_run::report::{human, json};

use super::streams::{err, out};
use super::{FormatArg, NOTHING_RUN, Problem, Runner};

impl Runner<'_> {
    /// Emits the program that a machine is about to execute.
    pub(super) fn emitted(&self, machine: &Machine<'_>, entry: u32) -> Result<u8, Problem> {
        let module = match emit::module(self.sources, self.code, &[machine]) {
            Ok(module) => module,
            Err(refusal) => {
                let failure = refusal.failure(&self.code.methods[entry as usize].name);
                match self.args.message_format {
                    FormatArg::Json => out(&json::failure(self.sources, &failure, "-"))?,
                    FormatArg::Short => err(&human::short(self.sources, &failure)),
                    FormatArg::Human => {
                        err(&human::failure(self.sources, &failure, "", self.args.colored()));
                    }
                }
                return Ok(NOTHING_RUN);
            }
        };
        let Some(folder) = &self.args.output else {
            out(&module)?;
            return Ok(0);
        };
        let package = emit::package(&self.sources.files()[0].0.name, module);
        for (path, text) in &package.files {
            write(&folder.join(path), text)?;
        }
        Ok(0)
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}
