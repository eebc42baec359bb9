//! Edits that remove an error, offered after their trial.
//!
//! The worker tries, when it has nothing else to do and all is known of the text: so what an edit
//! changes can be told. Who asks waits for that a while; then edits are offered that were not
//! tried, and said to be no more than that.

use std::time::{Duration, Instant};

use lsp_server::{RequestId, Response};
use lsp_types::{CodeAction, CodeActionKind, CodeActionParams, TextEdit, WorkspaceEdit};
use serde_json::{Value, json};

use super::{Busy, Server};
use crate::document::Document;
use crate::fixes::{Candidate, candidates};
use crate::protocol::{Attempt, Found, Judged, Order, Trial};

/// Somebody who wants to know.
pub(super) struct Fixing {
    uri: String,
    id: RequestId,
    range: lsp_types::Range,
    /// When what is known by then is offered.
    pub(super) until: Instant,
    tried: Option<Tried>,
}

/// The edits in trial.
struct Tried {
    job: u64,
    found: Vec<Found>,
    candidates: Vec<Candidate>,
}

/// The worker needs at most a second for all.
const WAIT: Duration = Duration::from_millis(1500);

impl Server<'_> {
    /// Has what may remove errors in a range tried.
    pub(super) fn ask_fixes(
        &mut self,
        uri: &str,
        id: RequestId,
        params: Value,
    ) -> anyhow::Result<()> {
        self.leave_fixes()?;
        let Ok(CodeActionParams { range, context, .. }) = serde_json::from_value(params) else {
            return self.send(Response::new_ok(id, json!([])));
        };
        let is_asked = context.only.as_ref().is_none_or(|only| {
            only.iter().any(|kind| *kind == CodeActionKind::QUICKFIX || kind.as_str().is_empty())
        });
        if !is_asked {
            return self.send(Response::new_ok(id, json!([])));
        }
        let until = Instant::now() + WAIT;
        self.fixing = Some(Fixing { uri: uri.to_owned(), id, range, until, tried: None });
        self.try_fixes()
    }

    /// Gives the worker something to try, if it has nothing else to do.
    pub(super) fn try_fixes(&mut self) -> anyhow::Result<()> {
        let Some(fixing) = self.fixing.as_ref().filter(|it| it.tried.is_none()) else {
            return Ok(());
        };
        let Some(document) = self.documents.get(&fixing.uri) else { return self.leave_fixes() };
        let is_wanted = self.wanted.iter().any(|(_, uri)| *uri == fixing.uri);
        if self.busy.is_some() || is_wanted || !document.is_settled() {
            return Ok(());
        }
        let (found, candidates) = looked_for(document, fixing);
        if candidates.is_empty() {
            return self.leave_fixes();
        }
        let attempt = |one: &Candidate| Attempt { cures: one.cures, edits: one.edits.clone() };
        let trial = |number| Trial {
            number,
            name: document.name.clone(),
            uri: document.uri.clone(),
            text: document.text.text.to_string(),
            found: found.clone(),
            arguments: document.arguments.clone(),
            attempts: candidates.iter().map(attempt).collect(),
        };
        let (job, uri) = (self.numbers + 1, document.uri.clone());
        let order = Order::Try(trial(job));
        self.numbers = job;
        match self.verifier() {
            Ok(verifier) => verifier.tell(&order),
            Err(_) => return self.leave_fixes(),
        }
        self.busy = Some(Busy { job, uri, until: None, has_progress: false });
        if let Some(fixing) = &mut self.fixing {
            fixing.tried = Some(Tried { job, found, candidates });
        }
        Ok(())
    }

    /// All is tried.
    pub(super) fn hear_fixes(&mut self, job: u64, judged: &[Judged]) -> anyhow::Result<()> {
        let is_it = |fixing: &mut Fixing| fixing.tried.as_ref().is_some_and(|it| it.job == job);
        let Some(Fixing { uri, id, tried: Some(tried), .. }) = self.fixing.take_if(is_it) else {
            return Ok(());
        };
        let offered = self.offered(&uri, &tried.found, &tried.candidates, judged);
        self.send(Response::new_ok(id, json!(offered)))
    }

    /// Nobody waits any longer: what was not tried is offered as that.
    pub(super) fn leave_fixes(&mut self) -> anyhow::Result<()> {
        let Some(fixing) = self.fixing.take() else { return Ok(()) };
        if let Some(tried) = &fixing.tried {
            self.cancel_job(tried.job)?;
        }
        let offered = match (&fixing.tried, self.documents.get(&fixing.uri)) {
            (_, None) => Vec::new(),
            (Some(tried), _) => self.offered(&fixing.uri, &tried.found, &tried.candidates, &[]),
            (None, Some(document)) => {
                let (found, candidates) = looked_for(document, &fixing);
                self.offered(&fixing.uri, &found, &candidates, &[])
            }
        };
        self.send(Response::new_ok(fixing.id, json!(offered)))
    }

    /// The same, if they are about a document whose text changes: then nothing is offered.
    pub(super) fn leave_fixes_of(&mut self, uri: &str) -> anyhow::Result<()> {
        match self.fixing.take_if(|fixing| fixing.uri == uri) {
            Some(fixing) => self.send(Response::new_ok(fixing.id, json!([]))),
            None => Ok(()),
        }
    }

    /// The same, if they were asked for by that request.
    pub(super) fn leave_fixes_for(&mut self, id: &RequestId) -> anyhow::Result<()> {
        let is_it = self.fixing.as_ref().is_some_and(|fixing| fixing.id == *id);
        if is_it { self.leave_fixes() } else { Ok(()) }
    }

    /// Offers the edits that help, and the edits without a judgement.
    fn offered(
        &self,
        uri: &str,
        found: &[Found],
        candidates: &[Candidate],
        judged: &[Judged],
    ) -> Vec<CodeAction> {
        let Some(text) = self.documents.get(uri).map(|document| &document.text) else {
            return Vec::new();
        };
        let mut preferred = Vec::new();
        let mut offered: Vec<CodeAction> = Vec::new();
        let mut known: Vec<&[crate::protocol::Edit]> = Vec::new();
        for wanted in [Judged::Cures, Judged::Open] {
            for (number, candidate) in candidates.iter().enumerate() {
                if judged.get(number).copied().unwrap_or(Judged::Open) != wanted {
                    continue;
                }
                // An edit that helps against several findings is offered once.
                let diagnostic = found.get(candidate.cures).map(|it| it.diagnostic.clone());
                if let Some(at) = known.iter().position(|edits| *edits == candidate.edits) {
                    offered[at].diagnostics.get_or_insert_default().extend(diagnostic);
                    continue;
                }
                let is_checked = wanted == Judged::Cures;
                let is_first = is_checked && !preferred.contains(&candidate.cures);
                preferred.extend(is_first.then_some(candidate.cures));
                let edit = |edit: &crate::protocol::Edit| {
                    TextEdit::new(text.range(&edit.range), edit.text.clone())
                };
                let edits = candidate.edits.iter().map(edit).collect();
                let Ok(key) = uri.parse::<lsp_types::Uri>() else { continue };
                #[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
                let changes = [(key, edits)].into_iter().collect();
                let suffix = if is_checked { " (checked)" } else { "" };
                known.push(&candidate.edits);
                offered.push(CodeAction {
                    title: format!("{}{suffix}", candidate.title),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: diagnostic.map(|it| vec![it]),
                    edit: Some(WorkspaceEdit {
                        changes: Some(changes),
                        ..WorkspaceEdit::default()
                    }),
                    is_preferred: Some(is_first),
                    ..CodeAction::default()
                });
            }
        }
        offered
    }
}

/// Returns the findings of a document, and candidates for edits.
fn looked_for(document: &Document, fixing: &Fixing) -> (Vec<Found>, Vec<Candidate>) {
    let found = document.found();
    let candidates = document
        .current()
        .map_or_else(Vec::new, |analysis| candidates(analysis, &found, &fixing.range));
    (found, candidates)
}
