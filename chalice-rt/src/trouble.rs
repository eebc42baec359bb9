//! The reasons that end a run.

use std::fmt::Display;

use crate::flaw::Flaw;

/// A place in the program: the number of its file, line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct At {
    /// The file, counted from 0.
    pub file: u16,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

/// Returns a place.
pub const fn at(file: u16, line: u32, column: u32) -> At {
    At { file, line, column }
}

/// A failed check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind, where it is known: an id of findings.
    pub kind: Option<&'static str>,
    /// The reason: an id of findings.
    pub reason: &'static str,
    /// The part that fails.
    pub at: At,
    /// The clause or statement to blame instead.
    pub clause: Option<At>,
    /// The fault, in words.
    pub words: String,
}

impl Fault {
    /// Returns a fault, about names and numbers.
    pub fn new(flaw: Flaw, at: At, about: &[&dyn Display]) -> Self {
        let (kind, reason) = (flaw.kind(), flaw.reason());
        Self { kind, reason, at, clause: None, words: flaw.words(about) }
    }

    /// Returns the place to be blamed.
    pub fn place(&self) -> At {
        self.clause.unwrap_or(self.at)
    }
}

/// The reason that ends an evaluation or a statement before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A check failed.
    Fault(Fault),
    /// An assumption does not hold.
    Assumption(At),
    /// Something cannot be executed: its id.
    Unknown(&'static str, At),
    /// Something is beyond what can be kept or followed.
    Bound(&'static str, At),
    /// A receiver did not get what was given: a defect.
    Inconsistent(&'static str, At),
    /// The run is over, because of another thread.
    Over,
}

/// The result of an evaluation.
pub type Res<T> = Result<T, Box<Trouble>>;

impl From<Fault> for Box<Trouble> {
    fn from(fault: Fault) -> Self {
        Self::new(Trouble::Fault(fault))
    }
}

/// Returns a failed check as an error.
///
/// # Errors
/// Always.
pub fn fail<T>(flaw: Flaw, at: At, about: &[&dyn Display]) -> Res<T> {
    Err(Fault::new(flaw, at, about).into())
}
