//! Symbolic execution of SIL: its rules, and the drivers of its members, on the engine of
//! [`symex`].
//!
//! In reading order: [`rules`], [`members`].

mod ahead;
pub mod analysis;
pub mod members;
pub mod rules;

pub use self::rules::{Sil, above};
