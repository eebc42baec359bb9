//! Findings of the front end, independent of how they are shown.

use crate::source::Span;

/// What kind of finding a [`Diagnostic`] is; its text form is the stable id that tests match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Code {
    ParserError,
    ParserWarning,
    TypecheckerError,
    TypecheckerWarning,
    ConsistencyError,
    VerifierWarning,
}

impl Code {
    /// The id of the error, as in `parser.error`.
    pub fn id(self) -> &'static str {
        match self {
            Self::ParserError => "parser.error",
            Self::ParserWarning => "parser.warning",
            Self::TypecheckerError => "typechecker.error",
            Self::TypecheckerWarning => "typechecker.warning",
            Self::ConsistencyError => "consistency.error",
            Self::VerifierWarning => "verifier.warning",
        }
    }

    /// Whether the program may still be verified.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::ParserWarning | Self::TypecheckerWarning | Self::VerifierWarning)
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub message: String,
    pub span: Span,
    /// Further places, each with what it has to do with the finding.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, related: Vec::new() }
    }

    /// Adds a further place.
    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }
}
