//! Answers about one version of a text: what stands where, what it means, and what can be done with
//! it.

use std::ops::Range;
use std::sync::Arc;

use front::{Words, reference};
use lsp_types::{
    DocumentSymbol, FoldingRange, FoldingRangeKind, Hover, HoverContents, MarkupContent,
    MarkupKind, Position, SemanticToken, SemanticTokenType, SymbolKind, TextEdit,
};
use serde_json::{Value, json};
use silicon::session::format;
use silicon::session::input::{Input, Language};

use crate::analysis::Analysis;
use crate::index::{Means, Symbol};
use crate::tokens::{Declaration, Declares, Kind};

/// Where a symbol is: a URI and a range there.
pub(crate) type At = (String, lsp_types::Range);

/// Explains the word at a place, in Markdown; `verdict` yields the verdict on the member that the
/// word names.
pub(crate) fn hover(
    analysis: &Analysis,
    position: Position,
    verdict: impl Fn(&str) -> Option<String>,
) -> Option<Hover> {
    let language = match analysis.index.language {
        Language::Sil => "viper",
        Language::Chalice => "chalice",
        Language::Spl => "spl",
    };
    let Some((range, symbol)) = analysis.index.at(analysis.text.offset(position)) else {
        return of_keyword(analysis, position, language);
    };
    let symbol = &analysis.index.symbols[symbol];
    let mut value = format!("```{language}\n{}\n```", symbol.shown);
    let is_member = matches!(symbol.means, Means::Declared(_));
    if let Some(verdict) = verdict(&symbol.name).filter(|_| is_member) {
        value += &format!("\n\n{verdict}");
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(analysis.text.range(&range)) })
}

/// Explains the keyword at a place by the forms that it is part of.
fn of_keyword(analysis: &Analysis, position: Position, name: &str) -> Option<Hover> {
    let offset = analysis.text.offset(position);
    let tokens = &analysis.index.tokens;
    let is_here = |it: &&crate::tokens::Token| {
        it.kind == Kind::Word && it.range.start <= offset && offset <= it.range.end
    };
    let range = tokens.iter().find(is_here)?.range.clone();
    let forms = reference::forms_with(analysis.index.language, &analysis.text.text[range.clone()]);
    let shown = forms.iter().map(|it| format!("```{name}\n{}\n```\n{}", it.written, it.meaning));
    let value = shown.collect::<Vec<_>>().join("\n\n");
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    let hover = Hover { contents, range: Some(analysis.text.range(&range)) };
    (!forms.is_empty()).then_some(hover)
}

/// Returns where the word at a place is declared.
pub(crate) fn definition(analysis: &Analysis, position: Position) -> Option<At> {
    let (_, symbol) = analysis.index.at(analysis.text.offset(position))?;
    let symbol = &analysis.index.symbols[symbol];
    match (&symbol.declared, &symbol.elsewhere) {
        (Some(declared), _) => Some((analysis.uri.clone(), analysis.text.range(declared))),
        (None, Some((file, range))) => Some((crate::convert::uri_of(file), *range)),
        (None, None) => None,
    }
}

/// Lists where the word at a place is named in the text.
pub(crate) fn highlights(analysis: &Analysis, position: Position) -> Vec<lsp_types::Range> {
    let at = analysis.index.at(analysis.text.offset(position));
    let uses = at.into_iter().flat_map(|(_, symbol)| analysis.index.uses_of(symbol));
    uses.map(|range| analysis.text.range(&range)).collect()
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
    let comments = analysis.index.tokens.iter().filter(|it| it.is_comment());
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
    let words = Words::of(analysis.index.language);
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
                None if words.is_reserved(&text[token.range.clone()]) => 0,
                None => continue,
            },
            Kind::Number => 1,
            Kind::LineComment | Kind::BlockComment => 2,
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

/// Returns the changes that give a text its layout.
///
/// # Errors
/// The text is no program.
pub(crate) fn layout(analysis: &Analysis, name: &str) -> Result<Vec<TextEdit>, String> {
    let language = Some(analysis.index.language);
    let input = Input { language, ..Input::text(name, Arc::clone(&analysis.text.text)) };
    let layout = format::layout(&input).map_err(|_| "the text has errors".to_owned())?;
    let edit = |it: &layout::Edit| TextEdit::new(analysis.text.range(&it.range), it.blanks.clone());
    Ok(layout.edits.iter().map(edit).collect())
}
