//! Words on the command line that are none of ours, and what they may mean.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use hints::spelling::{Spelling, did_you_mean};

use super::reference_flags;
use crate::commands::Cli;

/// Options that other tools have, and ours for the same thing.
const OPTIONS_OF_OTHERS: &[(&str, &str)] = &[
    ("--format", "--message-format"),
    ("--output-format", "--message-format"),
    ("--error-format", "--message-format"),
    ("--json", "--message-format json"),
    ("--sarif", "--report sarif=FILE"),
    ("--html", "--report html=FILE"),
    ("--output", "--report FORMAT=FILE"),
    ("--jobs", "--threads"),
    ("--method", "--member"),
    ("--filter", "--member"),
    ("--verbose", "--stats"),
    ("--quiet", "--message-format short"),
    ("--parse-only", "--check"),
    ("--typecheck", "--check"),
];

/// Commands that other tools have, and the way to write them here.
const COMMANDS_OF_OTHERS: &[(&str, &str)] = &[
    ("verify", "silicon"),
    ("prove", "silicon"),
    ("run", "silicon"),
    ("check", "silicon --check"),
    ("server", "silicon lsp"),
    ("format", "silicon fmt"),
];

/// The values of an option that takes none here.
const KINDS_OF_COUNTEREXAMPLES: [&str; 4] = ["native", "variables", "mapped", "extended"];

/// Puts what is meant by an unknown option into the error about it.
pub(crate) fn improve(error: &mut clap::Error) {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return };
    let name = flag.split('=').next().unwrap_or_default();
    let ours = OPTIONS_OF_OTHERS.iter().find(|(theirs, _)| *theirs == name);
    let tip = if let Some((_, ours)) = ours {
        format!("`{ours}` does that here")
    } else if reference_flags::is_only_known_to_it(name) {
        format!("`{name}` is a flag of the reference verifier: add `--compat silicon`")
    } else {
        return;
    };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// Returns the complaint about an input that is no file, but a word that was to mean something
/// else.
pub(crate) fn complaint(inputs: &[PathBuf]) -> Option<String> {
    let missing = |path: &&PathBuf| path.as_os_str() != "-" && !path.exists();
    let kind = |path: &PathBuf| KINDS_OF_COUNTEREXAMPLES.iter().find(|it| path == Path::new(it));
    if let Some(kind) = inputs.iter().filter(missing).find_map(kind) {
        return Some(format!(
            "no file `{kind}`: as a value of --counterexample it belongs to the reference \
             verifier: add --compat silicon"
        ));
    }
    let (first, rest) = inputs.split_first()?;
    let word = first.to_str().filter(|_| missing(&first) && first.extension().is_none())?;
    if let Some((_, ours)) = COMMANDS_OF_OTHERS.iter().find(|(theirs, _)| *theirs == word) {
        let rest: Vec<_> = rest.iter().map(|path| path.display().to_string()).collect();
        let rest = if rest.is_empty() { "FILE".to_owned() } else { rest.join(" ") };
        return Some(format!("there is no command `{word}`: write `{ours} {rest}`"));
    }
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    let near = Spelling::default().nearest(word, names)?;
    Some(format!("there is no file or command `{word}`{}", did_you_mean(near)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn options_of_others_lead_to_ours() {
        let told = |flag: &str| {
            let mut error = Cli::try_parse_from(["silicon", flag, "a.vpr"]).expect_err("unknown");
            improve(&mut error);
            error.to_string()
        };
        for (theirs, ours) in OPTIONS_OF_OTHERS {
            let text = told(theirs);
            assert!(text.contains(&format!("`{ours}`")), "{theirs}: {text}");
            let option = ours.split(' ').next().expect("a word").trim_start_matches("--");
            let command = Cli::command();
            let is_it = |argument: &&clap::Arg| argument.get_long() == Some(option);
            assert!(command.get_arguments().any(|argument| is_it(&argument)), "{ours}");
        }
        assert!(told("--z3Exe=z3").contains("--compat silicon"));
        assert!(told("--disableNL").contains("--compat silicon"));
        assert!(told("--no-such-thing").contains("--no-such-thing"));
    }

    #[test]
    fn words_that_are_no_files_are_taken_for_what_they_may_mean() {
        let told = |words: &[&str]| {
            complaint(&words.iter().map(PathBuf::from).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(told(&["verify", "a.vpr"]).contains("`silicon a.vpr`"));
        assert!(told(&["explian", "x"]).contains("`explain`"));
        assert!(told(&["a.vpr", "mapped"]).contains("--compat silicon"));
        for fine in [&["missing.vpr"][..], &["-"], &["nowhere"], &[]] {
            assert_eq!(told(fine), "");
        }
    }
}
