//! Pest's errors in the user's words.

use ::hints::slips;
use ::hints::syntax::Hint;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::Rule;
use super::hints;

/// A syntax error.
pub(super) struct Failure {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Everything was read.
    pub(super) is_at_end: bool,
    pub(super) message: String,
    /// The start of a bracket that is not closed, and what to say of it.
    pub(super) unclosed: Option<(usize, String)>,
}

/// Describes pest's error; offsets count in the text that was parsed.
pub(super) fn describe(error: &Error<Rule>, text: &str) -> Failure {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let at = at + leading_space(&text[at..]);
    let found = token(&text[at..]);
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expected(positives),
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    failure(text, at, found, &expected)
}

/// Returns the error for `found` at `at`, where something else was expected.
fn failure(text: &str, at: usize, found: &str, expected: &[&str]) -> Failure {
    let Hint { text: hint, word, unclosed } = hints::hint(text, at, found, expected);
    let is_at_end = found.is_empty();
    let (at, found) = word.map_or((at, found), |word| (word.start, &text[word]));
    let mut message = if found.is_empty() {
        "unexpected end of the member".to_string()
    } else {
        format!("unexpected `{}`", slips::shown(found))
    };
    match hint {
        Some(hint) => message.push_str(&format!("; {hint}")),
        None if expected.is_empty() => {}
        None => message.push_str(&format!("; expected {}", list(expected))),
    }
    Failure { start: at, end: at + found.len(), is_at_end, message, unclosed }
}

/// Returns the error for an expression where a statement is expected.
pub(super) fn no_statement(text: &str, start: usize) -> Failure {
    failure(text, start, token(&text[start..]), &["a statement"])
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\r', '\n']).len()
}

/// Returns the word, number or symbol at the start of `text`.
fn token(text: &str) -> &str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    &text[..end.max(first).min(text.len())]
}

/// Lists the expected forms, each once, most general first.
fn expected(rules: &[Rule]) -> Vec<&'static str> {
    let mut words: Vec<(u8, &'static str)> = rules.iter().filter_map(|rule| word(*rule)).collect();
    words.sort_unstable();
    words.dedup();
    // Where an operand is missing, prefix forms are no news; where a statement may start, its
    // keywords neither.
    let general = words.iter().any(|(rank, _)| *rank < OPERATOR);
    if general {
        words.retain(|(rank, _)| *rank < OPERATOR);
    }
    words.into_iter().map(|(_, word)| word).collect()
}

fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Words of a rank below are enough to say where anything of that kind is expected.
const OPERATOR: u8 = 3;

/// Returns how a rule is called in messages, with its rank; `None` for rules that help nobody.
fn word(rule: Rule) -> Option<(u8, &'static str)> {
    Some(match rule {
        Rule::members | Rule::member => (0, "a declaration"),
        Rule::domain_member => (0, "a domain function, predicate or axiom"),
        Rule::stmt => (0, "a statement"),
        Rule::terminator => (0, "`goto`, `branch`, `next`, `halt` or `dead`"),
        Rule::exp
        | Rule::name
        | Rule::integer
        | Rule::paren
        | Rule::literal_word
        | Rule::prefix_op => (1, "an expression"),
        Rule::plain_type | Rule::named_type | Rule::collection_type | Rule::map_type => {
            (1, "a type")
        }
        Rule::ident | Rule::typed_name | Rule::key => (2, "a name"),
        Rule::string | Rule::standard_path => (2, "a path or string in quotes"),
        Rule::open_paren => (2, "`(`"),
        Rule::close_paren => (2, "`)`"),
        Rule::close_bracket => (2, "`]`"),
        Rule::double_colon => (2, "`::`"),
        Rule::open_brace | Rule::block | Rule::graph => (2, "`{`"),
        Rule::colon => (2, "`:`"),
        Rule::kw_in => (2, "`in`"),
        Rule::kw_else => (2, "`else`"),
        Rule::binary_op => (OPERATOR, "an operator or the end of the expression"),
        Rule::assign => (OPERATOR, "`:=`"),
        Rule::EOI => (4, "the end of the file"),
        _ => return None,
    })
}
