//! Suites whose announcements stand in a file of their own, one JSON object a program.
//!
//! `expectations.jsonl` lists what is right: `path`, and `expected` with a `line`, an `id` (or `kind`), a
//! `confidence`, of each or of all together, and perhaps a `category` of errors that not every verifier promises.
//! `reference.jsonl` lists what another verifier says: `path`, `verdict` and the first of the `errors` of each member.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use crate::expectations::{Expectations, Output};
use crate::observation::Observation;

/// What a program announces, and where that is written.
#[derive(Clone, Debug)]
pub enum Announced {
    /// In the program.
    Inline(Expectations),
    /// In `expectations.jsonl`.
    Listed { expectations: Expectations, remarks: Vec<Remark> },
    /// In `reference.jsonl`.
    Reference(Expectations),
}

/// What a manifest says about an announcement.
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
            | Self::Reference(expectations) => expectations,
        }
    }

    pub fn is_ignored(&self) -> bool {
        self.expectations().ignored
    }

    /// Whether not every verifier promises to report this.
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

    /// Whether an error that is not announced may be reported all the same: the reference stops at the first error of
    /// a member.
    pub fn excuses(&self, extra: &Output, observation: &Observation) -> bool {
        let Self::Reference(expectations) = self else { return false };
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
    /// What the nearest manifest above a program says about it: `None` without a manifest, `Some(None)` if the
    /// program is not in it.
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
    /// Of all that is expected, where the outputs do not say it themselves.
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

#[derive(Deserialize)]
struct ReferenceLine {
    path: PathBuf,
    errors: Vec<ReferenceOutput>,
}

#[derive(Deserialize)]
struct ReferenceOutput {
    line: u32,
    id: String,
}

impl ReferenceLine {
    fn announced(self) -> (PathBuf, Announced) {
        let expected =
            self.errors.into_iter().map(|output| Output::new(output.line, output.id)).collect();
        let expectations = Expectations { expected, ..Expectations::default() };
        (self.path, Announced::Reference(expectations))
    }
}
