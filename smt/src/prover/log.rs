//! What the prover is told, as a script that Z3 can replay.

use std::io::Write;

use super::raw::Setting;

/// A script being written, or nothing.
#[derive(Default)]
pub(super) struct Log(Option<Box<dyn Write>>);

impl Log {
    pub(super) fn new(sink: Option<Box<dyn Write>>) -> Log {
        Log(sink)
    }

    /// Whether a script is written at all: making the text of a formula is not free.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn header(&mut self, settings: &[(&str, Setting)]) {
        // Symbols are declared where they are first used, and stay declared when the scope is left.
        self.line("(set-option :global-declarations true)");
        self.settings(settings);
    }

    /// Options of Z3.
    pub(super) fn settings(&mut self, settings: &[(&str, Setting)]) {
        for (name, setting) in settings {
            // Through the interface the parameters of the kernel have no prefix.
            let prefix = if matches!(*name, "auto_config" | "model") { "" } else { "smt." };
            let value = match setting {
                Setting::Bool(value) => value.to_string(),
                Setting::Uint(value) => value.to_string(),
            };
            self.line(&format!("(set-option :{prefix}{name} {value})"));
        }
    }

    /// Appends a line. A sink that cannot be written to is dropped; verification goes on.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(sink) = &mut self.0
            && writeln!(sink, "{line}").is_err()
        {
            self.0 = None;
        }
    }

    /// Asks, with all that was said before on disk: if this question has no end, the script shows what it was.
    pub(super) fn check(&mut self) {
        self.line("(check-sat)");
        if let Some(sink) = &mut self.0
            && sink.flush().is_err()
        {
            self.0 = None;
        }
    }

    pub(super) fn declare_sort(&mut self, name: &str) {
        if self.is_on() {
            self.line(&format!("(declare-sort |{name}| 0)"));
        }
    }

    pub(super) fn declare_function(&mut self, name: &str, args: &[z3::Sort], result: &z3::Sort) {
        if self.is_on() {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            self.line(&format!("(declare-fun |{name}| ({}) {result})", args.join(" ")));
        }
    }
}
