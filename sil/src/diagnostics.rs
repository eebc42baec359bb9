//! Findings of the front end, independent of how they are shown.

pub use front::Code;

use crate::source::Span;

/// One finding.
pub type Diagnostic = front::Diagnostic<Span>;
