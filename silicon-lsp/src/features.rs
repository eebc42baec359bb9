//! Answers about one version of a text: what stands where, what it means, and what can be done with
//! it.

use std::ops::Range;

use lsp_types::{
    CompletionItem, CompletionItemKind, DocumentSymbol, FoldingRange, FoldingRangeKind, Hover,
    HoverContents, MarkupContent, MarkupKind, Position, SemanticToken, SemanticTokenType,
    SymbolKind, TextEdit,
};
use serde_json::{Value, json};
use silicon::session::input::Language;

use crate::analysis::{Analysis, Request, analyse};
use crate::index::{Means, Symbol};
use crate::tokens::{Declaration, Declares, Kind, keywords, tokens};

/// Where a symbol is: a URI and a range there.
pub(crate) type At = (String, lsp_types::Range);

/// Explains the word at a place, in Markdown; `verdict` yields the verdict on the member that the
/// word names.
pub(crate) fn hover(
    analysis: &Analysis,
    position: Position,
    verdict: impl Fn(&str) -> Option<String>,
) -> Option<Hover> {
    let (range, symbol) = analysis.index.at(analysis.text.offset(position))?;
    let symbol = &analysis.index.symbols[symbol];
    let language = match analysis.index.language {
        Language::Sil => "viper",
        Language::Chalice => "chalice",
        Language::Spl => "spl",
    };
    let mut value = format!("```{language}\n{}\n```", symbol.shown);
    let is_member = matches!(symbol.means, Means::Declared(_));
    if let Some(verdict) = verdict(&symbol.name).filter(|_| is_member) {
        value += &format!("\n\n{verdict}");
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(analysis.text.range(&range)) })
}

/// Where the word at a place is declared.
pub(crate) fn definition(analysis: &Analysis, position: Position) -> Option<At> {
    let (_, symbol) = analysis.index.at(analysis.text.offset(position))?;
    let symbol = &analysis.index.symbols[symbol];
    match (&symbol.declared, &symbol.elsewhere) {
        (Some(declared), _) => Some((analysis.uri.clone(), analysis.text.range(declared))),
        (None, Some((file, range))) => Some((crate::convert::uri_of(file), *range)),
        (None, None) => None,
    }
}

/// Where what the word at a place means is named.
pub(crate) fn references(
    analysis: &Analysis,
    position: Position,
    with_declaration: bool,
) -> Vec<lsp_types::Range> {
    let Some((_, symbol)) = analysis.index.at(analysis.text.offset(position)) else {
        return Vec::new();
    };
    let declared = &analysis.index.symbols[symbol].declared;
    let uses = analysis.index.uses_of(symbol);
    let uses = uses.filter(|range| with_declaration || Some(range) != declared.as_ref());
    uses.map(|range| analysis.text.range(&range)).collect()
}

/// The word that can be renamed at a place.
pub(crate) fn can_rename(analysis: &Analysis, position: Position) -> Option<lsp_types::Range> {
    let (range, symbol) = analysis.index.at(analysis.text.offset(position))?;
    let is_here = analysis.index.symbols[symbol].declared.is_some();
    is_here.then(|| analysis.text.range(&range))
}

/// The edits that give what the word at a place means another name.
///
/// The name must be new: then nothing can be captured, and a use that was overlooked is a name that
/// means nothing. So the renamed text is looked at again, and has to be a program in which the same
/// words mean the same.
///
/// # Errors
/// Why it cannot be renamed.
pub(crate) fn rename(
    analysis: &Analysis,
    name: &str,
    position: Position,
    new: &str,
) -> Result<Vec<TextEdit>, String> {
    let language = analysis.index.language;
    let at = analysis.index.at(analysis.text.offset(position));
    let (_, symbol) = at.ok_or("there is nothing here that has a name")?;
    if analysis.index.symbols[symbol].declared.is_none() {
        return Err("it is declared in another file".to_owned());
    }
    if !analysis.is_program {
        return Err("the text has errors".to_owned());
    }
    let is_word = tokens(new).len() == 1 && tokens(new)[0].kind == Kind::Word;
    if !is_word || new.trim() != new || keywords(language).contains(&new) {
        return Err(format!("`{new}` is no name"));
    }
    let text = &analysis.text.text;
    let is_used = |it: &crate::tokens::Token| &text[it.range.clone()] == new;
    if analysis.index.tokens.iter().any(is_used) {
        return Err(format!("`{new}` is used in this text already"));
    }
    let uses: Vec<Range<usize>> = analysis.index.uses_of(symbol).collect();
    let mut renamed = String::with_capacity(text.len());
    let mut done = 0;
    let mut expected = Vec::new();
    for range in &uses {
        renamed.push_str(&text[done..range.start]);
        expected.push(renamed.len());
        renamed.push_str(new);
        done = range.end;
    }
    renamed.push_str(&text[done..]);
    let again = analyse(Request {
        uri: analysis.uri.clone(),
        version: analysis.version,
        name: name.to_owned(),
        language,
        text: crate::positions::Text::new(renamed),
    });
    let found = expected.first().and_then(|at| again.index.uses.get(at));
    let found = found.map(|&symbol| again.index.uses_of(symbol).map(|it| it.start).collect());
    if !again.is_program || found != Some(expected) {
        return Err("with that name, the text would mean something else".to_owned());
    }
    let edit = |range: &Range<usize>| TextEdit::new(analysis.text.range(range), new.to_owned());
    Ok(uses.iter().map(edit).collect())
}

fn kind_of_symbol(declares: Declares) -> SymbolKind {
    match declares {
        Declares::Class => SymbolKind::CLASS,
        Declares::Domain => SymbolKind::INTERFACE,
        Declares::Field => SymbolKind::FIELD,
        Declares::Function => SymbolKind::FUNCTION,
        Declares::Macro => SymbolKind::CONSTANT,
        Declares::Method => SymbolKind::METHOD,
        Declares::Predicate => SymbolKind::STRUCT,
    }
}

/// Lists the declarations, in a tree.
pub(crate) fn symbols(analysis: &Analysis) -> Vec<DocumentSymbol> {
    let declarations = &analysis.index.declarations;
    let below = |outer: Option<usize>| {
        let of_it = declarations.iter().enumerate().filter(move |(_, it)| it.inside == outer);
        of_it.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let shown = |number: usize, children: Option<Vec<DocumentSymbol>>| {
        let declaration = &declarations[number];
        #[expect(deprecated, reason = "the structure has no other constructor")]
        DocumentSymbol {
            name: analysis.text.text[declaration.name.clone()].to_owned(),
            detail: Some(declaration.keyword.clone()),
            kind: kind_of_symbol(declaration.declares),
            tags: None,
            deprecated: None,
            range: analysis.text.range(&declaration.whole),
            selection_range: analysis.text.range(&declaration.name),
            children,
        }
    };
    let with_parts = |number: usize| {
        let parts = below(Some(number)).into_iter().map(|part| shown(part, None));
        shown(number, Some(parts.collect()))
    };
    below(None).into_iter().map(with_parts).collect()
}

/// Lists the declarations with their places, for a search in all texts.
pub(crate) fn symbols_of_workspace(analysis: &Analysis) -> Vec<Value> {
    let declarations = &analysis.index.declarations;
    let name = |it: &Declaration| &analysis.text.text[it.name.clone()];
    let shown = |it: &Declaration| {
        json!({
            "name": name(it),
            "kind": kind_of_symbol(it.declares),
            "containerName": it.inside.map(|outer| name(&declarations[outer])),
            "location": { "uri": analysis.uri, "range": analysis.text.range(&it.name) },
        })
    };
    declarations.iter().map(shown).collect()
}

/// Declarations and comments of several lines.
pub(crate) fn folds(analysis: &Analysis) -> Vec<FoldingRange> {
    let comments = analysis.index.tokens.iter().filter(|it| it.kind == Kind::Comment);
    let comments = comments.map(|it| (&it.range, Some(FoldingRangeKind::Comment)));
    let declarations = analysis.index.declarations.iter().map(|it| (&it.whole, None));
    let fold = |(range, kind): (&Range<usize>, Option<FoldingRangeKind>)| {
        let range = analysis.text.range(range);
        (range.start.line < range.end.line).then(|| FoldingRange {
            start_line: range.start.line,
            end_line: range.end.line,
            kind,
            ..FoldingRange::default()
        })
    };
    declarations.chain(comments).filter_map(fold).collect()
}

/// The kinds of semantic tokens, by number.
pub(crate) const LEGEND: [SemanticTokenType; 13] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::CLASS,
    SemanticTokenType::INTERFACE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::MACRO,
    SemanticTokenType::METHOD,
    SemanticTokenType::STRUCT,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
];

fn kind_of_token(symbol: &Symbol) -> usize {
    match symbol.means {
        Means::Declared(Declares::Class) => 4,
        Means::Declared(Declares::Domain) => 5,
        Means::Declared(Declares::Field) => 6,
        Means::Declared(Declares::Function) => 7,
        Means::Declared(Declares::Macro) => 8,
        Means::Declared(Declares::Method) => 9,
        Means::Declared(Declares::Predicate) => 10,
        Means::Parameter => 11,
        Means::Variable | Means::Label => 12,
    }
}

/// Classifies each word for colours, within a range if one is given. A token of several lines
/// counts once for each line.
pub(crate) fn semantic_tokens(
    analysis: &Analysis,
    within: Option<lsp_types::Range>,
) -> Vec<SemanticToken> {
    let text = &analysis.text.text;
    let within = within.map_or(0..text.len(), |range| analysis.text.offsets(range));
    let keywords = keywords(analysis.index.language);
    let mut found = Vec::new();
    let mut before = Position::default();
    let meets = |token: &&crate::tokens::Token| {
        token.range.start < within.end && within.start < token.range.end
    };
    for token in analysis.index.tokens.iter().filter(meets) {
        let known = analysis.index.uses.get(&token.range.start);
        let kind = match token.kind {
            Kind::Word => match known {
                Some(&symbol) => kind_of_token(&analysis.index.symbols[symbol]),
                None if keywords.contains(&&text[token.range.clone()]) => 0,
                None => continue,
            },
            Kind::Number => 1,
            Kind::Comment => 2,
            Kind::Quoted => 3,
            Kind::Sign => continue,
        };
        let mut start = token.range.start;
        for line in text[token.range.clone()].split_inclusive('\n') {
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            let range = analysis.text.range(&(start..end));
            start += line.len();
            if range.start == range.end {
                continue;
            }
            let delta_line = range.start.line - before.line;
            let from = if delta_line == 0 { before.character } else { 0 };
            found.push(SemanticToken {
                delta_line,
                delta_start: range.start.character - from,
                length: range.end.character - range.start.character,
                token_type: kind as u32,
                token_modifiers_bitset: 0,
            });
            before = range.start;
        }
    }
    found
}

/// The types whose names are written small.
const TYPES: [&str; 7] = ["bool", "int", "map", "seq", "set", "string", "token"];

/// Lists completions at a place: the parts of the value before a dot, or all names that are known
/// there.
pub(crate) fn complete(analysis: &Analysis, position: Position) -> Vec<CompletionItem> {
    let text = &analysis.text.text;
    let offset = analysis.text.offset(position);
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let before = text[..offset].trim_end_matches(is_of_word);
    let is_part = before.ends_with('.') && !before.ends_with("..");
    let is_chalice = analysis.index.language == Language::Chalice;
    let own = analysis.index.declaration_at(offset);
    let rest = before.trim_end();
    // What may follow is known better behind these.
    let is_label = rest.ends_with("old[");
    let is_type = rest.ends_with(':') && !rest.ends_with("::");
    let fits = |symbol: &Symbol| match symbol.means {
        Means::Label => is_label || !is_part && !is_type && symbol.inside == own,
        _ if is_label => false,
        Means::Declared(Declares::Domain | Declares::Class) => !is_part,
        _ if is_type => false,
        Means::Declared(Declares::Field) => is_part || is_chalice,
        Means::Declared(Declares::Method | Declares::Function | Declares::Predicate) => {
            !is_part || is_chalice
        }
        Means::Declared(_) => !is_part,
        Means::Parameter | Means::Variable => !is_part && symbol.inside == own,
    };
    let item = |symbol: &Symbol| CompletionItem {
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
    };
    let symbols = analysis.index.symbols.iter().filter(|symbol| fits(symbol)).map(item);
    let is_of_type = |word: &str| word.starts_with(char::is_uppercase) || TYPES.contains(&word);
    let keywords = keywords(analysis.index.language).iter();
    let keywords = keywords.filter(|word| !is_part && !is_label && (!is_type || is_of_type(word)));
    let keywords = keywords.map(|&word| CompletionItem {
        label: word.to_owned(),
        kind: Some(CompletionItemKind::KEYWORD),
        ..CompletionItem::default()
    });
    let mut items: Vec<CompletionItem> = symbols.chain(keywords).collect();
    items.sort_by(|left, right| left.label.cmp(&right.label));
    items.dedup_by(|left, right| left.label == right.label);
    items
}
