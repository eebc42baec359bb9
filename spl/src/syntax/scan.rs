//! A look at the text before it is parsed: unclosed comments, nesting beyond the limit, and where
//! trivia is.
//!
//! The generated parser recurses once or more for every bracket, so a limit has to hold before it
//! starts.

use front::Trivia;

use super::NESTING_LIMIT;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// Finds the trivia of a text.
///
/// # Errors
/// A block comment without end, nesting beyond [`NESTING_LIMIT`], or `**-`, which looks like `-**`.
pub(super) fn scan(file: FileId, text: &str) -> Result<Trivia, Diagnostic> {
    let mut scanner = Scanner {
        file,
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
    file: FileId,
    bytes: &'s [u8],
    at: usize,
    trivia: Trivia,
    nesting: Nesting,
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

    fn close_brace(&mut self) {
        self.close();
        self.may_end = true;
    }

    fn deepen(&mut self) {
        self.settle();
        self.so_far.deepen();
    }

    fn begin_anew(&mut self) {
        self.may_end = false;
        self.so_far.begin_anew();
    }

    fn end_unless_continued(&mut self) {
        self.may_end = true;
    }

    /// Settles that the next token does not continue the text before it.
    fn settle(&mut self) {
        if self.may_end {
            self.begin_anew();
        }
    }

    /// Notes that the next token continues the text before it, and nests.
    fn go_on(&mut self) {
        self.may_end = false;
        self.deepen();
    }
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
                let length = self.comment_length(rest)?;
                self.trivia_of(length)
            }
            b'"' => string_length(rest),
            b'\'' => char_length(rest),
            b'(' | b'[' | b'{' => self.nest(Nesting::open, 1),
            b')' | b']' => self.nest(Nesting::close, 1),
            b'}' => self.nest(Nesting::close_brace, 1),
            b'?' | b'!' | b'~' => self.nest(Nesting::deepen, 1),
            b':' if rest.starts_with(b":=") => self.nest(Nesting::begin_anew, 2),
            b':' if rest.starts_with(b"::") => self.nest(Nesting::deepen, 2),
            b'*' if rest.starts_with(b"**-") => {
                let span = Span::new(self.file, self.at, self.at + 3);
                let message = "`**-` is no operator: did you mean `-**`?";
                return Err(Diagnostic::new(Code::ParserError, span, message));
            }
            b'&' | b'|' | b'+' | b'*' | b'/' | b'%' | b'=' => self.nest(Nesting::settle, 1),
            b',' => self.nest(Nesting::begin_anew, 1),
            b';' => self.nest(Nesting::end_unless_continued, 1),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => self.word(rest),
            _ => 1,
        };
        if self.nesting.so_far.depth() > NESTING_LIMIT {
            let message = format!("nested too deeply: the limit is {NESTING_LIMIT}");
            let span = Span::new(self.file, self.at, self.at + length);
            return Err(Diagnostic::new(Code::ParserError, span, message));
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

    /// Length of the comment at the start of `rest`; comments nest.
    fn comment_length(&self, rest: &[u8]) -> Result<usize, Diagnostic> {
        let (mut depth, mut at) = (0, 0);
        while at < rest.len() {
            if rest[at..].starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else if rest[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            } else {
                at += 1;
            }
            if depth > NESTING_LIMIT {
                let span = Span::new(self.file, self.at + at - 2, self.at + at);
                let message = format!("comments nested too deeply: the limit is {NESTING_LIMIT}");
                return Err(Diagnostic::new(Code::ParserError, span, message));
            }
        }
        let span = Span::new(self.file, self.at, self.at + 2);
        Err(Diagnostic::new(Code::ParserError, span, "this comment is not closed"))
    }

    fn word(&mut self, rest: &[u8]) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        match &rest[..length] {
            b"else" | b"or" => self.nesting.go_on(),
            b"unfolding" | b"if" | b"while" | b"choose" | b"forall" | b"exists" => {
                self.nesting.deepen();
            }
            b"struct" | b"procedure" | b"predicate" | b"function" | b"lemma" | b"axiom"
            | b"define" | b"include" | b"options" | b"requires" | b"ensures" | b"invariant"
            | b"var" | b"const" | b"type" | b"datatype" => self.nesting.begin_anew(),
            _ => self.nesting.settle(),
        }
        length
    }
}

/// Length of the string literal at the start of `rest`, or of all of it if it is not closed.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of the character literal at the start of `rest`: of the quote alone if it is none.
fn char_length(rest: &[u8]) -> usize {
    let character = rest.iter().skip(2).take(4).position(|&byte| byte == b'\'');
    character.map_or(1, |behind| behind + 3)
}
