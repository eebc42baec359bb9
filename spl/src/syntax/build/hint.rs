//! Advice about a syntax error.

use front::Language;
use hints::syntax::{self, Hint};
use hints::{brackets, slips};
use pest::Parser as _;

use super::{Grammar, Rule};

/// Guesses the intention behind `found`, at `at` in `text`, in place of the expected text. `text`
/// has no comments.
pub(super) fn hint(text: &str, at: usize, found: &str, expected: &[String]) -> Hint {
    let unclosed = unclosed(&text[..at], found);
    let start = slips::statement_start(text, at);
    let first = slips::word(&text[start..]);
    let word = (!first.is_empty()).then_some(start..start + first.len());
    if !is_reserved(first)
        && slips::is_keyword(&text[start..])
        && let Some(text) = unknown_word(first)
    {
        return Hint { text: Some(text), word, unclosed };
    }
    if let Some(text) = words(text, at, found, expected) {
        return Hint { text: Some(text), word: None, unclosed };
    }
    if unclosed.is_some() {
        let text = Some("what stands before it is not closed".to_owned());
        return Hint { text, word: None, unclosed };
    }
    let misspelt = |word| syntax::misspelt(word, Language::Spl);
    match (misspelt(first), misspelt(found)) {
        (Some(text), _) => Hint { text: Some(text), word, unclosed },
        (None, text) => Hint { text, word: None, unclosed },
    }
}

/// Words that other languages have and this one has not.
fn unknown_word(word: &str) -> Option<String> {
    let said = match word {
        "class" | "interface" | "enum" | "record" => {
            "declare a struct, as in `struct Node { var next: Node; }`"
        }
        "let" | "val" => "a variable is declared as in `var x: Int := …;`",
        "method" | "def" | "fn" | "func" | "void" => {
            "a procedure is declared as in `procedure p(x: Int) returns (y: Int)`"
        }
        "call" => "a procedure is called as in `p(x);` or `y := p(x);`",
        "inhale" => "write `assume`",
        "exhale" => "write `assert`",
        "decreases" => "measures of lemmas are found, and loops need none",
        _ => return slips::foreign_word(word),
    };
    Some(format!("there is no `{word}`; {said}"))
}

fn words(text: &str, at: usize, found: &str, expected: &[String]) -> Option<String> {
    let statement = slips::statement_before(text, at);
    let behind = text[at + found.len()..].trim_start();
    let expects = |what: &str| expected.iter().any(|one| one == what);
    // Here `=`, `&` and `|` are operators, so that they are mistaken only where none can stand.
    if let Some(operator) = slips::operator(text, at) {
        return Some(operator);
    }
    if let Some(character) = slips::foreign_character(&text[at..]) {
        return Some(character);
    }
    if expects("a name") && is_reserved(found) {
        return Some("it is a reserved word and cannot be a name".into());
    }
    if expects("a field") && behind.starts_with(':') {
        return Some(format!("a field is declared as in `var {found}: …;`"));
    }
    if matches!(found, "if" | "while") && !behind.starts_with('(') {
        return Some(format!("the condition of `{found}` needs parentheses, as in `{found} (…)`"));
    }
    if found == ":" && statement.contains("function ") && expects("`returns`") {
        return Some("the result is named, as in `returns (r: Int)`".into());
    }
    if let "requires" | "ensures" = found {
        return Some(format!("`{found}` has to stand before the `{{` of the body"));
    }
    if found == "invariant" {
        return Some("`invariant` has to stand between the condition and the `{` of a loop".into());
    }
    if matches!(found, "Int" | "Bool" | "int" | "bool") && statement.is_empty() {
        return Some(format!("a variable is declared as in `var x: {found}`"));
    }
    if found == "else" {
        return Some("there is no `if` for this `else`; a `}` may be missing".into());
    }
    if found == "}" && statement.is_empty() && expects("a declaration") {
        return Some("there is no `{` for this `}`".into());
    }
    let begins = found == "}" || found.starts_with(|c: char| c.is_alphabetic());
    let is_ended = text[..at].trim_end().ends_with([';', '{', '}']);
    let is_in_block = matches!(brackets::innermost_open(&text[..at]), Some((_, '{')));
    (begins && !is_ended && is_in_block).then(|| "a `;` is missing before it".into())
}

/// Returns the bracket that is not closed before something that cannot stand inside of one.
fn unclosed(before: &str, found: &str) -> Option<(usize, String)> {
    let (at, bracket) = brackets::innermost_open(before)?;
    let is_member = matches!(
        found,
        "procedure" | "lemma" | "function" | "predicate" | "struct" | "axiom" | "include" | "type"
    );
    let is_clause = matches!(found, "requires" | "ensures" | "invariant" | ";");
    let at = match bracket {
        '{' if found.is_empty() || is_member => brackets::unclosed_brace(before)?,
        '(' | '[' if found.is_empty() || is_member || is_clause || matches!(found, "{" | "}") => at,
        _ => return None,
    };
    Some((at, format!("this `{bracket}` is not closed")))
}

fn is_reserved(word: &str) -> bool {
    Grammar::parse(Rule::reserved, word).is_ok_and(|found| found.as_str() == word)
}
