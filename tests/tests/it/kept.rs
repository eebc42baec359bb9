//! Answers and runs that are kept for later runs and for other machines.

mod cache;
mod cluster;
#[cfg(feature = "remote-cache")]
mod remote;
mod saved;
mod shards;
mod signed;
