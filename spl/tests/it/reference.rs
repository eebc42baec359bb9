//! The reference of the language is complete.

use front::reference::defects;

use spl::reference::SECTIONS;

#[test]
fn every_word_of_the_grammar_is_explained() {
    let grammar = include_str!("../../src/syntax/grammar.pest");
    assert!(defects(&[], grammar).len() > 50, "the grammar has words");
    assert_eq!(defects(SECTIONS, grammar), Vec::<String>::new());
}
