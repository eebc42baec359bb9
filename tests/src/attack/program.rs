//! A method that must not verify, and the run that shows it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use sil::source::Name;

use crate::concrete::{Declarations, Run, State, Stuck, Value};

/// The next step of a run.
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
    /// The step only decides one branch.
    pub decides: bool,
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
    /// The number of the first steps that are the precondition.
    pub(super) required: usize,
    pub(super) steps: Vec<Step>,
}

/// The name of the method.
pub const METHOD: &str = "run";

/// The statement that a run reaches and no proof may pass.
pub const PROBE: &str = "assert false";

impl Attack {
    /// The program.
    pub fn text(&self) -> String {
        self.layout().0
    }

    /// The program, and on which of its lines each step stands.
    fn layout(&self) -> (String, Vec<Range<u32>>) {
        let formals: Vec<_> =
            self.formals.iter().map(|one| format!("{}: {}", one.name, one.ty)).collect();
        let mut text = format!("{}\nmethod {METHOD}({})\n", self.members, formals.join(", "));
        let mut line = 1 + text.lines().count() as u32;
        let mut ranges = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            if index == self.required {
                text.push_str("{\n");
                line += 1;
            }
            let start = line;
            if let Step::Statement(statement) = step {
                if index < self.required {
                    let assertion = statement.strip_prefix("inhale ").unwrap_or("true");
                    text.push_str(&format!("  requires {assertion}\n"));
                    line += 1;
                } else {
                    for one in statement.lines() {
                        text.push_str(&format!("  {one}\n"));
                        line += 1;
                    }
                }
            }
            ranges.push(start..line);
        }
        if self.steps.len() <= self.required {
            text.push_str("{\n");
        }
        text.push_str(&format!("  {PROBE}\n}}\n"));
        (text, ranges)
    }

    /// The lines of a text on which a probe stands, counted from 1.
    pub fn probes(text: &str) -> BTreeSet<u32> {
        let lines = text.lines().zip(1..);
        lines.filter(|(line, _)| line.contains(PROBE)).map(|(_, number)| number).collect()
    }

    /// The attack without the steps at some lines of its text, and without those that need them.
    pub fn without(&self, lines: &[u32]) -> Self {
        let (_, ranges) = self.layout();
        let mut left = Self { steps: Vec::new(), required: 0, ..self.clone() };
        let mut run = Run::new(&self.declarations, self.start.clone());
        for (index, (step, range)) in self.steps.iter().zip(ranges).enumerate() {
            if index == self.required {
                run.enter();
            }
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

    /// The lines of the text with probes that some run gets to: the last one, and those that it
    /// gets to if one of the Boolean parameters that only decide branches has the other value.
    pub fn reached(&self) -> BTreeSet<u32> {
        let (text, ranges) = self.layout();
        let mut lines = BTreeSet::new();
        if self.replay().is_ok() {
            // Behind the last statement comes a brace.
            lines.insert(text.lines().count() as u32 - 1);
        }
        for formal in self.formals.iter().filter(|one| one.decides) {
            let mut start = self.start.clone();
            let Some(Value::Bool(value)) = start.store.get_mut(&*formal.name) else { continue };
            *value = !*value;
            let mut run = Run::new(&self.declarations, start);
            for (index, step) in self.steps.iter().enumerate() {
                if index == self.required {
                    run.enter();
                }
                if step.execute(&mut run).is_err() {
                    if let Some(line) = run.failed_assertion() {
                        let line = ranges[index].start + line;
                        let is_probe = |text: &str| text.contains(PROBE);
                        if text.lines().nth(line as usize - 1).is_some_and(is_probe) {
                            lines.insert(line);
                        }
                    }
                    break;
                }
            }
        }
        lines
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
            Self::Statement(text) => run.text(text),
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
