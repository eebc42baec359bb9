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

/// Tells whether an expression is all that an annotation stands before: translators print it in
/// parentheses of its own.
pub(super) fn is_annotated(part: Span, sources: &Sources) -> bool {
    let text = &sources.file(part.file).text;
    let (before, after) = (text.get(..part.start as usize), text.get(part.end as usize..));
    let before = before.and_then(|before| before.trim_end().strip_suffix('('));
    let is_behind = before.is_some_and(|before| before.trim_end().ends_with(')'));
    is_behind && after.is_some_and(|after| after.trim_start().starts_with(')'))
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
