//! Where in a member something can be written, and what stands there, by the words of its text.

use std::ops::Range;

use silicon::session::input::Language;

use super::Place;
use crate::analysis::Analysis;
use crate::index::Means;
use crate::protocol::Edit;
use crate::tokens::{Declaration, Declares, Kind, Token};

/// A place in a member: that of a finding.
pub(super) struct Site<'a> {
    analysis: &'a Analysis,
    declaration: &'a Declaration,
    /// Those of the member, without comments.
    code: Vec<&'a Token>,
    /// Where its body begins and ends, at the braces.
    body: Option<Range<usize>>,
    at: Range<usize>,
}

impl<'a> Site<'a> {
    pub(super) fn new(analysis: &'a Analysis, at: Range<usize>) -> Option<Self> {
        let declaration = &analysis.index.declarations[analysis.index.declaration_at(at.start)?];
        let is_in = |token: &&Token| {
            declaration.whole.contains(&token.range.start) && token.kind != Kind::Comment
        };
        let code: Vec<&Token> = analysis.index.tokens.iter().filter(is_in).collect();
        let mut site = Self { analysis, declaration, code, body: None, at };
        site.body = site.find_body();
        Some(site)
    }

    pub(super) fn language(&self) -> Language {
        self.analysis.index.language
    }

    pub(super) fn declares(&self) -> Declares {
        self.declaration.declares
    }

    fn text(&self) -> &'a str {
        &self.analysis.text.text
    }

    fn word(&self, position: usize) -> &'a str {
        self.code.get(position).map_or("", |token| &self.text()[token.range.clone()])
    }

    /// The last braces that stand in no others are those of the body: before it there may be triggers.
    fn find_body(&self) -> Option<Range<usize>> {
        let mut open = Vec::new();
        let mut body = None;
        for (position, token) in self.code.iter().enumerate() {
            match self.word(position) {
                "{" => open.push(token.range.start),
                "}" => {
                    let start = open.pop()?;
                    if open.is_empty() {
                        body = Some(start..token.range.start);
                    }
                }
                _ => {}
            }
        }
        let is_last =
            |body: &Range<usize>| self.code.last().is_some_and(|last| last.range.start == body.end);
        body.filter(is_last)
    }

    /// A statement in the language.
    pub(super) fn statement(&self, words: &str) -> String {
        let end = if self.language() == Language::Chalice { ";" } else { "" };
        format!("{words}{end}")
    }

    /// The blanks that a line begins with, if nothing else stands before `offset`.
    fn indentation(&self, offset: usize) -> Option<&'a str> {
        let start = self.text()[..offset].rfind('\n').map_or(0, |end| end + 1);
        let before = &self.text()[start..offset];
        before.trim().is_empty().then_some(before)
    }

    /// Something on a line of its own, if what follows begins its line; `deeper`: as a part of what follows.
    fn insert_before(&self, offset: usize, words: &str, deeper: bool) -> Edit {
        match self.indentation(offset) {
            Some(blanks) => {
                let own = if deeper { "  " } else { "" };
                let start = offset - blanks.len();
                Edit { range: start..start, text: format!("{blanks}{own}{words}\n") }
            }
            None => Edit { range: offset..offset, text: format!("{words} ") },
        }
    }

    /// The clauses and the body of a member, or of a loop, from a token on: each clause's keyword.
    fn clauses(&self, from: usize, end: usize) -> Vec<(usize, &'a str)> {
        const CLAUSES: [&str; 5] = ["requires", "ensures", "decreases", "lockchange", "invariant"];
        let mut depth = 0_usize;
        let mut found = Vec::new();
        for (position, token) in self.code.iter().enumerate().skip(from) {
            if token.range.start >= end {
                break;
            }
            match self.word(position) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                word if depth == 0 && CLAUSES.contains(&word) => {
                    found.push((token.range.start, word));
                }
                _ => {}
            }
        }
        found
    }

    /// Adds a precondition.
    pub(super) fn requires(&self, what: &str, place: Place) -> Edit {
        let end = self.body.as_ref().map_or(self.declaration.whole.end, |body| body.start);
        let clauses = self.clauses(0, end);
        let next = match place {
            Place::First => clauses.first(),
            Place::Last => clauses.iter().find(|(_, word)| *word != "requires"),
        };
        let words = self.statement(&format!("requires {what}"));
        match (next, &self.body) {
            (Some((offset, _)), _) => self.insert_before(*offset, &words, false),
            (None, Some(body)) => self.insert_before(body.start, &words, true),
            (None, None) => Edit { range: end..end, text: format!("\n  {words}") },
        }
    }

    /// Adds an invariant to the innermost loop.
    pub(super) fn invariant(&self, what: &str, place: Place) -> Option<Edit> {
        let (head, body) = self.innermost_loop()?;
        let first = self.clauses(head, body).first().map(|(offset, _)| *offset);
        let words = self.statement(&format!("invariant {what}"));
        Some(match (first, place) {
            (Some(offset), Place::First) => self.insert_before(offset, &words, false),
            _ => self.insert_before(body, &words, true),
        })
    }

    /// Where the clauses of the innermost loop around the place begin, by token, and the brace of its body.
    fn innermost_loop(&self) -> Option<(usize, usize)> {
        // Of each brace that is open: that of the body of a loop, or another one.
        let mut open: Vec<Option<(usize, usize)>> = Vec::new();
        let (mut head, mut depth) = (None, 0_usize);
        for (position, token) in self.code.iter().enumerate() {
            if token.range.start > self.at.start {
                break;
            }
            match self.word(position) {
                "while" => head = Some(position + 1),
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "{" => {
                    let before = position.checked_sub(1).map_or("", |before| self.word(before));
                    let is_trigger = before == ":" || (before == "}" && head.is_some());
                    let of_loop = if depth == 0 && !is_trigger { head.take() } else { None };
                    open.push(of_loop.map(|head| (head, token.range.start)));
                }
                "}" => drop(open.pop()),
                _ => {}
            }
        }
        open.into_iter().flatten().next_back()
    }

    /// Something before the statement.
    pub(super) fn before(&self, words: &str) -> Option<Edit> {
        let body = self.body.as_ref()?;
        body.contains(&self.at.start).then(|| self.insert_before(self.at.start, words, false))
    }

    /// Something behind the statement.
    pub(super) fn after(&self, words: &str) -> Option<Edit> {
        let body = self.body.as_ref().filter(|body| body.contains(&self.at.start))?;
        let rest = &self.text()[self.at.end..body.end];
        let blanks = rest.len() - rest.trim_start().len();
        let end = if rest.trim_start().starts_with(';') { blanks + 1 } else { 0 };
        let offset = self.at.end + end;
        let separator = match self.indentation(self.at.start) {
            Some(blanks) => format!("\n{blanks}"),
            None => " ".to_owned(),
        };
        Some(Edit { range: offset..offset, text: format!("{separator}{words}") })
    }

    /// Something at the end of the body.
    pub(super) fn at_end(&self, words: &str) -> Option<Edit> {
        let body = self.body.as_ref()?;
        Some(self.insert_before(body.end, words, true))
    }

    /// Something at the start of the body.
    pub(super) fn at_start(&self, words: &str) -> Option<Edit> {
        let offset = self.body.as_ref()?.start + 1;
        let blanks = self.text()[offset..].len() - self.text()[offset..].trim_start().len();
        let offset = offset + blanks;
        Some(Edit { range: offset..offset, text: words.to_owned() })
    }

    /// The instances of predicates that the member names, in order.
    pub(super) fn instances(&self) -> Vec<String> {
        let index = &self.analysis.index;
        let mut found: Vec<String> = Vec::new();
        for (position, token) in self.code.iter().enumerate() {
            let symbol = index.uses.get(&token.range.start).map(|&number| &index.symbols[number]);
            let predicate = Means::Declared(Declares::Predicate);
            if symbol.is_none_or(|symbol| symbol.means != predicate) {
                continue;
            }
            let range = match self.language() {
                Language::Chalice => self.path_to(position)..token.range.end,
                _ => match self.closing(position + 1) {
                    Some(end) => token.range.start..self.code[end].range.end,
                    None => continue,
                },
            };
            let instance = self.text()[range].to_owned();
            if !found.contains(&instance) {
                found.push(instance);
            }
        }
        found
    }

    /// The token that closes what the one at a position opens.
    fn closing(&self, position: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in position..self.code.len() {
            match self.word(at) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return (at > position).then_some(at);
            }
        }
        None
    }

    /// Where the names with dots between them that lead to the one at a position begin.
    fn path_to(&self, mut position: usize) -> usize {
        while position >= 2
            && self.word(position - 1) == "."
            && self.code[position - 2].kind == Kind::Word
        {
            position -= 2;
        }
        self.code[position].range.start
    }

    /// The tokens at the place of the finding, by position.
    fn here(&self) -> impl Iterator<Item = usize> + '_ {
        let is_in = |&position: &usize| self.at.contains(&self.code[position].range.start);
        (0..self.code.len()).filter(is_in)
    }

    /// What something is read, written or called of.
    pub(super) fn receivers(&self) -> Vec<Range<usize>> {
        let is_receiver = |&position: &usize| {
            self.code[position].kind == Kind::Word
                && self.word(position + 1) == "."
                && self.code.get(position + 2).is_some_and(|it| it.kind == Kind::Word)
        };
        let range = |position| self.path_to(position)..self.code[position].range.end;
        self.here().filter(is_receiver).map(range).collect()
    }

    /// What something is divided by.
    pub(super) fn divisors(&self) -> Vec<Range<usize>> {
        let is_division = |&position: &usize| matches!(self.word(position), "/" | "\\" | "%");
        let divisor = |position: usize| {
            let first = position + 1;
            let mut last = match self.word(first) {
                "(" => self.closing(first)?,
                _ => first,
            };
            loop {
                let next = self.word(last + 1);
                if next == "." && self.word(last + 2) != "." {
                    last += 2;
                } else if next == "(" && self.code.get(last)?.kind == Kind::Word {
                    last = self.closing(last + 1)?;
                } else {
                    break;
                }
            }
            Some(self.code.get(first)?.range.start..self.code.get(last)?.range.end)
        };
        self.here().filter(is_division).filter_map(divisor).collect()
    }

    /// Sequences, and what they are indexed by.
    pub(super) fn indexed(&self) -> Vec<(Range<usize>, Range<usize>)> {
        let pair = |position: usize| {
            let (first, last) = (position + 1, self.closing(position)?.checked_sub(1)?);
            let before = position.checked_sub(1)?;
            let is_plain = self.word(position) == "[" && self.code[before].kind == Kind::Word;
            let inside = self.code.get(first)?.range.start..self.code[last].range.end;
            let range = self.path_to(before)..self.code[before].range.end;
            let is_one = !self.text().get(inside.clone())?.contains("..");
            (is_plain && is_one && first <= last).then_some((range, inside))
        };
        self.here().filter_map(pair).collect()
    }
}
