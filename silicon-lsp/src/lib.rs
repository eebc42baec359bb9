//! A language server for SIL, Viper, Chalice and SPL.
//!
//! ```text
//! editor ── JSON-RPC ──► main loop ──► analysis thread: the front end, newest text only
//!                          ▲──────────── worker process: the engine, one JSON object a line
//! ```
//!
//! The main loop ([`server`]) alone changes what is known of documents. What the analysis and the
//! worker say carries the version, or the number of the job, that it is about, and is dropped where
//! that is not the latest one: so no verdict is ever shown for a text that it was not found for.
//! The worker ([`worker`]) is a process of its own, which may crash or be ended: members that it
//! was busy with are verified again.
//!
//! In reading order: [`positions`], [`tokens`], [`index`] (what names mean; [`chalice_names`]),
//! [`analysis`], [`features`] and [`reading`] (pure functions of an analysis), [`across`] (names in
//! several files), [`fixes`] (edits that may remove an error), [`protocol`], [`worker`], [`trial`]
//! (whether they do), [`verifier`], [`document`], [`server`]; [`transport`].

mod across;
mod analysis;
mod chalice_names;
mod complete;
mod convert;
mod document;
mod features;
mod fixes;
mod index;
mod positions;
mod protocol;
mod reading;
mod server;
mod tokens;
mod transport;
mod trial;
mod verifier;
mod worker;

use std::ffi::OsString;

use silicon::session::Session;

pub use server::{Ending, run};
pub use transport::Transport;
pub use worker::serve;

/// A client's request for a run, in the words of a command line.
pub struct Arguments {
    pub session: Session,
    /// The known options that change nothing.
    pub without_effect: Vec<String>,
}

/// Reads such words. The command line is not ours, so whoever starts us says how. `Err`: what is
/// wrong with them.
pub type Reader = fn(&str) -> Result<Arguments, String>;

/// The setting of a server, by the command line that starts it.
#[derive(Clone, Debug)]
pub struct Setup {
    pub reader: Reader,
    /// The words that tell a worker where answers are kept.
    pub cache: Vec<OsString>,
}
