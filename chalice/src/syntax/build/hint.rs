//! Advice about a syntax error.

use front::Language;
use hints::syntax::{self, Hint};
use hints::{brackets, slips};
use pest::Parser as _;

use super::{Grammar, Rule};

/// Guesses the intention behind `found`, at `at` in `text`, in place of the expected text.
pub(super) fn hint(text: &str, at: usize, found: &str, expected: &str) -> Hint {
    let unclosed = unclosed(text, at, found);
    let is_open = unclosed.as_ref().is_some_and(|(at, _)| text[*at..].starts_with('{'));
    if is_open {
        let text = Some("what stands before it is not closed".to_owned());
        return Hint { text, word: None, unclosed };
    }
    let start = slips::statement_start(text, at);
    let first = slips::word(&text[start..]);
    let word = (!first.is_empty()).then_some(start..start + first.len());
    if slips::is_keyword(&text[start..])
        && let Some(text) = unknown_word(first)
    {
        return Hint { text: Some(text), word, unclosed };
    }
    if let Some(text) = words(text, at, found, expected) {
        return Hint { text: Some(text), word: None, unclosed };
    }
    let misspelt = |word| misspelt(word, word == found, expected);
    match (misspelt(first), misspelt(found)) {
        (Some(text), _) => Hint { text: Some(text), word, unclosed },
        (None, text) => Hint { text, word: None, unclosed },
    }
}

/// Words that other languages have and this one has not.
fn unknown_word(word: &str) -> Option<String> {
    let said = match word {
        "struct" | "interface" | "enum" => "declare a class, as in `class C { var f: int; }`",
        "let" | "val" => "a variable is declared as in `var x: int := …`",
        "def" | "fn" | "func" | "procedure" | "void" => {
            "a method is declared as in `method m(x: int) returns (y: int)`"
        }
        "synchronized" => "write `lock (o) { … }`",
        "async" | "spawn" | "thread" | "start" => "a thread is started as in `fork t := o.m(…)`",
        _ => return slips::foreign_word(word),
    };
    Some(format!("there is no `{word}`; {said}"))
}

fn words(text: &str, at: usize, found: &str, expected: &str) -> Option<String> {
    let statement = slips::statement_before(text, at);
    let behind = text[at + found.len()..].trim_start();
    if let Some(operator) = slips::operator(text, at) {
        return Some(operator);
    }
    if let Some(character) = slips::foreign_character(&text[at..]) {
        return Some(character);
    }
    if matches!(found, "if" | "while") && !behind.starts_with('(') {
        return Some(format!("the condition of `{found}` needs parentheses, as in `{found} (…)`"));
    }
    if expected.ends_with("a name") && is_reserved(found) {
        return Some("it is a reserved word and cannot be a name".into());
    }
    if let Some(method) = slips::application(statement)
        && !statement.contains(":=")
    {
        return Some(format!("a method is called as in `call {method}(…)`"));
    }
    if statement.ends_with(" returns") {
        return Some("results have names, as in `returns (r: int)`".into());
    }
    if found == ":" && statement.contains("method ") {
        return Some("a method names its results, as in `returns (r: int)`".into());
    }
    if expected == "an expression" && text[..at].trim_end().ends_with('%') {
        return Some("`%` is an operator; an amount in percent is written `acc(f, 50)`".into());
    }
    if let Some(name) = untyped_function(statement) {
        return Some(format!("a function needs its type, as in `function {name}(…): int`"));
    }
    if let Some(class) = new_with_arguments(statement) {
        return Some(format!(
            "`new {class}` takes no arguments; fields get values as in `new {class} {{ f := 1 }}`"
        ));
    }
    if let "requires" | "ensures" | "lockchange" | "decreases" = found
        && expected != "an expression"
    {
        return Some(format!("`{found}` has to stand before the `{{` of the body"));
    }
    if matches!(found, "int" | "bool" | "string" | "seq" | "set") && statement.is_empty() {
        return Some(format!("a variable is declared as in `var x: {found}`"));
    }
    if found == "else" && expected == "a statement" {
        return Some("there is no `if` for this `else`; a `}` may be missing".into());
    }
    if let "method" | "function" | "predicate" | "invariant" | "var" | "condition" = found
        && matches!(expected, "a class or channel" | "a class, a channel or the end of the file")
    {
        let article = if found == "invariant" { "an" } else { "a" };
        let why =
            if text[..at].contains('}') { "; a `}` before it may be one too many" } else { "" };
        return Some(format!("{article} `{found}` has to stand in a class{why}"));
    }
    if found == "}" && expected.starts_with("a class") {
        return Some("there is no `{` for this `}`".into());
    }
    None
}

/// Returns the name in `function f(…)`, if no type follows.
fn untyped_function(statement: &str) -> Option<&str> {
    let head = statement.strip_prefix("function ")?;
    let (name, _) = head.split_once('(')?;
    (!head.contains(':') && slips::is_target(name.trim())).then(|| name.trim())
}

/// Returns the class in `… new C(`.
fn new_with_arguments(statement: &str) -> Option<&str> {
    let (_, class) = statement.rsplit_once("new ")?;
    let (class, _) = class.split_once('(')?;
    slips::is_target(class.trim()).then(|| class.trim())
}

/// Proposes a word of a statement, clause or declaration that a misspelt word is near to.
fn misspelt(word: &str, is_found: bool, expected: &str) -> Option<String> {
    if expected == "an expression"
        || expected == "a type"
        || expected.starts_with("an operator") && is_found
    {
        return None;
    }
    syntax::misspelt(word, Language::Chalice)
}

/// Returns the bracket that is not closed before something that cannot stand inside of one.
fn unclosed(text: &str, at: usize, found: &str) -> Option<(usize, String)> {
    let before = &text[..at];
    let (open, bracket) = brackets::innermost_open(before)?;
    let is_member = matches!(
        found,
        "method" | "function" | "predicate" | "class" | "channel" | "condition" | "external"
    );
    // The members of a class stand in one brace.
    let allowed = usize::from(!matches!(found, "" | "class" | "channel" | "external"));
    let open = match bracket {
        '{' if (is_member || found.is_empty()) && brackets::depth(before) > allowed => {
            brackets::unclosed_brace(before)?
        }
        '(' | '['
            if is_member || matches!(found, "" | "{" | "}" | "requires" | "ensures" | ";") =>
        {
            open
        }
        _ => return None,
    };
    Some((open, format!("this `{bracket}` is not closed")))
}

fn is_reserved(word: &str) -> bool {
    Grammar::parse(Rule::reserved, word).is_ok_and(|found| found.as_str() == word)
}
