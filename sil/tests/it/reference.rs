//! The page of the language against its grammar.

use front::Language;
use front::reference::defects;

/// The words in quotes of the rules of the grammar for words.
fn words_of_the_grammar() -> Vec<&'static str> {
    let rules = include_str!("../../src/parser/grammar.pest").lines().filter(|line| {
        let name = line.split_whitespace().next().unwrap_or_default();
        let others =
            ["unary_word", "access_word", "quantifier", "map_word", "plain_type", "collection"];
        name.starts_with("kw_") || name.starts_with("cw_") || others.contains(&name)
    });
    let quoted = rules.flat_map(|line| line.split('"').skip(1).step_by(2));
    let literals = ["true", "false", "null", "none", "write", "result", "wildcard", "epsilon"];
    quoted.chain(literals).filter(|word| !matches!(*word, "Rational" | ",")).collect()
}

#[test]
fn every_word_of_the_grammar_is_explained() {
    let words = words_of_the_grammar();
    assert!(words.len() > 70, "{words:?}");
    assert_eq!(defects(Language::Sil, words), Vec::<String>::new());
}
