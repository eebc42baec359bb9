//! The arguments that say how what is found is shown, here and in reports.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Context;
use clap::{ArgAction, Args, ValueEnum, ValueHint};
use sil::render::Colours;
use silicon::output::{Baseline, Format, ReportFormat};

use super::configuration::named;
use crate::about::about_run;
use crate::reports::ReportFile;

#[derive(Args, Debug)]
pub(crate) struct Presentation {
    /// How findings are shown on standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormat,

    /// Write a report to a file, beside standard output: sarif=FILE, junit=FILE, html=FILE or
    /// gitlab=FILE (repeatable)
    #[arg(long = "report", value_name = "FORMAT=FILE")]
    pub(crate) reports: Vec<ReportFile>,

    /// Fail only for what is new: findings in FILE, a report in SARIF of an earlier run, are
    /// neither shown nor counted in the exit code
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    baseline: Option<PathBuf>,

    /// Show what each member cost
    #[arg(long, overrides_with = "no_stats")]
    pub(crate) stats: bool,
    #[arg(long, overrides_with = "stats", hide = true)]
    no_stats: bool,

    /// When colours are used
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", action = ArgAction::Set)]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum MessageFormat {
    Human,
    Short,
    Json,
    /// Commands that GitHub reads in the log of a job: annotations of lines
    Github,
    /// A report of code quality for GitLab
    Gitlab,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Presentation {
    pub(crate) fn format(&self) -> Format {
        match self.message_format {
            MessageFormat::Human => {
                Format::Human { colours: self.colours(), statistics: self.stats }
            }
            MessageFormat::Short => Format::Short,
            MessageFormat::Json => Format::Json { statistics: self.stats },
            MessageFormat::Github => Format::Github,
            MessageFormat::Gitlab => Format::Gitlab,
        }
    }

    /// Tells whether the format shows no statistics.
    pub(crate) fn is_without_stats(&self) -> bool {
        !matches!(self.message_format, MessageFormat::Human | MessageFormat::Json)
    }

    /// Returns the findings of the earlier run, if there is one to compare with.
    pub(crate) fn baseline(&self) -> anyhow::Result<Option<Baseline>> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let read = Baseline::read(&text).map_err(anyhow::Error::new);
        read.map(Some).with_context(|| format!("no findings in {}", path.display()))
    }

    /// Tells whether names of files are to be the same in every checkout.
    pub(crate) fn is_for_others(&self) -> bool {
        let is_one = |report: &ReportFile| {
            matches!(report.format, ReportFormat::Sarif | ReportFormat::Gitlab)
        };
        self.baseline.is_some()
            || matches!(self.message_format, MessageFormat::Github | MessageFormat::Gitlab)
            || self.reports.iter().any(is_one)
    }

    /// Returns the rows about the run for a page; none where no page is asked for.
    pub(crate) fn about_run(&self) -> Vec<(&'static str, String)> {
        let is_page = |report: &ReportFile| report.format == ReportFormat::Html;
        if self.reports.iter().any(is_page) { about_run() } else { Vec::new() }
    }

    /// See <https://no-color.org>: any value but the empty one counts.
    fn colours(&self) -> Colours {
        let wanted = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
            }
        };
        if wanted { Colours::Always } else { Colours::Never }
    }

    /// Returns the options in effect, as they could be given.
    pub(crate) fn configuration(&self) -> Vec<String> {
        let mut lines = vec![
            format!("--message-format {}", named(&self.message_format)),
            format!("--color {}", named(&self.color)),
        ];
        lines.extend(self.reports.iter().map(|report| format!("--report {report}")));
        lines.extend(self.baseline.iter().map(|path| format!("--baseline {}", path.display())));
        lines.push(if self.stats { "--stats" } else { "--no-stats" }.to_owned());
        lines
    }
}
