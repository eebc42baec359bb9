//! Runs Chalice programs with every permission checked.
//!
//! The way of a program through the crate: [`sources`] reads it, [`code`] brings it into the form
//! that runs, [`entry`] or [`generate`] makes a [`machine`] that is about to execute a method, and
//! [`run`] runs it under one schedule, [`run::explore`] under all that matter. What a check is, and
//! what it means, follows runtime checking for Chalice (Hegi 2013) and the rules of the verifier;
//! where they differ, the verifier's rules hold.
//!
//! To run a method from a given start and look at what comes of it:
//!
//! ```
//! use chalice_run::code::Code;
//! use chalice_run::machine::Config;
//! use chalice_run::run::{Scheduling, Verdict, run};
//! use chalice_run::{entry, sources::Sources};
//!
//! let text = "class C { var x: int; method put(n: int) requires acc(x) ensures acc(x) && x == n { x := n } }";
//! let sources = Sources::new(vec![("example".to_owned(), text.to_owned())]);
//! let program = sources.check().0.expect("it is a program");
//! let code = Code::new(program, sources.options());
//! let method = code.method("C.put").expect("there is such a method");
//! let arguments = ["7".to_owned()];
//! let mut machine = entry::start(&code, method, &Config::default(), &arguments).expect("it can be started");
//! let outcome = run(&mut machine, &Scheduling::First);
//! assert_eq!(outcome.verdict, Verdict::Passed);
//! ```

pub mod choices;
pub mod code;
pub mod emit;
pub mod entry;
mod eval;
pub mod fault;
pub mod generate;
pub mod heap;
pub mod machine;
pub mod replay;
pub mod report;
pub mod run;
pub mod sources;
mod step;
mod transfer;
pub mod value;

pub use chalice_rt::amount;
