//! Completion: what may stand at a place, by the words before it.

use front::Words;
use lsp_types::{CompletionItem, CompletionItemKind, Position};
use silicon::session::input::Language;

use crate::analysis::Analysis;
use crate::index::{Means, Symbol};
use crate::tokens::{Declares, Kind, Token};

/// The kind of word that may stand at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// A part of the value before a dot.
    Part,
    Label,
    Type,
    /// An instance of a predicate, to be opened or closed.
    Instance,
    /// A call, to be executed.
    Call,
    /// Nothing is declared around.
    Declaration,
    Statement,
    Expression,
    Anything,
}

/// Lists completions at a place, in the order of the alphabet.
pub(crate) fn complete(analysis: &Analysis, position: Position) -> Vec<CompletionItem> {
    let index = &analysis.index;
    let offset = analysis.text.offset(position);
    let expected = expected(analysis, offset);
    let own = index.declaration_at(offset);
    let is_chalice = index.language == Language::Chalice;
    let fits = |symbol: &&Symbol| {
        let is_own = symbol.inside == own;
        let declares = match symbol.means {
            Means::Label => {
                return is_own && matches!(expected, Expected::Label | Expected::Anything);
            }
            Means::Parameter | Means::Variable => {
                let is_value = match expected {
                    Expected::Instance | Expected::Call => is_chalice,
                    Expected::Statement | Expected::Expression | Expected::Anything => true,
                    _ => false,
                };
                return is_own && is_value;
            }
            Means::Declared(declares) => declares,
        };
        match expected {
            Expected::Label | Expected::Declaration => false,
            Expected::Part => {
                declares == Declares::Field
                    || is_chalice && !matches!(declares, Declares::Class | Declares::Domain)
            }
            Expected::Type => matches!(declares, Declares::Domain | Declares::Class),
            Expected::Instance => declares == Declares::Predicate,
            Expected::Call => declares == Declares::Method,
            Expected::Statement => match declares {
                Declares::Field => is_chalice,
                Declares::Domain | Declares::Class | Declares::Predicate => false,
                _ => true,
            },
            Expected::Expression => match declares {
                Declares::Field => is_chalice,
                Declares::Method => false,
                _ => true,
            },
            Expected::Anything => declares != Declares::Field || is_chalice,
        }
    };
    let keyword = |word: &str| CompletionItem {
        label: word.to_owned(),
        kind: Some(CompletionItemKind::KEYWORD),
        ..CompletionItem::default()
    };
    let keywords = keywords(index.language, expected).into_iter().map(keyword);
    let symbols = index.symbols.iter().filter(fits).map(item);
    let mut items: Vec<CompletionItem> = symbols.chain(keywords).collect();
    items.sort_by(|left, right| left.label.cmp(&right.label));
    items.dedup_by(|left, right| left.label == right.label);
    items
}

fn item(symbol: &Symbol) -> CompletionItem {
    CompletionItem {
        label: symbol.name.clone(),
        kind: Some(match symbol.means {
            Means::Declared(Declares::Class) => CompletionItemKind::CLASS,
            Means::Declared(Declares::Domain) => CompletionItemKind::INTERFACE,
            Means::Declared(Declares::Field) => CompletionItemKind::FIELD,
            Means::Declared(Declares::Function) => CompletionItemKind::FUNCTION,
            Means::Declared(Declares::Macro) => CompletionItemKind::CONSTANT,
            Means::Declared(Declares::Method) => CompletionItemKind::METHOD,
            Means::Declared(Declares::Predicate) => CompletionItemKind::STRUCT,
            Means::Parameter | Means::Variable | Means::Label => CompletionItemKind::VARIABLE,
        }),
        detail: symbol.shown.lines().next().map(str::to_owned),
        ..CompletionItem::default()
    }
}

/// Returns the keywords that may stand there.
fn keywords(language: Language, expected: Expected) -> Vec<&'static str> {
    let words = Words::of(language);
    let lists: &[&[&'static str]] = match expected {
        Expected::Part | Expected::Label => &[],
        Expected::Type => &[words.types],
        Expected::Instance => &[&["acc"]],
        Expected::Call => &[&["this"]],
        Expected::Declaration => &[words.declarations, words.modifiers],
        Expected::Statement => &[words.statements, words.modifiers],
        Expected::Expression => &[words.expressions, words.constants, words.types],
        Expected::Anything => return words.all().collect(),
    };
    let words = words.all().filter(|word| lists.iter().any(|list| list.contains(word)));
    words.collect()
}

/// Decides by the last words before a place, without the one that is being written.
fn expected(analysis: &Analysis, offset: usize) -> Expected {
    let (text, index) = (&analysis.text.text, &analysis.index);
    let words = Words::of(index.language);
    let is_before = |token: &&Token| {
        !token.is_comment()
            && (token.range.end < offset || token.range.end == offset && token.kind == Kind::Sign)
    };
    let before: Vec<&Token> =
        index.tokens.iter().take_while(begins_before(offset)).filter(is_before).collect();
    let word = |back: usize| {
        let at = before.len().checked_sub(back);
        at.and_then(|at| before.get(at)).map_or("", |token| &text[token.range.clone()])
    };
    let depth = before.iter().fold(0_usize, |depth, token| match &text[token.range.clone()] {
        "{" => depth + 1,
        "}" => depth.saturating_sub(1),
        _ => depth,
    });
    let last = word(1);
    match last {
        "." => return Expected::Part,
        "[" if word(2) == "old" => return Expected::Label,
        "goto" => return Expected::Label,
        ":" => return Expected::Type,
        "fold" | "unfold" | "unfolding" => return Expected::Instance,
        "call" | "fork" if index.language == Language::Chalice => return Expected::Call,
        _ => {}
    }
    if depth == 0 && matches!(last, "" | "}") {
        return Expected::Declaration;
    }
    let is_word = before.last().is_some_and(|token| token.kind == Kind::Word);
    let is_operand = if is_word {
        words.operators.contains(&last) || words.clauses.contains(&last) || last == "assert"
    } else {
        last.ends_with(['(', ',', '=', '&', '|', '<', '+', '-', '*', '/', '?', '!'])
    };
    // Functions and predicates have one expression in their braces.
    let own = index.declaration_at(offset).map(|own| index.declarations[own].declares);
    let begins = matches!(last, "{" | ";") || last == "}" && depth > 0;
    match own {
        _ if is_operand => Expected::Expression,
        Some(Declares::Function | Declares::Predicate) if begins => Expected::Expression,
        Some(Declares::Method) if begins && depth > 0 => Expected::Statement,
        _ => Expected::Anything,
    }
}

/// Ends the search where tokens begin behind a place.
fn begins_before(offset: usize) -> impl Fn(&&Token) -> bool {
    move |token| token.range.start < offset
}
