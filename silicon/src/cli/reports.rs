//! The files that reports are written to. None may be a program that is read, or the file of another report, under whatever
//! name: what it holds would be lost.

use std::fs::{self, OpenOptions};
use std::path::Path;

use anyhow::{Context, bail};
use same_file::is_same_file;
use silicon::output::{ReportFile, Summary};
use silicon::session::{Input, Outcome};

/// Makes sure that all reports can be written, before work is spent on them. What their files hold stays.
pub(crate) fn prepare(reports: &[ReportFile], inputs: &[Input]) -> anyhow::Result<()> {
    for (index, report) in reports.iter().enumerate() {
        let path = &report.path;
        let is_new = !path.exists();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let file = file.with_context(|| cannot_write(path))?;
        // Devices and pipes hold nothing that could be lost.
        if !file.metadata().with_context(|| cannot_write(path))?.is_file() {
            continue;
        }
        let mut programs = inputs.iter().filter_map(|input| input.path.as_deref());
        let is_input = programs.any(|program| is_same(path, program));
        if is_input && is_new {
            fs::remove_file(path).with_context(|| cannot_write(path))?;
        }
        if is_input {
            bail!("{}: it is one of the programs", cannot_write(path));
        }
        if reports[..index].iter().any(|other| is_same(path, &other.path)) {
            bail!("{}: another report goes to the same file", cannot_write(path));
        }
    }
    Ok(())
}

/// Writes all reports.
pub(crate) fn write(
    reports: &[ReportFile],
    outcomes: &[Outcome],
    summary: &Summary,
) -> anyhow::Result<()> {
    for report in reports {
        let path = &report.path;
        // What the programs import is known by now.
        let mut files = outcomes.iter().flat_map(|outcome| outcome.texts.names());
        if files.any(|name| is_same(path, Path::new(name))) {
            bail!("{}: it is part of a program", cannot_write(path));
        }
        report.write(outcomes, summary).with_context(|| cannot_write(path))?;
    }
    Ok(())
}

/// Whether two paths lead to one file. What cannot be read is no program.
fn is_same(path: &Path, other: &Path) -> bool {
    is_same_file(path, other).unwrap_or(false)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
