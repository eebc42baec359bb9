//! The commands, the language server, the documents and the sources, as users and developers meet
//! them.
//!
//! One executable holds all these tests, since each one links the whole verifier.

mod architecture;
mod bad_input;
mod cli;
mod command_line;
mod direct;
mod docs;
mod formats;
mod jvm;
mod kept;
mod lsp;
mod lsp_fixes;
mod names;
mod outputs;
mod robustness;
mod serve;
mod services;
mod states;
mod translated;
mod translated_ways;
