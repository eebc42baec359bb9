use std::iter;
use std::ops::Range;

use crate::tokens::Token;

/// Stretches of white space and comments of one text, in order, adjacent ones merged.
#[derive(Debug, Default)]
pub struct Trivia(Vec<Range<usize>>);

impl Trivia {
    /// Returns the trivia of a text that has these tokens.
    pub fn between(tokens: &[Token<'_>], text: &str) -> Self {
        let code = tokens.iter().filter(|token| !token.is_comment());
        let ends = iter::once(0).chain(code.clone().map(Token::end));
        let starts = code.map(|token| token.start).chain([text.len()]);
        let gaps = ends.zip(starts).map(|(end, start)| end..start);
        Self(gaps.filter(|gap| !gap.is_empty()).collect())
    }

    /// Returns the stretch without the trivia at its end, which a generated parser counts to a rule
    /// that could have gone on.
    pub fn trim(&self, stretch: Range<usize>) -> Range<usize> {
        let after = self.0.partition_point(|trivia| trivia.start < stretch.end);
        match after.checked_sub(1).map(|at| &self.0[at]) {
            Some(last) if last.end >= stretch.end && last.start > stretch.start => {
                stretch.start..last.start
            }
            _ => stretch,
        }
    }

    /// Returns the text with spaces in place of the trivia; lines and offsets stay.
    pub fn blanked(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for trivia in &self.0 {
            for byte in &mut bytes[trivia.clone()] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        String::from_utf8(bytes).expect("comments start and end with whole characters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::tokens::tokens;

    #[test]
    fn trivia_at_the_end_is_no_part_of_a_stretch() {
        let text = "a /* ö */ \n b";
        let trivia = Trivia::between(&tokens(text, Language::Chalice), text);
        assert_eq!(trivia.trim(0..12), 0..1);
        assert_eq!(trivia.trim(0..13), 0..1);
        assert_eq!(trivia.trim(0..14), 0..14);
        assert_eq!(trivia.trim(1..12), 1..12);
        assert_eq!(trivia.blanked(text), "a          \nb".replacen("\nb", "\n b", 1));
    }
}
