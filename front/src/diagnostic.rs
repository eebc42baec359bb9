use std::fmt;

/// The kind of a [`Diagnostic`]; its text form is the stable id that tests match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Code {
    /// The text is no program of the language.
    ParserError,
    /// The text has a form that is better not used.
    ParserWarning,
    /// Names or types do not fit.
    TypecheckerError,
    /// The program is accepted, but probably says something else than it seems to.
    TypecheckerWarning,
    /// Names and types fit, and a rule on where something may stand is broken.
    ConsistencyError,
    /// The program is verified, but something in it has no effect, or not the expected one.
    VerifierWarning,
}

impl Code {
    /// Returns the id of the finding, as in `parser.error`.
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

    /// Tells whether the program may still be verified.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::ParserWarning | Self::TypecheckerWarning | Self::VerifierWarning)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// One finding of a front end, independent of how it is shown. `S` is the language's type of spans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic<S> {
    /// The kind of the finding; stable, unlike the message.
    pub code: Code,
    /// One sentence in the user's terms.
    pub message: String,
    /// Where.
    pub span: S,
    /// Further places, each with what it has to do with the finding.
    pub related: Vec<(S, String)>,
}

impl<S> Diagnostic<S> {
    /// Returns a finding without further places.
    pub fn new(code: Code, span: S, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, related: Vec::new() }
    }

    /// Adds a further place.
    #[must_use]
    pub fn with_related(mut self, span: S, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }

    /// Does this finding reject the program?
    pub fn is_error(&self) -> bool {
        !self.code.is_warning()
    }
}
