//! Options that a program asks for in its first line, as `// chalice-parameter=-checkLeaks
//! -defaults`, and those that a command line adds.
//!
//! They are those of the original verifier that change what a program means, and `-dialect`, for
//! the rules on which the original and a later translation to SIL (seed 003) differ. The original
//! has others, about its own working: they are warned about.

use hints::spelling::Spelling;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The names of all options.
const NAMES: [&str; 6] =
    ["defaults", "autoMagic", "checkLeaks", "noDeadlockChecks", "noTermination", "dialect"];

/// An option that the original's last version takes and ignores.
const IGNORED: &str = "autoFold";

/// How a program is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `-defaults:n`: from 1 on, predicates of `this` in a contract are opened in the body it
    /// belongs to; from 3 on (and for the bare word), `autoMagic` as well.
    pub defaults: u32,
    /// `-autoMagic`: contracts and predicates also ask for what they read.
    pub auto_magic: bool,
    /// `-checkLeaks`: methods and loops have to give all permission away.
    pub check_leaks: bool,
    /// Not `-noDeadlockChecks`: what is acquired has to be above `waitlevel`.
    pub deadlock_checks: bool,
    /// Not `-noTermination`: recursive functions have to end.
    pub termination: bool,
    /// `-dialect:original` or `-dialect:thesis`.
    pub dialect: Dialect,
}

/// The verifier of Chalice whose rules hold where two verifiers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The rules of the original verifier: a loop has a read fraction of its own, and a level that
    /// has only upper bounds may be below the wait level.
    #[default]
    Original,
    /// The rules of the translation to SIL: `rd` in a loop invariant is the amount of the method,
    /// and a level without lower bounds is above the wait level (seed 003, section 3.4.1).
    Thesis,
}

impl Dialect {
    fn of(name: &str) -> Option<Self> {
        match name {
            "original" => Some(Self::Original),
            "thesis" => Some(Self::Thesis),
            _ => None,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            defaults: 0,
            auto_magic: false,
            check_leaks: false,
            deadlock_checks: true,
            termination: true,
            dialect: Dialect::Original,
        }
    }
}

impl Options {
    /// Returns the options in the first line of a text, and the words that are asked for beside it.
    pub fn of(text: &str, asked: &[String]) -> Self {
        let mut options = Self::default();
        let written = words(text).map(|(_, word)| word);
        for word in written.chain(asked.iter().map(String::as_str)) {
            options.note(word);
        }
        options.auto_magic |= options.defaults >= 3;
        options
    }

    fn note(&mut self, word: &str) {
        let (name, level) = parts(word);
        match name {
            "defaults" => self.defaults = level.parse().unwrap_or(3),
            "autoMagic" => self.auto_magic = true,
            "checkLeaks" => self.check_leaks = true,
            "noDeadlockChecks" => self.deadlock_checks = false,
            "noTermination" => self.termination = false,
            "dialect" => self.dialect = Dialect::of(level).unwrap_or_default(),
            _ => {}
        }
    }

    /// Says what is taken for granted with these options, in words.
    pub fn trusted(&self) -> impl Iterator<Item = &'static str> {
        let deadlocks = (!self.deadlock_checks)
            .then_some("that locks are acquired in an order without deadlocks (-noDeadlockChecks)");
        let ends = (!self.termination).then_some("that functions end (-noTermination)");
        deadlocks.into_iter().chain(ends)
    }
}

/// Takes an option of a command line.
///
/// # Errors
/// There is no such option; what may be meant.
pub fn parse(word: &str) -> Result<String, String> {
    let (name, level) = parts(word);
    if name == IGNORED {
        return Err(format!("the original ignores `-{name}`, too; `fold` makes a predicate"));
    }
    if !NAMES.contains(&name) {
        let meant = Spelling::default().question(name, NAMES);
        return Err(format!("Chalice has no option `-{name}`{meant}"));
    }
    let is_level = match name {
        "defaults" => level.is_empty() || level.parse::<u32>().is_ok(),
        "dialect" => Dialect::of(level).is_some(),
        _ => level.is_empty(),
    };
    if !is_level {
        return Err(format!("`{level}` is no value of `-{name}`"));
    }
    Ok(word.to_owned())
}

/// Warns about words in the first line that are no options.
pub(crate) fn unknown(text: &str) -> Vec<Diagnostic> {
    let warning = |(at, word): (usize, &str)| {
        let problem = parse(word).err()?;
        let span = Span::new(at, at + word.len());
        let message = format!("this has no effect: {problem}");
        Some(Diagnostic::new(Code::ParserWarning, span, message))
    };
    words(text).filter_map(warning).collect()
}

/// Returns the words of the first line, with where they stand.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let first = text.lines().next().unwrap_or_default();
    let words = first
        .strip_prefix("//")
        .and_then(|comment| comment.trim_start().strip_prefix("chalice-parameter="))
        .unwrap_or_default();
    let at = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    words.split_whitespace().map(move |word| (at(word), word))
}

/// Returns the name of an option, and its level.
fn parts(word: &str) -> (&str, &str) {
    let word = word.trim_start_matches(['-', '/']);
    word.split_once(':').unwrap_or((word, ""))
}
