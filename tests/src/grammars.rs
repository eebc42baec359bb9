//! Grammars for highlighting, as editors with TextMate's format read them, from the keyword tables.

use front::Words;
use layout::Language;
use serde_json::{Value, json};

/// The name of a grammar's file, and of its scope.
pub fn name(language: Language) -> &'static str {
    match language {
        Language::Sil => "sil",
        Language::Chalice => "chalice",
        Language::Spl => "spl",
    }
}

/// The grammar of a language.
pub fn grammar(language: Language) -> String {
    let words = Words::of(language);
    let name = name(language);
    let scope = |scope: &str| format!("{scope}.{name}");
    let any = |words: &[&str]| format!("\\b({})\\b", words.join("|"));
    let keywords = [
        ("storage.modifier", words.modifiers),
        ("keyword.other.contract", words.clauses),
        ("keyword.control", words.statements),
        ("keyword.control", words.connectives),
        ("keyword.other.expression", words.expressions),
        ("keyword.operator.word", words.operators),
        ("constant.language", words.constants),
        ("support.type", words.types),
    ];
    let mut patterns = vec![
        json!({ "name": scope("comment.line.double-slash"), "match": "//.*$" }),
        json!({ "name": scope("comment.block"), "begin": "/\\*", "end": "\\*/" }),
        json!({
            "name": scope("string.quoted.double"), "begin": "\"", "end": "\"",
            "patterns": [{ "name": scope("constant.character.escape"), "match": "\\\\." }],
        }),
        json!({
            "match": format!("{}\\s+([A-Za-z_$][\\w$]*)", any(words.declarations)),
            "captures": {
                "1": { "name": scope("storage.type") },
                "2": { "name": scope("entity.name.function") },
            },
        }),
        json!({ "name": scope("storage.type"), "match": any(words.declarations) }),
    ];
    let keywords = keywords.iter().filter(|(_, words)| !words.is_empty());
    patterns
        .extend(keywords.map(|(kind, words)| json!({ "name": scope(kind), "match": any(words) })));
    patterns.extend([
        json!({ "name": scope("constant.numeric"), "match": "\\b(0x[0-9A-Fa-f]+|[0-9]+)\\b" }),
        json!({ "name": scope("keyword.operator"), "match": ":=|<?==>|[=!<>]=|&&|\\|\\||--\\*|::|[-+*/%<>?!]" }),
    ]);
    let grammar: Value = json!({
        "comment": "Made from the keyword tables in front/src/keywords.rs.",
        "name": name,
        "scopeName": format!("source.{name}"),
        "patterns": patterns,
    });
    format!("{grammar:#}\n")
}
