//! The input of the prover, as a script that Z3 can replay.

use std::io::Write;

use super::Budget;
use super::raw::Setting;

/// A script being written, or nothing.
#[derive(Default)]
pub(super) struct Log {
    sink: Option<Box<dyn Write>>,
    /// The options and declarations that were written; they hold in all scopes.
    preamble: Vec<String>,
}

impl Log {
    pub(super) fn new(sink: Option<Box<dyn Write>>) -> Log {
        Log { sink, ..Log::default() }
    }

    /// Tells whether a script is written. Making the text of a formula costs time.
    pub(super) fn is_on(&self) -> bool {
        self.sink.is_some()
    }

    pub(super) fn header(&mut self, settings: &[(&str, Setting)]) {
        // Symbols are declared where they are first used, and stay declared when the scope is left.
        self.declare("(set-option :global-declarations true)".to_owned());
        self.settings(settings);
    }

    /// Writes options of Z3.
    pub(super) fn settings(&mut self, settings: &[(&str, Setting)]) {
        for (name, setting) in settings {
            // Through the interface the parameters of the kernel have no prefix.
            let prefix = if matches!(*name, "auto_config" | "model") { "" } else { "smt." };
            let value = match setting {
                Setting::Bool(value) => value.to_string(),
                Setting::Uint(value) => value.to_string(),
            };
            self.declare(format!("(set-option :{prefix}{name} {value})"));
        }
    }

    /// Appends an option or a declaration, which holds from now on.
    pub(super) fn declare(&mut self, line: String) {
        if self.is_on() {
            self.line(&line);
            self.preamble.push(line);
        }
    }

    /// Starts again without scopes and formulas. After a question that a limit cut off, a solver
    /// that replays the script takes nothing more ("push canceled"). So a new one starts, and hears
    /// everything again.
    pub(super) fn restart(&mut self) {
        if self.is_on() {
            self.line("(reset)");
            let preamble = std::mem::take(&mut self.preamble);
            for line in &preamble {
                self.line(line);
            }
            self.preamble = preamble;
        }
    }

    /// Appends a line. A sink that cannot be written to is dropped; verification goes on.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(sink) = &mut self.sink
            && writeln!(sink, "{line}").is_err()
        {
            self.sink = None;
        }
    }

    /// Asks. All earlier commands are written to disk first, so that the script shows a question
    /// that never ends. The limits concern this question alone, since Z3 would also count the steps
    /// of assertions.
    pub(super) fn check(&mut self, budget: Budget) {
        if self.is_on() {
            let conflicts = if budget.conflicts == 0 { u32::MAX } else { budget.conflicts };
            self.line(&format!("(set-option :smt.max_conflicts {conflicts})"));
            self.line(&format!("(set-option :rlimit {})", budget.resources));
            self.line("(check-sat)");
            self.line("(set-option :rlimit 0)");
        }
        if let Some(sink) = &mut self.sink
            && sink.flush().is_err()
        {
            self.sink = None;
        }
    }

    pub(super) fn declare_sort(&mut self, name: &str) {
        if self.is_on() {
            self.declare(format!("(declare-sort |{name}| 0)"));
        }
    }

    pub(super) fn declare_function(&mut self, name: &str, args: &[z3::Sort], result: &z3::Sort) {
        if self.is_on() {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            self.declare(format!("(declare-fun |{name}| ({}) {result})", args.join(" ")));
        }
    }
}
