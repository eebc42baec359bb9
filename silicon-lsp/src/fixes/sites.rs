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
    /// The tokens of the member, without comments.
    code: Vec<&'a Token>,
    /// Where its body begins and ends, at the braces.
    body: Option<Range<usize>>,
    at: Range<usize>,
}

/// A loop, as its text shows.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// The token from which on its condition and clauses stand.
    head: usize,
    /// Where its condition is, in its parentheses.
    condition: Option<Range<usize>>,
    /// Its body, at the braces.
    body: Range<usize>,
}

impl<'a> Site<'a> {
    pub(super) fn new(analysis: &'a Analysis, at: Range<usize>) -> Option<Self> {
        let declaration = &analysis.index.declarations[analysis.index.declaration_at(at.start)?];
        let is_in =
            |token: &&Token| declaration.whole.contains(&token.range.start) && !token.is_comment();
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

    /// Returns the last braces that stand in no others are those of the body: before it there may
    /// be triggers.
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

    /// Returns a statement in the language.
    pub(super) fn statement(&self, words: &str) -> String {
        let end = if self.language() == Language::Chalice { ";" } else { "" };
        format!("{words}{end}")
    }

    /// Returns the blanks that a line begins with, if nothing else stands before `offset`.
    fn indentation(&self, offset: usize) -> Option<&'a str> {
        let start = self.text()[..offset].rfind('\n').map_or(0, |end| end + 1);
        let before = &self.text()[start..offset];
        before.trim().is_empty().then_some(before)
    }

    /// Something on a line of its own, if what follows begins its line; `deeper`: as a part of what
    /// follows.
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

    /// Returns the clauses and the body of a member, or of a loop, from a token on: each clause's
    /// keyword.
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
        self.clause(0, self.contract_end(), "requires", what, place)
    }

    /// Returns where the contract is over: at the body, or at the end.
    fn contract_end(&self) -> usize {
        self.body.as_ref().map_or(self.declaration.whole.end, |body| body.start)
    }

    /// Adds a clause to those from a token on, up to the body that begins at `end`.
    fn clause(&self, from: usize, end: usize, keyword: &str, what: &str, place: Place) -> Edit {
        let clauses = self.clauses(from, end);
        let next = match place {
            Place::First => clauses.first(),
            Place::Last => {
                let last = clauses.iter().rposition(|(_, word)| *word == keyword);
                clauses.get(last.map_or(0, |last| last + 1)).filter(|_| keyword == "requires")
            }
        };
        let words = self.statement(&format!("{keyword} {what}"));
        match next {
            Some((offset, _)) => self.insert_before(*offset, &words, false),
            None if end < self.declaration.whole.end => self.insert_before(end, &words, true),
            None => Edit { range: end..end, text: format!("\n  {words}") },
        }
    }

    /// Adds an invariant to a loop.
    pub(super) fn invariant(&self, of: &Loop, what: &str, place: Place) -> Edit {
        self.clause(of.head, of.body.start, "invariant", what, place)
    }

    /// Gives a loop, or the member itself, a measure in the place of those that it has.
    pub(super) fn measure(&self, of: Option<&Loop>, what: &str) -> Vec<Edit> {
        let (from, end) = of.map_or((0, self.contract_end()), |it| (it.head, it.body.start));
        let clauses = self.clauses(from, end);
        let words = self.statement(&format!("decreases {what}"));
        let mut edits = Vec::new();
        for (number, (start, word)) in clauses.iter().enumerate() {
            if *word != "decreases" {
                continue;
            }
            let next = clauses.get(number + 1).map_or(end, |(next, _)| *next);
            let last = self.code.iter().rev().find(|it| it.range.end <= next);
            let stop = last.map_or(next, |last| last.range.end.max(*start));
            let text = if edits.is_empty() { words.clone() } else { String::new() };
            edits.push(Edit { range: *start..stop, text });
        }
        if edits.is_empty() {
            edits.push(self.clause(from, end, "decreases", what, Place::Last));
        }
        edits
    }

    /// Returns the loop around the place, the innermost one.
    pub(super) fn innermost_loop(&self) -> Option<Loop> {
        let is_around = |it: &Loop| it.body.contains(&self.at.start);
        self.loops().into_iter().rev().find(is_around)
    }

    /// Returns the loop among whose clauses the place is.
    pub(super) fn loop_of_clause(&self) -> Option<Loop> {
        let start = |it: &Loop| self.code.get(it.head).map_or(usize::MAX, |head| head.range.start);
        let is_its = |it: &Loop| start(it) <= self.at.start && self.at.start < it.body.start;
        self.loops().into_iter().rev().find(is_its)
    }

    /// Returns the loop that control comes from to the place, if there is one: that around it, or
    /// the last one before.
    pub(super) fn loop_before(&self) -> Option<Loop> {
        let is_in_contract = self.at.end <= self.contract_end();
        let is_before = |it: &Loop| is_in_contract || it.body.end <= self.at.start;
        let around = self.loop_of_clause().or_else(|| self.innermost_loop());
        around.or_else(|| self.loops().into_iter().rev().find(is_before))
    }

    /// Returns the loops of the member, in the order of the text.
    fn loops(&self) -> Vec<Loop> {
        let mut found: Vec<Loop> = Vec::new();
        // For each brace that is open: the number of the loop whose body it begins.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut head, mut depth) = (None, 0_usize);
        for (position, token) in self.code.iter().enumerate() {
            match self.word(position) {
                "while" => {
                    let end = self.closing(position + 1);
                    let condition = end.and_then(|end| {
                        let first = self.code.get(position + 2)?.range.start;
                        Some(first..self.code[end].range.start)
                    });
                    head = Some((position + 1, condition.filter(|it| it.start < it.end)));
                }
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "{" => {
                    let before = position.checked_sub(1).map_or("", |before| self.word(before));
                    let is_trigger = before == "::" || (before == "}" && head.is_some());
                    let of_loop = if depth == 0 && !is_trigger { head.take() } else { None };
                    open.push(of_loop.map(|(head, condition)| {
                        let body = token.range.start..self.declaration.whole.end;
                        found.push(Loop { head, condition, body });
                        found.len() - 1
                    }));
                }
                "}" => {
                    if let Some(Some(number)) = open.pop() {
                        found[number].body.end = token.range.start;
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the parts between `&&` of what stands in a range, each with its tokens.
    fn conjuncts(&self, range: &Range<usize>) -> Vec<Vec<usize>> {
        let is_in = |&position: &usize| range.contains(&self.code[position].range.start);
        let mut parts = vec![Vec::new()];
        let mut depth = 0_usize;
        for position in (0..self.code.len()).filter(is_in) {
            match self.word(position) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "&&" if depth == 0 => {
                    parts.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(part) = parts.last_mut() {
                part.push(position);
            }
        }
        parts
    }

    /// Returns the comparisons that a loop goes on with: what is compared, how, and with what.
    pub(super) fn comparisons(&self, of: &Loop) -> Vec<(&'a str, &'static str, &'a str)> {
        let Some(condition) = &of.condition else { return Vec::new() };
        let comparison = |part: Vec<usize>| {
            let (first, last) = (*part.first()?, *part.last()?);
            let signs = ["<", "<=", ">", ">=", "!="];
            let sign = |&at: &usize| signs.into_iter().find(|&sign| sign == self.word(at));
            let (at, how) = part.iter().find_map(|at| Some((*at, sign(at)?)))?;
            let right = at + 1;
            if at == first || right > last {
                return None;
            }
            let text = |from: usize, to: usize| {
                &self.text()[self.code[from].range.start..self.code[to].range.end]
            };
            Some((text(first, at - 1), how, text(right, last)))
        };
        self.conjuncts(condition).into_iter().filter_map(comparison).collect()
    }

    /// Makes the condition that the receivers of the quantified permission at the place differ for
    /// different values.
    pub(super) fn injectivity(&self) -> Option<String> {
        let here: Vec<usize> = self.here().collect();
        let forall = here.iter().position(|&it| self.word(it) == "forall")?;
        let here = &here[forall..];
        let find = |from: usize, sign| (from..here.len()).find(|&it| self.word(here[it]) == sign);
        let colons = find(0, "::")?;
        let arrow = find(colons, "==>")?;
        let access = (arrow..here.len()).find(|&it| self.word(here[it]) == "acc")?;
        let end = self.closing(here[access] + 1)?;
        // The receiver ends at the last dot in the access that is in no other parentheses.
        let mut depth = 0_usize;
        let mut dot = None;
        for position in here[access] + 2..end {
            match self.word(position) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "," if depth == 0 => break,
                "." if depth == 0 => dot = Some(position),
                _ => {}
            }
        }
        let text =
            |from: usize, to: usize| (from <= to).then(|| (from..=to).collect::<Vec<usize>>());
        let variables: Vec<&str> = here[1..colons]
            .iter()
            .filter(|&&it| self.word(it + 1) == ":")
            .map(|&it| self.word(it))
            .collect();
        let [variable] = variables[..] else { return None };
        let other = format!("{variable}2");
        let written = |positions: &[usize], is_other: bool| -> String {
            let mut words = String::new();
            for (number, &position) in positions.iter().enumerate() {
                let token = &self.code[position].range;
                let before =
                    number.checked_sub(1).map(|before| &self.code[positions[before]].range);
                if before.is_some_and(|before| before.end < token.start) {
                    words.push(' ');
                }
                let is_it = self.word(position) == variable
                    && position.checked_sub(1).is_none_or(|before| self.word(before) != ".");
                words += if is_it && is_other { &other } else { self.word(position) };
            }
            words
        };
        let bindings = &here[1..colons];
        // Triggers are for the permission.
        let mut first = colons + 1;
        while self.word(*here.get(first)?) == "{" {
            first = (first..here.len()).find(|&it| self.word(here[it]) == "}")? + 1;
        }
        let condition = here.get(first..arrow)?;
        let receiver = text(here[access] + 2, dot?.checked_sub(1)?)?;
        Some(format!(
            "forall {}, {} :: {} && {} && {variable} != {other} ==> {} != {}",
            written(bindings, false),
            written(bindings, true),
            written(condition, false),
            written(condition, true),
            written(&receiver, false),
            written(&receiver, true)
        ))
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

    /// Returns the instances of predicates that the member names, in order.
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

    /// Returns the token that closes what the one at a position opens.
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

    /// Returns where the names with dots between them that lead to the one at a position begin.
    fn path_to(&self, mut position: usize) -> usize {
        while position >= 2
            && self.word(position - 1) == "."
            && self.code[position - 2].kind == Kind::Word
        {
            position -= 2;
        }
        self.code[position].range.start
    }

    /// Returns the tokens at the place of the finding, by position.
    fn here(&self) -> impl Iterator<Item = usize> + '_ {
        let is_in = |&position: &usize| self.at.contains(&self.code[position].range.start);
        (0..self.code.len()).filter(is_in)
    }

    /// Returns the receivers of reads, writes and calls.
    pub(super) fn receivers(&self) -> Vec<Range<usize>> {
        let is_receiver = |&position: &usize| {
            self.code[position].kind == Kind::Word
                && self.word(position + 1) == "."
                && self.code.get(position + 2).is_some_and(|it| it.kind == Kind::Word)
        };
        let range = |position| self.path_to(position)..self.code[position].range.end;
        self.here().filter(is_receiver).map(range).collect()
    }

    /// Returns the names behind the words, as in `acquire a.b` and `lock (a.b)`.
    pub(super) fn operands(&self, words: &[&str]) -> Vec<Range<usize>> {
        let operand = |position: usize| {
            let opens = usize::from(self.word(position + 1) == "(");
            let first = position + 1 + opens;
            let mut last = first;
            while self.word(last + 1) == "." {
                last += 2;
            }
            let (first, last) = (self.code.get(first)?, self.code.get(last)?);
            (last.kind == Kind::Word).then_some(first.range.start..last.range.end)
        };
        let is_it = |&position: &usize| words.contains(&self.word(position));
        self.here().filter(is_it).filter_map(operand).collect()
    }

    /// Returns the divisors.
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
                if next == "." {
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
