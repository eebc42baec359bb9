//! The tokens of a text, which need not be a program.

use crate::{Language, behind_mark};

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Word,
    Number,
    /// A string, or a character.
    Quoted,
    /// `// …`, without the blanks at its end.
    LineComment,
    /// `/* … */`
    BlockComment,
    /// An operator or a bracket.
    Sign,
}

/// A piece of a text; blanks are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// The offset of its first byte.
    pub start: usize,
}

impl Token<'_> {
    /// Returns the offset behind its last byte.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Tells whether a parser does not see it.
    pub fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }
}

/// Operators of several characters; those of which another one is the beginning come first.
fn operators(language: Language) -> &'static [&'static str] {
    match language {
        Language::Sil => {
            &["<==>", "==>", "--*", "==", "<=", "++", ">=", "!=", "&&", "||", "::", ":=", ".."]
        }
        Language::Chalice => {
            &["<==>", "==>", "&&", "||", "==", "!=", "<<", "<=", ">=", "++", "::", ":=", ".."]
        }
        Language::Spl => &[
            "-**", "<=>", "==>", "||", "&+&", "&*&", "&&", "==", "!=", "<-<", ">->", "<=", ">=",
            "|->", "++", "--", "**", "::", ":=",
        ],
    }
}

/// Returns the tokens of a text, in order. An open comment or string goes on to the end.
pub fn tokens(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = text.len() - behind_mark(text).len();
    while let Some(first) = text[at..].chars().next() {
        if is_blank(first) {
            at += first.len_utf8();
            continue;
        }
        // The path of a file of the standard library, as in `import <decreases/int.vpr>`.
        let is_path = first == '<'
            && language == Language::Sil
            && tokens.last().is_some_and(|last| last.text == "import");
        let path = if is_path { text[at..].find('>') } else { None };
        let (kind, length) = match path {
            Some(end) => (Kind::Quoted, end + 1),
            None => token(&text[at..], first, language),
        };
        tokens.push(Token { kind, text: &text[at..at + length], start: at });
        at += length;
    }
    tokens
}

/// Tells whether a character means nothing between tokens, as in the grammars.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{b}' | '\u{c}')
}

/// Returns the kind and the length of the token at the beginning of a text.
fn token(rest: &str, first: char, language: Language) -> (Kind, usize) {
    let to = |end: Option<usize>| end.unwrap_or(rest.len());
    if rest.starts_with("//") {
        let line = &rest[..to(rest.find('\n'))];
        return (Kind::LineComment, line.trim_end().len());
    }
    if rest.starts_with("/*") {
        return (Kind::BlockComment, to(end_of_comment(rest, language == Language::Spl)));
    }
    if first == '"' || first == '\'' && language != Language::Sil {
        return (Kind::Quoted, to(end_of_quoted(rest, first, language)));
    }
    let word = word(rest, language);
    if word > 0 {
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit())
            && (language != Language::Spl || rest.starts_with("0x") || is_digits(&rest[..word]));
        return (if is_number { Kind::Number } else { Kind::Word }, word);
    }
    let is_not_in = rest.starts_with("!in") && self::word(&rest[1..], language) == 2;
    if is_not_in && language != Language::Sil {
        return (Kind::Sign, 3);
    }
    let operator = operators(language).iter().find(|operator| rest.starts_with(**operator));
    (Kind::Sign, operator.map_or(first.len_utf8(), |operator| operator.len()))
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn end_of_comment(rest: &str, nests: bool) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut at, mut depth) = (2, 1);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"*/" => depth -= 1,
            b"/*" if nests => depth += 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn end_of_quoted(rest: &str, quote: char, language: Language) -> Option<usize> {
    if language == Language::Spl && quote == '\'' {
        // A quote that begins no character stands alone.
        let inside = rest[1..]
            .chars()
            .next()
            .filter(|inside| rest[1 + inside.len_utf8()..].starts_with('\''));
        return Some(inside.map_or(1, |inside| 2 + inside.len_utf8()));
    }
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if language == Language::Spl => is_escaped = true,
            '\n' if language == Language::Chalice => return Some(at),
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of the word or number at the beginning of a text.
fn word(rest: &str, language: Language) -> usize {
    let is_of_word = |(at, c): (usize, char)| match language {
        Language::Sil => c.is_alphanumeric() || c == '_' || c == '$',
        Language::Chalice => c.is_alphanumeric() || c == '_',
        // A `?` belongs to a name only before a letter or `_`.
        Language::Spl => {
            c.is_ascii_alphanumeric()
                || c == '_'
                || c == '?'
                    && rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        }
    };
    let end = rest.char_indices().find(|&at| !is_of_word(at)).map_or(rest.len(), |(at, _)| at);
    if language != Language::Spl || end == 0 || is_digits(&rest[..end]) {
        return end;
    }
    let Some(version) = rest[end..].strip_prefix('^') else { return end };
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { end } else { end + 1 + digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_language() {
        let texts = |text, language| -> Vec<&str> {
            tokens(text, language).into_iter().map(|token| token.text).collect()
        };
        assert_eq!(texts("a?b:c ?d^2", Language::Spl), ["a?b", ":", "c", "?d^2"]);
        assert_eq!(texts("/* /* */ */x", Language::Spl), ["/* /* */ */", "x"]);
        assert_eq!(texts("/* /* */x", Language::Sil), ["/* /* */", "x"]);
        assert_eq!(texts("A --* B==>c", Language::Sil), ["A", "--*", "B", "==>", "c"]);
        assert_eq!(texts("'a b' \"c", Language::Chalice), ["'a b'", "\"c"]);
        assert_eq!(texts("'ö' 'ab' '", Language::Spl), ["'ö'", "'", "ab", "' '"]);
    }
}
