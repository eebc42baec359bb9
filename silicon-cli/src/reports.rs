//! The files that reports are written to. None may be a program that is read, or the file of
//! another report, under whatever name: what it holds would be lost.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use same_file::is_same_file;
use silicon::output::{ReportFormat, Summary};
use silicon::session::input::Language;
use silicon::session::{Input, Outcome};

/// A report to be written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReportFile {
    pub(crate) format: ReportFormat,
    pub(crate) path: PathBuf,
}

/// As it is given.
impl fmt::Display for ReportFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match self.format {
            ReportFormat::Sarif => "sarif",
            ReportFormat::Junit => "junit",
            ReportFormat::Html => "html",
            ReportFormat::Gitlab => "gitlab",
        };
        write!(f, "{format}={}", self.path.display())
    }
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) = text.split_once('=').unwrap_or((text, ""));
        let format = match format {
            "sarif" => ReportFormat::Sarif,
            "junit" => ReportFormat::Junit,
            "html" => ReportFormat::Html,
            "gitlab" => ReportFormat::Gitlab,
            _ => return Err("expected sarif=FILE, junit=FILE, html=FILE or gitlab=FILE".into()),
        };
        if path.is_empty() {
            return Err("the name of the file is missing".into());
        }
        Ok(Self { format, path: path.into() })
    }
}

/// Returns the files of reports.
pub(crate) fn paths(reports: &[ReportFile]) -> Vec<&Path> {
    reports.iter().map(|report| &*report.path).collect()
}

/// Makes sure that all files can be written, before work is spent on them. What they hold stays.
pub(crate) fn prepare(paths: &[&Path], inputs: &[Input]) -> anyhow::Result<()> {
    for (index, &path) in paths.iter().enumerate() {
        let is_new = !path.exists();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let file = file.with_context(|| cannot_write(path))?;
        // A file that is empty because of us would look like a report.
        let _new = is_new.then(|| Removed(path));
        // Devices and pipes hold nothing that could be lost.
        if !file.metadata().with_context(|| cannot_write(path))?.is_file() {
            continue;
        }
        // A text on standard input may have the name of a file.
        let mut programs = inputs.iter().map(|one| one.path().unwrap_or(Path::new(&one.name)));
        if programs.any(|program| is_same(path, program)) {
            bail!("{}: it is one of the programs", cannot_write(path));
        }
        // The set of imported files is known at the end, and not of programs that were not read.
        if !is_new && Language::of_name(path).is_some() {
            bail!("{}: it is a program", cannot_write(path));
        }
        if paths[..index].iter().any(|other| is_same_place(path, other)) {
            bail!("{}: another report goes to the same file", cannot_write(path));
        }
    }
    Ok(())
}

/// Why the files cannot be written, now that it is known what the programs import.
pub(crate) fn conflict(paths: &[&Path], outcomes: &[Outcome]) -> Option<String> {
    paths.iter().find_map(|path| {
        let mut files = outcomes.iter().flat_map(|outcome| outcome.texts.names());
        let is_part = files.any(|name| is_same(path, Path::new(name)));
        is_part.then(|| format!("{}: it is part of a program", cannot_write(path)))
    })
}

/// Writes all reports; there is to be no [`conflict`].
pub(crate) fn write(
    reports: &[ReportFile],
    outcomes: &[Outcome],
    summary: &Summary,
) -> anyhow::Result<()> {
    for report in reports {
        let path = &report.path;
        write_whole(path, &report.format.report(outcomes, summary))
            .with_context(|| cannot_write(path))?;
    }
    Ok(())
}

/// A file that is removed when this is dropped.
struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        // Nobody has written to it.
        let _ = fs::remove_file(self.0);
    }
}

/// Writes a file that has, at any time, what it had before or all of the text.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // The file that a link leads to is written, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_plain = fs::metadata(path).map_or(true, |data| data.is_file());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // As for any new file: the user's mask takes from it.
    builder.prefix(".silicon-").permissions(fs::Permissions::from_mode(0o666));
    match builder.tempfile_in(directory) {
        Ok(mut file) if is_plain => {
            if let Ok(data) = fs::metadata(path) {
                file.as_file().set_permissions(data.permissions())?;
            }
            file.write_all(text.as_bytes())?;
            file.persist(path).map(|_| ()).map_err(|error| error.error)
        }
        // Devices and pipes, and directories in which nothing can be made.
        _ => fs::write(path, text),
    }
}

/// Tells whether two paths are equal, or lead to one file.
fn is_same_place(path: &Path, other: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).ok();
    is_same(path, other) || absolute(path).is_some_and(|path| absolute(other) == Some(path))
}

/// Tells whether two paths lead to one file. An unreadable file is no program.
fn is_same(path: &Path, other: &Path) -> bool {
    is_same_file(path, other).unwrap_or(false)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
