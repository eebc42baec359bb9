//! Looks for what is wrong and verifies, and compares the verifier with suites of programs.
//!
//! `cargo run --release -p sil-tests --bin attack -- COMMAND` starts one of the commands below;
//! `CONTRIBUTING.md` says which one finds what. Each has the exit code 1 if it finds something, 2
//! if its input is bad, and 0 otherwise.

mod chalice;
mod conformance;
mod cross_check;
mod edits;
mod facts;
mod heap;
mod layout;
mod lots;
mod misuse;
mod plant;
mod resume;
mod typing;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Looks for what is wrong and verifies.
#[derive(Parser)]
#[command(name = "attack")]
struct Arguments {
    #[command(subcommand)]
    command: Attack,
}

#[derive(Subcommand)]
enum Attack {
    Chalice(chalice::Options),
    Conformance(conformance::Options),
    CrossCheck(cross_check::Options),
    Edits(edits::Options),
    Facts(facts::Options),
    Heap(heap::Options),
    Layout(layout::Options),
    Misuse(misuse::Options),
    Plant(plant::Options),
    Resume(resume::Options),
    Typing(typing::Options),
}

fn main() -> ExitCode {
    let result = match &Arguments::parse().command {
        Attack::Chalice(options) => chalice::run_command(options),
        Attack::Conformance(options) => conformance::run_command(options),
        Attack::CrossCheck(options) => cross_check::run_command(options),
        Attack::Edits(options) => edits::run_command(options),
        Attack::Facts(options) => facts::run_command(options),
        Attack::Heap(options) => heap::run_command(options),
        Attack::Layout(options) => layout::run_command(options),
        Attack::Misuse(options) => misuse::run_command(options),
        Attack::Plant(options) => plant::run_command(options),
        Attack::Resume(options) => resume::run_command(options),
        Attack::Typing(options) => typing::run_command(options),
    };
    // A bad input is told in one line, without the place in this program.
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
