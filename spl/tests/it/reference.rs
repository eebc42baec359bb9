//! The reference of the language is complete.

use front::Language;
use front::reference::{defects, keywords};

#[test]
fn every_word_of_the_grammar_is_explained() {
    let words: Vec<&str> = keywords(include_str!("../../src/syntax/grammar.pest")).collect();
    assert!(words.len() > 50, "the grammar has words");
    assert_eq!(defects(Language::Spl, words), Vec::<String>::new());
}
