//! Manual pages and completions for shells, which packages install beside a command.
//!
//! `COMMAND --generate man` prints the page, `--generate bash`, `zsh` or `fish` a completion
//! script.

use std::io::{self, Write};
use std::process;

use clap::{CommandFactory, Parser, ValueEnum};
pub use clap_complete::Shell;

/// Parses the arguments of a command, unless its page or a script is asked for: then that is
/// printed, and the command is over.
pub fn parse<C: Parser>() -> C {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(text) = asked::<C>(&words) {
        let code = text.and_then(|text| io::stdout().write_all(&text)).map_or(1, |()| 0);
        process::exit(code);
    }
    C::parse()
}

/// Returns the text that is asked for; `None` if none is.
fn asked<C: CommandFactory>(words: &[String]) -> Option<io::Result<Vec<u8>>> {
    let [option, what] = words else { return None };
    if option != "--generate" {
        return None;
    }
    if what == "man" {
        return Some(page::<C>());
    }
    Some(Ok(completions::<C>(Shell::from_str(what, true).ok()?)))
}

/// Returns the manual page of a command, in the language of man(1).
///
/// # Errors
/// None in memory, but the maker of pages may have some.
pub fn page<C: CommandFactory>() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(C::command()).render(&mut text)?;
    Ok(text)
}

/// Returns the completion script of a command for a shell.
pub fn completions<C: CommandFactory>(shell: Shell) -> Vec<u8> {
    let mut command = C::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does nothing
    #[derive(Parser)]
    #[command(name = "idle")]
    struct Idle {
        #[arg(required = true)]
        _input: String,
    }

    fn printed(words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let text = asked::<Idle>(&words)?.expect("it is made in memory");
        Some(String::from_utf8(text).expect("a text"))
    }

    #[test]
    fn pages_and_scripts_are_printed_where_they_are_asked_for() {
        let page = printed(&["--generate", "man"]).expect("a page");
        assert!(page.contains(".TH idle") && page.contains("Does nothing"), "{page}");
        for shell in ["bash", "zsh", "fish"] {
            let script = printed(&["--generate", shell]).expect("a script");
            assert!(script.contains("idle"), "{script}");
        }
        assert_eq!(printed(&["--generate", "poem"]), None);
        assert_eq!(printed(&["x"]), None);
    }
}
