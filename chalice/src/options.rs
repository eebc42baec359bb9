//! Options that a program asks for in its first line, as `// chalice-parameter=-checkLeaks
//! -defaults`.
//!
//! They are those of the original verifier that change what a program means. Words it does not know
//! are ignored: the original has others, about its own working.

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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            defaults: 0,
            auto_magic: false,
            check_leaks: false,
            deadlock_checks: true,
            termination: true,
        }
    }
}

impl Options {
    /// The options in the first line of a text.
    pub fn of(text: &str) -> Self {
        let mut options = Self::default();
        let first = text.lines().next().unwrap_or_default();
        let Some(words) = first
            .strip_prefix("//")
            .and_then(|comment| comment.trim_start().strip_prefix("chalice-parameter="))
        else {
            return options;
        };
        for word in words.split_whitespace() {
            options.note(word.trim_start_matches(['-', '/']));
        }
        options.auto_magic |= options.defaults >= 3;
        options
    }

    fn note(&mut self, word: &str) {
        let (name, level) = word.split_once(':').unwrap_or((word, ""));
        match name {
            "defaults" => self.defaults = level.parse().unwrap_or(3),
            "autoMagic" => self.auto_magic = true,
            "checkLeaks" => self.check_leaks = true,
            "noDeadlockChecks" => self.deadlock_checks = false,
            "noTermination" => self.termination = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_in_the_first_line() {
        let options =
            Options::of("// chalice-parameter=-checkLeaks -defaults -autoFold\nclass C {}");
        assert!(options.check_leaks && options.auto_magic && options.deadlock_checks);
        assert_eq!(options.defaults, 3);
        assert_eq!(Options::of("//chalice-parameter=-defaults:1").defaults, 1);
        assert_eq!(Options::of("\n// chalice-parameter=-checkLeaks"), Options::default());
    }
}
