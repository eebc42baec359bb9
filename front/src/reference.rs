//! A language in tables: each form, and what it means. Pages and the answers of `silicon explain
//! WORD` are made of them.

/// A part of a language.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub title: &'static str,
    /// The rules for all forms of the construct.
    pub about: &'static str,
    pub forms: &'static [Form],
    /// A program that is verified, with the forms in it; empty where there is none.
    pub example: &'static str,
}

/// A form of a language.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How it is written; small letters stand for parts.
    pub written: &'static str,
    /// The meaning, in whole sentences.
    pub meaning: &'static str,
}

impl Form {
    /// Returns the words that it is made of: all but names of parts and punctuation.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let pieces = self.written.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        pieces.filter(|piece| piece.len() > 1 || *piece == "_")
    }
}

/// Makes a row of a table.
pub const fn form(written: &'static str, meaning: &'static str) -> Form {
    Form { written, meaning }
}

/// Returns the page of a language: `head` comes before the tables, and the names of the examples'
/// files end in `ending`.
pub fn page(head: &str, sections: &[Section], language: &str, ending: &str) -> String {
    let mut text = head.to_owned();
    for Section { title, about, forms, example } in sections {
        text += &format!("\n## {title}\n\n");
        if !about.is_empty() {
            text += &format!("{about}\n\n");
        }
        text += "| form | meaning |\n|---|---|\n";
        for Form { written, meaning } in *forms {
            let cell = |text: &str| text.replace('|', "\\|");
            text += &format!("| `{}` | {} |\n", cell(written), cell(meaning));
        }
        let file = title.to_lowercase().replace(' ', "_");
        if !example.is_empty() {
            text += &format!("\n```{language} {file}.{ending}\n{example}```\n");
        }
    }
    text
}

/// Returns the forms that a word is part of.
pub fn forms_with<'s>(sections: &'s [Section], word: &str) -> Vec<&'s Form> {
    let forms = sections.iter().flat_map(|section| section.forms);
    forms.filter(|form| form.words().any(|part| part == word)).collect()
}

/// Lists what is wrong with the tables of a language: words of the grammar that no form has, and
/// meanings that are no sentences on one line. Words are the rules whose names begin with `k_`.
pub fn defects(sections: &[Section], grammar: &str) -> Vec<String> {
    let rules = grammar.lines().filter(|line| line.starts_with("k_"));
    let words = rules.filter_map(|line| line.split('"').nth(1));
    let without_form = words.filter(|word| forms_with(sections, word).is_empty());
    let forms = sections.iter().flat_map(|section| section.forms);
    let is_sentence = |form: &&Form| form.meaning.ends_with('.') && !form.meaning.contains('\n');
    let no_sentences = forms.filter(|form| !is_sentence(form));
    let of_words = without_form.map(|word| format!("no form has `{word}`"));
    of_words.chain(no_sentences.map(|form| format!("no sentence: {form:?}"))).collect()
}
