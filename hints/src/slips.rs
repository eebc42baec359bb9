//! Habits of other languages.

/// Guesses the intention behind the operator at `at`, or behind the word before it.
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

/// Tells whether the word at the start of `text` is a keyword to its author: another word, a block
/// or nothing follows. A word that is called or assigned is a name.
pub fn is_keyword(text: &str) -> bool {
    let word = word(text);
    let behind = text[word.len()..].trim_start();
    let has_parentheses = matches!(word, "for" | "switch" | "return" | "synchronized");
    match behind.chars().next() {
        None | Some('{' | ';' | '}') => true,
        Some('(') => has_parentheses,
        Some(next) => is_of_word(next),
    }
}

/// Gives advice about a word that begins a statement, clause or declaration in other languages, and
/// in none of ours.
pub fn foreign_word(word: &str) -> Option<String> {
    let said = match word {
        "return" => "assign to the names that `returns` declares",
        "for" | "do" => "use `while`",
        "switch" => "use `if` and `else`",
        "break" | "continue" => "say in the condition of the loop when it ends",
        "modifies" | "reads" | "writes" | "assignable" | "modifiable" => {
            "what may be read or changed is what `requires` asks permission for, as in `acc(…)`"
        }
        "public" | "private" | "protected" | "final" | "abstract" | "override" | "virtual" => {
            "everybody may use what is declared; leave it out"
        }
        "calc" => "write its steps as `assert`s, one after the other",
        "throw" | "raise" | "try" | "catch" | "except" => "use a result that says what went wrong",
        "elif" | "elsif" | "elseif" => "write `else` and `if`",
        _ => return None,
    };
    Some(format!("there is no `{word}`; {said}"))
}

/// Gives advice about a character that begins no word and no operator of ours.
pub fn foreign_character(rest: &str) -> Option<String> {
    let (first, behind) = (rest.chars().next()?, word(rest.get(1..).unwrap_or_default()));
    Some(match first {
        '\\' if !behind.is_empty() => format!("write `{behind}` without `\\`"),
        '≤' => "write `<=`".to_owned(),
        '≥' => "write `>=`".to_owned(),
        '≠' => "write `!=`".to_owned(),
        '∧' => "write `&&`".to_owned(),
        '∨' => "write `||`".to_owned(),
        '¬' => "write `!`".to_owned(),
        '⇒' => "write `==>`".to_owned(),
        '∀' => "write `forall`".to_owned(),
        '∃' => "write `exists`".to_owned(),
        _ => return None,
    })
}

/// Gives advice about `old(x).f` in an assertion that fails: a variable is not in the heap, so
/// `old` says nothing about it.
pub fn misplaced_old(assertion: &str) -> Option<String> {
    assertion.match_indices("old(").find_map(|(at, start)| {
        let is_word = assertion[..at].ends_with(is_of_word);
        let (object, behind) = assertion[at + start.len()..].split_once(')')?;
        let field = word(behind.strip_prefix('.')?);
        let is_variable = !object.is_empty() && object.chars().all(is_of_word);
        (!is_word && is_variable && !field.is_empty()).then(|| {
            format!("`old({object}).{field}` is the value of now; `old({object}.{field})` is that of before")
        })
    })
}

/// The number of characters of a token that are shown.
const SHOWN: usize = 60;

/// Returns a token in a message: what cannot be seen is escaped, and one that fills pages is cut
/// off.
pub fn shown(token: &str) -> String {
    let mut shown = String::new();
    for (count, character) in token.chars().enumerate() {
        if count == SHOWN {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Returns the line before `at`, from the start of a statement.
pub fn statement_before(text: &str, at: usize) -> &str {
    text[statement_start(text, at)..at].trim_end()
}

/// Returns where the statement starts that has `at` on its line; `at` itself, if nothing stands
/// before it.
pub fn statement_start(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let start = before.rfind(['\n', ';', '{', '}']).map_or(0, |end| end + 1);
    at - before[start..].trim_start().len()
}

/// Returns the word at the start of a text; empty if there is none.
pub fn word(text: &str) -> &str {
    let end = text.find(|character| !is_of_word(character)).unwrap_or(text.len());
    &text[..end]
}

/// Returns the word at the end of a text, but for white space.
fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    let start = text
        .rfind(|character| !is_of_word(character))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// Tells whether a text may be a variable or a field: names with points between them.
pub fn is_target(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|character| is_of_word(character) || character == '.')
}

/// Returns the target of an application such as `a.m(x, y)`, if the text is nothing else.
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
    fn words_and_characters_of_other_languages() {
        let modifies = foreign_word("modifies").unwrap();
        assert!(modifies.starts_with("there is no `modifies`; "), "{modifies}");
        assert_eq!(foreign_word("while"), None);
        for (text, expected) in [
            ("let x = 1", true),
            ("break;", true),
            ("for (i", true),
            ("calc (1)", false),
            ("val := 1", false),
            ("do.f", false),
        ] {
            assert_eq!(is_keyword(text), expected, "{text}");
        }
        assert_eq!(shown("\\\u{1b}\""), "\\\\u{1b}\"");
        assert_eq!(shown(&"x".repeat(100)), "x".repeat(SHOWN) + "…");
        assert_eq!(foreign_character("\\old(x)").unwrap(), "write `old` without `\\`");
        assert_eq!(foreign_character("≤ 3").unwrap(), "write `<=`");
        assert_eq!(foreign_character("\\"), None);
        assert_eq!(foreign_character("+"), None);
    }

    #[test]
    fn old_values_are_those_of_fields() {
        let hint = misplaced_old("x.f == old(x).f + 1").expect("it is misplaced");
        assert!(hint.starts_with("`old(x).f` is the value of now"), "{hint}");
        for right in ["old(x.f) == 1", "old(x) == y", "fold(x).f", "old(x.next).f"] {
            assert_eq!(misplaced_old(right), None, "{right}");
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
