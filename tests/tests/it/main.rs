//! The commands, the language server, the documents and the sources, as users and developers meet
//! them.
//!
//! One executable holds all these tests, since each one links the whole verifier.

mod architecture;
mod bad_input;
mod cache;
mod cli;
mod cluster;
mod command_line;
mod direct;
mod docs;
mod formats;
mod jvm;
mod lsp;
mod lsp_reading;
mod lsp_states;
mod lsp_viper;
mod names;
mod outputs;
#[cfg(feature = "remote-cache")]
mod remote;
mod robustness;
mod saved;
mod serve;
mod services;
mod shards;
mod signed;
mod states;
mod translated;
mod translated_ways;
