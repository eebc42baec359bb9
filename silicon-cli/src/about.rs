//! How a run came about, for whoever reads its page later.

use std::env;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::args::VERSION;

/// Returns the command, the time, the versions and the commit of a run, each with its title.
pub(crate) fn about_run() -> Vec<(&'static str, String)> {
    let words: Vec<String> = env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut about = vec![("command", words.join(" ")), ("date", date)];
    about.push(("version", format!("silicon {}", *VERSION)));
    about.extend(commit().map(|commit| ("commit", commit)));
    about
}

/// Returns a word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the commit that is checked out here, and whether something has changed since; `None`
/// outside of a repository, or without git.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]);
    let found = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(found.stdout).ok()?.trim().to_owned();
    (found.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_cut_them() {
        for (word, shown) in [
            ("a.sil", "a.sil"),
            ("a/b-1.vpr", "a/b-1.vpr"),
            ("--at=a:1", "--at=a:1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("it's $1", r"'it'\''s $1'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
