//! Silicon: a symbolic-execution verifier for SIL.
//!
//! The command `silicon` is a crate of its own; this one neither prints nor starts processes, and
//! reads files only where it is given their names. There are two ways in:
//!
//! * [`session::Session`] takes an [`Input`](session::Input), which may be a text in memory, in any
//!   of the languages through its front end and the engine. The [`Outcome`](session::Outcome) has
//!   verdicts, and findings at the places their author wrote.
//! * A [`Request`] takes a program that is resolved already, and gives its [`report`].
//!
//! Both may have an observer, which hears of each member when it is done, and may stop the rest:
//! [`session::Session::run_with`] and [`Request::observed`]. Who verifies a program again and
//! again, as it is edited, keeps [`Answers`]: then only what changed is verified again.
//!
//! ```
//! use silicon::session::{FileVerdict, Input, Session};
//!
//! let text = "method half(n: Int) returns (r: Int) ensures 2 * r == n { r := n / 2 }";
//! let outcome = Session::default().run(&Input::text("half.sil", text));
//! assert_eq!(outcome.verdict, FileVerdict::Failed);
//! assert_eq!(outcome.diagnostics[0].message.id, "postcondition.violated:assertion.false");
//! ```

pub mod answers;
pub mod expectations;
pub mod explain;
mod huge_pages;
pub mod output;
pub mod session;
mod stack;
mod verify;

pub use answers::Answers;
pub use symex::observer::{self, Observer};
pub use symex::{options, report};
pub use verify::Request;

/// A digest of the sources, the compiler and the profile of this build: two builds with one digest
/// give the same verdicts.
pub(crate) const BUILD: &str = env!("SILICON_BUILD");

/// Returns the version of the solver that is linked: a verdict may depend on it.
pub fn solver_version() -> &'static str {
    smt::prover::version()
}
