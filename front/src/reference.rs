//! A language form by form: the pages in `docs/`, whose tables answer `silicon explain WORD`.

use crate::Language;

/// A form of a language: a row of a table.
#[derive(Clone, Debug)]
pub struct Form {
    /// How it is written; small letters stand for parts.
    pub written: String,
    /// The meaning, in whole sentences.
    pub meaning: String,
}

impl Form {
    /// Reads a line of a page, if it is a row with a form.
    fn of_line(line: &str) -> Option<Self> {
        let cells = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let (written, meaning) = cells.split_once("` | ")?;
        let text = |cell: &str| cell.replace("\\|", "|");
        Some(Self { written: text(written), meaning: text(meaning) })
    }

    /// Returns the words that it is made of: all but names of parts and punctuation.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let pieces = self.written.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        pieces.filter(|piece| piece.len() > 1 || *piece == "_")
    }
}

/// Returns the page of a language, in Markdown.
pub fn page(language: Language) -> &'static str {
    match language {
        Language::Sil => include_str!("../../docs/sil.md"),
        Language::Chalice => include_str!("../../docs/chalice-reference.md"),
        Language::Spl => include_str!("../../docs/spl-reference.md"),
    }
}

/// Returns the forms of a language, in the order of its page.
pub fn forms(language: Language) -> impl Iterator<Item = Form> {
    page(language).lines().filter_map(Form::of_line)
}

/// Returns the forms that a word is part of.
pub fn forms_with(language: Language, word: &str) -> Vec<Form> {
    forms(language).filter(|form| form.words().any(|part| part == word)).collect()
}

/// Lists what is wrong with the page of a language: words that no form has, rows without a form, and
/// meanings that are no sentences.
pub fn defects<'w>(language: Language, words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    let without_form = words.into_iter().filter(|word| forms_with(language, word).is_empty());
    let mut found: Vec<String> = without_form.map(|word| format!("no form has `{word}`")).collect();
    for line in page(language).lines().filter(|line| line.starts_with('|')) {
        let is_head = matches!(line, "| form | meaning |" | "|---|---|");
        match Form::of_line(line) {
            None if !is_head => found.push(format!("no row: {line}")),
            Some(form) if !form.meaning.ends_with('.') => {
                found.push(format!("no sentence: {line}"));
            }
            _ => {}
        }
    }
    found
}

/// Returns the words of a grammar: its rules for words have names that begin with `k_`.
pub fn keywords(grammar: &str) -> impl Iterator<Item = &str> {
    let rules = grammar.lines().filter(|line| line.starts_with("k_"));
    rules.filter_map(|line| line.split('"').nth(1))
}
