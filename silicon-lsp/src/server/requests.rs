//! The requests of clients.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lsp_server::{ErrorCode, Request, Response};
use lsp_types::{
    CompletionParams, ExecuteCommandParams, GotoDefinitionParams, InlayHintParams, ReferenceParams,
    RenameParams, SelectionRangeParams, SemanticTokens, SemanticTokensRangeParams,
    TextDocumentIdentifier, TextDocumentPositionParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Server;
use super::states::{Form, Unanswered};
use crate::across::{self, Workspace};
use crate::complete::complete;
use crate::document::Document;
use crate::features;
use crate::protocol::Order;
use crate::reading;

impl Server<'_> {
    pub(super) fn request(&mut self, request: Request) -> anyhow::Result<()> {
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
                self.leave_states(Unanswered::Cancelled)?;
                self.leave_fixes()?;
                self.send(Response::new_ok(request.id, Value::Null))
            }
            "workspace/executeCommand" => self.command(request),
            "workspace/symbol" => {
                let found = self.symbols(&request.params);
                self.send(Response::new_ok(request.id, found))
            }
            _ if self.viper_request(&request)?.is_some() => Ok(()),
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
                        self.want(&uri, Instant::now());
                    }
                }
                "silicon.cancel" => self.stop(&uri)?,
                "silicon.flush" => self.forget(),
                _ => {}
            }
        }
        self.send(Response::new_ok(request.id, Value::Null))
    }

    /// Makes the worker find again everything that earlier runs found.
    pub(super) fn forget(&mut self) {
        if let Some(verifier) = &mut self.verifier {
            verifier.tell(&Order::Forget);
        }
    }

    /// Lists the declarations in open texts with the words of a query in their names.
    fn symbols(&self, params: &Value) -> Value {
        let query = params.get("query").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        // Closed files are looked at only for a name.
        let closed = if query.is_empty() { Vec::new() } else { self.workspace().closed(&query) };
        let open = self.documents.values().filter_map(Document::current).map(|it| &**it);
        let of = |analysis: &crate::analysis::Analysis| {
            let fits = |symbol: &Value| {
                let name = symbol["name"].as_str().unwrap_or_default();
                name.to_lowercase().contains(&query)
            };
            let all = features::symbols_of_workspace(analysis);
            all.into_iter().filter(fits).collect::<Vec<_>>()
        };
        open.chain(&closed).flat_map(of).collect()
    }

    /// Returns the texts that names are looked for in.
    fn workspace(&self) -> Workspace {
        let open = self.documents.values();
        Workspace {
            texts: open.map(|it| (it.name.clone().into(), Arc::clone(&it.text.text))).collect(),
            folders: self.folders.clone(),
        }
    }

    /// Answers a request about the present version of a document.
    pub(super) fn answer(&mut self, uri: &str, request: Request) -> anyhow::Result<()> {
        let Request { id, method, params } = request;
        if method == "textDocument/codeAction" {
            return self.ask_fixes(uri, id, params);
        }
        let form = match method.as_str() {
            "silicon/state" => Some(Form::Whole),
            "textDocument/hover" if self.tells_states => Some(Form::Hover(None)),
            _ => None,
        };
        let is_program = |it: &Document| it.current().is_some_and(|analysis| analysis.is_program);
        let position = read::<TextDocumentPositionParams>(params.clone()).map(|at| at.position);
        if let (Some(form), Ok(position)) = (form, position)
            && self.documents.get(uri).is_some_and(is_program)
        {
            let form = match (form, self.answered(uri, &method, params)) {
                (Form::Hover(_), Ok(value)) => Form::Hover(serde_json::from_value(value)?),
                (form, _) => form,
            };
            return self.ask_states(uri, position, id, form);
        }
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
                let found = across::references(
                    Path::new(&document.name),
                    analysis,
                    at.position,
                    with_declaration,
                    &self.workspace(),
                );
                found.into_iter().map(location).collect()
            }
            "textDocument/documentHighlight" => {
                let at: TextDocumentPositionParams = read(params)?;
                let found = features::highlights(analysis, at.position);
                found.into_iter().map(|range| json!({ "range": range })).collect()
            }
            "textDocument/prepareRename" => {
                let at: TextDocumentPositionParams = read(params)?;
                json!(across::can_rename(analysis, at.position))
            }
            "textDocument/rename" => {
                let RenameParams { text_document_position: at, new_name, .. } = read(params)?;
                let (path, workspace) = (Path::new(&document.name), self.workspace());
                let edits = across::rename(path, analysis, at.position, &new_name, &workspace);
                let edits = edits.map_err(|words| (ErrorCode::RequestFailed, words))?;
                json!({ "changes": edits })
            }
            "textDocument/documentSymbol" => json!(features::symbols(analysis)),
            "textDocument/foldingRange" => json!(features::folds(analysis)),
            "textDocument/semanticTokens/full" => {
                let data = features::semantic_tokens(analysis, None);
                json!(SemanticTokens { result_id: None, data })
            }
            "textDocument/semanticTokens/range" => {
                let SemanticTokensRangeParams { range, .. } = read(params)?;
                let data = features::semantic_tokens(analysis, Some(range));
                json!(SemanticTokens { result_id: None, data })
            }
            "textDocument/formatting" => {
                let edits = features::layout(analysis, &document.name);
                json!(edits.map_err(|words| (ErrorCode::RequestFailed, words))?)
            }
            "textDocument/documentLink" => json!(reading::links(analysis)),
            "textDocument/signatureHelp" => {
                let at: TextDocumentPositionParams = read(params)?;
                json!(reading::signature(analysis, at.position))
            }
            "textDocument/selectionRange" => {
                let SelectionRangeParams { positions, .. } = read(params)?;
                positions.into_iter().map(|at| json!(reading::selection(analysis, at))).collect()
            }
            "textDocument/inlayHint" => {
                let InlayHintParams { range, .. } = read(params)?;
                if self.has_hints { json!(document.hints(range)) } else { json!([]) }
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position: at, .. } = read(params)?;
                json!(complete(analysis, at.position))
            }
            "textDocument/codeLens" => json!(document.lenses()),
            "silicon/state" => {
                let _: TextDocumentPositionParams = read(params)?;
                return Err((ErrorCode::RequestFailed, "the text has errors".to_owned()));
            }
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
