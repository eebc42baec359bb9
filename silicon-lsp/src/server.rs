//! The main loop: everything that happens, one after the other.

mod documents;
mod fixes;
mod requests;
mod states;
mod verification;
mod viper;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    CompletionOptions, DocumentLinkOptions, ExecuteCommandOptions, FoldingRangeProviderCapability,
    HoverProviderCapability, OneOf, RenameOptions, SaveOptions, SelectionRangeProviderCapability,
    SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
};
use serde_json::{Value, json};

use self::fixes::Fixing;
use self::states::{Asked, Unanswered};
pub(crate) use self::viper::Followed;
use self::viper::Viper;
use crate::Setup;
use crate::analysis::{self, Analysis, analyse};
use crate::convert::path_of;
use crate::document::Document;
use crate::features;
use crate::transport::{Open, Transport};
use crate::verifier::{Heard, Verifier};

/// When programs are verified, without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    Typing,
    Saving,
    Never,
}

/// The time after an edit in which nothing is begun, since another edit may follow.
const PAUSE: Duration = Duration::from_millis(40);
/// A worker that was told to stop and does not in this time is ended: a question to the solver may
/// take long.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time between two notifications about a document that is being verified.
const OFTEN: Duration = Duration::from_millis(80);

/// How a server ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// As the client asked for.
    Asked,
    /// By a fault of the client: it does not keep to the protocol, or is gone before it says
    /// `exit`.
    Fault(String),
}

/// Serves a client until it says `exit`. `setup` reaches its workers, too.
///
/// # Errors
/// Where the port cannot be had, or this server is broken.
pub fn run(transport: Transport, setup: Setup) -> anyhow::Result<Ending> {
    let Open { connection, threads, port } = transport.open()?;
    let capabilities = serde_json::to_value(capabilities())?;
    let info = json!({ "name": "silicon", "version": env!("CARGO_PKG_VERSION") });
    let answer = json!({ "capabilities": capabilities, "serverInfo": info });
    let greeted = connection
        .initialize_start()
        .and_then(|(id, parameters)| connection.initialize_finish(id, answer).map(|()| parameters));
    let parameters = match greeted {
        Ok(parameters) => parameters,
        Err(error) => {
            drop(connection);
            // The reason why its thread ended says more than the end of the thread.
            let why = threads.join().err().map_or(error.to_string(), |why| why.to_string());
            return Ok(Ending::Fault(format!("the client does not speak the protocol: {why}")));
        }
    };
    let mut server = Server::new(&connection, &parameters, setup, port)?;
    if server.watches_files {
        server.ask("client/registerCapability", watched_files())?;
    }
    let ending = server.serve()?;
    drop(connection);
    match (threads.join(), ending) {
        (Ok(()), ending) => Ok(ending),
        (Err(why), Ending::Asked) => Err(why),
        (Err(why), Ending::Fault(fault)) => Ok(Ending::Fault(format!("{fault}: {why}"))),
    }
}

/// The commands for clients: verify a text again, stop a run, forget earlier findings.
const COMMANDS: [&str; 3] = ["silicon.verify", "silicon.cancel", "silicon.flush"];

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
        document_formatting_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "[", ":"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(["(", ","].map(str::to_owned).to_vec()),
            ..SignatureHelpOptions::default()
        }),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: progress,
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: features::LEGEND.to_vec(),
                    token_modifiers: Vec::new(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                range: Some(true),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        experimental: Some(json!({ "silicon": 1 })),
        ..ServerCapabilities::default()
    }
}

/// Makes the request that the client reports changes of programs on the disk: others may import
/// them.
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
    setup: Setup,
    /// Where we are heard, if that is a port.
    port: Option<u16>,
    /// Where the client speaks the messages of ViperServer.
    viper: Option<Viper>,
    when: When,
    has_progress: bool,
    refreshes_lenses: bool,
    /// Verdicts are shown beside members; `refreshes_hints`: the client asks for them again when it
    /// is told to.
    has_hints: bool,
    refreshes_hints: bool,
    watches_files: bool,
    /// The folders that the client has open.
    folders: Vec<PathBuf>,
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
    /// A document of which there is news that the client does not know, and when it is told.
    news: Option<(Instant, String)>,
    /// The request for the state at the cursor.
    asked: Option<Asked>,
    /// The request for edits that remove an error.
    fixing: Option<Fixing>,
    /// Hovering shows states.
    tells_states: bool,
    /// The number of the last worker, job or request of our own.
    numbers: u64,
    /// Where a shutdown was asked for.
    is_ending: bool,
}

/// Reads the folders that a client has open: a list, or one, as clients of before tell it.
fn folders(parameters: &Value) -> Vec<PathBuf> {
    let listed = parameters.get("workspaceFolders").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().map(|folder| &folder["uri"]);
    let mut uris: Vec<&Value> = listed.collect();
    if uris.is_empty() {
        uris.extend(parameters.get("rootUri"));
    }
    uris.into_iter().filter_map(Value::as_str).map(|uri| path_of(uri).into()).collect()
}

/// The present work of the worker.
struct Busy {
    job: u64,
    uri: String,
    /// The time by which the process has to stop, once it was told to.
    until: Option<Instant>,
    /// The client knows that there is work.
    has_progress: bool,
}

impl<'c> Server<'c> {
    fn new(
        connection: &'c Connection,
        parameters: &Value,
        setup: Setup,
        port: Option<u16>,
    ) -> anyhow::Result<Self> {
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
        let has_hints = parameters.pointer("/initializationOptions/hints");
        let tells_states = parameters.pointer("/initializationOptions/hoverStates");
        Ok(Self {
            connection,
            setup,
            port,
            viper: None,
            when: match when {
                Some("onSave") => When::Saving,
                Some("never") => When::Never,
                _ => When::Typing,
            },
            has_progress: supports("/capabilities/window/workDoneProgress"),
            refreshes_lenses: supports("/capabilities/workspace/codeLens/refreshSupport"),
            has_hints: has_hints != Some(&Value::Bool(false)),
            refreshes_hints: supports("/capabilities/workspace/inlayHint/refreshSupport"),
            watches_files: supports(
                "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration",
            ),
            folders: folders(parameters),
            documents: BTreeMap::new(),
            texts,
            analyses,
            waiting: Vec::new(),
            wanted: VecDeque::new(),
            verifier: None,
            heard: unbounded(),
            busy: None,
            news: None,
            asked: None,
            fixing: None,
            tells_states: tells_states != Some(&Value::Bool(false)),
            numbers: 0,
            is_ending: false,
        })
    }

    fn serve(mut self) -> anyhow::Result<Ending> {
        loop {
            self.begin()?;
            self.try_fixes()?;
            let timer = self
                .next_time()
                .map_or(never(), |time| after(time.saturating_duration_since(Instant::now())));
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => self.request(request)?,
                    Ok(Message::Notification(notification)) => {
                        if notification.method == "exit" {
                            return Ok(if self.is_ending {
                                Ending::Asked
                            } else {
                                Ending::Fault("the client exits without a shutdown".to_owned())
                            });
                        }
                        self.notification(notification)?;
                    }
                    // To requests of ours; there is nothing to be done about them.
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(Ending::Fault("the client is gone".to_owned())),
                },
                recv(self.analyses) -> analysis => match analysis {
                    Ok(analysis) => self.analysed(analysis)?,
                    Err(_) => anyhow::bail!("the front end has ended"),
                },
                recv(self.heard.1) -> heard => match heard {
                    Ok(Heard::Said(number, event)) if self.is_present(number) => self.hear(event)?,
                    Ok(Heard::Gone(number)) if self.is_present(number) => self.lost()?,
                    Ok(Heard::Said(number, event)) if self.is_asked(number) => {
                        self.hear_states(event)?;
                    }
                    Ok(Heard::Gone(number)) if self.is_asked(number) => {
                        self.leave_states(Unanswered::Lost)?;
                    }
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
