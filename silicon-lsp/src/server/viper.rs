//! The messages of ViperServer, for clients that were made for it (Viper-IDE 5; design: "Drop-in
//! level B").
//!
//! Such a client says when to verify, with `Verify`, and follows each run by the notification
//! `StateChange`. A run is told from its start to its end: what becomes of it, also if an edit
//! takes it away, ends with the state Ready. Diagnostics come before that.

use std::time::Instant;

use lsp_server::{Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use silicon::session::FileVerdict;

use super::Server;
use crate::document::Document;
use crate::protocol::{Event, Found};

/// A client that speaks these messages.
pub(super) struct Viper {
    /// Where it has found us.
    address: String,
}

/// A run that it follows.
pub(crate) struct Followed {
    is_manual: bool,
    began: Instant,
    /// The client knows that members are being verified.
    is_running: bool,
}

/// The version of ViperServer for such a client: it asks for one, and our own would be too low.
const VERSION: &str = "3.1.0";
/// Clients before that had other messages.
const OLDEST_CLIENT: u64 = 5;

/// The numbers of states in `StateChange`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    VerificationRunning = 2,
    PostProcessing = 5,
    Ready = 6,
    ConstructingAst = 9,
}

/// The numbers of outcomes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Success {
    Verified = 1,
    ParsingFailed = 2,
    TypecheckingFailed = 3,
    VerificationFailed = 4,
    Error = 6,
    Timeout = 7,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verify {
    uri: String,
    content: String,
    #[serde(default)]
    manually_triggered: bool,
    #[serde(default)]
    backend: String,
    #[serde(default)]
    custom_args: String,
}

impl Server<'_> {
    /// Tells whether the client speaks these messages.
    pub(super) fn is_viper(&self) -> bool {
        self.viper.is_some()
    }

    /// From now on it does.
    pub(super) fn be_viper(&mut self) {
        let address = self.port.map_or_else(String::new, |port| format!("127.0.0.1:{port}"));
        self.viper.get_or_insert(Viper { address });
        self.when = super::When::Never;
    }

    /// Answers a request of these messages; none: it is no such request.
    pub(super) fn viper_request(&mut self, request: &Request) -> anyhow::Result<Option<()>> {
        let text = |key: &str| request.params.get(key).and_then(Value::as_str).unwrap_or_default();
        let uri = text("uri").to_owned();
        let result = match request.method.as_str() {
            "GetVersion" => {
                self.be_viper();
                let client = text("clientVersion").split('.').next().unwrap_or_default();
                let is_old = client.parse().is_ok_and(|client: u64| client < OLDEST_CLIENT);
                let error = is_old.then(|| {
                    format!("versions of the client before {OLDEST_CLIENT}.0.0 are not supported")
                });
                match error {
                    Some(error) => json!({ "serverVersion": VERSION, "error": error }),
                    None => json!({ "serverVersion": VERSION }),
                }
            }
            "GetLanguageServerUrl" | "GetViperServerUrl" => match &self.viper {
                Some(viper) => json!({ "url": viper.address }),
                None => return Ok(None),
            },
            "StopVerification" => {
                let is_open = self.documents.contains_key(&uri);
                self.stop(&uri)?;
                json!({ "success": is_open })
            }
            "FlushCache" => {
                self.forget();
                Value::Null
            }
            "RemoveDiagnostics" => {
                self.stop(&uri)?;
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.run = None;
                }
                self.publish(&uri, None, &[])?;
                json!({ "success": true })
            }
            _ => return Ok(None),
        };
        self.send(Response::new_ok(request.id.clone(), result)).map(Some)
    }

    /// `Verify`.
    pub(super) fn viper_verify(&mut self, params: Value) -> anyhow::Result<()> {
        let Ok(Verify { uri, content, manually_triggered, backend, custom_args }) =
            serde_json::from_value(params)
        else {
            return Ok(());
        };
        self.be_viper();
        if !matches!(backend.as_str(), "" | "silicon") {
            return self.refuse(&uri, &format!("there is no backend {backend} here, only silicon"));
        }
        match (self.setup.reader)(&custom_args) {
            Err(why) => return self.refuse(&uri, &why),
            Ok(arguments) if !arguments.without_effect.is_empty() => {
                let flags = arguments.without_effect.join(", ");
                self.hint(&format!("without effect here: {flags}"))?;
            }
            Ok(_) => {}
        }
        self.cancel(&uri)?;
        let is_open = self.documents.contains_key(&uri);
        let document = self
            .documents
            .entry(uri.clone())
            .or_insert_with(|| Document::new(uri.clone(), 0, content.clone()));
        let is_other = *document.text.text != *content;
        if is_other {
            document.replace(content);
        }
        document.run = None;
        document.arguments = custom_args;
        document.followed = Some(Followed {
            is_manual: manually_triggered,
            began: Instant::now(),
            is_running: false,
        });
        let is_known = document.current().is_some();
        // Else it is under way.
        if !is_open || is_other {
            self.texts.send(document.request())?;
        }
        self.state(&uri, State::ConstructingAst, json!({}))?;
        if is_known { self.viper_analysed(&uri) } else { Ok(()) }
    }

    /// The front end is through with a text that is to be verified, and what it found is shown.
    pub(super) fn viper_analysed(&mut self, uri: &str) -> anyhow::Result<()> {
        let Some(document) = self.documents.get(uri) else { return Ok(()) };
        let (Some(_), Some(analysis)) = (&document.followed, document.current()) else {
            return Ok(());
        };
        let (is_program, others) = (analysis.is_program, analysis.others.clone());
        let is_syntax = analysis.found.iter().any(Found::is_syntax);
        self.ask("SetupProject", json!({ "projectUri": uri, "otherUris": others }))?;
        if is_program {
            self.want(uri, Instant::now());
            return Ok(());
        }
        // Shown again, so that it comes in this run.
        self.show(uri)?;
        let success = if is_syntax { Success::ParsingFailed } else { Success::TypecheckingFailed };
        self.end_followed(uri, Some((success, String::new())))
    }

    /// A run gets on; what has to be shown of it is shown.
    pub(super) fn viper_hear(&mut self, uri: &str, told: &Told) -> anyhow::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        let progress = document.run.as_ref().map_or((0, 0), crate::document::Run::progress);
        let Some(followed) = &mut document.followed else { return Ok(()) };
        match told {
            Told::Planned => {
                followed.is_running = true;
                self.state(uri, State::VerificationRunning, json!({ "progress": 0 }))
            }
            Told::Finished if followed.is_running => {
                let percentage = (progress.0 * 100).checked_div(progress.1).unwrap_or(0);
                self.state(uri, State::VerificationRunning, json!({ "progress": percentage }))
            }
            Told::Finished => Ok(()),
            Told::Done(None) => self.end_followed(uri, None),
            Told::Done(Some(verdict)) => {
                self.state(uri, State::PostProcessing, json!({}))?;
                self.end_followed(uri, Some((success_of(*verdict), String::new())))
            }
        }
    }

    /// A run that a client follows is over. `None`: it was stopped.
    pub(super) fn end_followed(
        &mut self,
        uri: &str,
        outcome: Option<(Success, String)>,
    ) -> anyhow::Result<()> {
        let followed = self.documents.get_mut(uri).and_then(|document| document.followed.take());
        let Some(Followed { is_manual, began, .. }) = followed else { return Ok(()) };
        let more = match outcome {
            None => json!({
                "success": 0, "verificationCompleted": 0, "verificationNeeded": 0,
                "manuallyTriggered": u8::from(is_manual),
            }),
            Some((success, error)) => json!({
                "success": success as u8,
                "verificationCompleted": 1,
                "verificationNeeded": 0,
                "manuallyTriggered": u8::from(is_manual),
                "time": began.elapsed().as_secs_f64(),
                "error": error,
            }),
        };
        self.state(uri, State::Ready, more)
    }

    /// Ends the followed run with a reason.
    pub(super) fn fail_followed(&mut self, uri: &str, why: &str) -> anyhow::Result<()> {
        self.end_followed(uri, Some((Success::Error, why.to_owned())))
    }

    fn state(&self, uri: &str, state: State, more: Value) -> anyhow::Result<()> {
        let path = crate::convert::path_of(uri);
        let file = path.rsplit('/').next().unwrap_or_default();
        let mut told = json!({
            "newState": state as u8,
            "filename": file,
            "backendName": "silicon",
            "uri": uri,
            "stage": "verify",
        });
        if let (Value::Object(told), Value::Object(more)) = (&mut told, more) {
            told.extend(more);
        }
        self.notify("StateChange", told)
    }

    fn hint(&self, message: &str) -> anyhow::Result<()> {
        self.notify(
            "Hint",
            json!({
                "message": message,
                "showSettingsButton": true,
                "showViperToolsUpdateButton": false,
            }),
        )
    }

    fn refuse(&self, uri: &str, why: &str) -> anyhow::Result<()> {
        self.hint(why)?;
        self.notify("VerificationNotStarted", json!({ "uri": uri }))
    }
}

/// News of a run, as far as such a client needs them.
pub(super) enum Told {
    Planned,
    Finished,
    /// `None`: it was stopped.
    Done(Option<FileVerdict>),
}

impl Told {
    pub(super) fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Planned { .. } => Some(Self::Planned),
            Event::Finished { .. } => Some(Self::Finished),
            Event::Done { found: None, .. } => Some(Self::Done(None)),
            Event::Done { verdict, .. } => Some(Self::Done(Some(*verdict))),
            Event::Started { .. }
            | Event::Ended { .. }
            | Event::Tried { .. }
            | Event::States { .. } => None,
        }
    }
}

fn success_of(verdict: FileVerdict) -> Success {
    match verdict {
        FileVerdict::Verified => Success::Verified,
        FileVerdict::Failed => Success::VerificationFailed,
        FileVerdict::Inconclusive => Success::Timeout,
        FileVerdict::InputError => Success::TypecheckingFailed,
        // Nothing was shown.
        FileVerdict::NothingSelected
        | FileVerdict::Checked
        | FileVerdict::Empty
        | FileVerdict::Error => Success::Error,
    }
}
