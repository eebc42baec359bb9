//! What the front end has to say about a program.

use std::fmt;

use crate::source::Span;

/// A finding, independent of how it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of finding it is; stable, unlike the message.
    pub code: Code,
    /// One sentence in the user's terms.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that explain it, each with a remark.
    pub related: Vec<(Span, String)>,
}

/// The kinds of finding of the front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The text is not an SPL program.
    ParserError,
    /// Names or types do not fit.
    TypecheckerError,
    /// The program is accepted, but probably says something else than it seems to.
    TypecheckerWarning,
}

impl Diagnostic {
    /// A finding without related places.
    pub fn error(code: Code, message: impl Into<String>, span: Span) -> Self {
        Self { code, message: message.into(), span, related: Vec::new() }
    }

    /// Adds a related place.
    #[must_use]
    pub fn with_related(mut self, span: Span, remark: impl Into<String>) -> Self {
        self.related.push((span, remark.into()));
        self
    }

    /// Does this finding reject the program?
    pub fn is_error(&self) -> bool {
        self.code != Code::TypecheckerWarning
    }
}

impl Code {
    /// The name test annotations use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ParserError => "parser.error",
            Self::TypecheckerError => "typechecker.error",
            Self::TypecheckerWarning => "typechecker.warning",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
