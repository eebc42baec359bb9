//! How a client is spoken with: on standard input and output, or over a socket of this machine.

use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};

/// Where the client is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    Stdio,
    /// A port of this machine, on which one client is waited for; 0: any. The port is told on
    /// standard output, in the words that clients of ViperServer look for.
    Port(u16),
}

/// A client, the threads that speak with it, and where we are heard, if that is a port.
pub(crate) struct Open {
    pub(crate) connection: Connection,
    pub(crate) threads: Threads,
    pub(crate) port: Option<u16>,
}

/// The threads of a connection. They end when the connection is dropped and the client is gone.
pub(crate) enum Threads {
    Own(lsp_server::IoThreads),
    Socket(TcpStream, [JoinHandle<()>; 2]),
}

impl Threads {
    /// Waits for them, after the connection was dropped.
    pub(crate) fn join(self) -> anyhow::Result<()> {
        match self {
            Self::Own(threads) => Ok(threads.join()?),
            Self::Socket(stream, [reader, writer]) => {
                let is_written = writer.join();
                // The client may leave it open, and we read no more.
                let _ = stream.shutdown(std::net::Shutdown::Both);
                let is_read = reader.join();
                anyhow::ensure!(is_written.is_ok() && is_read.is_ok(), "a thread panicked");
                Ok(())
            }
        }
    }
}

impl Transport {
    /// Waits for the client.
    ///
    /// # Errors
    /// Where the port cannot be had, or nobody can be told of it.
    pub(crate) fn open(self) -> anyhow::Result<Open> {
        let port = match self {
            Self::Stdio => {
                let (connection, threads) = Connection::stdio();
                return Ok(Open { connection, threads: Threads::Own(threads), port: None });
            }
            Self::Port(port) => port,
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let mut out = std::io::stdout().lock();
        writeln!(out, "<ViperServerPort:{port}>")?;
        out.flush()?;
        drop(out);
        let (stream, _) = listener.accept()?;
        let (connection, threads) = over(stream)?;
        Ok(Open { connection, threads, port: Some(port) })
    }
}

fn over(stream: TcpStream) -> anyhow::Result<(Connection, Threads)> {
    let (to_server, receiver) = bounded::<Message>(0);
    let (sender, from_server) = bounded::<Message>(0);
    let mut input = BufReader::new(stream.try_clone()?);
    let reader = thread::Builder::new().spawn(move || {
        // A client that does not keep to the protocol is one that is gone.
        while let Ok(Some(message)) = Message::read(&mut input) {
            let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
            if to_server.send(message).is_err() || is_exit {
                return;
            }
        }
    })?;
    let mut output = stream.try_clone()?;
    let writer = thread::Builder::new().spawn(move || {
        for message in from_server {
            if message.write(&mut output).is_err() {
                return;
            }
        }
    })?;
    Ok((Connection { sender, receiver }, Threads::Socket(stream, [reader, writer])))
}
