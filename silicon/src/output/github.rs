//! For GitHub: workflow commands, which become annotations of the lines of a change.

use std::io::{self, Write};

use sil::render::Message;

use crate::session::Outcome;

pub(super) fn findings(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    for diagnostic in outcome.diagnostics.iter().filter(|one| !one.is_known) {
        let Message { severity, id, place, .. } = diagnostic.marked();
        writeln!(
            to,
            "::{} file={},line={},endLine={},col={},endColumn={},title={}::{}",
            severity.name(),
            property(&place.file),
            place.start.line,
            place.end.line,
            place.start.column,
            place.end.column,
            property(&id),
            data(&diagnostic.sentence())
        )?;
    }
    Ok(())
}

/// Returns a text behind the command: nothing in it ends a line.
fn data(text: &str) -> String {
    let mut data = String::new();
    for c in text.chars() {
        match c {
            '%' => data.push_str("%25"),
            '\r' => data.push_str("%0D"),
            '\n' => data.push_str("%0A"),
            c if c.is_control() => data.extend(c.escape_unicode()),
            c => data.push(c),
        }
    }
    data
}

/// Returns the value of a property: nothing in it ends the property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_become_commands() {
        assert_eq!(data("a: 1%\n::error::b\u{1b}"), "a: 1%25%0A::error::b\\u{1b}");
        assert_eq!(property("a,line=3:x"), "a%2Cline=3%3Ax");
    }
}
