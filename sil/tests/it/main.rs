//! Tests of the crate's modules, by their names; programs made at random, checks of single members,
//! and the places of what is read.
//!
//! All stand beside the library, so that it is compiled once.

mod cfg;
mod common;
mod consistency;
mod generated;
mod imports;
mod macros;
mod member_wise;
mod parser;
mod plugins {
    mod adt;
    mod termination;
}
mod positions;
mod print;
mod promises;
mod reference;
mod render;
mod resolve;
mod source {
    mod map;
}
mod syntax {
    mod walk;
}
mod triggers;
