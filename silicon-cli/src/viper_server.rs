//! The command line by which Viper-IDE starts ViperServer: `java [JVM options]
//! viper.server.ViperServerRunner [options]`. Where its setting for Java names this command, it is
//! we who are started so.

use std::ffi::OsString;

use clap::Parser;
use silicon_lsp::Arguments;

use crate::args::reference_flags;
use crate::commands::Cli;

const RUNNER: &str = "viper.server.ViperServerRunner";

/// Returns the arguments in our words, if they are those; `Err`: they ask for what we do not have.
pub(crate) fn arguments(given: &[OsString]) -> Option<Result<Vec<OsString>, String>> {
    let program = given.first()?;
    // The client asks whether there is a Java.
    if given.len() == 2 && given[1] == "-version" {
        return Some(Ok(vec![program.clone(), "--version".into()]));
    }
    let runner = given.iter().position(|argument| argument == RUNNER)?;
    let mut rest = given[runner + 1..].iter().map(|argument| argument.to_string_lossy());
    let (mut port, mut mode) = ("0".to_owned(), "LSP".to_owned());
    while let Some(argument) = rest.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument.into_owned(), None),
        };
        match name.as_str() {
            "--port" => port = value.or_else(|| rest.next().map(Into::into)).unwrap_or(port),
            "--serverMode" => mode = value.or_else(|| rest.next().map(Into::into)).unwrap_or(mode),
            // About its logs, its cache, its threads and its clients.
            _ => {}
        }
    }
    if mode != "LSP" {
        return Some(Err(format!("only --serverMode LSP is supported, not '{mode}'")));
    }
    Some(Ok(vec![program.clone(), "lsp".into(), format!("--port={port}").into()]))
}

/// Reads a ViperServer client's request for a run, in the words of the reference's command line.
///
/// # Errors
/// The mistake in the arguments.
pub(crate) fn read(arguments: &str) -> Result<Arguments, String> {
    let program = "silicon".to_owned();
    let given = std::iter::once(program).chain(words(arguments)).map(OsString::from).collect();
    let translated = reference_flags::translate(given)?;
    let Cli { args, .. } = Cli::try_parse_from(translated.arguments)
        .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())?;
    Ok(Arguments { session: args.session(), without_effect: translated.without_effect })
}

/// Returns the words of a text; quotes keep blanks together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for character in text.chars() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            _ if character.is_whitespace() && !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(given: &str) -> Option<Result<Vec<OsString>, String>> {
        arguments(&given.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_client_s_command_line_is_known() {
        let given = "silicon -Xmx2048m -Xss128m -cp a.jar:b.jar -server viper.server.ViperServerRunner --serverMode LSP --singleClient --logLevel ALL --logFile F";
        let expected = ["silicon", "lsp", "--port=0"].map(OsString::from).to_vec();
        assert_eq!(started(given), Some(Ok(expected)));
        let with_port = "silicon viper.server.ViperServerRunner --port=7 --serverMode=LSP";
        let expected = ["silicon", "lsp", "--port=7"].map(OsString::from).to_vec();
        assert_eq!(started(with_port), Some(Ok(expected)));
        assert!(matches!(
            started("silicon viper.server.ViperServerRunner --serverMode HTTP"),
            Some(Err(_))
        ));
        assert_eq!(started("silicon a.vpr"), None);
        assert_eq!(started("silicon -version a.vpr"), None);
    }

    #[test]
    fn words_are_those_of_a_shell() {
        assert_eq!(words("  --a \"b c\"d  e "), ["--a", "b cd", "e"]);
        assert_eq!(words("\"\""), [""]);
    }

    #[test]
    fn arguments_are_those_of_the_reference() {
        assert_eq!(read("--disableNL --smoke").expect("known").without_effect, ["--disableNL"]);
        assert!(read("--smoke").expect("known").session.options.smoke);
        assert!(read("--disableShortCircuitingEvaluations").is_err());
        assert!(read("--no-such-flag").is_err());
        assert!(read("").expect("known").without_effect.is_empty());
    }
}
