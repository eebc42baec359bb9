//! As the reference verifier Silicon prints it, for scripts that read its output.
//!
//! Its sentences quote the nodes of its syntax tree; here they quote the program's text, with white
//! space made even. What is trusted is named where it prints warnings, before the result.

use std::io::{self, Write};

use sil::render::{Place, Texts};

use super::trusted;
use crate::session::parts::indexed;
use crate::session::{Diagnostic, FileVerdict, Outcome};
use symex::report::{Counterexample, MemberKind, Severity};

pub(super) fn outcome(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "Silicon {}", env!("CARGO_PKG_VERSION"))?;
    if let Some(trusted) = trusted(outcome) {
        writeln!(to, "{trusted}")?;
    }
    let errors: Vec<&Diagnostic> =
        outcome.diagnostics.iter().filter(|one| one.message.severity == Severity::Error).collect();
    let seconds = outcome.time.as_secs_f64();
    // Undecided obligations are told as errors, too.
    let undecided: Vec<&Diagnostic> = if errors.is_empty() && !succeeded(outcome.verdict) {
        outcome.diagnostics.iter().collect()
    } else {
        Vec::new()
    };
    let all: Vec<&Diagnostic> = errors.into_iter().chain(undecided).collect();
    if all.is_empty() && succeeded(outcome.verdict) {
        return writeln!(to, "Silicon finished verification successfully in {seconds:.2}s.");
    }
    let word = if all.len() == 1 { "error" } else { "errors" };
    writeln!(to, "Silicon found {} {word} in {seconds:.2}s:", all.len())?;
    for (index, diagnostic) in all.iter().enumerate() {
        writeln!(to, "  [{index}] {}", sentence(diagnostic, outcome))?;
        for words in diagnostic.counterexample.iter().flat_map(Counterexample::words) {
            writeln!(to, "      {words}")?;
        }
    }
    Ok(())
}

fn succeeded(verdict: FileVerdict) -> bool {
    matches!(verdict, FileVerdict::Checked | FileVerdict::Verified)
}

/// Returns the sentences for an error, and its place.
fn sentence(diagnostic: &Diagnostic, outcome: &Outcome) -> String {
    let (message, texts) = (&diagnostic.message, &outcome.texts);
    let Place { file, start, end } = &message.place;
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let (error, reason) = message.id.split_once(':').unwrap_or((&message.id, ""));
    match error {
        "parser.error" | "consistency.error" | "typechecker.error" => {
            let kind = match error {
                "parser.error" => "Parse error: ",
                "consistency.error" => "Consistency error: ",
                _ => "",
            };
            return format!("{kind}{} ({name}@{start}--{end})", message.text);
        }
        _ => {}
    }
    let quoted = quote(texts, &message.place);
    let member = diagnostic.member.as_deref().unwrap_or_default();
    let kind = outcome.members.iter().find(|one| one.name == member).map(|one| one.kind);
    let text = match heading(error, &quoted, member, kind) {
        Some(heading) => {
            let at = diagnostic.reason.as_ref().unwrap_or(&message.place);
            format!("{heading} {}", because(reason, texts, at, message.text.as_str()))
        }
        None => message.text.clone(),
    };
    format!("{text} ({name}@{start}--{end})")
}

/// Returns the reference's heading of an error; `text` is the place in the program's words. `None`:
/// the reference has no such error.
fn heading(error: &str, text: &str, member: &str, kind: Option<MemberKind>) -> Option<String> {
    let fixed = match error {
        "assert.failed" => "Assert might fail.",
        "assignment.failed" => "Assignment might fail.",
        "call.failed" => "Method call might fail.",
        "exhale.failed" => "Exhale might fail.",
        "inhale.failed" => "Inhale might fail.",
        "if.failed" => "Conditional statement might fail.",
        "while.failed" => "While statement might fail.",
        "not.wellformed" => "Contract might not be well-formed.",
        "function.not.wellformed" => "Function might not be well-formed.",
        "predicate.not.wellformed" => "Predicate might not be well-formed.",
        "wand.not.wellformed" => "Magic wand might not be well-formed.",
        "package.failed" => "Packaging wand might fail.",
        "apply.failed" => "Applying wand might fail.",
        "quasihavoc.failed" => "Havoc statement might fail.",
        "quasihavocall.failed" => "Havocall statement might fail.",
        "refute.failed" => {
            "Refute holds in all cases or could not be reached (e.g. see Silicon `numberOfErrorsToReport`)."
        }
        "postcondition.violated" => {
            return Some(format!("Postcondition of {member} might not hold."));
        }
        "call.precondition" => {
            let callee = applied(text);
            return Some(format!("The precondition of method {callee} might not hold."));
        }
        "application.precondition" => {
            return Some(format!("Precondition of function {} might not hold.", applied(text)));
        }
        "invariant.not.established" => {
            return Some(format!("Loop invariant {text} might not hold on entry."));
        }
        "invariant.not.preserved" => {
            return Some(format!("Loop invariant {text} might not be preserved."));
        }
        "fold.failed" => {
            return Some(format!("Folding {} might fail.", location(operand(text, "fold"))));
        }
        "unfold.failed" => {
            return Some(format!("Unfolding {} might fail.", location(operand(text, "unfold"))));
        }
        "termination.failed" => {
            let what = match kind {
                _ if text.starts_with("while") => "Loop",
                Some(MemberKind::Function) => "Function",
                _ => "Method",
            };
            return Some(format!("{what} might not terminate."));
        }
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// Why; `at` is what could not be shown. Reasons that the reference does not have are told in our
/// own words.
fn because(reason: &str, texts: &Texts, at: &Place, words: &str) -> String {
    let text = quote(texts, at);
    match reason {
        "assertion.false" => format!("Assertion {text} might not hold."),
        "insufficient.permission" => {
            // The access of an assignment is the one that it writes.
            let accessed = text.split(":=").next().unwrap_or_default().trim();
            format!("There might be insufficient permission to access {}", location(accessed))
        }
        "negative.permission" => format!("Fraction {text} might be negative."),
        "permission.not.positive" => format!("Fraction {text} might not be positive."),
        "division.by.zero" => format!("Divisor {text} might be zero."),
        "seq.index.negative" => match subject(texts, at) {
            Some(sequence) => format!("Index {text} into {sequence} might be negative."),
            None => format!("Index {text} might be negative."),
        },
        "seq.index.length" => match subject(texts, at) {
            Some(sequence) => format!("Index {text} into {sequence} might exceed sequence length."),
            None => format!("Index {text} might exceed sequence length."),
        },
        "map.key.contains" => {
            let map = subject(texts, at).unwrap_or_default();
            format!("Map {map} might not contain an entry at key {text}.")
        }
        "qp.not.injective" | "quasihavocall.not.injective" => {
            format!("Quantified resource {} might not be injective.", location(&text))
        }
        "wand.not.found" => "Magic wand instance not found.".to_owned(),
        "labelled.state.not.reached" => {
            format!("Did not reach labelled state required to evaluate {text}.")
        }
        "refutation.true" => format!("Assertion {text} definitely holds."),
        "tuple.false" => "Termination measure might not decrease.".to_owned(),
        "termination.condition.false" => {
            "Required termination condition might not hold.".to_owned()
        }
        "tuple.condition.false" => "Required tuple condition might not hold.".to_owned(),
        _ => words.to_owned(),
    }
}

/// Returns the text of a place on one line.
fn quote(texts: &Texts, place: &Place) -> String {
    let text = texts.locate(place).map_or("", |(text, range)| &text[range]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text before the `[` of an index.
fn subject(texts: &Texts, index: &Place) -> Option<String> {
    let (text, range) = texts.locate(index)?;
    let subject = &text[indexed(text, range.start)?];
    Some(subject.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the name of what is called or applied: behind the targets, before the arguments.
fn applied(text: &str) -> &str {
    let call = text.rsplit_once(":=").map_or(text, |(_, call)| call);
    call.split('(').next().unwrap_or_default().trim()
}

fn operand<'t>(text: &'t str, keyword: &str) -> &'t str {
    text.strip_prefix(keyword).unwrap_or(text).trim()
}

/// Returns the location in an access predicate, which may be written with its amount.
fn location(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("acc").map(str::trim_start) else { return text };
    let Some(inner) = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0_usize;
    let end = inner.find(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    inner[..end.unwrap_or(inner.len())].trim()
}

#[cfg(test)]
mod tests {
    use sil::source::{LineColumn, SourceFile};

    use super::*;

    #[test]
    fn locations_have_no_amounts() {
        assert_eq!(location("acc(x.f, 1/2)"), "x.f");
        assert_eq!(location("acc(list(x, f(y)), p)"), "list(x, f(y))");
        assert_eq!(location("acc(m[k].f)"), "m[k].f");
        assert_eq!(location("list(x)"), "list(x)");
        assert_eq!(location("account(x)"), "account(x)");
    }

    #[test]
    fn calls_have_names() {
        assert_eq!(applied("x, y := m(a(b))"), "m");
        assert_eq!(applied("m(a)"), "m");
    }

    #[test]
    fn indices_have_sequences() {
        let mut texts = Texts::default();
        texts.add(SourceFile::new("a.sil", "assert f(s ++ t)[ i ] == 0 && s[j] == (q.r)[k]\n"));
        let at = |start: u32| Place {
            file: "a.sil".into(),
            start: LineColumn { line: 1, column: start },
            end: LineColumn { line: 1, column: start + 1 },
        };
        assert_eq!(subject(&texts, &at(19)).as_deref(), Some("f(s ++ t)"));
        assert_eq!(subject(&texts, &at(33)).as_deref(), Some("s"));
        assert_eq!(subject(&texts, &at(45)).as_deref(), Some("(q.r)"));
        assert_eq!(subject(&texts, &at(8)), None);
    }
}
