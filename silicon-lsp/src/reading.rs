//! Aids for reading and typing: links to other files, signatures of calls, ranges to select.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use lsp_types::{
    DocumentLink, ParameterInformation, ParameterLabel, Position, SelectionRange, SignatureHelp,
    SignatureInformation, Uri,
};

use crate::analysis::Analysis;
use crate::convert::{path_of, uri_of};
use crate::index::{Means, Symbol};
use crate::tokens::{Declares, Kind, Token};

/// Returns the files that a text imports by name. Those of the standard library are no files.
pub(crate) fn links(analysis: &Analysis) -> Vec<DocumentLink> {
    let text = &analysis.text.text;
    let code: Vec<&Token> = code(analysis).collect();
    let own = path_of(&analysis.uri);
    let link = |pair: &[&Token]| {
        let [word, name] = pair else { return None };
        let is_import = matches!(&text[word.range.clone()], "import" | "include");
        if !is_import || name.kind != Kind::Quoted || name.range.len() < 2 {
            return None;
        }
        let inside = name.range.start + 1..name.range.end - 1;
        let path = Path::new(&own).parent()?.join(text.get(inside.clone())?);
        Some(DocumentLink {
            range: analysis.text.range(&inside),
            target: Some(Uri::from_str(&uri_of(&path.display().to_string())).ok()?),
            tooltip: None,
            data: None,
        })
    };
    code.windows(2).filter_map(link).collect()
}

fn code(analysis: &Analysis) -> impl Iterator<Item = &Token> {
    analysis.index.tokens.iter().filter(|token| !token.is_comment())
}

/// Finds the declaration of the callee at a place, and the argument that is being written.
pub(crate) fn signature(analysis: &Analysis, position: Position) -> Option<SignatureHelp> {
    let offset = analysis.text.offset(position);
    let text = &analysis.text.text;
    let code: Vec<&Token> = code(analysis).take_while(|it| it.range.end <= offset).collect();
    let word = |at: usize| &text[code[at].range.clone()];
    // Each open bracket, and how many commas stand behind it.
    let mut open: Vec<(usize, u32)> = Vec::new();
    for at in 0..code.len() {
        match word(at) {
            "(" | "[" => open.push((at, 0)),
            ")" | "]" => drop(open.pop()),
            // Nothing is called across the end of a block or a statement.
            "{" | "}" | ";" => open.clear(),
            "," => {
                if let Some((_, commas)) = open.last_mut() {
                    *commas += 1;
                }
            }
            _ => {}
        }
    }
    let called = |&(at, commas): &(usize, u32)| {
        let name = at.checked_sub(1).filter(|_| word(at) == "(")?;
        (code[name].kind == Kind::Word)
            .then(|| Some((symbol(analysis, code[name])?, commas)))
            .flatten()
    };
    let (symbol, argument) = open.iter().rev().find_map(called)?;
    let (label, parameters) = head(symbol)?;
    let parameter = |range: Range<usize>| {
        let units = |to: usize| label[..to].encode_utf16().count() as u32;
        let label = ParameterLabel::LabelOffsets([units(range.start), units(range.end)]);
        ParameterInformation { label, documentation: None }
    };
    let signature = SignatureInformation {
        parameters: Some(parameters.into_iter().map(parameter).collect()),
        documentation: None,
        active_parameter: Some(argument),
        label: label.clone(),
    };
    Some(SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: Some(argument),
    })
}

/// Finds the symbol of a word before a parenthesis, also in a text that is no program yet.
fn symbol<'a>(analysis: &'a Analysis, word: &Token) -> Option<&'a Symbol> {
    let index = &analysis.index;
    let is_called = |symbol: &&Symbol| {
        use Declares::{Function, Macro, Method, Predicate};
        matches!(symbol.means, Means::Declared(Function | Macro | Method | Predicate))
    };
    let known = index.uses.get(&word.range.start).map(|&number| &index.symbols[number]);
    let name = &analysis.text.text[word.range.clone()];
    let mut named = index.symbols.iter().filter(|symbol| symbol.name == name);
    known.filter(is_called).or_else(|| named.find(is_called))
}

/// Returns the declaration up to the end of its parameters and of what it returns, and where the
/// parameters are in that.
fn head(symbol: &Symbol) -> Option<(String, Vec<Range<usize>>)> {
    let shown = &symbol.shown;
    let start = shown.find(&symbol.name)? + symbol.name.len();
    let open = start + shown[start..].find('(')?;
    let mut depth = 0_usize;
    let (mut parts, mut from) = (Vec::new(), open + 1);
    for (at, character) in shown[open..].char_indices().map(|(at, it)| (open + at, it)) {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    parts.push(from..at);
                    // The result stands in the same line.
                    let rest = shown[at..].split(['\n', '{']).next().unwrap_or_default();
                    let label = shown[..at + rest.len()].trim_end().to_owned();
                    let trimmed = |part: Range<usize>| {
                        let words = &shown[part.clone()];
                        let start = part.start + words.len() - words.trim_start().len();
                        start..start + words.trim().len()
                    };
                    let parts = parts.into_iter().map(trimmed);
                    return Some((label, parts.filter(|part| !part.is_empty()).collect()));
                }
            }
            ',' if depth == 1 => {
                parts.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Lists the ranges to select around a place: the word, the inside of the brackets, the brackets,
/// declarations, the text.
pub(crate) fn selection(analysis: &Analysis, position: Position) -> SelectionRange {
    let offset = analysis.text.offset(position);
    let text = &analysis.text.text;
    let is_around = |range: &Range<usize>| range.start <= offset && offset <= range.end;
    let mut ranges = Vec::new();
    let mut open: Vec<&Token> = Vec::new();
    for token in &analysis.index.tokens {
        match &text[token.range.clone()] {
            "(" | "[" | "{" => open.push(token),
            ")" | "]" | "}" => {
                if let Some(first) = open.pop() {
                    ranges.push(first.range.start..token.range.end);
                    ranges.push(first.range.end..token.range.start);
                }
            }
            _ => {}
        }
    }
    ranges.extend(analysis.index.declarations.iter().map(|it| it.whole.clone()));
    let words = analysis.index.tokens.iter().filter(|token| token.kind != Kind::Sign);
    ranges.extend(words.map(|token| token.range.clone()));
    ranges.push(0..text.len());
    ranges.retain(is_around);
    // The largest first; each has to be in the one before, where two words meet in the place.
    ranges.sort_by_key(|range| std::cmp::Reverse(range.len()));
    ranges.dedup();
    let mut found: Option<(Range<usize>, SelectionRange)> = None;
    for range in ranges {
        let is_inside = |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
        if found.as_ref().is_some_and(|(outer, _)| !is_inside(outer)) {
            continue;
        }
        let parent = found.map(|(_, parent)| Box::new(parent));
        let shown = SelectionRange { range: analysis.text.range(&range), parent };
        found = Some((range, shown));
    }
    found.map_or_else(
        || SelectionRange { range: lsp_types::Range::new(position, position), parent: None },
        |(_, shown)| shown,
    )
}
