//! The texts that findings and members are about, a line a row, with what is wrong marked.

use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;
use std::path::Path;

use front::Words;
use front::tokens::{Kind, Token, tokens};
use indexmap::IndexMap;
use layout::Language;
use maud::{Markup, html};
use rustc_hash::FxHashMap;
use sil::render::{Place, Severity};
use sil::source::LineColumn;

use super::{text, without_marks};
use crate::session::{Diagnostic, Outcome};

/// The texts on the page, in the order in which they come up.
pub(super) struct Sheets<'a> {
    sheets: IndexMap<&'a str, Sheet<'a>>,
}

struct Sheet<'a> {
    text: &'a str,
    /// Where its lines begin.
    starts: Vec<usize>,
    marks: Vec<Mark>,
    /// The marks on each line, by number.
    on_line: FxHashMap<usize, Vec<usize>>,
    /// Stretches with a colour, in order.
    colours: Vec<(Range<usize>, &'static str)>,
}

/// A finding about a part of a text.
struct Mark {
    at: Range<usize>,
    severity: Severity,
    /// The finding that it is about.
    words: String,
}

/// Lines around a place that are quoted with it.
const AROUND: u32 = 1;

/// A place of more lines is quoted in part.
const LONGEST: u32 = 12;

impl<'a> Sheets<'a> {
    /// Returns the texts of all that has a place.
    pub(super) fn of(outcomes: &'a [Outcome]) -> Self {
        let mut sheets = Self { sheets: IndexMap::new() };
        for outcome in outcomes {
            for member in &outcome.members {
                sheets.add(outcome, &member.place);
            }
            for one in &outcome.diagnostics {
                sheets.add_finding(outcome, one);
            }
        }
        sheets
    }

    fn add(
        &mut self,
        outcome: &'a Outcome,
        place: &Place,
    ) -> Option<(&mut Sheet<'a>, Range<usize>)> {
        let (text, at) = outcome.texts.locate(place)?;
        let name = outcome.texts.names().find(|name| **name == *place.file)?;
        let sheet = self.sheets.entry(name).or_insert_with(|| Sheet::new(name, text));
        Some((sheet, at))
    }

    fn add_finding(&mut self, outcome: &'a Outcome, one: &Diagnostic) {
        let places =
            one.steps.iter().map(|(at, _)| at).chain(one.message.notes.iter().map(|(at, _)| at));
        for place in places.chain(&one.reason) {
            self.add(outcome, place);
        }
        let message = &one.message;
        if let Some((sheet, at)) = self.add(outcome, &message.place) {
            let words = without_marks(&format!("{}: {}", message.id, message.text));
            sheet.add_mark(Mark { at, severity: message.severity, words });
        }
    }

    fn number(&self, place: &Place) -> Option<usize> {
        self.sheets.get_index_of(&*place.file)
    }

    /// Words that lead to a place.
    pub(super) fn link(&self, place: &Place, words: &str) -> Markup {
        html! {
            @match self.number(place) {
                Some(number) => a href={ "#" (line_name(number, place.start.line)) } { (text(words)) },
                None => (text(words)),
            }
        }
    }

    /// Returns the text at a place.
    pub(super) fn text_at(&self, place: &Place) -> Option<&str> {
        let sheet = self.sheets.get(&*place.file)?;
        sheet.text.get(sheet.range(place)?)
    }

    /// Lists the findings at a place or in a part of it, a line each.
    pub(super) fn findings_at(&self, place: &Place) -> String {
        let Some(sheet) = self.sheets.get(&*place.file) else { return String::new() };
        let Some(at) = sheet.range(place) else { return String::new() };
        let is_here = |mark: &&Mark| at.start <= mark.at.start && mark.at.end <= at.end;
        let words: Vec<&str> = sheet.marks.iter().filter(is_here).map(|it| &*it.words).collect();
        words.join("\n")
    }

    /// Returns the lines that a place is in.
    pub(super) fn quoted(&self, place: &Place) -> Markup {
        let Some(sheet) = self.sheets.get(&*place.file) else { return html! {} };
        let first = place.start.line.saturating_sub(AROUND).max(1);
        let last = place.end.line.min(place.start.line + LONGEST) + AROUND;
        let lines = (first..=last).filter_map(|line| Some((line, sheet.line(line)?)));
        html! {
            pre { @for (number, line) in lines { (sheet.row(number, line, None)) } }
        }
    }

    /// Returns all texts, folded.
    pub(super) fn shown(&self) -> Markup {
        html! {
            @if !self.sheets.is_empty() { h2 { "Sources" } }
            @for (number, (name, sheet)) in self.sheets.iter().enumerate() {
                details class="source" {
                    summary { (text(name)) }
                    pre {
                        @for (line, range) in sheet.lines() { (sheet.row(line, range, Some(number))) }
                    }
                }
            }
        }
    }
}

/// Returns the name of a line in the page.
fn line_name(sheet: usize, line: u32) -> String {
    format!("s{sheet}-{line}")
}

impl<'a> Sheet<'a> {
    fn new(name: &str, text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = iter::once(0).chain(ends).collect();
        let colours = Language::of_name(Path::new(name)).map_or(Vec::new(), |it| colours(text, it));
        Self { text, starts, marks: Vec::new(), on_line: FxHashMap::default(), colours }
    }

    fn add_mark(&mut self, mark: Mark) {
        let line = |at: usize| self.starts.partition_point(|&start| start <= at);
        for line in line(mark.at.start)..=line(mark.at.end) {
            self.on_line.entry(line).or_default().push(self.marks.len());
        }
        self.marks.push(mark);
    }

    /// Returns the bytes at a place.
    fn range(&self, place: &Place) -> Option<Range<usize>> {
        let offset = |at: LineColumn| {
            let start = *self.starts.get((at.line as usize).checked_sub(1)?)?;
            let line = self.text[start..].split('\n').next()?;
            let column = (at.column as usize).checked_sub(1)?;
            let inside = line.char_indices().nth(column).map_or(line.len(), |(inside, _)| inside);
            Some(start + inside)
        };
        let (start, end) = (offset(place.start)?, offset(place.end)?);
        Some(start..end.max(start))
    }

    /// Returns the bytes of a line without its end.
    fn line(&self, number: u32) -> Option<Range<usize>> {
        let number = number as usize;
        let start = *self.starts.get(number.checked_sub(1)?)?;
        let end = self.starts.get(number).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        Some(start..start + line.strip_suffix('\r').unwrap_or(line).len())
    }

    /// Returns the lines with their numbers.
    fn lines(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        (1..).map_while(|number| Some((number, self.line(number)?)))
    }

    /// Returns a line with its number; `sheet`: to be led to by its name.
    fn row(&self, number: u32, line: Range<usize>, sheet: Option<usize>) -> Markup {
        html! {
            span.line id=[sheet.map(|sheet| line_name(sheet, number))] {
                span.number { (number) }
                @for part in self.parts(line) { (part) }
            }
            "\n"
        }
    }

    /// Returns a line, cut where marks and colours begin and end.
    fn parts(&self, line: Range<usize>) -> Vec<Markup> {
        let is_inside = |at: &usize| line.start < *at && *at < line.end;
        let number = self.starts.partition_point(|&start| start <= line.start);
        let marks = self.on_line.get(&number).map_or(&[][..], Vec::as_slice);
        let marks: Vec<&Mark> = marks.iter().map(|&mark| &self.marks[mark]).collect();
        let first = self.colours.partition_point(|(at, _)| at.end <= line.start);
        let colours = self.colours[first..].iter().take_while(|(at, _)| at.start < line.end);
        let ends = marks.iter().map(|mark| &mark.at).chain(colours.map(|(at, _)| at));
        let mut cuts: BTreeSet<usize> =
            ends.flat_map(|at| [at.start, at.end]).filter(is_inside).collect();
        cuts.extend([line.start, line.end]);
        let cuts: Vec<usize> = cuts.into_iter().collect();
        cuts.windows(2).map(|ends| self.part(ends[0]..ends[1], &marks)).collect()
    }

    /// Returns a part that each mark and each colour covers as a whole or not at all.
    fn part(&self, part: Range<usize>, marks: &[&Mark]) -> Markup {
        let covers = |mark: &&&Mark| mark.at.start <= part.start && part.end <= mark.at.end;
        let marks: Vec<_> = marks.iter().filter(covers).collect();
        let words: Vec<&str> = marks.iter().map(|mark| mark.words.as_str()).collect();
        let is_error = marks.iter().any(|mark| mark.severity == Severity::Error);
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let colour = self.colours.partition_point(|(at, _)| at.end <= part.start);
        let colour = self.colours.get(colour).filter(|(at, _)| at.start <= part.start);
        let shown = text(&self.text[part]);
        let shown = match colour {
            Some((_, colour)) => html! { span class=(colour) { (shown) } },
            None => html! { (shown) },
        };
        html! {
            @if marks.is_empty() { (shown) } @else {
                mark class=(severity.name()) title=(text(&words.join("\n"))) { (shown) }
            }
        }
    }
}

/// Returns the words and comments of a text that have a colour, in order.
fn colours(text: &str, language: Language) -> Vec<(Range<usize>, &'static str)> {
    let words = Words::of(language);
    let colour = |token: Token<'_>| {
        let colour = match token.kind {
            Kind::LineComment | Kind::BlockComment => "comment",
            Kind::Quoted => "quoted",
            Kind::Word if words.is_reserved(token.text) => "keyword",
            _ => return None,
        };
        Some((token.start..token.end(), colour))
    };
    tokens(text, language).into_iter().filter_map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_marks_begin_and_end() {
        let mark = |at, severity, words: &str| Mark { at, severity, words: words.to_owned() };
        let marks = vec![
            mark(2..9, Severity::Warning, "outer"),
            mark(3..5, Severity::Error, "inner"),
            mark(6..6, Severity::Error, "empty"),
        ];
        let mut sheet = Sheet::new("text", "abcdef\r\nghi\n");
        marks.into_iter().for_each(|mark| sheet.add_mark(mark));
        let lines: Vec<_> = sheet.lines().collect();
        assert_eq!(lines, [(1, 0..6), (2, 8..11), (3, 12..12)]);
        let shown = |line: Range<usize>| {
            sheet.parts(line).into_iter().map(Markup::into_string).collect::<String>()
        };
        assert_eq!(
            shown(0..6),
            "ab<mark class=\"warning\" title=\"outer\">c</mark>\
             <mark class=\"error\" title=\"outer\ninner\">de</mark>\
             <mark class=\"warning\" title=\"outer\">f</mark>"
        );
        assert_eq!(shown(8..11), "<mark class=\"warning\" title=\"outer\">g</mark>hi");
        assert_eq!(shown(12..12), "");
    }

    #[test]
    fn words_of_the_language_have_colours() {
        let mut sheet = Sheet::new("a.vpr", "method m() // why\n");
        sheet.add_mark(Mark { at: 0..8, severity: Severity::Error, words: "bad".to_owned() });
        let shown: String = sheet.parts(0..17).into_iter().map(Markup::into_string).collect();
        assert_eq!(
            shown,
            "<mark class=\"error\" title=\"bad\"><span class=\"keyword\">method</span></mark>\
             <mark class=\"error\" title=\"bad\"> m</mark>() <span class=\"comment\">// why</span>"
        );
    }
}
