//! Layouts keep the program and its comments.

use std::path::Path;

use front::tokens::tokens;
use sil::source::Sources;
use silicon::session::format;
use silicon::session::input::{Input, Language};
use silicon::session::on_large_stack;

/// Lays a program out, and looks whether it is the same program, has all its comments, and keeps
/// the layout. `Ok(false)`: it is no program.
///
/// # Errors
/// The difference between the program and its layout.
pub fn judge(path: &Path) -> Result<bool, String> {
    on_large_stack(|| judge_here(path)).unwrap_or_else(|defect| Err(defect.to_string()))
}

fn judge_here(path: &Path) -> Result<bool, String> {
    let input = Input::file(path);
    let language = input.language();
    let Ok(layout) = format::layout(&input) else {
        return if tree(&read(path)?, language).is_some() {
            Err("a program is refused".to_owned())
        } else {
            Ok(false)
        };
    };
    let (old, new) = (&*layout.text, layout.formatted());
    let comments = |text: &str| -> Vec<String> {
        let tokens = tokens(text, language).into_iter();
        tokens.filter(front::tokens::Token::is_comment).map(|token| token.text.to_owned()).collect()
    };
    let without_blanks = |text: &str| -> String { text.split_whitespace().collect() };
    if without_blanks(old) != without_blanks(&new) {
        return Err("something other than blanks has changed".to_owned());
    }
    if comments(old) != comments(&new) {
        return Err("comments have changed".to_owned());
    }
    if tree(old, language) != tree(&new, language) {
        return Err(format!("the program has changed:\n{new}"));
    }
    let again = layout::format(&new, language).map_err(|problem| problem.to_string())?;
    if again == new { Ok(true) } else { Err(format!("first\n{new}\nthen\n{again}")) }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// The syntax tree of a text without its places; `None` if it has errors.
fn tree(text: &str, language: Language) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add(sil::source::SourceFile::new("t", text));
    let shown = match language {
        Language::Sil => {
            let mut found = Vec::new();
            let program = sil::parser::parse(file, text, &mut found);
            (!found.iter().any(sil::diagnostics::Diagnostic::is_error))
                .then(|| format!("{program:?}"))
        }
        Language::Chalice => chalice::syntax::parse(text).ok().map(|it| format!("{it:?}")),
        Language::Spl => spl::syntax::parse(file, text).ok().map(|it| format!("{it:?}")),
    };
    shown.map(|shown| without_places(&shown))
}

fn without_places(tree: &str) -> String {
    let mut rest = tree;
    let mut result = String::with_capacity(tree.len());
    while let Some(at) =
        ["start: ", "end: "].iter().filter_map(|it| Some(rest.find(it)? + it.len())).min()
    {
        result.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_differ_where_programs_do() {
        let tree = |text| tree(text, Language::Sil).expect("it is a program");
        let text = "method m() { x := y (z) }";
        assert_eq!(tree(text), tree("\n\nmethod m()\n{ x := y(z) }"));
        assert_ne!(tree(text), tree("method m() { x := y (w) }"));
        assert_ne!(tree("method m() { x := 1 }"), tree("method m() { x := 2 }"));
    }
}
