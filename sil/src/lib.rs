//! SIL: the intermediate verification language, a superset of Viper's.
//!
//! In reading order: [`source`] (files and spans), [`syntax`] (what the parser yields, names as text),
//! [`program`] (what the resolver yields, names as ids and every expression typed), and the passes between
//! and behind them. Whoever wants a program to verify, print or walk wants [`program::Program`].

pub mod cfg;
pub mod consistency;
pub mod diagnostics;
pub mod imports;
pub mod load;
pub mod macros;
pub mod parser;
pub mod plugins;
pub mod print;
pub mod program;
pub mod render;
pub mod resolve;
pub mod source;
pub mod source_map;
mod stack;
pub mod syntax;
pub mod triggers;
pub mod walk;
