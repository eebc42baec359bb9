//! Looks for a run that ends with a failure that is expected: one that a prover has a counterexample for.
//!
//! First come starts that follow the counterexample, as it may be of the state that matters; then others, as it may be
//! of one that no execution reaches. A run that is found is a real one, whatever led to it.

use crate::code::Code;
use crate::generate::{Bounds, Found, Model, Order, StartText, Starts};
use crate::machine::{Assume, Config, Undefined};
use crate::run::{Failure, Scheduling, Verdict, run};

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Starts that follow the model.
    pub following: u64,
    /// Other starts.
    pub others: u64,
    /// Statements that a thread may execute.
    pub steps: u64,
    /// Contradictions in a row that end the search for a start.
    pub patience: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { following: 40, others: 400, steps: 10_000, patience: 1_000 }
    }
}

/// A run that ends with the failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How many statements were executed.
    pub steps: u64,
    /// How many threads there were.
    pub threads: usize,
    /// The start, in words.
    pub start: String,
    /// What leads to the run again.
    pub again: StartText,
}

/// What came of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// Such a run.
    Replayed(Box<Replayed>),
    /// None of so many runs ended like that.
    NotReproduced(u64),
    /// The method could not be started at all.
    NoStart,
}

/// Looks for a run of a method that ends with a failure.
pub fn replay(
    code: &Code,
    method: u32,
    model: &Model,
    limits: Limits,
    is_wanted: impl Fn(&Failure) -> bool,
) -> Search {
    let mut runs = 0;
    for (model, count) in [(Some(model), limits.following), (None, limits.others)] {
        let config = Config {
            undefined: Undefined::Choose,
            assume: Assume::Discard,
            steps: limits.steps,
            visible_steps: 2_000,
            ..Config::default()
        };
        let mut starts = Starts::new(code, method, config, Bounds::default(), Order::Random(0));
        starts.patience = limits.patience;
        if let Some(model) = model {
            starts = starts.following(model.clone());
        }
        while starts.found < count {
            let Found::Start(mut machine) = starts.next_start() else { break };
            runs += 1;
            let scheduling = match starts.found {
                1 => Scheduling::First,
                number => Scheduling::Seed(number),
            };
            let start = machine.start_text();
            let outcome = run(&mut machine, &scheduling);
            let is_found = outcome.verdict == Verdict::Failed
                && outcome.failure.as_ref().is_some_and(&is_wanted);
            if is_found {
                return Search::Replayed(Box::new(Replayed {
                    steps: outcome.counts.steps,
                    threads: machine.threads.len(),
                    start,
                    again: starts.text_of(&machine),
                }));
            }
            starts.go_on(&machine);
        }
    }
    if runs == 0 { Search::NoStart } else { Search::NotReproduced(runs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::ModelValue;
    use crate::sources::Sources;

    const TEXT: &str = "class Node { var next: Node; var value: int;
      method far(n: int) requires acc(next) && (next != null ==> acc(next.value)) && 0 <= n
      { assert next == null || n < 2 || 1000 < n || next.value * n != 63791 }
      method never(n: int) requires n < n { assert false }
      method right(n: int) { assert n == n } }";

    fn searched(method: &str, model: &Model) -> Search {
        let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
        let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
        let method = code.method(method).expect("there is such a method");
        replay(&code, method, model, Limits::default(), |failure| {
            failure.id == "assert.failed:assertion.false"
        })
    }

    #[test]
    fn a_start_follows_its_model() {
        let field =
            |object, name: &str, value| ((object, "Node".to_owned(), name.to_owned()), value);
        let model = Model {
            receiver: Some(3),
            arguments: [("n".to_owned(), ModelValue::Int(7))].into(),
            fields: [
                field(3, "next", ModelValue::Object(5)),
                field(5, "value", ModelValue::Int(9113)),
            ]
            .into(),
        };
        let Search::Replayed(found) = searched("Node.far", &model) else { panic!("not found") };
        assert!(found.start.contains("n = 7"), "{}", found.start);
        assert_eq!(found.threads, 1);
        // The same decisions lead there once more.
        let again = StartText::parse(&found.again.to_string()).expect("it is a start");
        let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
        let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
        let method = code.method("Node.far").expect("there is such a method");
        let config = Config { undefined: Undefined::Choose, ..Config::default() };
        let starts = Starts::new(&code, method, config, Bounds::default(), Order::All);
        let Found::Start(mut machine) = starts.from_text(&again).next_start() else {
            panic!("no start")
        };
        let outcome = run(&mut machine, &Scheduling::First);
        assert_eq!(outcome.verdict, Verdict::Failed);
        assert_eq!(outcome.counts.steps, found.steps);
    }

    #[test]
    fn what_does_not_happen_is_not_found() {
        let nothing = Model::default();
        assert_eq!(searched("Node.far", &nothing), Search::NotReproduced(440));
        assert_eq!(searched("Node.right", &nothing), Search::NotReproduced(440));
        assert_eq!(searched("Node.never", &nothing), Search::NoStart);
    }
}
