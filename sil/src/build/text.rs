//! Members written as SIL text, such as theories.

use crate::source::FileId;
use crate::syntax::Member;

/// Returns a template with its placeholders replaced: `#` and a letter, each with its value.
///
/// # Panics
/// A placeholder has no value.
pub fn filled(template: &str, values: &[(char, impl AsRef<str>)]) -> String {
    let mut pieces = template.split('#');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece.chars().next();
        let value = values.iter().find(|(placeholder, _)| Some(*placeholder) == name);
        let Some((placeholder, value)) = value else { panic!("no value for `#{piece}`") };
        text.push_str(value.as_ref());
        text.push_str(&piece[placeholder.len_utf8()..]);
    }
    text
}

/// Reads members that the author of a front end has written.
///
/// # Panics
/// The text is not SIL.
pub fn parsed(text: &str) -> Vec<Member> {
    let mut diagnostics = Vec::new();
    let program = crate::parser::parse(FileId::default(), text, &mut diagnostics);
    assert!(diagnostics.is_empty(), "it is SIL: {diagnostics:?}\n{text}");
    program.members
}
