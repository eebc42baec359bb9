//! The main loop: everything that happens, one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeLensOptions, CompletionOptions, CompletionParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams,
    FoldingRangeProviderCapability, GotoDefinitionParams, HoverProviderCapability, MessageType,
    OneOf, PublishDiagnosticsParams, ReferenceParams, RenameOptions, RenameParams, SaveOptions,
    SemanticTokens, SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions,
    ServerCapabilities, ShowMessageParams, TextDocumentIdentifier, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::analysis::{self, Analysis, analyse};
use crate::document::{Document, Run};
use crate::features;
use crate::protocol::{Event, Found, Order};
use crate::verifier::{Heard, Verifier};

/// When programs are verified, without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    Typing,
    Saving,
    Never,
}

/// An edit may be followed by another one: so long nothing is begun.
const PAUSE: Duration = Duration::from_millis(80);
/// A worker that was told to stop and does not in this time is ended: a question to the solver may take long.
const PATIENCE: Duration = Duration::from_millis(300);

/// Serves a client on standard input and output until it says `exit`.
///
/// # Errors
/// Where the client does not keep to the protocol, or is gone before it says `exit`.
pub fn run() -> anyhow::Result<()> {
    let (connection, threads) = Connection::stdio();
    let capabilities = serde_json::to_value(capabilities())?;
    let (id, parameters) = connection.initialize_start()?;
    let info = json!({ "name": "silicon", "version": env!("CARGO_PKG_VERSION") });
    connection
        .initialize_finish(id, json!({ "capabilities": capabilities, "serverInfo": info }))?;
    let mut server = Server::new(&connection, &parameters)?;
    if server.watches_files {
        server.ask("client/registerCapability", watched_files())?;
    }
    server.serve()?;
    drop(connection);
    threads.join()?;
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    let progress = WorkDoneProgressOptions::default();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions::default())),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: progress,
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned()]),
            ..CompletionOptions::default()
        }),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: features::LEGEND.to_vec(),
                    token_modifiers: Vec::new(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec!["silicon.verify".to_owned(), "silicon.cancel".to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        experimental: Some(json!({ "silicon": 1 })),
        ..ServerCapabilities::default()
    }
}

/// What asks the client to tell of programs that change on the disk: others may import them.
fn watched_files() -> Value {
    let watchers = json!([{ "globPattern": "**/*.{sil,vpr,chalice,spl}" }]);
    let registration = json!({
        "id": "silicon-files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    json!({ "registrations": [registration] })
}

struct Server<'c> {
    connection: &'c Connection,
    when: When,
    has_progress: bool,
    refreshes_lenses: bool,
    watches_files: bool,
    documents: BTreeMap<String, Document>,
    /// To the thread that takes texts through their front end, and from it.
    texts: Sender<analysis::Request>,
    analyses: Receiver<std::sync::Arc<Analysis>>,
    /// Requests about versions of which nothing is known yet.
    waiting: Vec<(String, Request)>,
    /// Documents that are to be verified at a certain time, the first one first.
    wanted: VecDeque<(Instant, String)>,
    verifier: Option<Verifier>,
    heard: (Sender<Heard>, Receiver<Heard>),
    busy: Option<Busy>,
    /// The number of the last worker, job or request of our own.
    numbers: u64,
    /// Where a shutdown was asked for.
    is_ending: bool,
}

/// What the worker is doing.
struct Busy {
    job: u64,
    uri: String,
    /// It was told to stop, and when it has to have done so.
    until: Option<Instant>,
    /// Whether the client was told that there is work.
    has_progress: bool,
}

impl<'c> Server<'c> {
    fn new(connection: &'c Connection, parameters: &Value) -> anyhow::Result<Self> {
        let (texts, requests) = unbounded::<analysis::Request>();
        let (done, analyses) = unbounded();
        std::thread::Builder::new().spawn(move || {
            while let Ok(request) = requests.recv() {
                // Only the newest of each document is of interest.
                let mut newest = vec![request];
                for request in requests.try_iter() {
                    newest.retain(|older| older.uri != request.uri);
                    newest.push(request);
                }
                for request in newest {
                    if done.send(analyse(request)).is_err() {
                        return;
                    }
                }
            }
        })?;
        let supports = |path: &str| parameters.pointer(path) == Some(&Value::Bool(true));
        let when = parameters.pointer("/initializationOptions/verify").and_then(Value::as_str);
        Ok(Self {
            connection,
            when: match when {
                Some("onSave") => When::Saving,
                Some("never") => When::Never,
                _ => When::Typing,
            },
            has_progress: supports("/capabilities/window/workDoneProgress"),
            refreshes_lenses: supports("/capabilities/workspace/codeLens/refreshSupport"),
            watches_files: supports(
                "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration",
            ),
            documents: BTreeMap::new(),
            texts,
            analyses,
            waiting: Vec::new(),
            wanted: VecDeque::new(),
            verifier: None,
            heard: unbounded(),
            busy: None,
            numbers: 0,
            is_ending: false,
        })
    }

    fn serve(mut self) -> anyhow::Result<()> {
        loop {
            self.begin()?;
            let timer = self
                .next_time()
                .map_or(never(), |time| after(time.saturating_duration_since(Instant::now())));
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => self.request(request)?,
                    Ok(Message::Notification(notification)) => {
                        if notification.method == "exit" {
                            anyhow::ensure!(self.is_ending, "the client exits without a shutdown");
                            return Ok(());
                        }
                        self.notification(notification)?;
                    }
                    // To requests of ours; there is nothing to be done about them.
                    Ok(Message::Response(_)) => {}
                    Err(_) => anyhow::bail!("the client is gone"),
                },
                recv(self.analyses) -> analysis => match analysis {
                    Ok(analysis) => self.analysed(analysis)?,
                    Err(_) => anyhow::bail!("the front end has ended"),
                },
                recv(self.heard.1) -> heard => match heard {
                    Ok(Heard::Said(number, event)) if self.is_present(number) => self.hear(event)?,
                    Ok(Heard::Gone(number)) if self.is_present(number) => self.lost()?,
                    // From a worker of before.
                    Ok(_) => {}
                    Err(_) => anyhow::bail!("a channel is closed that is held open"),
                },
                recv(timer) -> _ => self.end_overdue()?,
            }
        }
    }

    fn is_present(&self, verifier: u64) -> bool {
        self.verifier.as_ref().is_some_and(|it| it.number() == verifier)
    }

    fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn send(&self, message: impl Into<Message>) -> anyhow::Result<()> {
        Ok(self.connection.sender.send(message.into())?)
    }

    fn notify(&self, method: &str, parameters: impl serde::Serialize) -> anyhow::Result<()> {
        self.send(Notification::new(method.to_owned(), parameters))
    }

    fn ask(&mut self, method: &str, parameters: Value) -> anyhow::Result<()> {
        let id = RequestId::from(format!("silicon-{}", self.next_number()));
        self.send(Request::new(id, method.to_owned(), parameters))
    }
}

/// Documents, and what is said of them.
impl Server<'_> {
    fn notification(&mut self, notification: Notification) -> anyhow::Result<()> {
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
                self.texts.send(document.request())?;
                self.documents.insert(uri, document);
            }
            "textDocument/didChange" => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) =
                    serde_json::from_value(params)
                else {
                    return Ok(());
                };
                let uri = text_document.uri.as_str().to_owned();
                self.cancel(&uri)?;
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.change(text_document.version, content_changes);
                    self.texts.send(document.request())?;
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
                    self.want(text_document.uri.as_str(), Duration::ZERO);
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

    /// A file on the disk is another one: what is known of programs that may import it is known no more.
    fn file_changed(&mut self, uri: &str) -> anyhow::Result<()> {
        let depends = |document: &&Document| {
            document.uri != uri
                && document.analysis.as_ref().is_none_or(|analysis| analysis.depends_on_files)
        };
        let dependents: Vec<_> =
            self.documents.values().filter(depends).map(|it| it.uri.clone()).collect();
        for uri in dependents {
            self.cancel(&uri)?;
            if let Some(document) = self.documents.get_mut(&uri) {
                document.forget();
                self.texts.send(document.request())?;
            }
        }
        Ok(())
    }

    fn close(&mut self, uri: &str) -> anyhow::Result<()> {
        self.cancel(uri)?;
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
    fn analysed(&mut self, analysis: std::sync::Arc<Analysis>) -> anyhow::Result<()> {
        let uri = analysis.uri.clone();
        let Some(document) = self.documents.get_mut(&uri) else { return Ok(()) };
        // A document that was closed and opened again may have the same number for another text.
        if analysis.version != document.version || analysis.text.text != document.text.text {
            return Ok(());
        }
        let is_program = analysis.is_program;
        document.analysis = Some(analysis);
        self.show(&uri)?;
        if is_program && self.when == When::Typing {
            self.want(&uri, PAUSE);
        }
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
    fn show(&mut self, uri: &str) -> anyhow::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        let mut by_file: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        by_file.entry(uri.to_owned()).or_default();
        // What was shown elsewhere before is shown no more.
        for file in document.shown_in.drain(..) {
            by_file.entry(file).or_default();
        }
        for found in document.found() {
            by_file.entry(found.uri.clone()).or_default().push(found);
        }
        let others = by_file.iter().filter(|(file, found)| *file != uri && !found.is_empty());
        document.shown_in = others.map(|(file, _)| file.clone()).collect();
        let (version, members) = (document.version, document.members());
        for (file, found) in &by_file {
            self.publish(file, (file == uri).then_some(version), found)?;
        }
        self.notify("silicon/members", members)?;
        if self.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null)?;
        }
        Ok(())
    }

    fn publish(&self, uri: &str, version: Option<i32>, found: &[Found]) -> anyhow::Result<()> {
        let Ok(uri) = Uri::from_str(uri) else { return Ok(()) };
        let diagnostics = found.iter().map(|found| found.diagnostic.clone()).collect();
        let parameters = PublishDiagnosticsParams { uri, diagnostics, version };
        self.notify("textDocument/publishDiagnostics", parameters)
    }
}

/// Verification.
impl Server<'_> {
    /// Has a document verified in a while.
    fn want(&mut self, uri: &str, pause: Duration) {
        self.wanted.retain(|(_, other)| other != uri);
        self.wanted.push_back((Instant::now() + pause, uri.to_owned()));
    }

    fn next_time(&self) -> Option<Instant> {
        match &self.busy {
            Some(busy) => busy.until,
            None => self.wanted.iter().map(|(time, _)| *time).min(),
        }
    }

    /// Gives the worker something to do, if it has nothing, and it is time.
    fn begin(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        let due = |(time, _): &(Instant, String)| *time <= now;
        while self.busy.is_none()
            && let Some(position) = self.wanted.iter().position(due)
            && let Some((_, uri)) = self.wanted.remove(position)
        {
            let job = self.next_number();
            let Some(document) = self.documents.get_mut(&uri) else { continue };
            if document.current().is_none_or(|analysis| !analysis.is_program) {
                continue;
            }
            let run = document.run.get_or_insert_with(Run::default);
            run.job = job;
            let Some(order) = document.job(job) else { continue };
            match self.verifier() {
                Ok(verifier) => {
                    verifier.tell(&Order::Verify(order));
                    self.busy = Some(Busy { job, uri, until: None, has_progress: false });
                }
                Err(why) => {
                    if let Some(run) = self.run_of(&uri) {
                        run.fail(why);
                    }
                    self.tell_failure(&uri)?;
                }
            }
        }
        Ok(())
    }

    /// The worker, which is started where there is none.
    ///
    /// # Errors
    /// Why it cannot be started, for the user.
    fn verifier(&mut self) -> Result<&mut Verifier, String> {
        if self.verifier.is_none() {
            let number = self.next_number();
            let started = Verifier::start(number, self.heard.0.clone());
            let started = started
                .map_err(|why| format!("the process that verifies does not start: {why}"))?;
            self.verifier = Some(started);
        }
        self.verifier.as_mut().ok_or_else(|| "there is no process that verifies".to_owned())
    }

    fn run_of(&mut self, uri: &str) -> Option<&mut Run> {
        self.documents.get_mut(uri).and_then(|document| document.run.as_mut())
    }

    /// Shows that a document is not verified any more, and why.
    fn tell_failure(&mut self, uri: &str) -> anyhow::Result<()> {
        let Some(document) = self.documents.get(uri) else { return Ok(()) };
        if let Some(why) = document.run.as_ref().and_then(Run::failure) {
            let message = format!("{} is not verified: {why}", document.name);
            let parameters = ShowMessageParams { typ: MessageType::ERROR, message };
            self.notify("window/showMessage", parameters)?;
        }
        self.show(uri)
    }

    /// What is known or being found out of the present version is of no interest any more.
    fn cancel(&mut self, uri: &str) -> anyhow::Result<()> {
        self.wanted.retain(|(_, other)| other != uri);
        let Some(busy) = self.busy.as_mut().filter(|busy| busy.uri == uri) else { return Ok(()) };
        if busy.until.is_none() {
            busy.until = Some(Instant::now() + PATIENCE);
            let job = busy.job;
            if let Some(verifier) = &mut self.verifier {
                verifier.tell(&Order::Cancel(job));
            }
            self.end_progress()?;
        }
        Ok(())
    }

    /// Stops the verification of a document that is not edited. What is known stays.
    fn stop(&mut self, uri: &str) -> anyhow::Result<()> {
        self.cancel(uri)?;
        if let Some(document) = self.documents.get_mut(uri)
            && document.run.as_ref().is_some_and(|run| !run.is_complete())
        {
            document.run = None;
        }
        self.show(uri)
    }

    fn end_overdue(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        let is_overdue = |busy: &Busy| busy.until.is_some_and(|until| until <= now);
        if self.busy.as_ref().is_some_and(is_overdue) {
            self.verifier = None;
            self.busy = None;
        }
        Ok(())
    }

    fn hear(&mut self, event: Event) -> anyhow::Result<()> {
        let Some(busy) = self.busy.as_mut().filter(|busy| busy.job == event.job()) else {
            return Ok(());
        };
        let uri = busy.uri.clone();
        let is_done = matches!(event, Event::Done { .. });
        let begins = matches!(event, Event::Started { .. })
            && self.has_progress
            && !busy.has_progress
            && busy.until.is_none();
        let (job, matters) = (busy.job, matches!(event, Event::Finished { .. }) || is_done);
        if begins {
            busy.has_progress = true;
            let token = token_of(job);
            self.ask("window/workDoneProgress/create", json!({ "token": token }))?;
            let value = json!({ "kind": "begin", "title": "verifying", "cancellable": true });
            self.notify("$/progress", json!({ "token": token, "value": value }))?;
        }
        if is_done {
            self.end_progress()?;
            self.busy = None;
        }
        // An edit takes the run away.
        if let Some(run) = self.run_of(&uri).filter(|run| run.job == job) {
            run.hear(event);
            let (done, all) = run.progress();
            if self.busy.as_ref().is_some_and(|busy| busy.has_progress) && matters {
                let percentage = (done * 100).checked_div(all).unwrap_or(0);
                let words = format!("{done} of {all} members");
                let value = json!({ "kind": "report", "message": words, "percentage": percentage });
                self.notify("$/progress", json!({ "token": token_of(job), "value": value }))?;
            }
            if matters {
                self.show(&uri)?;
            }
        }
        Ok(())
    }

    fn end_progress(&mut self) -> anyhow::Result<()> {
        if let Some(busy) = self.busy.as_mut().filter(|busy| busy.has_progress) {
            busy.has_progress = false;
            let token = token_of(busy.job);
            self.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }))?;
        }
        Ok(())
    }

    /// The worker has ended: what it was doing is done again by another one.
    fn lost(&mut self) -> anyhow::Result<()> {
        self.verifier = None;
        self.end_progress()?;
        let Some(busy) = self.busy.take() else { return Ok(()) };
        if let Some(run) = self.run_of(&busy.uri).filter(|run| run.job == busy.job) {
            run.interrupted();
            if run.failure().is_some() {
                return self.tell_failure(&busy.uri);
            }
            self.show(&busy.uri)?;
            self.want(&busy.uri, Duration::ZERO);
        }
        Ok(())
    }
}

fn token_of(job: u64) -> String {
    format!("silicon/{job}")
}

/// Requests.
impl Server<'_> {
    fn request(&mut self, request: Request) -> anyhow::Result<()> {
        if self.is_ending {
            let (code, words) = (ErrorCode::InvalidRequest as i32, "after shutdown".to_owned());
            return self.send(Response::new_err(request.id, code, words));
        }
        match request.method.as_str() {
            "shutdown" => {
                self.is_ending = true;
                // Nobody wants to know any more.
                self.verifier = None;
                self.busy = None;
                self.wanted.clear();
                self.send(Response::new_ok(request.id, Value::Null))
            }
            "workspace/executeCommand" => self.command(request),
            _ => {
                let uri = request.params.pointer("/textDocument/uri").and_then(Value::as_str);
                let Some(uri) = uri.map(str::to_owned) else {
                    let words = format!("not supported: {}", request.method);
                    let code = ErrorCode::MethodNotFound as i32;
                    return self.send(Response::new_err(request.id, code, words));
                };
                match self.documents.get(&uri) {
                    None => self.send(Response::new_ok(request.id, Value::Null)),
                    Some(document) if document.current().is_none() => {
                        self.waiting.push((uri, request));
                        Ok(())
                    }
                    Some(_) => self.answer(&uri, request),
                }
            }
        }
    }

    fn command(&mut self, request: Request) -> anyhow::Result<()> {
        let parameters: Result<ExecuteCommandParams, _> = serde_json::from_value(request.params);
        if let Ok(ExecuteCommandParams { command, arguments, .. }) = parameters {
            let uri = arguments.first().and_then(Value::as_str).unwrap_or_default().to_owned();
            match command.as_str() {
                "silicon.verify" => {
                    if let Err(why) = self.verifier() {
                        let code = ErrorCode::RequestFailed as i32;
                        return self.send(Response::new_err(request.id, code, why));
                    }
                    self.cancel(&uri)?;
                    if let Some(document) = self.documents.get_mut(&uri) {
                        document.run = None;
                        self.want(&uri, Duration::ZERO);
                    }
                }
                "silicon.cancel" => self.stop(&uri)?,
                _ => {}
            }
        }
        self.send(Response::new_ok(request.id, Value::Null))
    }

    /// Answers a request about the present version of a document.
    fn answer(&self, uri: &str, request: Request) -> anyhow::Result<()> {
        let Request { id, method, params } = request;
        let response = match self.answered(uri, &method, params) {
            Ok(value) => Response::new_ok(id, value),
            Err((code, words)) => Response::new_err(id, code as i32, words),
        };
        self.send(response)
    }

    fn answered(
        &self,
        uri: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, (ErrorCode, String)> {
        let Some(document) = self.documents.get(uri) else { return Ok(Value::Null) };
        let Some(analysis) = document.current() else { return Ok(Value::Null) };
        let location = |(uri, range): features::At| json!({ "uri": uri, "range": range });
        let here = |range: lsp_types::Range| location((uri.to_owned(), range));
        Ok(match method {
            "textDocument/hover" => {
                let at: TextDocumentPositionParams = read(params)?;
                let verdict = |name: &str| document.verdict(name);
                json!(features::hover(analysis, at.position, verdict))
            }
            "textDocument/definition" => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                features::definition(analysis, at.position).map_or(Value::Null, location)
            }
            "textDocument/references" => {
                let ReferenceParams { text_document_position: at, context, .. } = read(params)?;
                let with_declaration = context.include_declaration;
                let found = features::references(analysis, at.position, with_declaration);
                found.into_iter().map(here).collect()
            }
            "textDocument/documentHighlight" => {
                let at: TextDocumentPositionParams = read(params)?;
                let found = features::references(analysis, at.position, true);
                found.into_iter().map(|range| json!({ "range": range })).collect()
            }
            "textDocument/prepareRename" => {
                let at: TextDocumentPositionParams = read(params)?;
                json!(features::can_rename(analysis, at.position))
            }
            "textDocument/rename" => {
                let RenameParams { text_document_position: at, new_name, .. } = read(params)?;
                let edits = features::rename(analysis, &document.name, at.position, &new_name);
                let edits = edits.map_err(|words| (ErrorCode::RequestFailed, words))?;
                json!({ "changes": { uri: edits } })
            }
            "textDocument/documentSymbol" => json!(features::symbols(analysis)),
            "textDocument/foldingRange" => json!(features::folds(analysis)),
            "textDocument/semanticTokens/full" => {
                let data = features::semantic_tokens(analysis);
                json!(SemanticTokens { result_id: None, data })
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position: at, .. } = read(params)?;
                json!(features::complete(analysis, at.position))
            }
            "textDocument/codeLens" => json!(document.lenses()),
            "silicon/members" => {
                let _: Members = read(params)?;
                document.members()
            }
            _ => return Err((ErrorCode::MethodNotFound, format!("not supported: {method}"))),
        })
    }
}

/// A request for what `silicon/members` tells.
#[derive(serde::Deserialize)]
struct Members {
    #[serde(rename = "textDocument")]
    _text_document: TextDocumentIdentifier,
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}
