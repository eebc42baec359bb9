//! The outputs that a program announces beside its lines, in the notation of the Viper suites.
//!
//! ```text
//! //:: ExpectedOutput(id[:reason])
//! //:: UnexpectedOutput(id[:reason], /project/issue/123/)
//! //:: MissingOutput(id[:reason], /project/issue/123/)
//! //:: IgnoreOthers
//! //:: IgnoreFile(/project/issue/123/)
//! //:: IgnoreFileList(/project/issue/123/)
//! ```
//!
//! An annotation stands on a line of its own and speaks about the next line that does not start
//! with `//`; a blank line is such a line. An id without a reason stands for all reasons.
//! `ExpectedOutput` binds every tool, the kinds with a project bind the tool of that name only:
//! `UnexpectedOutput` is an output that this tool is known to report wrongly, `MissingOutput` one
//! that it is known to miss.
//!
//! `IgnoreFile` and `IgnoreFileList` are for who runs a suite, and leaves such files out
//! ([`Expectations::ignored`]); a file that somebody names is compared like any other
//! ([`differences`]).

use std::fmt;

use crate::session::{Diagnostic, Outcome};

/// An announced or reported output: the line it belongs to and its id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Output {
    pub line: u32,
    /// `error:reason`, or just `error`.
    pub id: String,
}

impl Output {
    pub fn new(line: u32, id: impl Into<String>) -> Self {
        Self { line, id: id.into() }
    }

    /// `parser.warning` and the like.
    pub fn is_warning(&self) -> bool {
        self.id.ends_with(".warning")
    }

    /// Tells whether this announcement covers a reported output: the same line and id, or the id
    /// without its reason.
    fn covers(&self, reported: &Self) -> bool {
        let rest = reported.id.strip_prefix(self.id.as_str());
        self.line == reported.line
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.id)
    }
}

/// The announcements of a file for one tool.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expectations {
    pub expected: Vec<Output>,
    /// Known to be reported wrongly by this tool.
    pub unexpected: Vec<Output>,
    /// Known to be missed by this tool.
    pub missing: Vec<Output>,
    /// Lines on which everything else may be reported, too.
    pub ignore_others: Vec<u32>,
    /// The file is not for this tool.
    pub ignored: bool,
    /// Annotations that are none of the above: mistakes in the file.
    pub malformed: Vec<Output>,
}

/// How the reported outputs differ from the announced ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// Announced, but not reported.
    pub missing: Vec<Output>,
    /// Reported, but not announced.
    pub extra: Vec<Output>,
    /// Known differences that are none any more: their annotation should go.
    pub stale: Vec<Output>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.stale.is_empty()
    }

    /// One line a difference, with the file that it is about.
    pub(crate) fn of_file(&self, file: &str) -> String {
        let lines = self.to_string();
        let in_file = |line: &str| match line.trim_start().split_once(' ') {
            Some((word, output)) => format!("  {word} {file}:{output}\n"),
            None => format!("{line}\n"),
        };
        lines.lines().map(in_file).collect()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, outputs) in
            [("missing", &self.missing), ("extra", &self.extra), ("stale", &self.stale)]
        {
            for output in outputs {
                writeln!(f, "  {word} {output}")?;
            }
        }
        Ok(())
    }
}

/// Reads the annotations of `text` that apply to the tool `tool`.
///
/// The suites' own harness runs a tool under its name and as `silver`; so does this one for the
/// tools it compares with. Our own, `sil`, is bound by no project's annotations: it has to be
/// right.
pub fn read(text: &str, tool: &str) -> Expectations {
    let tools: &[&str] = if tool == "sil" { &["sil"] } else { &["silver", tool] };
    let mut expectations = Expectations::default();
    let mut waiting: Vec<&str> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(annotation) = line.strip_prefix("//::") {
            waiting.push(annotation);
        } else if !line.starts_with("//") {
            for annotation in waiting.drain(..) {
                expectations.add(annotation, index as u32 + 1, tools);
            }
        }
    }
    // An annotation about the file needs no line after it.
    for annotation in waiting.into_iter().filter(|text| text.trim().starts_with("IgnoreFile")) {
        expectations.add(annotation, 0, tools);
    }
    expectations.expected.sort();
    expectations
}

impl Expectations {
    fn add(&mut self, annotation: &str, line: u32, tools: &[&str]) {
        let parsed = Annotation::parse(annotation);
        match parsed {
            Some(Annotation { kind: "ExpectedOutput", id: Some(id), .. }) => {
                self.expected.push(Output::new(line, id));
            }
            Some(Annotation { kind: "UnexpectedOutput", id: Some(id), project: Some(project) }) => {
                if is_for(project, tools) {
                    self.unexpected.push(Output::new(line, id));
                }
            }
            Some(Annotation { kind: "MissingOutput", id: Some(id), project: Some(project) }) => {
                if is_for(project, tools) {
                    self.missing.push(Output::new(line, id));
                }
            }
            Some(Annotation { kind: "IgnoreFile", project: Some(project), .. }) => {
                self.ignored |= is_for(project, tools);
            }
            Some(Annotation { kind: "IgnoreFileList", .. }) => self.ignored = true,
            Some(Annotation { kind: "IgnoreOthers", .. }) => self.ignore_others.push(line),
            // About values of variables, which outputs do not carry.
            Some(Annotation { kind: "ExpectedCounterexample", .. }) => {}
            _ => self.malformed.push(Output::new(line, annotation.trim())),
        }
    }

    /// Compares what was reported with what is announced.
    pub fn compare(&self, reported: &[Output]) -> Difference {
        let mut difference = Difference::default();
        let mut expected = vec![false; self.expected.len()];
        let mut unexpected = vec![false; self.unexpected.len()];
        for output in reported {
            let known_missing = self.missing.iter().any(|announced| announced.covers(output));
            if known_missing {
                difference.stale.push(output.clone());
            }
            if !mark(&self.expected, &mut expected, output)
                && !mark(&self.unexpected, &mut unexpected, output)
                && !known_missing
                && !self.ignore_others.contains(&output.line)
            {
                difference.extra.push(output.clone());
            }
        }
        for (announced, seen) in self.expected.iter().zip(expected) {
            if !seen && !self.missing.contains(announced) {
                difference.missing.push(announced.clone());
            }
        }
        for (announced, seen) in self.unexpected.iter().zip(unexpected) {
            if !seen {
                difference.stale.push(announced.clone());
            }
        }
        for outputs in [&mut difference.missing, &mut difference.extra, &mut difference.stale] {
            outputs.sort();
            outputs.dedup();
        }
        difference
    }
}

/// Returns how an outcome differs from what its texts announce, imported ones too; only files with
/// differences are listed. What is not an announcement, but looks like one, is listed as missing.
pub fn differences(outcome: &Outcome) -> Vec<(String, Difference)> {
    let of_file = |name: &str| {
        let is_there = |one: &&Diagnostic| &*one.message.place.file == name;
        let output =
            |one: &Diagnostic| Output::new(one.message.place.start.line, one.message.id.as_str());
        outcome.diagnostics.iter().filter(is_there).map(output).collect::<Vec<_>>()
    };
    let mut differences = Vec::new();
    for name in outcome.texts.names() {
        let text = outcome.texts.get(name).map_or("", |file| &file.text);
        let announced = read(text, OWN);
        let mut difference = announced.compare(&of_file(name));
        difference.missing.extend(announced.malformed);
        if !difference.is_empty() {
            differences.push((name.to_owned(), difference));
        }
    }
    // A file without text announces nothing.
    let others = outcome.diagnostics.iter().map(|one| &*one.message.place.file);
    let mut others: Vec<&str> = others.filter(|name| outcome.texts.get(name).is_none()).collect();
    others.sort_unstable();
    others.dedup();
    for name in others {
        let difference = Difference { extra: of_file(name), ..Difference::default() };
        differences.push((name.to_owned(), difference));
    }
    differences
}

/// The name under which known wrong answers of ours would be announced.
const OWN: &str = "sil";

/// Marks all announcements that cover `output`; whether there was one.
fn mark(announced: &[Output], seen: &mut [bool], output: &Output) -> bool {
    let mut any = false;
    for (announced, seen) in announced.iter().zip(seen) {
        if announced.covers(output) {
            *seen = true;
            any = true;
        }
    }
    any
}

/// `Kind(id, /project/issue/1/)`, taken apart.
struct Annotation<'a> {
    kind: &'a str,
    id: Option<&'a str>,
    project: Option<&'a str>,
}

impl<'a> Annotation<'a> {
    /// `text` is what follows `//::`, where a space has to follow.
    fn parse(text: &'a str) -> Option<Self> {
        if !text.starts_with(char::is_whitespace) {
            return None;
        }
        let text = text.trim();
        let Some((kind, rest)) = text.split_once('(') else {
            return Some(Self { kind: text, id: None, project: None });
        };
        let arguments = rest.strip_suffix(')')?;
        if kind == "ExpectedCounterexample" {
            return Some(Self { kind, id: None, project: None });
        }
        let mut annotation = Self { kind, id: None, project: None };
        for argument in arguments.split(',').map(str::trim) {
            match argument.strip_prefix('/') {
                Some(project) => annotation.project = Some(project.split('/').next()?),
                None if is_id(argument) => annotation.id = Some(argument),
                None => return None,
            }
        }
        Some(annotation)
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '_' | '-'))
}

/// Tells whether an annotation for `project` binds one of `tools`: equal but for case, the tool's
/// name perhaps extended at a hyphen.
fn is_for(project: &str, tools: &[&str]) -> bool {
    let project = project.to_ascii_lowercase();
    tools.iter().map(|tool| tool.to_ascii_lowercase()).any(|tool| {
        tool.match_indices(&project).any(|(at, _)| {
            let (before, after) = (&tool[..at], &tool[at + project.len()..]);
            (before.is_empty() || before.ends_with('-'))
                && (after.is_empty() || after.starts_with('-'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(pairs: &[(u32, &str)]) -> Vec<Output> {
        pairs.iter().map(|&(line, id)| Output::new(line, id)).collect()
    }

    #[test]
    fn annotations_speak_about_the_next_line_that_is_no_comment() {
        let text = "x\n  //:: ExpectedOutput(a.b:c.d)\n// why\n\t//:: ExpectedOutput(e.f) \ny\n";
        assert_eq!(read(text, "sil").expected, outputs(&[(5, "a.b:c.d"), (5, "e.f")]));
    }

    #[test]
    fn a_blank_line_is_spoken_about_and_the_end_of_the_file_is_not() {
        let text = "//:: ExpectedOutput(a)\n\nx\n//:: ExpectedOutput(b)\n";
        assert_eq!(read(text, "sil").expected, outputs(&[(2, "a")]));
    }

    #[test]
    fn only_the_exact_mark_counts() {
        let expectations = read("// :: ExpectedOutput(a)\n//::ExpectedOutput(b)\nx", "sil");
        assert_eq!(expectations.expected, []);
        assert_eq!(expectations.malformed, outputs(&[(3, "ExpectedOutput(b)")]));
        assert_eq!(read("//:: ExpectedErrors(b)\nx", "sil").malformed.len(), 1);
    }

    #[test]
    fn block_comments_do_not_hide_annotations() {
        assert_eq!(read("/*\n//:: ExpectedOutput(a)\n*/", "sil").expected, outputs(&[(3, "a")]));
    }

    #[test]
    fn a_project_names_its_tools() {
        assert!(is_for("Silicon", &["silver", "silicon"]) && is_for("Silver", &["silver", "x"]));
        assert!(is_for("silicon", &["Silicon-Statistics"]) && is_for("silicon", &["my-silicon"]));
        assert!(!is_for("silicon", &["sil"]) && !is_for("sil", &["silicon"]));
    }

    #[test]
    fn known_differences_bind_their_tool_only() {
        let text = "//:: UnexpectedOutput(a, /silicon/issue/1/)\n\
                    //:: ExpectedOutput(b:c)\n//:: MissingOutput(b:c, /Silicon/issue/2/)\nx";
        let (ours, theirs) = (read(text, "sil"), read(text, "silicon"));
        let (ideal, known) = (outputs(&[(4, "b:c")]), outputs(&[(4, "a:r")]));
        assert!(ours.compare(&ideal).is_empty() && theirs.compare(&known).is_empty());
        assert_eq!(
            ours.compare(&known),
            Difference { missing: ideal.clone(), extra: known.clone(), stale: Vec::new() }
        );
        assert_eq!(theirs.compare(&ideal).stale, outputs(&[(4, "a"), (4, "b:c")]));
    }

    #[test]
    fn ignoring_a_file_is_for_the_named_tool() {
        let text = "//:: IgnoreFile(/silicon/issue/1/)\n";
        assert!(read(text, "silicon").ignored && !read(text, "sil").ignored);
        assert!(read("//:: IgnoreFileList(/any/issue/1/)\nx", "sil").ignored);
    }

    #[test]
    fn an_id_without_reason_covers_all_reasons_and_several_outputs() {
        let announced = read("//:: ExpectedOutput(a.b)\nx", "sil");
        assert!(announced.compare(&outputs(&[(2, "a.b:c"), (2, "a.b:d"), (2, "a.b")])).is_empty());
        assert_eq!(announced.compare(&outputs(&[(2, "a.bc")])).extra, outputs(&[(2, "a.bc")]));
        let full = read("//:: ExpectedOutput(a.b:c)\nx", "sil");
        assert_eq!(full.compare(&outputs(&[(2, "a.b")])).missing, outputs(&[(2, "a.b:c")]));
    }

    #[test]
    fn others_may_be_ignored_on_a_line() {
        let announced = read("//:: IgnoreOthers\n//:: ExpectedOutput(a)\nx\ny", "sil");
        assert!(announced.compare(&outputs(&[(3, "a"), (3, "b")])).is_empty());
        assert_eq!(announced.compare(&outputs(&[(3, "a"), (4, "b")])).extra.len(), 1);
    }
}
