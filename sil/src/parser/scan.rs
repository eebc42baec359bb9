//! One pass over the bytes of a file, before pest: blanks out comments, finds the members, measures
//! nesting.
//!
//! Comments become line feeds, so that no rule of the grammar has to deal with them, all offsets
//! stay, and `f /* … */ (x)` is not taken for a call. Members start with a reserved word outside
//! all brackets, which is how they are cut apart; words that can only start a member (`method`,
//! `field`, …) do so even inside brackets, which is how a missing `}` spoils no more than its own
//! member. Behind a syntax error what is left of a member is cut again, whatever is open there.

use std::borrow::Cow;

use super::MAX_NESTING;

/// The result of the pass.
pub(super) struct Scan<'t> {
    /// The text with comments (and a byte order mark) blanked out; the same length.
    pub(super) text: Cow<'t, str>,
    /// Regions that each hold one member, in order; together they hold everything but white space.
    pub(super) chunks: Vec<Chunk>,
    /// Places where the text is not even a sequence of tokens.
    pub(super) errors: Vec<(usize, &'static str)>,
}

/// A region of the text with one member in it (more, where words are misused).
#[derive(Clone, Default)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Behind the word that says what kind of member it is; 0 if there is none.
    pub(super) head: usize,
    /// The deepest nesting in it.
    pub(super) nesting: usize,
    /// Where the nesting first passes [`MAX_NESTING`].
    pub(super) too_deep: Option<usize>,
}

pub(super) fn scan(text: &str) -> Scan<'_> {
    let (text, errors) = blank_comments(text);
    let chunks = cut(&text, 0, text.len());
    Scan { text, chunks, errors }
}

/// Returns the members in a part of the text that starts outside all brackets.
pub(super) fn cut(text: &str, start: usize, end: usize) -> Vec<Chunk> {
    Cutter::new(&text.as_bytes()[..end], start).run()
}

/// Returns where the first word that can start a member stands, or an annotation, at or behind
/// `from` and before `end`: whatever is open there, and whether or not that makes sense.
pub(super) fn next_member(text: &str, from: usize, end: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..end];
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'@' {
            return Some(at);
        }
        let word = bytes[at..].iter().position(|&byte| !is_word(byte)).unwrap_or(end - at);
        let is_inside = at > 0 && is_word(bytes[at - 1]);
        if !is_inside && MEMBER_WORDS.contains(&&bytes[at..at + word]) {
            return Some(at);
        }
        at += word.max(1);
    }
    None
}

/// The words that members start with.
const MEMBER_WORDS: [&[u8]; 8] =
    [b"adt", b"define", b"domain", b"field", b"function", b"import", b"method", b"predicate"];

/// Replaces the bytes of comments and of a leading byte order mark by line feeds.
fn blank_comments(text: &str) -> (Cow<'_, str>, Vec<(usize, &'static str)>) {
    let bytes = text.as_bytes();
    let mut blanked: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut errors = Vec::new();
    let mut blank = |from: usize, to: usize| {
        blanked.extend_from_slice(&bytes[copied..from]);
        blanked.resize(to, b'\n');
        copied = to;
    };
    let mut at = 0;
    if text.starts_with('\u{feff}') {
        at = '\u{feff}'.len_utf8();
        blank(0, at);
    }
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => at = end_of_string(bytes, at),
            (b'/', Some(b'/')) => {
                let end = find(bytes, at, b"\n").unwrap_or(bytes.len());
                blank(at, end);
                at = end;
            }
            (b'/', Some(b'*')) => {
                let end = find(bytes, at + 2, b"*/").map_or_else(
                    || {
                        errors.push((at, "this comment is not closed by `*/`"));
                        bytes.len()
                    },
                    |end| end + 2,
                );
                blank(at, end);
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return (Cow::Borrowed(text), errors);
    }
    blanked.extend_from_slice(&bytes[copied..]);
    // Comments start and end at character boundaries, so what is left is still UTF-8.
    let blanked = String::from_utf8(blanked).expect("only whole comments were replaced");
    (Cow::Owned(blanked), errors)
}

/// Returns the offset of `needle`, which is short, at or after `from`.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(needle.len()).position(|window| window == needle).map(|at| from + at)
}

/// Returns the offset behind the string that starts at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    find(bytes, at + 1, b"\"").map_or(bytes.len(), |quote| quote + 1)
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Something that is open, and so makes what follows stand one level deeper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// `(`, `[` or `{`: until the bracket is closed (ranges close `[` by `)`, so kinds do not
    /// matter).
    Bracket,
    /// The `|` of a cardinality.
    Bar,
    /// `?`, until its `:`.
    Question,
    /// The body of a prefix form, until the expression ends.
    Prefix,
}

/// The kind of member that the current chunk is, as far as it matters for cutting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Define,
    Domain,
    Method,
    Other,
}

/// The state of the pass that cuts the text into chunks.
struct Cutter<'t> {
    bytes: &'t [u8],
    at: usize,
    levels: Vec<Level>,
    brackets: usize,
    /// How many of them are braces.
    braces: usize,
    kind: Kind,
    chunk: Chunk,
    chunks: Vec<Chunk>,
    /// Where the annotations start that end right here.
    annotations: Option<usize>,
    /// The last token ends an operand: then `|` closes a cardinality.
    after_operand: bool,
}

impl<'t> Cutter<'t> {
    fn new(bytes: &'t [u8], start: usize) -> Self {
        Self {
            bytes,
            at: start,
            levels: Vec::new(),
            brackets: 0,
            braces: 0,
            kind: Kind::Other,
            chunk: Chunk { start, ..Chunk::default() },
            chunks: Vec::new(),
            annotations: None,
            after_operand: false,
        }
    }

    fn run(mut self) -> Vec<Chunk> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    self.at += 1;
                    continue;
                }
                b'@' => {
                    self.annotation();
                    continue;
                }
                _ if is_word_start(byte) => self.word(),
                b'"' => self.at = end_of_string(self.bytes, self.at),
                _ => self.symbol(byte),
            }
            self.annotations = None;
        }
        self.end_chunk(self.bytes.len());
        self.chunks
    }

    /// Ends the current chunk; one of white space only is dropped.
    fn end_chunk(&mut self, end: usize) {
        self.chunk.end = end;
        let chunk = std::mem::take(&mut self.chunk);
        if !self.bytes[chunk.start..end].trim_ascii().is_empty() {
            self.chunks.push(chunk);
        }
        self.chunk.start = end;
        self.levels.clear();
        self.brackets = 0;
        self.braces = 0;
    }

    fn open(&mut self, level: Level) {
        if self.levels.len() >= MAX_NESTING {
            // Refused anyway: keeping the levels beyond the limit would only cost time.
            self.chunk.too_deep.get_or_insert(self.at);
            return;
        }
        self.levels.push(level);
        self.chunk.nesting = self.chunk.nesting.max(self.levels.len());
    }

    /// An expression ends here: only brackets stay open.
    fn end_expression(&mut self) {
        while self.levels.last().is_some_and(|level| *level != Level::Bracket) {
            self.levels.pop();
        }
    }

    /// `@key(…)`, as one token: keys may hold reserved words.
    fn annotation(&mut self) {
        self.annotations.get_or_insert(self.at);
        self.at += 1;
        self.at = self.end_of_word(|byte| is_word(byte) || byte == b'.');
        let after_key = self.at;
        self.skip_space();
        if self.bytes.get(self.at) != Some(&b'(') {
            self.at = after_key;
            return;
        }
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b',') => self.at += 1,
                Some(b'"') => self.at = end_of_string(self.bytes, self.at),
                Some(b')') => {
                    self.at += 1;
                    return;
                }
                _ => {
                    // Not an annotation after all; pest will say so.
                    self.at = after_key;
                    return;
                }
            }
        }
    }

    fn end_of_word(&self, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = &self.bytes[self.at..];
        self.at + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
    }

    fn skip_space(&mut self) {
        self.at = self.end_of_word(|byte| byte.is_ascii_whitespace());
    }

    fn word(&mut self) {
        let start = self.at;
        let end = self.end_of_word(is_word);
        let word = &self.bytes[start..end];
        if let Some(kind) = self.member_kind(word, end) {
            self.end_chunk(self.annotations.unwrap_or(start));
            self.chunk.head = end;
            self.kind = kind;
        }
        match word {
            b"let" | b"unfolding" | b"applying" | b"asserting" => self.open(Level::Prefix),
            b"assert" | b"assume" | b"inhale" | b"exhale" | b"refute" | b"fold" | b"unfold"
            | b"package" | b"apply" | b"var" | b"if" | b"while" | b"label" | b"goto"
            | b"requires" | b"ensures" | b"invariant" | b"decreases" | b"axiom" => {
                self.end_expression();
            }
            _ => {}
        }
        self.after_operand =
            !matches!(word, b"in" | b"union" | b"intersection" | b"setminus" | b"subset");
        self.at = end;
        if word == b"import" {
            self.standard_path();
        }
    }

    /// Skips `<path>`: its parts are no words.
    fn standard_path(&mut self) {
        self.skip_space();
        if self.bytes.get(self.at) == Some(&b'<') {
            let line = find(self.bytes, self.at, b"\n").unwrap_or(self.bytes.len());
            if let Some(end) = find(&self.bytes[..line], self.at, b">") {
                self.at = end + 1;
            }
        }
    }

    /// Returns the kind of the member that starts with the word ending at `end`, if one starts
    /// there.
    fn member_kind(&self, word: &[u8], end: usize) -> Option<Kind> {
        let outside = self.brackets == 0;
        match word {
            b"method" => Some(Kind::Method),
            b"field" | b"import" | b"adt" => Some(Kind::Other),
            b"function" | b"predicate" if outside || self.kind != Kind::Domain => Some(Kind::Other),
            b"define" if outside => Some(Kind::Define),
            b"define" => {
                // In the braces of a method or a macro, `define` is a statement.
                let is_stmt =
                    self.kind == Kind::Method || self.kind == Kind::Define && self.braces > 0;
                (!is_stmt).then_some(Kind::Define)
            }
            b"domain" => {
                // `domain(m)` is an expression.
                let next = self.bytes[end..].trim_ascii_start().first();
                next.is_some_and(|&byte| is_word_start(byte)).then_some(Kind::Domain)
            }
            _ => None,
        }
    }

    fn symbol(&mut self, byte: u8) {
        let mut width = 1;
        let mut after_operand = false;
        match byte {
            b'(' | b'[' | b'{' => {
                self.open(Level::Bracket);
                self.brackets += 1;
                self.braces += usize::from(byte == b'{');
            }
            b')' | b']' | b'}' => {
                self.end_expression();
                self.levels.pop();
                self.brackets = self.brackets.saturating_sub(1);
                self.braces = self.braces.saturating_sub(usize::from(byte == b'}'));
                after_operand = true;
            }
            b';' | b',' => self.end_expression(),
            b'?' => self.open(Level::Question),
            b'|' if self.bytes.get(self.at + 1) == Some(&b'|') && self.after_operand => width = 2,
            b'|' => {
                // Closes a cardinality if one is open and its operand complete.
                if self.after_operand && self.close(Level::Bar) {
                    after_operand = true;
                } else {
                    self.open(Level::Bar);
                }
            }
            b':' => match self.bytes.get(self.at + 1) {
                Some(b':') => {
                    self.open(Level::Prefix);
                    width = 2;
                }
                Some(b'=') => {
                    self.end_expression();
                    width = 2;
                }
                _ => {
                    self.close(Level::Question);
                }
            },
            b'0'..=b'9' => after_operand = true,
            _ => {}
        }
        self.after_operand = after_operand;
        self.at += width;
    }

    /// Closes the innermost `level` of the innermost bracket; `false` if there is none.
    fn close(&mut self, level: Level) -> bool {
        let in_bracket = self.levels.iter().rposition(|open| *open == Level::Bracket);
        let floor = in_bracket.map_or(0, |bracket| bracket + 1);
        let Some(at) = self.levels[floor..].iter().rposition(|open| *open == level) else {
            return false;
        };
        self.levels.truncate(floor + at);
        true
    }
}
