//! A server of files over HTTP, as far as WebDAV needs it, that may behave badly.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How a server behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    Honest,
    /// Takes requests, and says nothing.
    Silent,
    /// Needs so much time for each request.
    Slow(Duration),
    /// Says that it has a defect.
    Failing,
    /// Ends in the middle of what it sends.
    Cutting,
    /// Takes no files.
    ReadOnly,
    /// Talks to `name` with the password `word` only.
    Locked,
    /// Says that all is well, and keeps no files.
    Forgetting,
}

/// A server on a port of its own. It goes on until the process ends.
pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    files: Mutex<Files>,
    manner: Mutex<Manner>,
    requests: AtomicUsize,
}

/// Contents by path, as in a URL.
pub type Files = BTreeMap<String, Vec<u8>>;

impl Server {
    /// Starts one without files.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port can be had");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State {
            files: Mutex::default(),
            manner: Mutex::new(Manner::Honest),
            requests: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A client that is gone needs no answer.
                thread::spawn(move || state.serve(stream));
            }
        });
        Self { address, state }
    }

    /// The URL of a directory on it.
    pub fn url(&self) -> String {
        format!("http://{}/answers", self.address)
    }

    /// The same for somebody with a name and a password.
    pub fn url_for(&self, who: &str) -> String {
        format!("http://{who}@{}/answers", self.address)
    }

    pub fn behave(&self, manner: Manner) {
        *self.state.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
    }

    pub fn files(&self) -> MutexGuard<'_, Files> {
        self.state.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of requests since this was asked last.
    pub fn requests(&self) -> usize {
        self.state.requests.swap(0, Ordering::Relaxed)
    }
}

impl State {
    /// Answers requests until the client is gone.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut to = stream.try_clone()?;
        let mut from = BufReader::new(stream);
        while let Some(request) = Request::read(&mut from)? {
            self.requests.fetch_add(1, Ordering::Relaxed);
            let manner = *self.manner.lock().unwrap_or_else(PoisonError::into_inner);
            match manner {
                Manner::Silent => loop {
                    thread::park();
                },
                Manner::Slow(time) => thread::sleep(time),
                _ => {}
            }
            let (status, body) = self.answer(request, manner);
            write!(to, "HTTP/1.1 {status} -\r\ncontent-length: {}\r\n\r\n", body.len())?;
            if manner == Manner::Cutting && !body.is_empty() {
                return to.write_all(&body[..body.len() / 2]);
            }
            to.write_all(&body)?;
        }
        Ok(())
    }

    fn answer(&self, request: Request, manner: Manner) -> (u16, Vec<u8>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = request.authorization.as_deref() == Some("Basic bmFtZTp3b3Jk");
        match (&*request.method, manner) {
            (_, Manner::Failing) => (500, Vec::new()),
            (_, Manner::Locked) if !is_known => (401, Vec::new()),
            ("GET", _) => match files.get(&request.path) {
                Some(body) => (200, body.clone()),
                None => (404, Vec::new()),
            },
            ("PUT", Manner::ReadOnly) => (403, Vec::new()),
            ("PUT", Manner::Forgetting) => (201, Vec::new()),
            ("PUT", _) => {
                files.insert(request.path, request.body);
                (201, Vec::new())
            }
            _ => (405, Vec::new()),
        }
    }
}

struct Request {
    method: String,
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

impl Request {
    /// The next request; `None`: there will be no more.
    fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
        let (mut length, mut authorization) = (0, None);
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(io::Error::other)?,
                "authorization" => authorization = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Ok(Some(Self { method, path, authorization, body }))
    }
}
