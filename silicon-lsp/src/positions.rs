//! Places in a text: editors count UTF-16 units, messages count characters, we count bytes.

use std::ops::Range;
use std::sync::Arc;

use line_index::{LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::Position;
use sil::source::LineColumn;

/// A text, and where its lines begin.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: Arc<str>,
    lines: Arc<LineIndex>,
}

impl Text {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let lines = Arc::new(LineIndex::new(&text));
        Self { text, lines }
    }

    /// Returns where an editor sees a byte; one inside of a character counts as its start.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let at = self.lines.line_col(TextSize::from(offset as u32));
        let wide = self.lines.to_wide(WideEncoding::Utf16, at);
        wide.map_or_else(Position::default, |wide| Position::new(wide.line, wide.col))
    }

    pub(crate) fn range(&self, range: &Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(range.start), self.position(range.end))
    }

    /// Returns the byte that an editor means. A column behind the end of its line counts as that
    /// end, a line behind the last one as the end of the text.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let Some(line) = self.lines.line(position.line) else { return self.text.len() };
        let (start, end) = (usize::from(line.start()), usize::from(line.end()));
        let content = self.text[start..end].trim_end_matches(['\n', '\r']);
        // No line has more units than bytes; clients send any number for "the end", and sums must
        // not overflow.
        let column = position.character.min(u32::try_from(content.len()).unwrap_or(u32::MAX));
        let wide = WideLineCol { line: position.line, col: column };
        let found = self.lines.to_utf8(WideEncoding::Utf16, wide);
        let found = found.and_then(|at| self.lines.offset(at)).map(usize::from);
        let mut offset = found.unwrap_or(usize::MAX).min(start + content.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    pub(crate) fn offsets(&self, range: lsp_types::Range) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    /// Returns the byte at a place as messages have it: lines and characters count from 1.
    pub(crate) fn offset_of(&self, at: LineColumn) -> usize {
        let Some(line) = self.lines.line(at.line.saturating_sub(1)) else {
            return self.text.len();
        };
        let (start, end) = (usize::from(line.start()), usize::from(line.end()));
        let characters = at.column.saturating_sub(1) as usize;
        let inside = self.text[start..end].char_indices().nth(characters);
        inside.map_or(end, |(inside, _)| start + inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_editors() {
        // ä is 2 bytes and 1 unit, 𝔘 is 4 bytes and 2 units.
        let text = Text::new("// ä𝔘x\r\ny\n");
        let x = text.text.find('x').expect("it is there");
        assert_eq!(text.position(x), Position::new(0, 6));
        assert_eq!(text.offset(Position::new(0, 6)), x);
        assert_eq!(text.offset_of(LineColumn { line: 1, column: 6 }), x);
        assert_eq!(text.offset(Position::new(0, 5)), x - 4, "inside of a character");
        assert_eq!(text.offset(Position::new(0, 99)), x + 1, "behind the end of the line");
        assert_eq!(text.offset(Position::new(1, u32::MAX)), text.text.len() - 1);
        assert_eq!(text.offset(Position::new(9, 0)), text.text.len());
        assert_eq!(text.position(text.text.find('y').expect("it is there")), Position::new(1, 0));
        assert_eq!(text.position(text.text.len()), Position::new(2, 0));
    }

    #[test]
    fn there_and_back_again() {
        let text = Text::new("a\n\u{1F600}b\u{e4}\n\n𝔘");
        for (offset, _) in text.text.char_indices() {
            assert_eq!(text.offset(text.position(offset)), offset);
        }
    }
}
