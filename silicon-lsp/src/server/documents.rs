//! Documents, and what is said of them.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, Notification, Request, RequestId, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, PublishDiagnosticsParams, Uri,
};
use serde_json::Value;

use super::states::Unanswered;
use super::verification::token_of;
use super::{PAUSE, Server, When};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::protocol::Found;

impl Server<'_> {
    pub(super) fn notification(&mut self, notification: Notification) -> anyhow::Result<()> {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document }) =
                    serde_json::from_value(params)
                else {
                    return Ok(());
                };
                let uri = text_document.uri.as_str().to_owned();
                let document =
                    Document::new(uri.clone(), text_document.version, text_document.text);
                self.documents.insert(uri.clone(), document);
                self.renew(&uri, Duration::ZERO)?;
            }
            "textDocument/didChange" => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) =
                    serde_json::from_value(params)
                else {
                    return Ok(());
                };
                let uri = text_document.uri.as_str().to_owned();
                self.cancel(&uri)?;
                self.leave_states_of(&uri, Unanswered::Changed)?;
                self.leave_fixes_of(&uri)?;
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.change(text_document.version, content_changes);
                    self.renew(&uri, PAUSE)?;
                }
            }
            "textDocument/didSave" => {
                let Ok(DidSaveTextDocumentParams { text_document, .. }) =
                    serde_json::from_value(params)
                else {
                    return Ok(());
                };
                self.file_changed(text_document.uri.as_str())?;
                let is_open = self.documents.get(text_document.uri.as_str());
                let is_new = is_open.is_some_and(|document| document.run.is_none());
                if self.when == When::Saving && is_new {
                    self.want(text_document.uri.as_str(), Instant::now());
                }
            }
            "workspace/didChangeWatchedFiles" => {
                let Ok(DidChangeWatchedFilesParams { changes }) = serde_json::from_value(params)
                else {
                    return Ok(());
                };
                for change in changes {
                    self.file_changed(change.uri.as_str())?;
                }
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document }) =
                    serde_json::from_value(params)
                else {
                    return Ok(());
                };
                self.close(text_document.uri.as_str())?;
            }
            "Verify" => self.viper_verify(params)?,
            "window/workDoneProgress/cancel" => {
                let token = params.get("token").and_then(Value::as_str).unwrap_or_default();
                if let Some(busy) = self.busy.as_ref().filter(|busy| token_of(busy.job) == token) {
                    let uri = busy.uri.clone();
                    self.stop(&uri)?;
                }
            }
            "$/cancelRequest" => {
                let id = match params.get("id") {
                    Some(Value::String(id)) => RequestId::from(id.clone()),
                    Some(Value::Number(id)) => {
                        let id = id.as_i64().and_then(|id| i32::try_from(id).ok());
                        RequestId::from(id.unwrap_or_default())
                    }
                    _ => return Ok(()),
                };
                let is_it = |(_, request): &(String, Request)| request.id == id;
                self.leave_states_for(&id)?;
                self.leave_fixes_for(&id)?;
                if let Some(position) = self.waiting.iter().position(is_it) {
                    self.waiting.remove(position);
                    let (code, words) = (ErrorCode::RequestCanceled as i32, "cancelled".to_owned());
                    self.send(Response::new_err(id, code, words))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Has a new text of a document analysed; while users type, has the text verified after a pause,
    /// too. Both go on side by side.
    fn renew(&mut self, uri: &str, pause: Duration) -> anyhow::Result<()> {
        let Some(document) = self.documents.get(uri) else { return Ok(()) };
        self.texts.send(document.request())?;
        if self.when == When::Typing {
            self.want(uri, Instant::now() + pause);
        }
        Ok(())
    }

    /// A file on the disk is another one: what is known of programs that may import it is known no
    /// more.
    fn file_changed(&mut self, uri: &str) -> anyhow::Result<()> {
        let depends = |document: &&Document| {
            document.uri != uri
                && document.analysis.as_ref().is_none_or(|analysis| analysis.depends_on_files)
        };
        let dependents: Vec<_> =
            self.documents.values().filter(depends).map(|it| it.uri.clone()).collect();
        for uri in dependents {
            self.cancel(&uri)?;
            self.leave_states_of(&uri, Unanswered::Changed)?;
            self.leave_fixes_of(&uri)?;
            if let Some(document) = self.documents.get_mut(&uri) {
                document.forget();
                self.renew(&uri, PAUSE)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, uri: &str) -> anyhow::Result<()> {
        self.cancel(uri)?;
        self.leave_states_of(uri, Unanswered::Changed)?;
        self.leave_fixes_of(uri)?;
        if let Some(document) = self.documents.remove(uri) {
            for shown in document.shown_in.iter().chain([&document.uri]) {
                self.publish(shown, None, &[])?;
            }
        }
        let (closed, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(it, _)| it == uri);
        self.waiting = waiting;
        let closed: Vec<(String, Request)> = closed;
        for (_, request) in closed {
            self.send(Response::new_ok(request.id, Value::Null))?;
        }
        Ok(())
    }

    /// The front end is through with a text.
    pub(super) fn analysed(&mut self, analysis: Arc<Analysis>) -> anyhow::Result<()> {
        let uri = analysis.uri.clone();
        let Some(document) = self.documents.get_mut(&uri) else { return Ok(()) };
        // A document that was closed and opened again may have the same number for another text.
        if analysis.version != document.version || analysis.text.text != document.text.text {
            return Ok(());
        }
        let is_program = analysis.is_program;
        document.analysis = Some(analysis);
        if !is_program {
            document.run = None;
            self.leave_run(&uri)?;
        }
        self.show(&uri)?;
        self.viper_analysed(&uri)?;
        let (now, later) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(it, _)| *it == uri);
        self.waiting = later;
        let now: Vec<(String, Request)> = now;
        for (_, request) in now {
            self.answer(&uri, request)?;
        }
        Ok(())
    }

    /// Shows what is known of a document.
    pub(super) fn show(&mut self, uri: &str) -> anyhow::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        if self.news.as_ref().is_some_and(|(_, of)| of == uri) {
            self.news = None;
        }
        let mut by_file: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        by_file.entry(uri.to_owned()).or_default();
        // Findings that were shown in other files before are shown no more.
        for file in document.shown_in.drain(..) {
            by_file.entry(file).or_default();
        }
        for found in document.found() {
            by_file.entry(found.uri.clone()).or_default().push(found);
        }
        let others = by_file.iter().filter(|(file, found)| *file != uri && !found.is_empty());
        document.shown_in = others.map(|(file, _)| file.clone()).collect();
        let (version, members) = (document.version, document.changed_members());
        for (file, found) in &by_file {
            self.publish(file, (file == uri).then_some(version), found)?;
        }
        self.notify("silicon/members", members)?;
        if self.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null)?;
        }
        if self.refreshes_hints && self.has_hints {
            self.ask("workspace/inlayHint/refresh", Value::Null)?;
        }
        Ok(())
    }

    pub(super) fn publish(
        &self,
        uri: &str,
        version: Option<i32>,
        found: &[Found],
    ) -> anyhow::Result<()> {
        let Ok(uri) = Uri::from_str(uri) else { return Ok(()) };
        let diagnostic = |found: &Found| {
            let mut diagnostic = found.diagnostic.clone();
            // Clients of the reference count these only.
            if self.is_viper() {
                diagnostic.source = Some("viper".to_owned());
            }
            diagnostic
        };
        let diagnostics = found.iter().map(diagnostic).collect();
        let parameters = PublishDiagnosticsParams { uri, diagnostics, version };
        self.notify("textDocument/publishDiagnostics", parameters)
    }
}
