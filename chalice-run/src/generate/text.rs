//! Starts as text, to come back to them.

use crate::choices::{numbers_text, parse_schedule};

/// The text that leads to a start: the decisions taken for it and in its run, and numbers that
/// values were chosen from beside those that the program mentions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartText {
    /// The decisions, in order.
    pub decisions: Vec<u32>,
    /// The numbers.
    pub integers: Vec<i64>,
}

impl StartText {
    /// Reads what is written by [`fmt::Display`](std::fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let (decisions, integers) = match text.split_once('+') {
            Some((decisions, integers)) => {
                let integers: Result<_, _> = integers.split(',').map(str::parse).collect();
                (decisions, integers.ok()?)
            }
            None => (text, Vec::new()),
        };
        Some(Self { decisions: parse_schedule(decisions)?, integers })
    }
}

impl std::fmt::Display for StartText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", numbers_text(&self.decisions))?;
        for (at, number) in self.integers.iter().enumerate() {
            write!(f, "{}{number}", if at == 0 { "+" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_back() {
        for (decisions, integers) in [(vec![0, 0, 0, 7], vec![17, -3]), (Vec::new(), Vec::new())] {
            let start = StartText { decisions, integers };
            assert_eq!(StartText::parse(&start.to_string()), Some(start));
        }
        assert_eq!(StartText::parse("0.1+x"), None);
    }
}
