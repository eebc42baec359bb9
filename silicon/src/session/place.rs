//! Where findings are shown: in the program that the user wrote, which need not be the SIL text.

use rustc_hash::FxHashSet;
use sil::imports::library;
use sil::program::Program;
use sil::render::{Message, Place, Severity, Texts};
use sil::source::map::{self as source_map, Explained, SourceMap};
use sil::source::{Sources, Span};

use super::outcome::{Diagnostic, Missing};
use super::parts;
use symex::knowledge::functions::is_opaque;
use symex::report::{
    Amount, Counterexample, ErrorId, Finding, PartValue, Reason, Shortfall, Step, in_percent,
};

/// The places of one program.
pub struct Places<'a> {
    map: SourceMap<'a>,
    sources: &'a Sources,
    program: &'a Program,
}

impl<'a> Places<'a> {
    /// `texts` has the files that a translated program came from, as far as they are known.
    pub fn new(program: &'a Program, sources: &'a Sources, texts: &Texts) -> Self {
        let mut map = SourceMap::new(program, sources);
        let names: Vec<String> = map.original_files().map(str::to_owned).collect();
        for name in names {
            if let Some(file) = texts.get(&name) {
                map = map.with_original(name, &file.text);
            }
        }
        Self { map, sources, program }
    }

    /// Returns where the user finds `span`.
    pub fn of(&self, span: Span) -> Place {
        place(self.map.place(span))
    }

    /// The same, if the user wrote something there: what a translator adds is in no program that
    /// the user knows.
    pub fn written(&self, span: Span) -> Option<Place> {
        self.map.written(span).map(place)
    }

    /// Tells whether the user wrote this, or a file that the user imports: not the standard
    /// library.
    pub(crate) fn is_users(&self, span: Span) -> bool {
        let name = self.sources.range(span).map(|_| &self.sources.file(span.file).name);
        name.is_none_or(|name| !library::is_name(name))
    }

    /// Returns a finding in the user's program and words; its member and path are the caller's to
    /// add.
    pub fn diagnostic(&self, finding: &Finding) -> Diagnostic {
        let Explained {
            place: at,
            generated,
            mut id,
            message: mut text,
            reason,
            notes,
            is_inner: is_consequence,
            ..
        } = self.map.explain(
            finding.span,
            finding.reason_span,
            &finding.full_id(),
            &named(finding),
            subject(finding),
        );
        if let Some(shortfall) = &finding.shortfall {
            text.push_str(&lacking(shortfall, &text, self.is_translated()));
        }
        if finding.full_id().ends_with(":assertion.false")
            && let Some(hint) = hints::slips::misplaced_old(&text)
        {
            text.push_str(&format!("; {hint}"));
        }
        if let Some(hint) = self.hidden_body(finding) {
            text.push_str(&format!("; {hint}"));
        }
        if let Some(within) = &finding.implementation {
            text.push_str(&format!(" ({})", within.words()));
        }
        if self.is_of_translator(finding) {
            text = format!("a check that the translator promised cannot fail: {text} ({id})");
            id = ErrorId::Internal.to_string();
        }
        let reason = reason.map(place);
        let shown = reason.clone().map(|at| (at, "this could not be shown".to_owned()));
        let related = finding.related.iter().map(|(span, text)| (self.of(*span), text.clone()));
        let notes = notes.into_iter().map(|(at, text)| (place(at), text));
        let message = Message {
            severity: finding.severity,
            id,
            text,
            place: place(at),
            notes: shown.into_iter().chain(related).chain(notes).collect(),
            remarks: Vec::new(),
        };
        let generated = generated.map(|at| (at.start, at.end));
        let missing = finding.shortfall.as_ref().map(|shortfall| Missing {
            location: shortfall.location.clone(),
            is_some: shortfall.needed == Amount::Some,
        });
        let (part, subject) = if self.is_translated() { (None, None) } else { self.parts(finding) };
        let found = Diagnostic::of(message);
        Diagnostic { generated, reason, part, subject, missing, is_consequence, ..found }
    }

    /// Tells of an opaque function in a condition that might not hold.
    fn hidden_body(&self, finding: &Finding) -> Option<String> {
        if finding.reason != Some(Reason::AssertionFalse) || self.is_translated() {
            return None;
        }
        let condition = self.sources.text(finding.reason_span.unwrap_or(finding.span))?;
        let mut functions = self.program.functions.iter().map(|(_, function)| function);
        let function = functions.find(|function| {
            let is_applied = |(at, _): (usize, &str)| {
                let before = condition[..at].trim_end();
                let is_of_word = |other: char| other.is_alphanumeric() || other == '_';
                let is_name = !condition[..at].ends_with(is_of_word);
                is_name
                    && !before.ends_with("@reveal()")
                    && condition[at + function.name.len()..].trim_start().starts_with('(')
            };
            is_opaque(function) && condition.match_indices(&*function.name).any(is_applied)
        })?;
        let name = &function.name;
        Some(format!(
            "the body of `{name}` is hidden (`@opaque()`), `@reveal() {name}(…)` shows it"
        ))
    }

    /// See [`Diagnostic::part`] and [`Diagnostic::subject`].
    fn parts(&self, finding: &Finding) -> (Option<Place>, Option<Place>) {
        let is_target = finding.error == ErrorId::AssignmentFailed && finding.reason_span.is_none();
        let part = is_target.then(|| parts::target(finding.span, self.sources)).flatten();
        let is_index = matches!(
            finding.reason,
            Some(Reason::IndexNegative | Reason::IndexTooLarge | Reason::KeyMissing)
        );
        let index = finding.reason_span.filter(|_| is_index);
        let subject = index.and_then(|index| parts::subject(index, self.sources));
        (part.map(|part| self.of(part)), subject.map(|subject| self.of(subject)))
    }

    /// Returns the conditions that led to a finding, in the user's words, and for each where it
    /// stands and whether it holds as it is written there. Those of generated branches are left
    /// out.
    pub fn path(&self, finding: &Finding) -> Vec<(String, (Place, bool))> {
        self.conditions(&finding.path)
    }

    /// The same of any branches.
    pub fn conditions(&self, path: &[Step]) -> Vec<(String, (Place, bool))> {
        let words = |step: &Step| {
            let condition = self.map.condition(step.condition, &step.text)?;
            Some((step.words(condition), (self.of(step.condition), step.taken)))
        };
        path.iter().filter_map(words).collect()
    }

    /// Returns a counterexample with the user's places and words.
    pub fn state(&self, mut state: Counterexample) -> Counterexample {
        if let Some(head) = &mut state.forgotten {
            let start = self.of(head.head).start;
            (head.line, head.column) = (start.line as usize, start.column as usize);
        }
        // A part without a place of its own would be told as the whole around it.
        let is_translated = self.is_translated();
        let words = |part: PartValue| {
            if is_translated && !parts::is_annotated(part.span, self.sources) {
                return None;
            }
            let text = self.map.condition(part.span, &part.text)?;
            Some(PartValue { text, ..part })
        };
        let mut parts: Vec<PartValue> = state.parts.into_iter().filter_map(words).collect();
        let mut told = FxHashSet::default();
        parts.retain(|part| told.insert(part.text.clone()));
        state.parts = parts;
        state
    }

    /// Returns the user's name of a member.
    pub fn name(&self, span: Span, name: String) -> String {
        self.map.given_name(span).unwrap_or(name)
    }

    /// Returns the user's name of a member; `None` if a front end has made it.
    pub(crate) fn users_name(&self, span: Span, name: &str) -> Option<String> {
        let given = self.map.given_name(span);
        if self.is_translated() { given } else { Some(given.unwrap_or_else(|| name.to_owned())) }
    }

    fn is_translated(&self) -> bool {
        self.map.original_files().next().is_some()
    }

    /// Tells whether a failure is a defect of the translator and not of its user's program.
    pub(crate) fn is_of_translator(&self, finding: &Finding) -> bool {
        let explain =
            || self.map.explain(finding.span, None, &finding.full_id(), &finding.message, None);
        finding.severity == Severity::Error && explain().is_hidden
    }
}

/// Returns a message with the location that lacks permission in the place of what mentions it.
fn named(finding: &Finding) -> String {
    let Some(subject) = subject(finding) else { return finding.message.clone() };
    if let Some((what, _)) = finding.message.split_once(": there might be insufficient permission")
    {
        format!("{what}: there might be insufficient permission for `{subject}`")
    } else if let Some((what, _)) = finding.message.split_once(": a receiver in ") {
        format!("{what}: `{subject}` might be null")
    } else {
        finding.message.clone()
    }
}

/// Returns the location that lacks permission, or the receiver that might be null, as the user
/// would write it.
fn subject(finding: &Finding) -> Option<&str> {
    let location = finding.shortfall.as_ref().map(|shortfall| &shortfall.location);
    location.or(finding.receiver.as_ref()).map(String::as_str)
}

/// Returns the end of a message about missing permission: the amounts, and the location where the
/// message does not name it.
fn lacking(shortfall: &Shortfall, message: &str, is_translated: bool) -> String {
    let amounts = shortfall.amounts(|amount| in_words(amount, is_translated));
    let location = &shortfall.location;
    if message.contains(&format!("`{location}`")) {
        format!(" ({amounts})")
    } else {
        format!(" (`{location}`: {amounts})")
    }
}

/// Returns an amount in the words of SIL, or in words that do for every language.
fn in_words(amount: &Amount, is_translated: bool) -> String {
    match amount {
        Amount::Known(part) if is_translated => in_percent(part),
        _ => amount.to_string(),
    }
}

fn place(source_map::Place { file, start, end }: source_map::Place) -> Place {
    Place { file: file.into(), start, end }
}
