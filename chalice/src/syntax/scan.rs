//! A look at the tokens of a text before it is parsed: unclosed comments, nesting beyond the limit,
//! and where trivia is.
//!
//! The generated parser recurses once or more for every bracket, so a limit has to hold before it
//! starts.

use front::tokens::{Kind, Token, tokens};
use front::{Language, Nesting, Trivia};

use super::NESTING_LIMIT;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// Finds the trivia of a text.
///
/// # Errors
/// A block comment without end, or nesting beyond [`NESTING_LIMIT`].
pub(super) fn scan(text: &str) -> Result<Trivia, Diagnostic> {
    let error = |start: usize, end: usize, message: String| {
        Err(Diagnostic::new(Code::ParserError, Span::new(start, end), message))
    };
    let tokens = tokens(text, Language::Chalice);
    let mut nesting = Nesting::default();
    for token in &tokens {
        let is_open = token.text.len() < "/**/".len() || !token.text.ends_with("*/");
        if token.kind == Kind::BlockComment && is_open {
            let message = "this comment is not closed".to_owned();
            return error(token.start, token.start + "/*".len(), message);
        }
        note(&mut nesting, token);
        if nesting.depth() > NESTING_LIMIT {
            let message = format!("nested too deeply: the limit is {NESTING_LIMIT}");
            return error(token.start, token.end(), message);
        }
    }
    Ok(Trivia::between(&tokens, text))
}

/// Notes what a token changes. Besides brackets, `?`, `::`, `unfolding`, `seq` and `set` nest what
/// follows them, up to the next comma, bracket or word that begins a statement or declaration.
fn note(nesting: &mut Nesting, token: &Token<'_>) {
    match token.text {
        "(" | "[" | "{" => nesting.open(),
        ")" | "]" | "}" => nesting.close(),
        "?" | "::" | "unfolding" | "seq" | "set" => nesting.deepen(),
        ":=" | "," | ";" => nesting.begin_anew(),
        "class" | "channel" | "var" | "const" | "ghost" | "method" | "condition" | "assert"
        | "assume" | "reorder" | "share" | "unshare" | "downgrade" | "join" | "call" | "if"
        | "while" | "invariant" | "lockchange" | "requires" | "ensures" | "predicate"
        | "function" | "free" | "send" | "receive" | "fold" | "unfold" | "wait" | "signal"
        | "replaces" => nesting.begin_anew(),
        _ => {}
    }
}
