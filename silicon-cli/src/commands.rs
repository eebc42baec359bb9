//! The command line as a whole: a run, or another command.

use clap::{Parser, Subcommand};
use manual::Shell;

use crate::args::{Args, VERSION};
use crate::cache::{Cache, CachePlace};
use crate::cluster::Cluster;
use crate::format::Fmt;
use crate::jvm::Jvm;
use crate::merge::Merge;
use crate::serve::Serve;
use crate::stability::Stability;

const EXAMPLES: &str = "\
Examples:
  silicon program.sil                       verify all members of a program
  silicon src --message-format short        all programs below a directory, one line an error
  silicon a.vpr --member 'list_*' --stats   some members, with what they cost
  chalice2sil a.chalice | silicon -         verify a translation, report at a.chalice
  silicon a.sil --report sarif=a.sarif --report junit=a.xml

Exit codes:
  0 verified   1 failed   2 wrong use, or nothing selected   3 input error
  4 inconclusive or unsupported   70 internal error";

/// Verifies SIL (.sil), Viper (.vpr), Chalice (.chalice) and SPL (.spl) programs by symbolic
/// execution.
#[derive(Parser, Debug)]
#[command(
    name = "silicon",
    version = VERSION.as_str(),
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    args_override_self = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) args: Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Stability(Stability),
    Merge(Merge),
    Cache(Cache),
    Cluster(Cluster),
    Fmt(Fmt),
    Serve(Serve),
    #[command(subcommand)]
    Jvm(Jvm),
    /// Serve an editor, as a language server: on standard input and output, or on a port
    Lsp {
        /// Wait for the editor on this port of this machine, in the place of ViperServer; 0: any,
        /// told on standard output
        #[arg(long, value_name = "N")]
        port: Option<u16>,
        #[command(flatten)]
        cache: CachePlace,
        /// Verify for a language server
        #[arg(long, hide = true)]
        worker: bool,
    },
    #[command(flatten)]
    About(About),
}

/// Questions about the command itself.
#[derive(Subcommand, Debug)]
pub(crate) enum About {
    /// Print a completion script for a shell
    Completions { shell: Shell },
    /// Say what the id of a finding means and what to do about it, or what a word of SIL, Chalice
    /// or SPL means
    Explain {
        /// As in assert.failed:assertion.false, or a part of it; or a word, as in fold. None: all
        /// ids; sil, chalice, spl: all forms of the language, as pages in Markdown
        id: Option<String>,
    },
    /// Print the manual page, in the language of man(1)
    Man,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
