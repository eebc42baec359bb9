//! Going on behind a syntax error: the text without the broken member.
//!
//! Members are told apart by the words that nothing else starts with, so that nothing has to be
//! known of what is broken.

use front::Language;
use front::tokens::{Kind, Token, tokens};

/// A text without a broken member.
pub(super) struct Recovered {
    /// The text, of the same length, so that offsets stay.
    pub(super) text: String,
    /// Where what was left out ends: errors before it may come of leaving it out.
    pub(super) end: usize,
}

/// A word that a member, class or channel starts with.
#[derive(Clone, Copy)]
struct Start {
    at: usize,
    /// How many braces are open there; fewer than none where one too many was closed.
    depth: isize,
    /// The word starts a class or channel.
    is_outer: bool,
}

/// `text`, which has no comments, without the member that has an error at `at`. `None` if nothing
/// behind `done` is left to be read.
pub(super) fn without_member(text: &str, at: usize, done: usize) -> Option<Recovered> {
    let (starts, depth_at_end) = starts(text);
    let (begin, is_inside) = beginning(text, &starts, at, depth_at_end);
    let next = starts.iter().find(|start| start.at > begin && start.at >= at);
    let end = next.map_or(text.len(), |next| next.at);
    if end <= done || end == text.len() && text[at.min(end)..].trim().is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for byte in &mut bytes[begin..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
    // The end of the class goes with its last member.
    if is_inside && next.is_none_or(|next| next.is_outer) {
        bytes[end - 1] = b'}';
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(Recovered { text, end })
}

/// Returns where the broken member begins, and whether that is inside of a class.
fn beginning(text: &str, starts: &[Start], at: usize, depth_at_end: isize) -> (usize, bool) {
    // A start that seems to be deeper than the members of a class comes behind a brace that is not
    // closed.
    let before = starts.iter().rposition(|start| start.at <= at && start.depth <= 1);
    let Some(mut index) = before else { return (0, false) };
    let is_outside = |start: &Start| start.depth <= 0 && !start.is_outer;
    // A brace too many makes the next member stand outside.
    if depth_at_end < 0 && starts[index].at == at && is_outside(&starts[index]) && index > 0 {
        index -= 1;
    }
    let start = starts[index];
    if start.is_outer
        && let Some(brace) = text[start.at..at].find('{')
    {
        return (start.at + brace + 1, true);
    }
    (start.at, start.depth > 0)
}

/// Returns the words that members, classes and channels start with, and how many braces are open at
/// the end.
fn starts(text: &str) -> (Vec<Start>, isize) {
    let mut starts = Vec::new();
    let mut depth = 0;
    for Token { kind, text: word, start: at } in tokens(text, Language::Chalice) {
        let is_outer = matches!(word, "class" | "channel" | "external");
        match word {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if kind == Kind::Word && (is_outer || MEMBERS.contains(&word)) => {
                starts.push(Start { at, depth, is_outer });
            }
            _ => {}
        }
    }
    (starts, depth)
}

/// The words that nothing but members of classes starts with.
const MEMBERS: [&str; 7] =
    ["condition", "function", "method", "predicate", "static", "transforms", "unlimited"];
