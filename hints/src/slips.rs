//! Habits of other languages.

/// What is probably meant by the operator at `at`, or by the word before it.
pub fn operator(text: &str, at: usize) -> Option<String> {
    let (before, rest) = text.split_at_checked(at)?;
    let statement = statement_before(text, at);
    if rest.starts_with("==") || rest.starts_with("=>") {
        return None;
    }
    let said = match rest.as_bytes() {
        [b'=', ..] if is_target(statement) || statement.starts_with("var ") => {
            "an assignment is written `:=`"
        }
        [b'=', ..] => "equality is written `==`",
        [b':', b'=', ..] => "`:=` assigns; equality is written `==`",
        [b'&', ..] if !rest.starts_with("&&") => "\"and\" is written `&&`",
        [b'|', ..] if !rest.starts_with("||") => "\"or\" is written `||`",
        [b'<', b'>', ..] => "\"not equal\" is written `!=`",
        [b'>', ..] if before.ends_with('<') => "\"not equal\" is written `!=`",
        [sign @ (b'+' | b'-' | b'*' | b'/'), b'=', ..] if is_target(statement) => {
            let (sign, target) = (char::from(*sign), statement);
            return Some(format!("write `{target} := {target} {sign} …`"));
        }
        [b'+', b'+', ..] | [b'-', b'-', ..] if is_target(statement) => {
            let (sign, target) = (char::from(rest.as_bytes()[0]), statement);
            return Some(format!("write `{target} := {target} {sign} 1`"));
        }
        _ if word(rest) == "and" => "\"and\" is written `&&`",
        _ if word(rest) == "or" => "\"or\" is written `||`",
        _ if last_word(before) == "not" => "\"not\" is written `!`",
        _ => return None,
    };
    Some(said.to_owned())
}

/// What stands on the line before `at`, from the start of a statement.
pub fn statement_before(text: &str, at: usize) -> &str {
    text[statement_start(text, at)..at].trim_end()
}

/// Where the statement starts that has `at` on its line; `at` itself, if nothing stands before it.
pub fn statement_start(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let start = before.rfind(['\n', ';', '{', '}']).map_or(0, |end| end + 1);
    at - before[start..].trim_start().len()
}

/// The word at the start of a text; empty if there is none.
pub fn word(text: &str) -> &str {
    let end = text.find(|character| !is_of_word(character)).unwrap_or(text.len());
    &text[..end]
}

/// The word at the end of a text, but for white space.
fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    let start = text
        .rfind(|character| !is_of_word(character))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// Whether a text may be a variable or a field: names with points between them.
pub fn is_target(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|character| is_of_word(character) || character == '.')
}

/// Whether a text is nothing but an application, as in `a.m(x, y)`; the target before its arguments.
pub fn application(text: &str) -> Option<&str> {
    let (target, arguments) = text.split_once('(')?;
    let target = target.trim_end();
    (is_target(target) && arguments.ends_with(')')).then_some(target)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_of_other_languages() {
        for (text, mark, expected) in [
            ("x = 1", "=", Some("an assignment is written `:=`")),
            ("var x: Int = 1", "=", Some("an assignment is written `:=`")),
            ("requires x = 1", "=", Some("equality is written `==`")),
            ("if (x := 1)", ":=", Some("`:=` assigns; equality is written `==`")),
            ("a & b", "&", Some("\"and\" is written `&&`")),
            ("a || b", "|", None),
            ("a <> b", ">", Some("\"not equal\" is written `!=`")),
            ("{ i++ }", "+", Some("write `i := i + 1`")),
            ("c.f -= 2", "-", Some("write `c.f := c.f - …`")),
            ("a and b", "and", Some("\"and\" is written `&&`")),
            ("assert not b", "b", Some("\"not\" is written `!`")),
            ("a == b", "=", None),
        ] {
            let at = text.find(mark).expect("the mark is in the text");
            assert_eq!(operator(text, at).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn statements_are_cut_out() {
        assert_eq!(statement_before("a; b.c ", 7), "b.c");
        assert_eq!(statement_before("a;  ", 4), "");
        assert_eq!(statement_start("a; b.c ", 7), 3);
        assert_eq!(application("o.m(1, f(2))"), Some("o.m"));
        assert_eq!(application("1 + m(2)"), None);
        assert_eq!(last_word("é not "), "not");
    }
}
