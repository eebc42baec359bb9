//! Parts of a text that findings are about and that no node of the program has a place for.

use std::ops::Range;

use sil::source::{Sources, Span};

/// Returns what an assignment writes.
pub(super) fn target(statement: Span, sources: &Sources) -> Option<Span> {
    let text = sources.text(statement)?;
    let target = text[..text.find(":=")?].trim_end();
    let start = statement.start as usize;
    (!target.is_empty()).then(|| Span::new(statement.file, start, start + target.len()))
}

/// Returns what an index or a key is one of.
pub(super) fn subject(index: Span, sources: &Sources) -> Option<Span> {
    let text = &sources.file(index.file).text;
    let Range { start, end } = indexed(text, index.start as usize)?;
    Some(Span::new(index.file, start, end))
}

/// Returns where the text before the `[` of an index stands.
pub(crate) fn indexed(text: &str, index: usize) -> Option<Range<usize>> {
    let before = text.get(..index)?.trim_end().strip_suffix('[')?.trim_end();
    let mut depth = 0_usize;
    let mut start = before.len();
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '(' | '[' => break,
            _ if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '\'') => {}
            _ => break,
        }
        start = at;
    }
    (start < before.len()).then_some(start..before.len())
}
