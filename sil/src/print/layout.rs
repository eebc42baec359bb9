//! Text with places where a line may be broken, and its layout within a width.
//!
//! A group is printed on one line if it fits, else all its own breaks become line breaks. One pass
//! from the back measures, one from the front prints, so that long expressions cost linear time.

/// Wider lines are broken where possible.
pub(super) const WIDTH: usize = 110;

/// Deeper continuation lines are not indented further, so that the text stays linear in the depth.
const DEEPEST_INDENT: usize = 80;

/// A line of output before it is laid out.
#[derive(Default)]
pub(super) struct Line {
    tokens: Vec<Token>,
}

enum Token {
    Text(String),
    /// A line break, or this if the group fits on the line.
    Break(&'static str),
    Begin {
        indent: usize,
    },
    End,
}

impl Line {
    pub(super) fn text(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        match self.tokens.last_mut() {
            Some(Token::Text(last)) => last.push_str(text),
            _ => self.tokens.push(Token::Text(text.to_owned())),
        }
    }

    /// A space or a line break.
    pub(super) fn space(&mut self) {
        self.tokens.push(Token::Break(" "));
    }

    /// Nothing or a line break.
    pub(super) fn soft_break(&mut self) {
        self.tokens.push(Token::Break(""));
    }

    /// Begins a group, whose continuation lines are indented.
    pub(super) fn begin(&mut self, indent: usize) {
        self.tokens.push(Token::Begin { indent });
    }

    pub(super) fn end(&mut self) {
        self.tokens.push(Token::End);
    }

    /// Returns the text on one line.
    pub(super) fn flat(&self) -> String {
        let mut text = String::new();
        for token in &self.tokens {
            match token {
                Token::Text(part) => text.push_str(part),
                Token::Break(part) => text.push_str(part),
                Token::Begin { .. } | Token::End => {}
            }
        }
        text
    }

    /// Returns a mark to come back to with [`Line::starts_with_bar`].
    pub(super) fn mark(&mut self) -> usize {
        // A token of its own, so that later text is not appended to earlier text.
        self.tokens.push(Token::Text(String::new()));
        self.tokens.len() - 1
    }

    /// Tells whether the tokens since `mark` begin or end with `|`.
    pub(super) fn has_bar_at_edge_since(&self, mark: usize) -> bool {
        let texts = || {
            self.tokens[mark..].iter().filter_map(|token| match token {
                Token::Text(text) if !text.is_empty() => Some(text),
                _ => None,
            })
        };
        texts().next().is_some_and(|text| text.starts_with('|'))
            || texts().next_back().is_some_and(|text| text.ends_with('|'))
    }

    pub(super) fn insert_text(&mut self, mark: usize, text: &str) {
        self.tokens[mark] = Token::Text(text.to_owned());
    }

    /// Appends the text to `out`, whose last line is at column `indent`.
    pub(super) fn layout(&self, indent: usize, out: &mut String) {
        let sizes = self.group_sizes();
        let mut column = indent;
        // Indentation of each open group; `None` if it is printed flat.
        let mut groups: Vec<Option<usize>> = vec![Some(indent)];
        let mut around = vec![indent];
        for (token, size) in self.tokens.iter().zip(sizes) {
            match token {
                Token::Text(text) => {
                    out.push_str(text);
                    column += text.chars().count();
                }
                Token::Begin { indent } => {
                    let base = around.last().copied().unwrap_or(0);
                    let indent = if base < DEEPEST_INDENT { *indent } else { 0 };
                    let is_flat = groups.last().is_some_and(Option::is_none);
                    let fits = is_flat || column + size <= WIDTH;
                    groups.push((!fits).then_some(base + indent));
                    around.push(if fits { base } else { base + indent });
                }
                Token::End => {
                    groups.pop();
                    around.pop();
                }
                Token::Break(flat) => match groups.last().copied().flatten() {
                    Some(indent) => {
                        out.push('\n');
                        out.extend(std::iter::repeat_n(' ', indent));
                        column = indent;
                    }
                    None => {
                        out.push_str(flat);
                        column += flat.len();
                    }
                },
            }
        }
    }

    /// For each group's begin: its width on one line, with the text that sticks to its end.
    fn group_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.tokens.len()];
        let (mut total, mut until_break) = (0, 0);
        let mut ends = Vec::new();
        for (index, token) in self.tokens.iter().enumerate().rev() {
            match token {
                Token::Text(text) => {
                    let width = text.chars().count();
                    total += width;
                    until_break += width;
                }
                Token::Break(flat) => {
                    total += flat.len();
                    until_break = 0;
                }
                Token::End => ends.push((total, until_break)),
                Token::Begin { .. } => {
                    let (total_behind, sticking) = ends.pop().unwrap_or((0, 0));
                    sizes[index] = total - total_behind + sticking;
                }
            }
        }
        sizes
    }
}
