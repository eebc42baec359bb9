//! `silicon.toml`: options that hold for all runs in a directory and below.
//!
//! Its keys are the long names of options, without dashes. What the command line says comes later,
//! and wins; values of options that may be repeated add up.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgAction, CommandFactory};
use hints::spelling::Spelling;
use silicon::answers::store;
use toml::{Table, Value};

use crate::commands::Cli;

const NAME: &str = "silicon.toml";

/// Options that a file cannot set: the task, and places of other files.
const NOT_IN_FILES: [&str; 13] = [
    "config",
    "no-config",
    "no-cache",
    "cache-key",
    "dump",
    "form",
    "print-config",
    "compat",
    "shard",
    "costs",
    "save",
    "resume",
    "watch",
];

/// Returns the arguments with those of the configuration file in front of them. `Err`: what is
/// wrong with the file.
pub(crate) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let Some(path) = file(&arguments)? else { return Ok(arguments) };
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut options =
        options(&text).map_err(|problem| format!("{}: {}", path.display(), problem.trim_end()))?;
    // A user who names another cache says with it who is believed.
    let is_cache = |it: &OsString| {
        it == "--cache" || it == "--no-cache" || it.to_string_lossy().starts_with("--cache=")
    };
    if arguments.iter().any(is_cache) {
        options.retain(|option| !is_of_cache(option));
    }
    // The same place, wherever a command is started.
    for option in &mut options {
        if is_of_cache(option)
            && let (Some((name, place)), Some(directory)) = (option.split_once('='), path.parent())
            && store::url(Path::new(place)).is_none()
        {
            *option = format!("{name}={}", directory.join(place).display());
        }
    }
    let mut arguments = arguments;
    let first = if is_slurm(&arguments) { 3 } else { 1 };
    if is_server(&arguments) {
        let of_cache = options.into_iter().filter(|option| is_of_cache(option));
        arguments.splice(2..2, of_cache.map(OsString::from));
        return Ok(arguments);
    }
    arguments.splice(first..first, options.into_iter().map(OsString::from));
    Ok(arguments)
}

/// Tells whether an option says where verdicts are kept, and who is believed.
fn is_of_cache(option: &str) -> bool {
    ["--cache=", "--cache-trust="].iter().any(|name| option.starts_with(name))
}

/// Tells whether the arguments are those of a language server, to which the cache of a file
/// matters.
fn is_server(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|command| command == "lsp")
}

/// Tells whether the arguments are those of a run on a cluster, which has the options of any run.
fn is_slurm(arguments: &[OsString]) -> bool {
    arguments.len() > 2 && arguments[1] == "cluster" && arguments[2] == "slurm"
}

/// Returns the file that is named, or the nearest one from here upwards.
fn file(arguments: &[OsString]) -> Result<Option<PathBuf>, String> {
    // Subcommands have options of their own.
    let commands: Vec<String> =
        Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let first = arguments.get(1).map(OsString::as_os_str);
    let is_command = commands.iter().any(|command| first == Some(OsStr::new(command)));
    if is_command && !is_slurm(arguments) && !is_server(arguments) {
        return Ok(None);
    }
    let mut told = None;
    let mut rest = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    while let Some(argument) = rest.next() {
        // As with all options, the last one wins.
        if argument == "--no-config" {
            told = Some(None);
        } else if argument == "--config" {
            told = Some(rest.next().map(PathBuf::from));
        } else if let Some(path) = argument.to_str().and_then(|text| text.strip_prefix("--config="))
        {
            told = Some(Some(path.into()));
        }
    }
    if let Some(told) = told {
        return Ok(told);
    }
    let here = std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?;
    Ok(nearest(&here))
}

/// Returns the directory of the repository or the configuration that another directory belongs to;
/// itself, where it belongs to none.
pub(crate) fn root(directory: &Path) -> PathBuf {
    let mut above = directory.ancestors();
    let is_root = |it: &&Path| it.join(".git").exists() || it.join(NAME).is_file();
    above.find(is_root).unwrap_or(directory).to_owned()
}

/// A repository is not configured by what stands outside of it.
fn nearest(directory: &Path) -> Option<PathBuf> {
    for directory in directory.ancestors() {
        let path = directory.join(NAME);
        if path.is_file() {
            return Some(path);
        }
        if directory.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Turns the options of a file into arguments.
fn options(text: &str) -> Result<Vec<String>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let command = Cli::command();
    let mut options = Vec::new();
    for (name, value) in &table {
        let is_it = |argument: &&clap::Arg| argument.get_long() == Some(name);
        let argument = command.get_arguments().find(is_it);
        let Some(argument) = argument.filter(|_| !NOT_IN_FILES.contains(&name.as_str())) else {
            let known = command.get_arguments().filter_map(|it| it.get_long());
            let meant = Spelling::default().question(name, known);
            return Err(format!("`{name}` is no option that a file can set (see --help){meant}"));
        };
        let before = options.len();
        let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
        let is_list = matches!(argument.get_action(), ArgAction::Append);
        match value {
            Value::Boolean(on) if is_switch => {
                options.push(format!("--{}{name}", if *on { "" } else { "no-" }));
            }
            Value::Array(values) if is_list => {
                for value in values {
                    options.push(format!("--{name}={}", text_of(name, value)?));
                }
            }
            _ if is_switch => return Err(format!("`{name}` is true or false")),
            value => options.push(format!("--{name}={}", text_of(name, value)?)),
        }
        for option in &options[before..] {
            accepted(option).map_err(|problem| format!("`{name}`: {problem}"))?;
        }
    }
    Ok(options)
}

/// `Err`: what is wrong with the value of an option.
fn accepted(option: &str) -> Result<(), String> {
    let Err(error) = Cli::command().try_get_matches_from(["silicon", option]) else {
        return Ok(());
    };
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let advice = text.find("\n\nFor more information").unwrap_or(text.len());
    Err(text[..advice].to_owned())
}

fn text_of(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(format!("the value of `{name}` is neither a text nor a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_options() {
        let text = "member-limit = 2.5\nstats = true\nprogress = false\nmember = [\"a*\", \"b\"]\n";
        let expected =
            ["--member-limit=2.5", "--member=a*", "--member=b", "--no-progress", "--stats"];
        let mut found = options(text).expect("well formed");
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for text in ["stats = 1", "config = \"x\"", "threads = [1]", "x ="] {
            assert!(options(text).is_err(), "{text}");
        }
        for (text, key, meant) in [
            ("memberlimit = 1", "`memberlimit`", "`member-limit`"),
            ("message-format = \"jsn\"", "`message-format`", "json"),
            ("threads = \"x\"", "`threads`", "whole number"),
        ] {
            let problem = options(text).expect_err(text);
            assert!(problem.contains(key) && problem.contains(meant), "{problem}");
        }
    }
}
