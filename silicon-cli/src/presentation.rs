//! The arguments that say how what is found is shown, here and in reports.

use std::io::{self, IsTerminal};

use clap::{ArgAction, Args, ValueEnum};
use sil::render::Colours;
use silicon::output::Format;

use crate::reports::ReportFile;

#[derive(Args, Debug)]
pub(crate) struct Presentation {
    /// How findings are shown on standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormat,

    /// Write a report to a file, beside standard output: sarif=FILE, junit=FILE or html=FILE
    /// (repeatable)
    #[arg(long = "report", value_name = "FORMAT=FILE")]
    pub(crate) reports: Vec<ReportFile>,

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
        }
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

    /// The options in effect, as they could be given.
    pub(crate) fn configuration(&self) -> Vec<String> {
        let format = self.message_format.to_possible_value();
        let color = self.color.to_possible_value();
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or(String::new(), |value| value.get_name().to_owned())
        };
        let mut lines =
            vec![format!("--message-format {}", name(format)), format!("--color {}", name(color))];
        lines.extend(self.reports.iter().map(|report| format!("--report {report}")));
        lines.push(if self.stats { "--stats" } else { "--no-stats" }.to_owned());
        lines
    }
}
