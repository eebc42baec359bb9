//! The language server as editors hold it: a dialogue over its standard input and output.
//!
//! Each wait has an end, so that a server that says nothing fails the test and does not block it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::binaries;

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A server, and an editor that talks with it.
pub struct Client {
    server: Child,
    to: Box<dyn Write>,
    from: Receiver<Value>,
    /// All that was heard and that nobody waited for.
    pub heard: Vec<Value>,
    /// The states of the members of each text, as they were told.
    told: BTreeMap<String, BTreeMap<String, Value>>,
    requests: i32,
    pub version: i32,
}

impl Client {
    /// A server as it is built.
    pub fn built() -> Self {
        Self::of(&binaries::path("silicon"))
    }

    /// A server that is this program.
    pub fn of(program: &Path) -> Self {
        Self::started(program, &[], &Value::Null, None)
    }

    /// A server with these arguments.
    pub fn called(arguments: &[&str]) -> Self {
        Self::started(&binaries::path("silicon"), arguments, &Value::Null, None)
    }

    /// A server with these options.
    pub fn with(options: &Value) -> Self {
        Self::started(&binaries::path("silicon"), &[], options, None)
    }

    /// A server of an editor that has a folder open.
    pub fn in_folder(folder: &Path) -> Self {
        Self::started(&binaries::path("silicon"), &[], &Value::Null, Some(folder))
    }

    fn started(program: &Path, arguments: &[&str], options: &Value, folder: Option<&Path>) -> Self {
        let mut server = Command::new(program)
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let to = server.stdin.take().expect("it is a pipe");
        let out = server.stdout.take().expect("it is a pipe");
        Self::greeted(server, Box::new(to), out, options, folder)
    }

    /// A server that is started as Viper-IDE starts ViperServer, and found by the port that it
    /// tells.
    pub fn as_viper_server() -> Self {
        let jars = "/nowhere/viper.jar:/nowhere/carbon.jar";
        let java = ["-Xmx2048m", "-Xss128m", "-cp", jars, "-server"];
        let runner = ["viper.server.ViperServerRunner", "--serverMode", "LSP", "--singleClient"];
        let log = ["--logLevel", "ALL", "--logFile", "/nowhere/viper.log"];
        let mut server = Command::new(binaries::path("silicon"))
            .args(java.iter().chain(&runner).chain(&log))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let mut out = BufReader::new(server.stdout.take().expect("it is a pipe"));
        out.read_line(&mut line).expect("it tells its port");
        let port = line.trim().strip_prefix("<ViperServerPort:").expect("it tells its port");
        let port: u16 = port.trim_end_matches('>').parse().expect("a number");
        let to = TcpStream::connect(("localhost", port)).expect("it listens");
        let from = to.try_clone().expect("a socket has two ends");
        Self::greeted(server, Box::new(to), from, &Value::Null, None)
    }

    fn greeted(
        server: Child,
        to: Box<dyn Write>,
        from: impl Read + Send + 'static,
        options: &Value,
        folder: Option<&Path>,
    ) -> Self {
        let mut out = BufReader::new(from);
        let (sender, from) = channel();
        thread::spawn(move || {
            while let Some(message) = message(&mut out) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut client = Self {
            server,
            to,
            from,
            heard: Vec::new(),
            told: BTreeMap::new(),
            requests: 0,
            version: 0,
        };
        let capabilities = json!({ "window": { "workDoneProgress": true } });
        let uri = |it: &Path| format!("file://{}", it.display());
        let parameters = json!({
            "processId": null,
            "rootUri": null,
            "workspaceFolders": folder.map(|it| [json!({ "name": "folder", "uri": uri(it) })]),
            "capabilities": capabilities,
            "initializationOptions": options,
        });
        let answer = client.ask("initialize", parameters);
        assert_eq!(answer["result"]["serverInfo"]["name"], "silicon", "{answer}");
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.to.flush().expect("it listens");
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// Sends a request, and gives its number.
    pub fn start(&mut self, method: &str, params: Value) -> i32 {
        self.requests += 1;
        self.send(json!({ "id": self.requests, "method": method, "params": params }));
        self.requests
    }

    /// Sends a request, and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        self.wait(&format!("the answer to {method}"), |it| it["id"] == id && it["method"].is_null())
    }

    /// The first message, heard or to come, of that kind.
    pub fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(position) = self.heard.iter().position(&is_it) {
            return self.heard.remove(position);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(message) = self.from.recv_timeout(left) else {
                panic!("no {what}; heard: {:#?}", self.heard)
            };
            self.learn(&message);
            if is_it(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Opens a text, in its first version.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.version = 1;
        self.told.remove(uri);
        let document = json!({ "uri": uri, "languageId": "viper", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Makes the next version of it.
    pub fn change(&mut self, uri: &str, changes: Value) {
        self.version += 1;
        let document = json!({ "uri": uri, "version": self.version });
        let parameters = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", parameters);
    }

    /// Keeps what a notification tells of members, as `docs/editor.md` says.
    fn learn(&mut self, message: &Value) {
        let of = &message["params"];
        if message["method"] != "silicon/members" || of["stale"] == true {
            return;
        }
        let table = self.told.entry(of["uri"].as_str().expect("a text").to_owned()).or_default();
        for gone in of["gone"].as_array().expect("a list") {
            table.remove(&name_of(gone)).expect("only what was told can go");
        }
        for member in of["members"].as_array().expect("a list") {
            table.insert(name_of(member), member["state"].clone());
        }
    }

    /// Returns the list of the present version's members, when all of them are done.
    pub fn settled(&mut self, uri: &str) -> Vec<Value> {
        let version = self.version;
        self.wait("end of the verification", |it| {
            let of = &it["params"];
            it["method"] == "silicon/members"
                && (&of["uri"], &of["version"]) == (&json!(uri), &json!(version))
                && of["complete"] == true
        });
        let all = self.ask("silicon/members", json!({ "textDocument": { "uri": uri } }));
        let members = all["result"]["members"].as_array().expect("it is a list").clone();
        let is_open = |one: &Value| matches!(one["state"].as_str(), Some("queued" | "running"));
        assert!(!members.is_empty() && !members.iter().any(is_open), "{members:?}");
        // Whoever only listens knows the same.
        let listed = members.iter().map(|it| (name_of(it), it["state"].clone())).collect();
        assert_eq!(self.told.get(uri), Some(&listed));
        members
    }

    /// The last diagnostics that were published of the present version, which have to be so many.
    pub fn diagnostics(&mut self, uri: &str, count: usize) -> Vec<Value> {
        let version = self.version;
        let message = self.wait(&format!("publication of {count} findings"), |it| {
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == uri
                && it["params"]["version"] == version
                && it["params"]["diagnostics"].as_array().map(Vec::len) == Some(count)
        });
        message["params"]["diagnostics"].as_array().expect("it is a list").clone()
    }

    /// Asks about a place, and gives the result.
    pub fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        let document = json!({ "uri": uri });
        self.ask(method, json!({ "textDocument": document, "position": position }))["result"].take()
    }

    /// The process of the server.
    pub fn process(&self) -> u32 {
        self.server.id()
    }

    /// The process that verifies for this server.
    pub fn worker(&self) -> Option<u32> {
        self.workers().into_iter().next()
    }

    /// All processes that work for this server.
    pub fn workers(&self) -> Vec<u32> {
        let children = format!("/proc/{0}/task", self.server.id());
        let Ok(tasks) = fs::read_dir(children) else { return Vec::new() };
        let children =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        children
            .flat_map(|text| {
                text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
            })
            .collect()
    }

    /// Ends the process that verifies, if there is one, and waits until the server has seen it.
    pub fn kill_worker(&self, signal: Signal) {
        let Some(worker) = self.worker() else { return };
        let id = i32::try_from(worker).ok().and_then(Pid::from_raw).expect("it has a number");
        // The process may have ended by itself.
        let _ = kill_process(id, signal);
        let end = Instant::now() + PATIENCE;
        while self.worker() == Some(worker) {
            assert!(Instant::now() < end, "the server does not see that its worker has ended");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends signals to all processes that work for this server, and does not wait.
    pub fn strike(&self, signal: Signal) {
        let ids = self.workers().into_iter().filter_map(|id| i32::try_from(id).ok());
        for id in ids.filter_map(Pid::from_raw) {
            // The process may have ended by itself.
            let _ = kill_process(id, signal);
        }
    }

    /// Takes what has come so far to what was heard.
    pub fn listen(&mut self) {
        self.heard.extend(self.from.try_iter());
    }

    /// Ends the server as the protocol says; nothing of it may stay.
    pub fn end(mut self) {
        let worker = self.worker();
        assert_eq!(self.ask("shutdown", Value::Null)["result"], Value::Null);
        self.tell("exit", Value::Null);
        let status = self.server.wait().expect("it ends");
        assert!(status.success(), "{status}");
        if let Some(worker) = worker {
            assert!(!PathBuf::from(format!("/proc/{worker}")).exists(), "the worker goes on");
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The next message of the server.
fn message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The kind and the id of a member.
fn name_of(member: &Value) -> String {
    format!("{} {}", member["kind"], member["id"])
}
