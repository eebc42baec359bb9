//! Findings of the front end about a program.

pub use front::Code;

use crate::source::Span;

/// A finding, independent of how it is shown.
pub type Diagnostic = front::Diagnostic<Span>;
