//! States at the cursor.
//!
//! A question gets a process of its own, which verifies the member at the cursor along each path.
//! It is ended when nobody waits for the answer any more: another question comes, the text is
//! edited, or the question is taken back. So there is one question at a time, and verification goes
//! on beside it.

use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use serde_json::{Value, json};

use super::Server;
use crate::protocol::{Event, Order, Question, Reached};
use crate::verifier::Verifier;

/// A question that waits for its answer.
pub(super) struct Asked {
    verifier: Verifier,
    uri: String,
    id: RequestId,
    form: Form,
    /// When it is answered without states.
    pub(super) until: Option<Instant>,
}

/// How the states are shown.
pub(super) enum Form {
    /// As they are.
    Whole,
    /// As a part of what is known of the word there, which is shown without them if they take too
    /// long.
    Hover(Option<Hover>),
}

/// The longest wait of somebody who points at a word.
const WAIT: Duration = Duration::from_millis(400);

/// Why a question has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unanswered {
    /// Nobody wants to know any more.
    Cancelled,
    /// The text is another one.
    Changed,
    /// The process has ended, or there is none.
    Lost,
    TooLate,
}

impl Server<'_> {
    /// Has the states at a place looked for.
    pub(super) fn ask_states(
        &mut self,
        uri: &str,
        position: Position,
        id: RequestId,
        form: Form,
    ) -> anyhow::Result<()> {
        self.leave_states(Unanswered::Cancelled)?;
        let number = self.next_number();
        let Some(document) = self.documents.get(uri) else {
            return self.send(form.without(id, Unanswered::Changed));
        };
        let question = Question {
            number,
            name: document.name.clone(),
            uri: uri.to_owned(),
            text: document.text.text.to_string(),
            line: position.line + 1,
        };
        match Verifier::start(&self.setup, number, self.heard.0.clone()) {
            Ok(mut verifier) => {
                verifier.tell(&Order::States(question));
                let until = matches!(form, Form::Hover(_)).then(|| Instant::now() + WAIT);
                self.asked = Some(Asked { verifier, uri: uri.to_owned(), id, form, until });
                Ok(())
            }
            Err(_) => self.send(form.without(id, Unanswered::Lost)),
        }
    }

    /// Tells whether a process looks for states.
    pub(super) fn is_asked(&self, number: u64) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.verifier.number() == number)
    }

    /// The states are there.
    pub(super) fn hear_states(&mut self, event: Event) -> anyhow::Result<()> {
        let Event::States { found, all, .. } = event else { return Ok(()) };
        let Some(Asked { id, form, .. }) = self.asked.take() else { return Ok(()) };
        self.send(Response::new_ok(id, form.with(&found, all)))
    }

    /// Nobody looks for states any more.
    pub(super) fn leave_states(&mut self, why: Unanswered) -> anyhow::Result<()> {
        let Some(Asked { id, form, .. }) = self.asked.take() else { return Ok(()) };
        self.send(form.without(id, why))
    }

    /// The same, if they are those of a document.
    pub(super) fn leave_states_of(&mut self, uri: &str, why: Unanswered) -> anyhow::Result<()> {
        let is_it = self.asked.as_ref().is_some_and(|asked| asked.uri == uri);
        if is_it { self.leave_states(why) } else { Ok(()) }
    }

    /// The same, if they were asked for by that request.
    pub(super) fn leave_states_for(&mut self, id: &RequestId) -> anyhow::Result<()> {
        let is_it = self.asked.as_ref().is_some_and(|asked| asked.id == *id);
        if is_it { self.leave_states(Unanswered::Cancelled) } else { Ok(()) }
    }
}

impl Form {
    fn with(self, found: &[Reached], all: usize) -> Value {
        match self {
            Self::Whole => json!({ "paths": found, "more": all - found.len() }),
            Self::Hover(hover) => json!(with_first(hover, found, all)),
        }
    }

    fn without(self, id: RequestId, why: Unanswered) -> Response {
        match self {
            Self::Hover(hover) => Response::new_ok(id, hover),
            Self::Whole => {
                let (code, words) = match why {
                    Unanswered::Cancelled => (ErrorCode::RequestCanceled, "cancelled"),
                    Unanswered::Changed => (ErrorCode::ContentModified, "the text has changed"),
                    Unanswered::Lost => (ErrorCode::RequestFailed, "the process has ended"),
                    Unanswered::TooLate => (ErrorCode::RequestFailed, "it takes too long"),
                };
                Response::new_err(id, code as i32, words.to_owned())
            }
        }
    }
}

/// Adds the state of the first path to the explanation of a word.
fn with_first(hover: Option<Hover>, found: &[Reached], all: usize) -> Option<Hover> {
    let Some(first) = found.first() else { return hover };
    let mut value = match &hover {
        Some(Hover { contents: HoverContents::Markup(MarkupContent { value, .. }), .. }) => {
            format!("{value}\n\n---\n\n")
        }
        _ => String::new(),
    };
    value += &match all {
        1 => "before this line".to_owned(),
        all => format!("before this line, on path 1 of {all}"),
    };
    // A fence that no line of the text can close.
    value += &format!("\n\n~~~~text\n{}~~~~", first.words);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: hover.and_then(|hover| hover.range) })
}
