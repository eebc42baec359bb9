//! Advice about a syntax error.

use std::ops::Range;

use front::Language;
use hints::syntax::{self, Hint};
use hints::{brackets, slips};
use pest::Parser as _;

use super::Rule;
use super::grammar::Grammar;

/// Guesses the intention behind `found`, at `at` in `text`, which is none of the things `expected`.
pub(super) fn hint(text: &str, at: usize, found: &str, expected: &[&str]) -> Hint {
    let unclosed = unclosed(&text[..at], found);
    let start = slips::statement_start(text, at);
    let first = slips::word(&text[start..]);
    if let Some((word, text)) = of_plugin(text, start, at, found) {
        return Hint { text: Some(text), word: Some(word), unclosed };
    }
    let word = (!first.is_empty()).then_some(start..start + first.len());
    // Inside of expressions there is a `let`.
    if slips::is_keyword(&text[start..])
        && (first != "let" || starts_something(expected))
        && let Some(text) = unknown_word(first)
    {
        return Hint { text: Some(text), word, unclosed };
    }
    if let Some(text) = words(text, at, found, expected) {
        return Hint { text: Some(text), word: None, unclosed };
    }
    match (misspelt(first, expected), misspelt(found, expected)) {
        (Some(text), _) => Hint { text: Some(text), word, unclosed },
        (None, text) => Hint { text, word: None, unclosed },
    }
}

/// Words that other languages have and this one has not.
pub(crate) fn unknown_word(word: &str) -> Option<String> {
    let said = match word {
        "class" | "struct" | "interface" | "enum" | "module" => {
            "declare fields, as in `field f: Int`; objects are of type `Ref`, and any object may have any field"
        }
        "ghost" => "everything is only there for the proof; leave it out",
        "let" => {
            "a variable is declared as in `var x: Int := …`; inside of expressions, write `let x == (…) in …`"
        }
        "const" | "val" => "declare a variable, as in `var x: Int := …`",
        "def" | "fn" | "func" | "procedure" | "void" => {
            "a method is declared as in `method m(x: Int)`"
        }
        // This word is one of ours.
        "elseif" => return None,
        _ => return slips::foreign_word(word),
    };
    let there_is = match word {
        // Inside of expressions there is one.
        "let" => "no statement begins with `let`".to_owned(),
        _ => format!("there is no `{word}`"),
    };
    Some(format!("{there_is}; {said}"))
}

/// `(let x = e in …)`, and calls with a point, as in `s.contains(x)`.
fn other_forms(text: &str, at: usize, found: &str) -> Option<String> {
    if matches!(found, "\"" | "'") {
        return Some("there are no texts; declare a domain with a constant for each".to_owned());
    }
    if found == "let" {
        return Some("the value is written in parentheses, as in `let x == (…) in …`".to_owned());
    }
    let called = text[..at].trim_end();
    let name = called.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_selected = called.strip_suffix(name)?.ends_with('.');
    (found == "(" && is_selected && !name.is_empty()).then(|| called_with_point(name))
}

/// Gives advice about `….name(…)`.
fn called_with_point(name: &str) -> String {
    match name {
        "contains" | "has" | "includes" | "containsKey" => "membership is written `x in s`".into(),
        "length" | "size" | "len" | "count" => "a length is written `|s|`".into(),
        "get" | "at" => "an element is written `s[i]`".into(),
        "add" | "append" | "push" => {
            "values do not change; write `s ++ Seq(x)` or `s union Set(x)`".into()
        }
        _ => format!("nothing is called with a point; write `{name}(…)`, with the object first"),
    }
}

/// Gives advice about an expression that stands alone, as in `s.add(3)`, where the second of two is
/// in parentheses.
pub(super) fn call_with_point(text: &str, at: usize) -> Option<String> {
    text[at..].starts_with('(').then(|| other_forms(text, at, "(")).flatten()
}

/// Returns a word of a plugin of the reference: at the start of the statement, where a clause may
/// stand, or before what is called.
fn of_plugin(text: &str, start: usize, at: usize, found: &str) -> Option<(Range<usize>, String)> {
    let first = slips::word(&text[start..]);
    let (start, word) = if PLUGINS.contains(&first) {
        (start, first)
    } else {
        PLUGINS.contains(&found).then_some((at, found))?
    };
    Some((start..start + word.len(), unsupported(word)))
}

/// Gives advice about `oldCall[l](m(x))` behind a target, which looks like two statements; the
/// second stands at `at`.
pub(super) fn call_of_plugin(text: &str, at: usize) -> Option<String> {
    let word = "oldCall";
    slips::statement_before(text, at).contains(word).then(|| unsupported(word))
}

fn unsupported(word: &str) -> String {
    format!("`{word}` belongs to a plugin of Viper that is not supported")
}

fn words(text: &str, at: usize, found: &str, expected: &[&str]) -> Option<String> {
    let statement = slips::statement_before(text, at);
    let first = if statement.is_empty() { found } else { slips::word(statement) };
    let expects = |what| expected.contains(&what);
    if expects("a name") && is_reserved(found) {
        return Some("it is a reserved word and cannot be a name".to_owned());
    }
    if let Some(text) = untyped(text, at) {
        return Some(text);
    }
    let is_quantifier = statement.contains("forall ") || statement.contains("exists ");
    if expects("a name") && is_quantifier && statement.ends_with(',') {
        return Some("the variables of a quantifier end with `::`".to_owned());
    }
    if let Some(operator) = slips::operator(text, at) {
        return Some(operator);
    }
    let other = other_forms(text, at, found).or_else(|| slips::foreign_character(&text[at..]));
    if other.is_some() {
        return other;
    }
    if found.starts_with(|digit: char| digit.is_ascii_digit()) && text[..at].ends_with('.') {
        return Some("there are no decimal numbers; amounts are fractions, as in `1/2`".to_owned());
    }
    if expects("`(`") && matches!(last_word_of(statement), "if" | "elseif" | "while") {
        let word = last_word_of(statement);
        return Some(format!("the condition of `{word}` needs parentheses, as in `{word} (…)`"));
    }
    if expects("`{`")
        && matches!(slips::word(line_before(text, at)), "if" | "else" | "elseif" | "while")
    {
        return Some(
            "statements below `if`, `else` and `while` need braces, as in `{ … }`".to_owned(),
        );
    }
    if (expects("a statement") || expects("a declaration"))
        && let Some(text) = misplaced_clause(found)
    {
        return Some(text);
    }
    if expects("a statement") {
        if TYPES.contains(&first) {
            return Some(format!("a variable is declared as in `var x: {first}`"));
        }
        if found == "else" {
            return Some("there is no `if` for this `else`; a `}` may be missing".to_owned());
        }
    }
    if expects("an expression") && matches!(found, "if" | "while" | "var" | "assert") {
        return Some(match found {
            "if" => "`if` is a statement; as an expression, write `condition ? a : b`".to_owned(),
            _ => format!("`{found}` is a statement, and an expression is needed here"),
        });
    }
    if expects("a declaration") && found == "}" {
        return Some("there is no `{` for this `}`".to_owned());
    }
    None
}

/// `var n := 1` and `forall i :: …`.
fn untyped(text: &str, at: usize) -> Option<String> {
    let (before, rest) = text.split_at(at);
    let before = before.strip_suffix(':').unwrap_or(before);
    let is_assigned = rest.starts_with('=') || rest.starts_with(":=");
    let statement = slips::statement_before(text, before.len());
    let name = statement.strip_prefix("var ").map(str::trim);
    if let Some(name) = name.filter(|name| is_assigned && slips::is_target(name)) {
        return Some(format!("the variable needs its type, as in `var {name}: Int := …`"));
    }
    let quantifier = ["forall", "exists", "forperm"]
        .into_iter()
        .find_map(|word| Some((word, before.rsplit_once(word)?.1.trim())));
    let (word, name) =
        quantifier.filter(|(_, name)| rest.starts_with(':') && slips::is_target(name))?;
    Some(format!("the variable needs its type, as in `{word} {name}: Int :: …`"))
}

/// Returns a clause that stands where none can.
fn misplaced_clause(found: &str) -> Option<String> {
    Some(match found {
        "requires" | "ensures" => format!("`{found}` has to stand before the `{{` of the body"),
        "invariant" => {
            "`invariant` has to stand between the condition and the `{` of a loop".into()
        }
        _ => return None,
    })
}

/// Returns a word that no statement, clause or declaration starts with, but nearly.
fn misspelt(word: &str, expected: &[&str]) -> Option<String> {
    if !starts_something(expected) {
        return None;
    }
    syntax::misspelt(word, Language::Sil)
}

/// Tells whether a statement, clause or declaration may start here.
fn starts_something(expected: &[&str]) -> bool {
    let starts = ["a statement", "a declaration", "`{`"];
    expected.iter().any(|what| starts.contains(what))
}

/// Returns the bracket that is not closed before something that cannot stand inside of one.
fn unclosed(before: &str, found: &str) -> Option<(usize, String)> {
    let (at, bracket) = brackets::innermost_open(before)?;
    let is_member = MEMBERS.contains(&found);
    let is_clause = matches!(found, "requires" | "ensures" | "invariant" | "decreases");
    let at = match bracket {
        '{' if found.is_empty() || is_member || found == "else" => {
            brackets::unclosed_brace(before)?
        }
        '(' | '[' if found.is_empty() || is_member || is_clause || matches!(found, "{" | "}") => at,
        _ => return None,
    };
    Some((at, format!("this `{bracket}` is not closed")))
}

/// Returns the line that goes on at `at`, or the one before if there is nothing on it.
fn line_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_start_matches([' ', '\t', '}'])
}

fn last_word_of(text: &str) -> &str {
    text.rsplit([' ', '\t', '}']).next().unwrap_or_default()
}

fn is_reserved(word: &str) -> bool {
    Grammar::parse(Rule::reserved, word).is_ok_and(|found| found.as_str() == word)
}

const MEMBERS: [&str; 8] =
    ["adt", "define", "domain", "field", "function", "import", "method", "predicate"];

const TYPES: [&str; 8] = ["Bool", "Int", "Map", "Multiset", "Perm", "Ref", "Seq", "Set"];

/// Words that statements, clauses and declarations of plugins of the reference start with.
const PLUGINS: [&str; 10] = [
    "assumesNothing",
    "declassify",
    "existential_elim",
    "flowannotation",
    "influenced",
    "isLemma",
    "lemma",
    "obtain",
    "prove",
    "universalIntro",
];
