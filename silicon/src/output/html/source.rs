//! The texts that findings and members are about, a line a row, with what is wrong marked.

use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;

use indexmap::IndexMap;
use maud::{Markup, html};
use sil::render::{Place, Severity};
use sil::source::LineColumn;

use super::text;
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
    /// The texts of all that has a place.
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
        let sheet = self.sheets.entry(name).or_insert_with(|| Sheet::new(text));
        Some((sheet, at))
    }

    fn add_finding(&mut self, outcome: &'a Outcome, one: &Diagnostic) {
        let places = one.steps.iter().chain(one.message.notes.iter().map(|(at, _)| at));
        for place in places.chain(&one.reason) {
            self.add(outcome, place);
        }
        let message = &one.message;
        if let Some((sheet, at)) = self.add(outcome, &message.place) {
            let words = format!("{}: {}", message.id, message.text);
            sheet.marks.push(Mark { at, severity: message.severity, words });
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

    /// The lines that a place is in.
    pub(super) fn quoted(&self, place: &Place) -> Markup {
        let Some(sheet) = self.sheets.get(&*place.file) else { return html! {} };
        let first = place.start.line.saturating_sub(AROUND).max(1);
        let last = place.end.line.min(place.start.line + LONGEST) + AROUND;
        let lines = sheet.lines().skip(first as usize - 1).take((last + 1 - first) as usize);
        html! {
            pre { @for (number, line) in lines { (sheet.row(number, line, None)) } }
        }
    }

    /// All texts.
    pub(super) fn shown(&self) -> Markup {
        html! {
            @for (number, (name, sheet)) in self.sheets.iter().enumerate() {
                section class="source" {
                    h2 { (text(name)) }
                    pre {
                        @for (line, range) in sheet.lines() { (sheet.row(line, range, Some(number))) }
                    }
                }
            }
        }
    }
}

/// The name of a line in the page.
fn line_name(sheet: usize, line: u32) -> String {
    format!("s{sheet}-{line}")
}

impl<'a> Sheet<'a> {
    fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: iter::once(0).chain(ends).collect(), marks: Vec::new() }
    }

    /// The bytes at a place.
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

    /// The lines with their numbers, without their ends.
    fn lines(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let mut at = 0;
        let lines = self.text.split('\n').map(move |line| {
            let start = at;
            at += line.len() + 1;
            start..start + line.strip_suffix('\r').unwrap_or(line).len()
        });
        (1..).zip(lines)
    }

    /// A line with its number; `sheet`: to be led to by its name.
    fn row(&self, number: u32, line: Range<usize>, sheet: Option<usize>) -> Markup {
        html! {
            span.line id=[sheet.map(|sheet| line_name(sheet, number))] {
                span.number { (number) }
                @for part in self.parts(line) { (part) }
            }
            "\n"
        }
    }

    /// A line, cut where marks begin and end.
    fn parts(&self, line: Range<usize>) -> Vec<Markup> {
        let is_inside = |at: &usize| line.start < *at && *at < line.end;
        let mut cuts: BTreeSet<usize> = self
            .marks
            .iter()
            .flat_map(|mark| [mark.at.start, mark.at.end])
            .filter(is_inside)
            .collect();
        cuts.extend([line.start, line.end]);
        let cuts: Vec<usize> = cuts.into_iter().collect();
        cuts.windows(2).map(|ends| self.part(ends[0]..ends[1])).collect()
    }

    /// A part that each mark covers as a whole or not at all.
    fn part(&self, part: Range<usize>) -> Markup {
        let covers = |mark: &&Mark| mark.at.start <= part.start && part.end <= mark.at.end;
        let marks: Vec<&Mark> = self.marks.iter().filter(covers).collect();
        let words: Vec<&str> = marks.iter().map(|mark| mark.words.as_str()).collect();
        let is_error = marks.iter().any(|mark| mark.severity == Severity::Error);
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let shown = text(&self.text[part]);
        html! {
            @if marks.is_empty() { (shown) } @else {
                mark class=(severity.name()) title=(text(&words.join("\n"))) { (shown) }
            }
        }
    }
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
        let sheet = Sheet { marks, ..Sheet::new("abcdef\r\nghi\n") };
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
}
