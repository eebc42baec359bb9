//! Suites whose announcements stand in a file of their own, one JSON object a program.
//!
//! `expectations.jsonl` lists what is right: `path`, and `expected` with a `line`, an `id` (or
//! `kind`), a `confidence`, of each or of all together, and perhaps a `category` of errors that not
//! every verifier promises. `reference.jsonl` lists what another verifier says, in one of two
//! forms: `path`, `verdict` and the first of the `errors` of each member; or `file` and
//! `reference`, with `verdict` and all `errors`, where a line with `class_before` has what a client
//! was told that passes options of its own.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use crate::expectations::{Expectations, Output};
use crate::observation::Observation;

/// The announcements of a program, by their source.
#[derive(Clone, Debug)]
pub enum Announced {
    /// In the program.
    Inline(Expectations),
    /// In `expectations.jsonl`.
    Listed { expectations: Expectations, remarks: Vec<Remark> },
    /// In `reference.jsonl`.
    Reference(Reference),
}

/// Another verifier's answer about a program.
#[derive(Clone, Debug)]
pub struct Reference {
    expectations: Expectations,
    /// Not only the first error of each member.
    has_all_errors: bool,
    /// The reference came to an end.
    is_decided: bool,
    /// The options of ours that correspond to those that it was given.
    options: &'static [&'static str],
}

/// The options of the runner for what a client asks of the reference: receivers differ where
/// permissions are inhaled, and nothing is said behind what is certainly false.
pub const OF_CLIENTS: [&str; 2] = ["--assume-injectivity-on-inhale", "--assume-failures"];

/// A manifest's remark on an announcement.
#[derive(Clone, Debug)]
pub struct Remark {
    output: Output,
    category: Option<String>,
    confidence: String,
}

impl Announced {
    pub fn expectations(&self) -> &Expectations {
        match self {
            Self::Inline(expectations)
            | Self::Listed { expectations, .. }
            | Self::Reference(Reference { expectations, .. }) => expectations,
        }
    }

    pub fn is_ignored(&self) -> bool {
        self.expectations().ignored
    }

    /// Tells whether some verifiers do not promise to report this error.
    pub fn is_optional(&self, output: &Output) -> bool {
        self.remark(output).is_some_and(|remark| remark.category.is_some())
    }

    /// The announcement with what the manifest says about it.
    pub fn describe(&self, output: &Output) -> String {
        let mut text = output.to_string();
        if let Some(remark) = self.remark(output) {
            if let Some(category) = &remark.category {
                text.push_str(&format!(" ({category})"));
            }
            if remark.confidence != "high" {
                text.push_str(&format!(" ({} confidence)", remark.confidence));
            }
        }
        text
    }

    fn remark(&self, output: &Output) -> Option<&Remark> {
        match self {
            Self::Listed { remarks, .. } => remarks.iter().find(|remark| remark.output == *output),
            Self::Inline(_) | Self::Reference(_) => None,
        }
    }

    /// The options that a program is verified with.
    pub fn options(&self) -> &'static [&'static str] {
        match self {
            Self::Reference(reference) => reference.options,
            Self::Inline(_) | Self::Listed { .. } => &[],
        }
    }

    /// Tells whether the reported errors are those of the reference, if all of these are known.
    pub fn is_same(&self, reported: &[Output]) -> Option<bool> {
        let Self::Reference(Reference {
            expectations, has_all_errors: true, is_decided: true, ..
        }) = self
        else {
            return None;
        };
        let announced: BTreeSet<&Output> = expectations.expected.iter().collect();
        let reported: BTreeSet<&Output> = reported.iter().filter(|one| !one.is_warning()).collect();
        Some(announced == reported)
    }

    /// Tells whether an error without announcement may be reported all the same: the reference gave
    /// up, or stopped at the first error of a member.
    pub fn excuses(&self, extra: &Output, observation: &Observation) -> bool {
        let Self::Reference(Reference { expectations, has_all_errors, is_decided, .. }) = self
        else {
            return false;
        };
        if *has_all_errors || !is_decided {
            return !is_decided;
        }
        observation.members.iter().any(|member| {
            member.covers(extra.line)
                && expectations.expected.iter().any(|known| member.covers(known.line))
        })
    }
}

/// The manifests of a suite, each read once.
#[derive(Default)]
pub struct Manifests {
    read: HashMap<PathBuf, Option<Manifest>>,
}

type Manifest = HashMap<PathBuf, Announced>;

impl Manifests {
    /// Finds the announcements in the nearest manifest above a program: `None` without a manifest,
    /// `Some(None)` if the program is not in it.
    pub fn find(&mut self, program: &Path) -> anyhow::Result<Option<Option<Announced>>> {
        let program = fs::canonicalize(program)
            .with_context(|| format!("cannot find {}", program.display()))?;
        for directory in program.ancestors().skip(1) {
            if !self.read.contains_key(directory) {
                self.read.insert(directory.to_owned(), read(directory)?);
            }
            if let Some(Some(manifest)) = self.read.get(directory) {
                let path = program.strip_prefix(directory).unwrap_or(&program);
                return Ok(Some(manifest.get(path).cloned()));
            }
        }
        Ok(None)
    }
}

fn read(directory: &Path) -> anyhow::Result<Option<Manifest>> {
    let expectations = directory.join("expectations.jsonl");
    if expectations.is_file() {
        return lines::<ListedLine>(&expectations)
            .map(|lines| Some(lines.into_iter().map(ListedLine::announced).collect()));
    }
    let reference = directory.join("reference.jsonl");
    if reference.is_file() {
        return lines::<ReferenceLine>(&reference)
            .map(|lines| Some(lines.into_iter().map(ReferenceLine::announced).collect()));
    }
    Ok(None)
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = fs::read_to_string(path)?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).with_context(|| format!("in {}", path.display())))
        .collect()
}

#[derive(Deserialize)]
struct ListedLine {
    path: PathBuf,
    expected: Vec<ListedOutput>,
    /// The confidence in all expected outputs that state none themselves.
    confidence: Option<String>,
}

#[derive(Deserialize)]
struct ListedOutput {
    line: u32,
    #[serde(alias = "kind")]
    id: String,
    confidence: Option<String>,
    category: Option<String>,
}

impl ListedLine {
    fn announced(self) -> (PathBuf, Announced) {
        let mut expectations = Expectations::default();
        let mut remarks = Vec::new();
        for ListedOutput { line, id, confidence, category } in self.expected {
            let output = Output::new(line, id);
            expectations.expected.push(output.clone());
            let confidence = confidence.or_else(|| self.confidence.clone());
            let confidence = confidence.unwrap_or_else(|| "high".to_owned());
            remarks.push(Remark { output, category, confidence });
        }
        (self.path, Announced::Listed { expectations, remarks })
    }
}

/// A line of `reference.jsonl`, in one of its two forms.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReferenceLine {
    First {
        path: PathBuf,
        errors: Vec<ReferenceOutput>,
    },
    All {
        file: PathBuf,
        reference: Answer,
        /// Marks what was asked by a client, with that client's options.
        class_before: Option<String>,
    },
}

/// A place and an id, by name or by position. Lines are compared; columns are the reference's own.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReferenceOutput {
    Named { line: u32, id: String },
    Pair(u32, String),
}

/// All that the reference says.
#[derive(Deserialize)]
struct Answer {
    verdict: String,
    errors: Vec<ReferenceOutput>,
}

impl ReferenceOutput {
    fn output(self) -> Output {
        let (Self::Named { line, id } | Self::Pair(line, id)) = self;
        Output::new(line, id)
    }
}

impl ReferenceLine {
    fn announced(self) -> (PathBuf, Announced) {
        let (path, errors, has_all_errors, is_decided, options) = match self {
            Self::First { path, errors } => (path, errors, false, true, &[][..]),
            Self::All { file, reference: Answer { verdict, errors }, class_before } => {
                let of_client = class_before.is_some();
                let options = if of_client { &OF_CLIENTS[..] } else { &[] };
                (file, errors, true, verdict != "timeout", options)
            }
        };
        let expected = errors.into_iter().map(ReferenceOutput::output).collect();
        let expectations = Expectations { expected, ..Expectations::default() };
        let reference = Reference { expectations, has_all_errors, is_decided, options };
        (path, Announced::Reference(reference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(line: &str) -> Announced {
        serde_json::from_str::<ReferenceLine>(line).expect("well formed").announced().1
    }

    #[test]
    fn the_form_of_a_line_says_how_the_reference_was_asked() {
        let plain = announced(r#"{"path": "a.vpr", "errors": [{"line": 2, "id": "a:b"}]}"#);
        let all = announced(
            r#"{"file": "a.vpr", "reference": {"verdict": "failed", "errors":
            [{"line": 2, "column": 9, "id": "a:b"}]}}"#,
        );
        let client = announced(
            r#"{"file": "a.vpr", "class_before": "x",
            "reference": {"verdict": "failed", "errors": [[2, "a:b"]]}}"#,
        );
        let timeout =
            announced(r#"{"file": "a.vpr", "reference": {"verdict": "timeout", "errors": []}}"#);
        let error = |line| Output::new(line, "a:b");
        assert_eq!((plain.options().len(), plain.is_same(&[error(2)])), (0, None));
        assert_eq!((all.options().len(), client.options()), (0, &OF_CLIENTS[..]));
        assert_eq!(client.is_same(&[error(2)]), Some(true));
        assert_eq!(all.is_same(&[error(2), error(2)]), Some(true));
        assert_eq!(all.is_same(&[error(2), Output::new(1, "parser.warning")]), Some(true));
        assert_eq!(all.is_same(&[error(2), error(3)]), Some(false));
        assert_eq!(all.is_same(&[]), Some(false));
        assert_eq!(timeout.is_same(&[error(2)]), None);
        let nothing =
            Observation { verdict: "failed".to_owned(), reported: Vec::new(), members: Vec::new() };
        assert!(timeout.excuses(&error(3), &nothing) && !all.excuses(&error(3), &nothing));
    }
}
