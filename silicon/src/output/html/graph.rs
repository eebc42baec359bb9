//! The control flow of a body, drawn.
//!
//! The nodes stand below each other in the order of the text, so that the picture is read beside
//! it; a way to the next node is an arrow down, all others run in lanes: ahead on the right, back
//! on the left. That needs no search for a good layout: the same body has the same picture, of a
//! size that grows with it. (Layered layouts of general graphs make wide pictures of nodes that are
//! lines of text, and those that there are in Rust stop with a panic where their boxes meet.)

use maud::{Markup, html};
use sil::render::Place;

use super::source::Sheets;
use super::text;
use crate::session::graph::{End, Graph, Node, Row, When};

/// Beyond so many nodes, no statements are shown in them.
const WITH_STATEMENTS: usize = 200;
/// Beyond so many, nothing is drawn.
const MOST: usize = 2000;
/// Longer lines are cut.
const LONGEST: usize = 64;

// All in pixels.
const LINE: usize = 18;
const CHARACTER: usize = 8;
const PADDING: usize = 8;
const GAP: usize = 28;
const INDENT: usize = 24;
const LANE: usize = 16;
/// How far a label stands from where its way begins.
const LABEL: usize = 4;
/// Where an arrow down stands in a node.
const STEM: usize = 20;
/// Half of the width of the head of an arrow, and its length.
const HEAD: (usize, usize) = (4, 8);

/// A node in the picture.
struct Box<'a> {
    node: &'a Node,
    lines: Vec<Line>,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

struct Line {
    words: Markup,
    length: usize,
}

/// A way that is no arrow down.
struct Bypass<'a> {
    from: usize,
    way: &'a crate::session::graph::Way,
    /// The number of the way among those from its node.
    number: usize,
    lane: usize,
}

/// Returns the picture of a graph; `of` says whose it is.
pub(super) fn drawn(graph: &Graph, of: &str, sheets: &Sheets<'_>) -> Markup {
    let count = graph.nodes.len();
    if count > MOST {
        return html! { p { (count) " nodes: too many to be drawn" } };
    }
    let (bypasses, back, ahead) = bypasses(graph);
    // The labels of ways back are none, but their lanes need room.
    let left = (back + 1) * LANE;
    let boxes = boxes(graph, left, sheets);
    let right = boxes.iter().map(|it| it.x + it.width).max().unwrap_or_default() + 5 * CHARACTER;
    let height = boxes.last().map_or(0, |last| last.y + last.height) + PADDING;
    let width = right + (ahead + 1) * LANE;
    let title = format!("control flow of {of}");
    html! {
        svg.graph width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) aria-label=(text(&title)) {
            @for (number, it) in boxes.iter().enumerate() {
                (it.shown())
                @for way in &it.node.ways {
                    @if way.to == number + 1 { (it.down(&boxes[way.to], way.when, way.is_failing)) }
                }
            }
            @for bypass in &bypasses { (bypass.shown(&boxes, left, right)) }
        }
    }
}

fn boxes<'a>(graph: &'a Graph, left: usize, sheets: &Sheets<'_>) -> Vec<Box<'a>> {
    let with_statements = graph.nodes.len() <= WITH_STATEMENTS;
    let rows = graph.nodes.iter().flat_map(|node| &node.rows);
    let last = rows.map(|(_, at)| at.start.line).max().unwrap_or_default();
    let digits = last.to_string().len();
    let mut y = PADDING;
    let mut boxes = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let rows = node.rows.iter().filter(|(row, _)| with_statements || *row != Row::Statement);
        let mut lines: Vec<Line> =
            rows.filter_map(|(row, at)| line(*row, at, digits, sheets)).collect();
        let end = node.end.map(|end| match end {
            End::Over => "end",
            End::Dead => "never reached",
        });
        lines.extend(end.map(|end| Line { words: html! { (end) }, length: end.len() }));
        let longest = lines.iter().map(|line| line.length).max().unwrap_or_default();
        let it = Box {
            node,
            x: left + node.depth * INDENT,
            y,
            width: (longest * CHARACTER + 2 * PADDING).max(2 * STEM),
            height: lines.len() * LINE + 2 * PADDING,
            lines,
        };
        y += it.height + GAP;
        boxes.push(it);
    }
    boxes
}

/// Returns a line of a node, with the number of the text's line, which it leads to.
fn line(row: Row, at: &Place, digits: usize, sheets: &Sheets<'_>) -> Option<Line> {
    let written = sheets.text_at(at)?;
    let words: Vec<&str> = written.split_whitespace().collect();
    let whole = match row {
        Row::Statement => words.join(" "),
        Row::Branch => format!("if ({})", words.join(" ")),
        Row::Loop => format!("while ({})", words.join(" ")),
        Row::Invariant => format!("invariant {}", words.join(" ")),
    };
    let mut shown = text(&whole);
    if let Some((cut, _)) = shown.char_indices().nth(LONGEST) {
        shown.truncate(cut);
        shown.push('…');
    }
    let findings = sheets.findings_at(at);
    let number = at.start.line.to_string();
    let mark = if findings.is_empty() { "" } else { "✗ " };
    let blanks = " ".repeat(digits.saturating_sub(number.len()));
    let length = digits + 2 + mark.chars().count() + shown.chars().count();
    let words = html! {
        (blanks) tspan.number { (sheets.link(at, &number)) } "  "
        @if findings.is_empty() { (shown) } @else {
            tspan.wrong { title { (text(&findings)) } (mark) (shown) }
        }
    };
    Some(Line { words, length })
}

/// Returns the ways that are no arrows down, with their lanes; how many lanes there are for ways
/// back and for ways ahead.
fn bypasses(graph: &Graph) -> (Vec<Bypass<'_>>, usize, usize) {
    let mut all = Vec::new();
    for (from, node) in graph.nodes.iter().enumerate() {
        let ways = node.ways.iter().filter(|way| way.to != from + 1);
        all.extend(ways.enumerate().map(|(number, way)| Bypass { from, way, number, lane: 0 }));
    }
    // Short ones are near the nodes.
    all.sort_by_key(|it| (it.from.abs_diff(it.way.to), it.from, it.number));
    let mut lanes: [Vec<Vec<(usize, usize, usize)>>; 2] = Default::default();
    for it in &mut all {
        let (to, lanes) = (it.way.to, &mut lanes[usize::from(it.is_back())]);
        let (top, bottom) = (it.from.min(to), it.from.max(to));
        // Ways to one node may run together.
        let is_free = |lane: &Vec<(usize, usize, usize)>| {
            lane.iter().all(|&(start, end, other)| other == to || end <= top || bottom <= start)
        };
        it.lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
        if it.lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[it.lane].push((top, bottom, to));
    }
    let [ahead, back] = lanes.map(|lanes| lanes.len());
    (all, back, ahead)
}

impl Box<'_> {
    fn shown(&self) -> Markup {
        let first = self.y + PADDING + LINE * 3 / 4;
        html! {
            rect x=(self.x) y=(self.y) width=(self.width) height=(self.height) rx="4" {}
            @for (number, line) in self.lines.iter().enumerate() {
                text x=(self.x + PADDING) y=(first + number * LINE) { (line.words) }
            }
        }
    }

    /// Returns the arrow down to the next node.
    fn down(&self, next: &Self, when: When, is_failing: bool) -> Markup {
        let x = self.x.max(next.x) + STEM;
        let (start, end) = (self.y + self.height, next.y);
        let path = format!("M{x} {start}V{end}");
        html! {
            (way(&path, is_failing))
            (head(x, end, Towards::Down, is_failing))
            (label(x + LABEL, start + GAP / 2 + LABEL, when))
        }
    }
}

impl Bypass<'_> {
    /// Tells whether the way goes up.
    fn is_back(&self) -> bool {
        self.way.to <= self.from
    }

    fn shown(&self, boxes: &[Box<'_>], left: usize, right: usize) -> Markup {
        let (from, to) = (&boxes[self.from], &boxes[self.way.to]);
        let is_failing = self.way.is_failing;
        // Where control leaves a node is below where it comes in.
        let start = from.y + from.height - PADDING - self.number * PADDING;
        let end = to.y + PADDING + LABEL;
        if self.is_back() {
            let lane = left - (self.lane + 1) * LANE;
            let path = format!("M{} {start}H{lane}V{end}H{}", from.x, to.x);
            html! { (way(&path, is_failing)) (head(to.x, end, Towards::Right, is_failing)) }
        } else {
            let lane = right + self.lane * LANE;
            let (out, into) = (from.x + from.width, to.x + to.width);
            let path = format!("M{out} {start}H{lane}V{end}H{into}");
            html! {
                (way(&path, is_failing))
                (head(into, end, Towards::Left, is_failing))
                // Beside the head of an arrow that may come in above.
                (label(out + LABEL + HEAD.1, start - LABEL, self.way.when))
            }
        }
    }
}

fn class(is_failing: bool) -> &'static str {
    if is_failing { "way failing" } else { "way" }
}

fn way(path: &str, is_failing: bool) -> Markup {
    html! { path class=(class(is_failing)) d=(path) {} }
}

/// Where an arrow points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Towards {
    Down,
    Left,
    Right,
}

/// Returns the head of an arrow whose point is at `x`, `y`.
fn head(x: usize, y: usize, towards: Towards, is_failing: bool) -> Markup {
    let (half, length) = HEAD;
    let path = match towards {
        Towards::Down => format!("M{x} {y}l-{half} -{length}h{}z", 2 * half),
        Towards::Left => format!("M{x} {y}l{length} -{half}v{}z", 2 * half),
        Towards::Right => format!("M{x} {y}l-{length} -{half}v{}z", 2 * half),
    };
    let class = if is_failing { "head failing" } else { "head" };
    html! { path class=(class) d=(path) {} }
}

/// When a way is taken.
fn label(x: usize, y: usize, when: When) -> Markup {
    let words = match when {
        When::Always | When::Again => return html! {},
        When::Holds => "yes",
        When::Fails => "no",
    };
    html! { text.when x=(x) y=(y) { (words) } }
}
