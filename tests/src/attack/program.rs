//! A method that must not verify, and the run that shows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use sil::source::Name;

use crate::concrete::{Declarations, Run, State, Stuck, Value, statements};

/// What a run does next.
#[derive(Clone, Debug)]
pub enum Step {
    /// A statement of the program.
    Statement(String),
    /// Somebody else writes a field of which the method holds nothing.
    Change { object: u32, field: Name, value: Value },
}

/// A parameter of the method.
#[derive(Clone, Debug)]
pub struct Formal {
    pub name: String,
    pub ty: &'static str,
}

/// A program with the run of its last method that reaches its last statement, `assert false`.
#[derive(Clone)]
pub struct Attack {
    /// The members before the method.
    pub(super) members: String,
    pub(super) declarations: Arc<Declarations>,
    pub(super) formals: Vec<Formal>,
    /// Where the run starts: with values for the parameters and all fields.
    pub(super) start: State,
    /// As many of the first steps are the precondition.
    pub(super) required: usize,
    pub(super) steps: Vec<Step>,
}

/// The name of the method.
pub const METHOD: &str = "run";

/// What a run must get to, and no proof.
pub const PROBE: &str = "assert false";

impl Attack {
    /// The program.
    pub fn text(&self) -> String {
        let formals: Vec<_> =
            self.formals.iter().map(|one| format!("{}: {}", one.name, one.ty)).collect();
        let mut text = format!("{}\nmethod {METHOD}({})\n", self.members, formals.join(", "));
        let (first, rest) = self.steps.split_at(self.required);
        for step in first {
            if let Step::Statement(statement) = step {
                let assertion = statement.strip_prefix("inhale ").unwrap_or("true");
                text.push_str(&format!("  requires {assertion}\n"));
            }
        }
        text.push_str("{\n");
        for step in rest {
            if let Step::Statement(statement) = step {
                for line in statement.lines() {
                    text.push_str(&format!("  {line}\n"));
                }
            }
        }
        text + "  " + PROBE + "\n}\n"
    }

    /// The lines of a text on which a probe stands, counted from 1.
    pub fn probes(text: &str) -> BTreeSet<u32> {
        let lines = text.lines().zip(1..);
        lines.filter(|(line, _)| line.contains(PROBE)).map(|(_, number)| number).collect()
    }

    /// The attack without the steps at some lines of its text, and without those that need them.
    pub fn without(&self, lines: &[u32]) -> Self {
        let mut line = self.members.lines().count() as u32 + 3;
        let mut left = Self { steps: Vec::new(), required: 0, ..self.clone() };
        let mut run = Run::new(&self.declarations, self.start.clone());
        for (index, step) in self.steps.iter().enumerate() {
            if index == self.required {
                run.enter();
                line += 1;
            }
            let length = match step {
                Step::Statement(_) if index < self.required => 1,
                Step::Statement(text) => text.lines().count() as u32,
                Step::Change { .. } => 0,
            };
            let range = line..line + length;
            line += length;
            let before = run.clone();
            if lines.iter().any(|line| range.contains(line)) || step.execute(&mut run).is_err() {
                run = before;
                continue;
            }
            left.steps.push(step.clone());
            left.required += usize::from(index < self.required);
        }
        left
    }

    /// Runs the method to its end.
    ///
    /// # Errors
    /// Why the run does not get there.
    pub fn replay(&self) -> Result<(), Stuck> {
        let mut run = Run::new(&self.declarations, self.start.clone());
        for (index, step) in self.steps.iter().enumerate() {
            if index == self.required {
                run.enter();
            }
            step.execute(&mut run)?;
        }
        Ok(())
    }
}

impl Step {
    /// Goes on with a run.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) fn execute(&self, run: &mut Run<'_>) -> Result<(), Stuck> {
        match self {
            Self::Statement(text) => run.block(&statements(text)?),
            Self::Change { object, field, value } => {
                let totals = run.evaluator().totals(&run.state.heap)?;
                if totals.contains_key(&(*object, field.clone())) {
                    return Err(Stuck("somebody else writes what is held".into()));
                }
                run.state.heap.set_value(*object, field, value.clone());
                Ok(())
            }
        }
    }
}
