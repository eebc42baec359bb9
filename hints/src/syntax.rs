//! The words of a syntax error: what was found, and what may be meant or would fit.

use std::ops::Range;

use front::{Language, Words};

use crate::slips;
use crate::spelling::Spelling;

/// Advice about a syntax error.
#[derive(Default, Debug)]
pub struct Hint {
    /// Said in place of what was expected.
    pub text: Option<String>,
    /// The wrong word, where it is not the found word but the first word of its statement.
    pub word: Option<Range<usize>>,
    /// A bracket that is not closed, and what to say of it.
    pub unclosed: Option<(usize, String)>,
}

/// Returns the word or symbol at the start of `text`; empty at its end.
pub fn token(text: &str) -> &str {
    match slips::word(text) {
        "" => &text[..text.chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8)],
        word => word,
    }
}

/// Returns the question whether a word that declarations, clauses and statements begin or go on with
/// is meant by a word that is none and is nearly one.
pub fn misspelt(word: &str, language: Language) -> Option<String> {
    let words = Words::of(language);
    if words.is_reserved(word) || !slips::is_target(word) {
        return None;
    }
    let begins_or_goes_on = words.beginnings().chain(["else", "returns"]);
    let meant = Spelling::default().nearest(word, begins_or_goes_on)?;
    Some(format!("did you mean `{meant}`?"))
}

/// How many expected things a message lists.
const LISTED: usize = 6;

/// Lists the fitting alternatives in one phrase; the list is empty if there are none, or too many
/// to be of use.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= LISTED => format!("{} or {last}", first.join(", ")),
        _ => String::new(),
    }
}

/// Returns the message about what stands at `at` in `text`, which has no comments, and where the
/// mistake is.
pub fn message(text: &str, at: usize, hint: &Hint, expected: &str) -> (String, Range<usize>) {
    let place = hint.word.clone().unwrap_or(at..at + token(&text[at..]).len());
    let mut message = match &text[place.clone()] {
        "" => "syntax error: unexpected end of the file".to_owned(),
        found => format!("syntax error: unexpected `{}`", slips::shown(found)),
    };
    match &hint.text {
        Some(hint) => message.push_str(&format!("; {hint}")),
        None if expected.is_empty() => {}
        None => message.push_str(&format!("; expected {expected}")),
    }
    (message, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_named_with_what_is_meant_or_would_fit() {
        let said = |at, hint: Hint, expected| message("var x = 1", at, &hint, expected);
        let plain = ("syntax error: unexpected `=`; expected `:=`".to_owned(), 6..7);
        assert_eq!(said(6, Hint::default(), "`:=`"), plain);
        let meant = Hint { text: Some("write `:=`".into()), word: Some(0..3), unclosed: None };
        let meant = said(6, meant, "a name");
        assert_eq!(meant, ("syntax error: unexpected `var`; write `:=`".to_owned(), 0..3));
        let end = ("syntax error: unexpected end of the file".to_owned(), 9..9);
        assert_eq!(said(9, Hint::default(), ""), end);
    }

    #[test]
    fn a_long_list_is_of_no_use() {
        assert_eq!(listed(&["a", "b", "c"]), "a, b or c");
        assert_eq!(listed(&["a"; 7]), "");
        assert_eq!(listed(&[""; 0]), "");
    }
}
