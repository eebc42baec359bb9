//! A look at the text before it is parsed: unclosed comments, nesting beyond the limit, and where
//! trivia is.
//!
//! The generated parser recurses once or more for every bracket, so a limit has to hold before it
//! starts.

use front::{Nesting, Trivia};

use super::NESTING_LIMIT;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// Finds the trivia of a text.
///
/// # Errors
/// A block comment without end, or nesting beyond [`NESTING_LIMIT`].
pub(super) fn scan(text: &str) -> Result<Trivia, Diagnostic> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        trivia: Trivia::default(),
        nesting: Nesting::default(),
    };
    while scanner.at < scanner.bytes.len() {
        scanner.step()?;
    }
    Ok(scanner.trivia)
}

struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
    trivia: Trivia,
    /// Besides brackets, `?`, `::`, `unfolding`, `seq` and `set` nest what follows them, up to the
    /// next comma, bracket or word that begins a statement or declaration.
    nesting: Nesting,
}

impl Scanner<'_> {
    fn step(&mut self) -> Result<(), Diagnostic> {
        let rest = &self.bytes[self.at..];
        let length = match rest[0] {
            byte if byte.is_ascii_whitespace() || byte == 0x0B => self.trivia_of(1),
            b'/' if rest.starts_with(b"//") => {
                let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                self.trivia_of(length)
            }
            b'/' if rest.starts_with(b"/*") => {
                let Some(length) = rest[2..].windows(2).position(|pair| pair == b"*/") else {
                    let message = "this comment is not closed";
                    let span = Span::new(self.at, self.at + 2);
                    return Err(Diagnostic::new(Code::ParserError, span, message));
                };
                self.trivia_of(length + 4)
            }
            quote @ (b'"' | b'\'') => string_length(rest, quote),
            b'(' | b'[' | b'{' => self.nest(Nesting::open, 1),
            b')' | b']' | b'}' => self.nest(Nesting::close, 1),
            b'?' => self.nest(Nesting::deepen, 1),
            b':' if rest.starts_with(b"::") => self.nest(Nesting::deepen, 2),
            b':' if rest.starts_with(b":=") => self.nest(Nesting::begin_anew, 2),
            b',' | b';' => self.nest(Nesting::begin_anew, 1),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => self.word(rest),
            _ => 1,
        };
        if self.nesting.depth() > NESTING_LIMIT {
            let message = format!("nested too deeply: the limit is {NESTING_LIMIT}");
            return Err(Diagnostic::new(
                Code::ParserError,
                Span::new(self.at, self.at + length),
                message,
            ));
        }
        self.at += length;
        Ok(())
    }

    fn trivia_of(&mut self, length: usize) -> usize {
        self.trivia.add(self.at..self.at + length);
        length
    }

    fn nest(&mut self, change: fn(&mut Nesting), length: usize) -> usize {
        change(&mut self.nesting);
        length
    }

    fn word(&mut self, rest: &[u8]) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        match &rest[..length] {
            b"unfolding" | b"seq" | b"set" => self.nest(Nesting::deepen, length),
            b"class" | b"channel" | b"var" | b"const" | b"ghost" | b"method" | b"condition"
            | b"assert" | b"assume" | b"reorder" | b"share" | b"unshare" | b"downgrade"
            | b"join" | b"call" | b"if" | b"while" | b"invariant" | b"lockchange" | b"requires"
            | b"ensures" | b"predicate" | b"function" | b"free" | b"send" | b"receive"
            | b"fold" | b"unfold" | b"wait" | b"signal" | b"replaces" => {
                self.nest(Nesting::begin_anew, length)
            }
            _ => length,
        }
    }
}

/// Length of the string literal at the start of `rest`, or of its line if it is not closed there.
fn string_length(rest: &[u8], quote: u8) -> usize {
    match rest[1..].iter().position(|&byte| byte == quote || byte == b'\n') {
        Some(length) if rest[length + 1] == quote => length + 2,
        Some(length) => length + 1,
        None => rest.len(),
    }
}
