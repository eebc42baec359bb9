//! The tokens of a text without the text, and what is declared in it: also where it is no program,
//! as while somebody types.

use std::ops::Range;

pub(crate) use front::tokens::Kind;
use silicon::session::input::Language;

/// A piece of a text; blanks are none.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

impl Token {
    /// Tells whether a parser does not see it.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }
}

/// The kind of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Declares {
    Class,
    Domain,
    Field,
    Function,
    Macro,
    Method,
    Predicate,
}

/// A declaration, as its text shows.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) declares: Declares,
    /// The word that begins it.
    pub(crate) keyword: String,
    pub(crate) name: Range<usize>,
    pub(crate) whole: Range<usize>,
    /// The declaration that it stands in, by number.
    pub(crate) inside: Option<usize>,
}

/// Returns the tokens of a text, in order. An open comment or string goes on to its end.
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let tokens = front::tokens::tokens(text, language).into_iter();
    tokens.map(|token| Token { kind: token.kind, range: token.start..token.end() }).collect()
}

/// Returns the kind of the declaration that a word begins at a depth of braces.
fn declares(language: Language, depth: usize, word: &str) -> Option<Declares> {
    Some(match (language, depth, word) {
        (Language::Sil, 0, "method") => Declares::Method,
        (Language::Sil, 0 | 1, "function") => Declares::Function,
        (Language::Sil, 0, "predicate") => Declares::Predicate,
        (Language::Sil, 0, "field") => Declares::Field,
        (Language::Sil, 0, "domain" | "adt") => Declares::Domain,
        (Language::Sil, 0, "define") => Declares::Macro,
        (Language::Chalice, 0, "class") => Declares::Class,
        (Language::Chalice, 0, "channel") => Declares::Class,
        (Language::Chalice, 1, "method") => Declares::Method,
        (Language::Chalice, 1, "function") => Declares::Function,
        (Language::Chalice, 1, "predicate" | "condition") => Declares::Predicate,
        (Language::Chalice, 1, "var") => Declares::Field,
        (Language::Spl, 0, "procedure" | "lemma") => Declares::Method,
        (Language::Spl, 0, "function") => Declares::Function,
        (Language::Spl, 0, "predicate") => Declares::Predicate,
        (Language::Spl, 0, "struct" | "type") => Declares::Class,
        (Language::Spl, 0, "define") => Declares::Macro,
        _ => return None,
    })
}

/// Returns the declarations of a text, in order.
pub(crate) fn declarations(text: &str, tokens: &[Token], language: Language) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    let code: Vec<&Token> = tokens.iter().filter(|token| !token.is_comment()).collect();
    let (mut depth, mut parentheses) = (0_usize, 0_usize);
    let mut outer = None;
    // The end of the last token, and the declaration that is open at each depth.
    let mut end = 0;
    let mut open: [Option<usize>; 2] = [None, None];
    for (position, token) in code.iter().enumerate() {
        let word = &text[token.range.clone()];
        let before = position.checked_sub(1).map_or("", |before| &text[code[before].range.clone()]);
        if token.kind == Kind::Word
            && parentheses == 0
            && depth <= 1
            && before != "."
            && let Some(declares) = declares(language, depth, word)
            && (depth == 0 || outer.is_some())
            && let Some(name) = code.get(position + 1)
            && name.kind == Kind::Word
        {
            for number in open[depth..].iter_mut().filter_map(Option::take) {
                found[number].whole.end = end;
            }
            let inside = if depth == 1 { outer } else { None };
            open[depth] = Some(found.len());
            let is_outer = matches!(declares, Declares::Class | Declares::Domain);
            if depth == 0 {
                outer = is_outer.then_some(found.len());
            }
            found.push(Declaration {
                declares,
                keyword: word.to_owned(),
                name: name.range.clone(),
                whole: token.range.start..text.len(),
                inside,
            });
        }
        match word {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(number) = open[1].take()
                {
                    found[number].whole.end = end;
                }
            }
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
        end = token.range.end;
    }
    for number in open.into_iter().flatten() {
        found[number].whole.end = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, language: Language) -> Vec<(String, String)> {
        let found = declarations(text, &tokens(text, language), language);
        let show = |one: &Declaration| {
            (text[one.name.clone()].to_owned(), text[one.whole.clone()].to_owned())
        };
        found.iter().map(show).collect()
    }

    #[test]
    fn declarations_are_found_in_broken_texts() {
        let text = "field f: Int // method no()\nmethod m(x: Ref)\n  requires acc(x.\n{ \nfunction g(): Int\n";
        let found = names(text, Language::Sil);
        let only: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        assert_eq!(only, ["f", "m"], "the parenthesis is open");
        assert_eq!(found[0].1, "field f: Int");
    }

    #[test]
    fn functions_of_domains_stand_in_them() {
        let text = "domain D { function a(): Int function b(): D }\nfunction c(): Int { 1 }\n";
        let found = declarations(text, &tokens(text, Language::Sil), Language::Sil);
        let inside: Vec<_> = found.iter().map(|one| one.inside).collect();
        assert_eq!(inside, [None, Some(0), Some(0), None]);
        assert_eq!(&text[found[1].whole.clone()], "function a(): Int");
        assert_eq!(&text[found[3].whole.clone()], "function c(): Int { 1 }");
    }

    #[test]
    fn members_of_classes_stand_in_them() {
        let text = "class C { var x: int; method m() { var y: int; } }";
        let found = names(text, Language::Chalice);
        let only: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        assert_eq!(only, ["C", "x", "m"]);
    }
}
