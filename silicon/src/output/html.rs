//! For people, to keep and to pass on: one page with the verdicts, the findings and the source they
//! are about.
//!
//! The page needs nothing but itself: style and script are in it, and it asks for nothing. Names
//! and sources may be hostile: `maud` escapes all text, the page's own policy admits no script and
//! no style but these two, and what controls a terminal or the direction of text is shown as a
//! mark. Without script all is there but for the filters.

mod graph;
mod source;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use sil::render::Place;

use self::source::Sheets;
use super::{HARDEST, Summary, milliseconds, sums, words};
use crate::explain;
use crate::session::{Diagnostic, MemberOutcome, Outcome};
use symex::report::{Counterexample, Held, MemberKind, Named, Shown, Verdict};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

pub(super) fn report(outcomes: &[Outcome], summary: &Summary) -> String {
    let sheets = Sheets::of(outcomes);
    let verdict = summary.verdict().name();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "silicon: " (verdict) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 class=(verdict) { (verdict) }
                    p { (sums(summary)) " in " (milliseconds(summary.time)) " ms, by silicon " (env!("CARGO_PKG_VERSION")) }
                    (about(summary))
                    (trusted(outcomes))
                }
                main {
                    (findings(outcomes, &sheets))
                    (members(outcomes, &sheets))
                    (bodies(outcomes, &sheets))
                    (sheets.shown())
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// Nothing may be loaded, and nothing may run but the page's own script.
fn policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; \
         base-uri 'none'; form-action 'none'"
    )
}

/// How the run came about.
fn about(summary: &Summary) -> Markup {
    html! {
        @if !summary.about.is_empty() {
            details {
                summary { "about this run" }
                dl {
                    @for (title, value) in &summary.about {
                        dt { (title) }
                        dd { @for line in value.lines() { code { (text(line)) } " " } }
                    }
                }
            }
        }
    }
}

fn trusted(outcomes: &[Outcome]) -> Markup {
    let all = outcomes.iter().filter(|outcome| !outcome.trusted.is_empty());
    let count: usize = all.clone().map(|outcome| outcome.trusted.len()).sum();
    html! {
        @if count > 0 {
            details {
                summary { "trusted: " (count) }
                @for outcome in all {
                    h4 { (text(&outcome.file)) }
                    ul { @for one in &outcome.trusted { li { (prose(one)) } } }
                }
            }
        }
    }
}

/// Returns the members: those that are not verified, and the others folded; the filters above them.
fn members(outcomes: &[Outcome], sheets: &Sheets<'_>) -> Markup {
    let all = || outcomes.iter().flat_map(|outcome| &outcome.members);
    let kinds: BTreeSet<MemberKind> = all().map(|member| member.kind).collect();
    let verified = all().filter(|member| member.verdict == Verdict::Verified).count();
    html! {
        section id="members" {
            h2 { "Members" }
            // The filters are of use with the script only, which shows them.
            form id="filters" hidden {
                @for verdict in Verdict::ALL {
                    label { input type="checkbox" name="verdict" value=(verdict.name()) checked; (verdict.name()) }
                }
                @for kind in &kinds {
                    label { input type="checkbox" name="kind" value=(kind.name()) checked; (kind.name()) }
                }
                label { "name " input type="search" name="text"; }
                label { "slower than " input type="number" name="ms" min="0" value="0"; " ms" }
                label { "by " select name="order" {
                    option value="place" { "place" }
                    option value="ms" { "time" }
                    option value="questions" { "questions" }
                } }
                output name="shown" {}
            }
            (table(outcomes, sheets, &|verdict| verdict != Verdict::Verified))
            @if verified > 0 {
                details id="verified" {
                    summary { (verified) " verified" }
                    (table(outcomes, sheets, &|verdict| verdict == Verdict::Verified))
                }
            }
        }
    }
}

/// Returns a row for each member with some verdicts, below that of its file.
fn table(outcomes: &[Outcome], sheets: &Sheets<'_>, is_shown: &dyn Fn(Verdict) -> bool) -> Markup {
    let slowest = outcomes.iter().flat_map(|outcome| &outcome.members);
    let slowest = slowest.map(|member| member.statistics.time).max().unwrap_or_default();
    let share = |member: &MemberOutcome| {
        let part = member.statistics.time.as_secs_f64() / slowest.as_secs_f64().max(f64::EPSILON);
        format!("{:.3}", part.clamp(0.0, 1.0))
    };
    let rows = |outcome: &Outcome| -> Vec<usize> {
        let members = outcome.members.iter().enumerate();
        members.filter(|(_, member)| is_shown(member.verdict)).map(|(number, _)| number).collect()
    };
    let files: Vec<_> =
        outcomes.iter().enumerate().map(|(file, it)| (file, it, rows(it))).collect();
    // A file without members has a row, too, if it is no success.
    let has_row = |(_, outcome, rows): &&(usize, &Outcome, Vec<usize>)| {
        !rows.is_empty() || outcome.members.is_empty() && is_shown(Verdict::Failed)
    };
    let by_member: Vec<FxHashMap<&str, Vec<usize>>> = outcomes.iter().map(by_member).collect();
    html! {
        @if files.iter().any(|file| has_row(&file)) {
            table.members {
                thead { tr { th { "member" } th { "verdict" } th { "findings" } th { "questions" } th { "ms" } th { "obligations" } } }
                @for (file, outcome, rows) in files.iter().filter(has_row) {
                    tbody {
                        tr class="file" {
                            th colspan="4" { (text(&outcome.file)) ": " (outcome.verdict.name()) }
                            td class="number" { (milliseconds(outcome.time)) }
                            td {}
                        }
                        @for &number in rows {
                            @let member = &outcome.members[number];
                            tr class="member" data-verdict=(member.verdict.name()) data-name=(text(&member.name))
                                data-kind=(member.kind.name()) data-questions=(member.statistics.questions.asked())
                                data-ms=(milliseconds(member.statistics.time)) {
                                td {
                                    (member.kind.name()) " " (sheets.link(&member.place, &member.name))
                                    @if !member.graphs.is_empty() { " (" a href={ "#" (body_anchor(*file, number)) } { "body" } ")" }
                                }
                                td class=(member.verdict.name()) { (words(member.verdict)) }
                                td { (findings_of(*file, outcome, by_member[*file].get(&*member.name))) }
                                td class="number" data-of="questions" { (member.statistics.questions.asked()) }
                                td class="number" data-of="ms" {
                                    meter value=(share(member)) {}
                                    " " (milliseconds(member.statistics.time))
                                }
                                td data-of="obligations" { (obligations(member, sheets)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns an id that may go on in the next line behind its colon.
fn breakable(id: &str) -> Markup {
    html! {
        @match id.split_once(':') {
            Some((error, reason)) => { (text(error)) ":" wbr; (text(reason)) },
            None => (text(id)),
        }
    }
}

/// Returns the findings of each member, by their numbers.
fn by_member(outcome: &Outcome) -> FxHashMap<&str, Vec<usize>> {
    let mut numbers: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (number, one) in outcome.diagnostics.iter().enumerate() {
        if let Some(member) = &one.member {
            numbers.entry(member).or_default().push(number);
        }
    }
    numbers
}

/// Links to what was found in a member.
fn findings_of(file: usize, outcome: &Outcome, numbers: Option<&Vec<usize>>) -> Markup {
    html! {
        @for &index in numbers.into_iter().flatten() {
            @let message = &outcome.diagnostics[index].message;
            a class=(message.severity.name()) href={ "#" (anchor(file, index)) } { (breakable(&message.id)) } " "
        }
    }
}

/// Returns the places where the solver took most steps.
fn obligations(member: &MemberOutcome, sheets: &Sheets<'_>) -> Markup {
    html! {
        @if !member.obligations.is_empty() {
            details {
                summary { (member.obligations.len()) }
                ul {
                    @for one in member.obligations.iter().take(HARDEST) {
                        li {
                            (sheets.link(&one.place, &format!("line {}", one.place.start.line)))
                            ": " (text(&one.kind)) ", " (one.cost.asked.count) " to the prover, " (one.cost.steps) " steps, "
                            (milliseconds(one.cost.asked.time)) " ms"
                        }
                    }
                }
            }
        }
    }
}

fn findings(outcomes: &[Outcome], sheets: &Sheets<'_>) -> Markup {
    let all = outcomes.iter().enumerate().flat_map(|(file, outcome)| {
        let own = outcome.diagnostics.iter().enumerate();
        own.map(move |(index, one)| (anchor(file, index), one))
    });
    html! {
        section id="findings" {
            h2 { "Findings" }
            @if outcomes.iter().all(|outcome| outcome.diagnostics.is_empty()) { p { "none" } }
            @for (anchor, one) in all {
                (finding(&anchor, one, sheets))
            }
        }
    }
}

fn finding(anchor: &str, one: &Diagnostic, sheets: &Sheets<'_>) -> Markup {
    let message = &one.message;
    let (severity, advice) = (message.severity.name(), explain::advice(&message.id));
    html! {
        article id=(anchor) class=(severity) {
            h3 { (severity) " " code title=(without_marks(&explain::meaning(&message.id))) { (text(&message.id)) } }
            p { (prose(&message.text)) }
            p {
                "at " (sheets.link(&message.place, &place(&message.place)))
                @if let Some(member) = &one.member { " in " (text(member)) }
            }
            (sheets.quoted(&message.place))
            @for (at, note) in &message.notes {
                p { (sheets.link(at, &place(at))) ": " (prose(note)) }
                @if at.file != message.place.file || at.start.line != message.place.start.line { (sheets.quoted(at)) }
            }
            @if !one.path.is_empty() {
                p { "on the path where" }
                ol {
                    @for (index, step) in one.path.iter().enumerate() {
                        li {
                            code { (text(step)) }
                            @if let Some((at, _)) = one.steps.get(index) { " at " (sheets.link(at, &place(at))) }
                        }
                    }
                }
            }
            @for remark in &message.remarks { p { (prose(remark)) } }
            @if let Some(counterexample) = &one.counterexample { (state(counterexample)) }
            @if let Some(replay) = &one.replay { p { (prose(&replay.words())) } }
            @if !advice.is_empty() { p class="advice" { (prose(&advice)) } }
        }
    }
}

/// Returns the control flow of methods; that of those that are not verified is open.
fn bodies(outcomes: &[Outcome], sheets: &Sheets<'_>) -> Markup {
    let all = outcomes.iter().enumerate().flat_map(|(file, outcome)| {
        let members = outcome.members.iter().enumerate();
        members.map(move |(number, member)| (body_anchor(file, number), member))
    });
    let all: Vec<_> = all.filter(|(_, member)| !member.graphs.is_empty()).collect();
    html! {
        @if !all.is_empty() {
            section id="bodies" {
                h2 { "Bodies" }
                @for (anchor, member) in all {
                    details id=(anchor) open[member.verdict != Verdict::Verified] {
                        @let of = format!("{} {}", member.kind.name(), member.name);
                        summary { (text(&of)) ": " span class=(member.verdict.name()) { (words(member.verdict)) } }
                        @for graph in &member.graphs {
                            @if let Some(name) = &graph.name { p { "implementation " (text(name)) } }
                            div.picture { (graph::drawn(graph, &of, sheets)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a state in which it may go wrong: values, and what is held.
fn state(counterexample: &Counterexample) -> Markup {
    let Shown { variables, witness, parts, heap, old, .. } = counterexample.shown();
    html! {
        table class="state" {
            caption { "for instance where" }
            @for Named { name, value } in variables.iter().chain(&witness).chain(&parts) {
                tr { td { code { (text(name)) } } td { (text(value)) } td {} }
            }
            @for (prefix, locations) in [("", heap), ("old ", old)] {
                @for Held { location, amount, value } in locations {
                    tr {
                        td { (prefix) code { (text(&location)) } }
                        td { @if let Some(value) = value { (text(&value)) } }
                        td { (text(&amount)) " held" }
                    }
                }
            }
        }
    }
}

/// Returns the name of a member's body in the page.
fn body_anchor(file: usize, member: usize) -> String {
    format!("b{file}-{member}")
}

/// Returns the name of a finding in the page.
fn anchor(file: usize, index: usize) -> String {
    format!("f{file}-{index}")
}

fn place(at: &Place) -> String {
    format!("{}:{}:{}", at.file, at.start.line, at.start.column)
}

/// Text that may be hostile, as it is shown: what changes how other text is read is replaced by a
/// mark.
fn text(words: &str) -> String {
    words.replace(is_disguise, "\u{fffd}")
}

/// Words in which a part of a program stands between backticks.
fn prose(words: &str) -> Markup {
    // A backtick without a partner stays as it is.
    let is_paired = words.matches('`').count().is_multiple_of(2);
    let parts: Vec<&str> = if is_paired { words.split('`').collect() } else { vec![words] };
    html! {
        @for (number, part) in parts.into_iter().enumerate() {
            @if number % 2 == 1 { code { (text(part)) } } @else { (text(part)) }
        }
    }
}

/// Words for a place where no part can be set apart.
fn without_marks(words: &str) -> String {
    words.replace('`', "")
}

/// Control characters, and those that change the direction of text.
fn is_disguise(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}
