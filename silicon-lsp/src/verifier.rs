//! The worker seen from the server: a process that is started, told, heard, and ended when it does
//! not listen.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use crossbeam_channel::Sender;

use crate::Setup;
use crate::protocol::{Event, Order};

/// A message from a worker, with the worker's number.
pub(crate) enum Heard {
    Said(u64, Event),
    /// The process has ended.
    Gone(u64),
}

/// A process that verifies. It is ended when this is dropped.
pub(crate) struct Verifier {
    number: u64,
    child: Child,
    orders: ChildStdin,
}

impl Verifier {
    /// Starts one; what it says is sent on.
    ///
    /// # Errors
    /// Where the system has no process, thread or pipe to give, or the program is not there any
    /// more.
    pub(crate) fn start(setup: &Setup, number: u64, to: Sender<Heard>) -> std::io::Result<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .args(["lsp", "--worker"])
            .args(&setup.cache)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(orders), Some(said)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("the worker has no pipes"));
        };
        let verifier = Self { number, child, orders };
        thread::Builder::new().spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                // A line that was cut off where the process ended.
                let Ok(event) = serde_json::from_str(&line) else { break };
                if to.send(Heard::Said(number, event)).is_err() {
                    return;
                }
            }
            let _ = to.send(Heard::Gone(number));
        })?;
        Ok(verifier)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Sends an order. A worker that is gone is noticed by listening, not here.
    pub(crate) fn tell(&mut self, order: &Order) {
        if let Ok(mut line) = serde_json::to_vec(order) {
            line.push(b'\n');
            let _ = self.orders.write_all(&line).and_then(|()| self.orders.flush());
        }
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
