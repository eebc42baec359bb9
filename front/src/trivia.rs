use std::ops::Range;

/// Stretches of white space and comments of one text, in order, adjacent ones merged.
#[derive(Debug, Default)]
pub struct Trivia(Vec<Range<usize>>);

impl Trivia {
    /// Adds a stretch that is not before the last one.
    pub fn add(&mut self, stretch: Range<usize>) {
        match self.0.last_mut() {
            Some(last) if last.end == stretch.start => last.end = stretch.end,
            _ => self.0.push(stretch),
        }
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

    #[test]
    fn trivia_at_the_end_is_no_part_of_a_stretch() {
        let text = "a /* ö */ \n b";
        let mut trivia = Trivia::default();
        trivia.add(1..2);
        trivia.add(2..12);
        assert_eq!(trivia.trim(0..12), 0..1);
        assert_eq!(trivia.trim(0..13), 0..13);
        assert_eq!(trivia.trim(1..12), 1..12);
        assert_eq!(trivia.blanked(text), "a          \nb".replacen("\nb", "\n b", 1));
    }
}
