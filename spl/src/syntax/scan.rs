//! A look at the tokens of a text before it is parsed: unclosed comments, nesting beyond the limit,
//! and where trivia is.
//!
//! The generated parser recurses once or more for every bracket, so a limit has to hold before it
//! starts.

use front::tokens::{Kind, Token, tokens};
use front::{Language, Trivia};

use super::NESTING_LIMIT;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// Finds the trivia of a text.
///
/// # Errors
/// A block comment without end, nesting beyond [`NESTING_LIMIT`], or `**-`, which looks like `-**`.
pub(super) fn scan(file: FileId, text: &str) -> Result<Trivia, Diagnostic> {
    let error = |start: usize, end: usize, message: String| {
        Diagnostic::new(Code::ParserError, Span::new(file, start, end), message)
    };
    let tokens = tokens(text, Language::Spl);
    let mut nesting = Nesting::default();
    for token in &tokens {
        match token.kind {
            Kind::BlockComment => {
                check_comment(token)
                    .map_err(|(at, message)| error(at, at + "/*".len(), message))?;
            }
            Kind::Sign if token.text.ends_with("**") && text[token.end()..].starts_with('-') => {
                let message = "`**-` is no operator: did you mean `-**`?".to_owned();
                return Err(error(token.end() - "**".len(), token.end() + "-".len(), message));
            }
            Kind::Sign | Kind::Word | Kind::Number => nesting.note(token),
            Kind::Quoted | Kind::LineComment => {}
        }
        if nesting.so_far.depth() > NESTING_LIMIT {
            let message = format!("nested too deeply: the limit is {NESTING_LIMIT}");
            return Err(error(token.start, token.end(), message));
        }
    }
    Ok(Trivia::between(&tokens, text))
}

/// Checks that a block comment, in which others may stand, is closed and does not nest too deeply.
///
/// # Errors
/// Where it is not or does, and the message.
fn check_comment(comment: &Token<'_>) -> Result<(), (usize, String)> {
    let mut depth = 0;
    let mut at = 0;
    while let Some(two) = comment.text.as_bytes().get(at..at + 2) {
        match two {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth > NESTING_LIMIT {
            let message = format!("comments nested too deeply: the limit is {NESTING_LIMIT}");
            return Err((comment.start + at, message));
        }
        at += 2;
    }
    if depth == 0 { Ok(()) } else { Err((comment.start, "this comment is not closed".to_owned())) }
}

/// How deep the current place is nested.
///
/// Besides brackets, words and symbols that begin something open-ended nest what follows them: `?`,
/// `::`, `:`, `unfolding`, and `if`, `while` and the like, whose statement needs no braces. They
/// end at a semicolon, a closing brace or a comma, unless `else` or `or` goes on there.
#[derive(Default)]
struct Nesting {
    so_far: front::Nesting,
    /// Has what nests ended, unless the next word goes on with it?
    may_end: bool,
}

impl Nesting {
    fn open(&mut self) {
        self.settle();
        self.so_far.open();
    }

    fn close(&mut self) {
        self.settle();
        self.so_far.close();
    }

    fn deepen(&mut self) {
        self.settle();
        self.so_far.deepen();
    }

    fn begin_anew(&mut self) {
        self.may_end = false;
        self.so_far.begin_anew();
    }

    /// Settles that the next token does not continue the text before it.
    fn settle(&mut self) {
        if self.may_end {
            self.begin_anew();
        }
    }

    /// Notes what a token changes.
    fn note(&mut self, token: &Token<'_>) {
        match token.text {
            "(" | "[" | "{" => self.open(),
            ")" | "]" => self.close(),
            "}" => {
                self.close();
                self.may_end = true;
            }
            ";" => self.may_end = true,
            "?" | "!" | "~" | "::" => self.deepen(),
            "unfolding" | "if" | "while" | "choose" | "forall" | "exists" => self.deepen(),
            "else" | "or" => {
                self.may_end = false;
                self.deepen();
            }
            "," | ":=" => self.begin_anew(),
            "struct" | "procedure" | "predicate" | "function" | "lemma" | "axiom" | "define"
            | "include" | "options" | "requires" | "ensures" | "invariant" | "var" | "const"
            | "type" | "datatype" => self.begin_anew(),
            _ if matches!(token.kind, Kind::Word | Kind::Number) => self.settle(),
            sign if sign.contains(['&', '|', '+', '*', '/', '%', '=']) => self.settle(),
            _ => {}
        }
    }
}
