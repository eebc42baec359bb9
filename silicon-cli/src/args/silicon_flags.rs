//! Flags of ETH's Silicon that its clients pass and that choose nothing here, so that their command
//! lines work unchanged.
//!
//! We may be stricter than asked, never laxer: a flag is accepted if what it asks for is what we do
//! anyway, or if it only trades completeness. Where we do not do what it asks for, a line on
//! standard error says so. Flags that have a meaning here are aliases of our own options, in
//! `args.rs`; all others are refused.

use clap::ArgAction;

const HEADING: &str = "Flags of ETH's Silicon";

/// See the module.
#[derive(clap::Args, Debug)]
pub(crate) struct SiliconFlags {
    /// How permissions are exhaled there: 0 greedily, 1 with all chunks, 2 with all chunks where
    /// the greedy way fails. Here it is always done as 2 says
    #[arg(
        long = "exhaleMode",
        value_name = "MODE",
        value_parser = clap::value_parser!(u8).range(0..=2),
        help_heading = HEADING
    )]
    exhale_mode: Option<u8>,

    /// Functions are verified in an order that knows what they unfold; here they always are
    #[arg(long = "alternativeFunctionVerificationOrder", action = ArgAction::SetTrue, help_heading = HEADING)]
    alternative_function_order: bool,
}

impl SiliconFlags {
    /// Returns the flags without effect, in a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self.exhale_mode {
            Some(mode @ (0 | 1)) => vec![format!(
                "--exhaleMode={mode} has no effect: permissions are exhaled as with --exhaleMode=2"
            )],
            _ => Vec::new(),
        }
    }
}
