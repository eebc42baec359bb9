//! Replays errors of Chalice programs: looks for a run of the method that goes wrong where the verifier says so.
//!
//! A counterexample is a state that the solver could not exclude; a run that fails is a fact. So the method is started in
//! states that its precondition describes, first in those that the counterexample speaks of
//! ([`chalice_run::replay`]). What is found is the best hint about what to change: the code or its contract. If nothing
//! is found, it may be that the contract of a callee or an invariant says too little, or that the prover gave up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chalice_run::code::Code;
use chalice_run::generate::{Model, ModelValue};
use chalice_run::replay::{Limits, Search, replay};
use chalice_run::sources::Sources;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sil::render::{Severity, Texts};

use super::outcome::Diagnostic;
use crate::report::{Counterexample, Location, Value};

/// What came of replaying an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Replay {
    /// A run goes wrong as the error says.
    Whole {
        /// Statements executed.
        steps: u64,
        threads: usize,
        /// The state it starts in, in words.
        start: String,
        /// Arguments of `chalice-run` that lead to the run again.
        again: String,
    },
    /// No run was found that does.
    None {
        /// How many were tried.
        runs: u64,
    },
}

impl Replay {
    /// As a remark beside the error.
    pub fn words(&self) -> String {
        match self {
            Self::Whole { steps, threads, start, again } => {
                let threads =
                    if *threads == 1 { String::new() } else { format!(", {threads} threads") };
                format!(
                    "replayed: {steps} steps{threads}, start: {start}; run it again with chalice-run {again}"
                )
            }
            Self::None { runs: 0 } => {
                "not reproduced: no state was found that the precondition describes".to_owned()
            }
            Self::None { runs } => {
                format!("not reproduced: none of {runs} runs goes wrong here")
            }
        }
    }
}

/// A Chalice program whose errors are replayed.
pub(super) struct Replayer {
    file: String,
    sources: Sources,
    code: Code,
    fields: Vec<chalice2sil::FieldName>,
    /// What is known already: a member is reported when it is through, and once more at the end.
    known: Mutex<Vec<(Diagnostic, Replay)>>,
}

impl Replayer {
    /// `None`: it is no Chalice program without errors.
    pub(super) fn new(file: &str, texts: &Texts) -> Option<Self> {
        let text = texts.get(file)?;
        let sources = Sources::new(vec![(file.to_owned(), text.text.to_string())]);
        let program = sources.check().0?;
        let fields = chalice2sil::field_names(&program);
        let code = Code::new(program, sources.options());
        Some(Self { file: file.to_owned(), sources, code, fields, known: Mutex::default() })
    }

    /// What comes of running the method that an error is in.
    pub(super) fn replay(&self, diagnostic: &Diagnostic) -> Option<Replay> {
        if diagnostic.message.severity != Severity::Error {
            return None;
        }
        let method = self.code.method(diagnostic.member.as_deref()?)?;
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, replay)) = known().iter().find(|(other, _)| other == diagnostic) {
            return Some(replay.clone());
        }
        let replay = self.search(diagnostic, method);
        known().push((diagnostic.clone(), replay.clone()));
        Some(replay)
    }

    fn search(&self, diagnostic: &Diagnostic, method: u32) -> Replay {
        let model = diagnostic.counterexample.as_ref();
        let model = model.map(|model| model_of(model, &self.fields)).unwrap_or_default();
        let line = diagnostic.message.place.start.line as usize;
        let id = &diagnostic.message.id;
        let search = replay(&self.code, method, &model, Limits::default(), |failure| {
            failure.id == *id && self.sources.line(failure.span) == line
        });
        match search {
            Search::Replayed(found) => Replay::Whole {
                steps: found.steps,
                threads: found.threads,
                start: found.start,
                again: format!(
                    "{} --entry {} --start {}",
                    self.file, self.code.methods[method as usize].name, found.again
                ),
            },
            Search::NotReproduced(runs) => Replay::None { runs },
            Search::NoStart => Replay::None { runs: 0 },
        }
    }
}

/// The state at the start of the method, as far as a counterexample knows it. Of what was not written, what is found at
/// the error is what was there.
fn model_of(known: &Counterexample, names: &[chalice2sil::FieldName]) -> Model {
    let mut model = Model::default();
    for variable in &known.variables {
        match (variable.name.as_str(), &variable.value) {
            ("this", Value::Reference(number)) => model.receiver = Some(*number as u32),
            (name, value) => {
                model.arguments.extend(value_of(value).map(|value| (name.to_owned(), value)));
            }
        }
    }
    let names: BTreeMap<&str, &chalice2sil::FieldName> =
        names.iter().map(|one| (one.translated.as_str(), one)).collect();
    for Location { field, value, .. } in known.heap.iter().chain(&known.old) {
        let (Some((Value::Reference(object), field)), Some(value)) = (field, value) else {
            continue;
        };
        let (Some(name), Some(value)) = (names.get(field.as_str()), value_of(value)) else {
            continue;
        };
        let place = (*object as u32, name.class.clone(), name.field.clone());
        model.fields.insert(place, value);
    }
    model
}

fn value_of(value: &Value) -> Option<ModelValue> {
    Some(match value {
        Value::Bool(truth) => ModelValue::Bool(*truth),
        Value::Int(number) => ModelValue::Int(number.to_i64()?),
        Value::Null => ModelValue::Null,
        Value::Reference(number) => ModelValue::Object(*number as u32),
        Value::Sequence { elements, length } if elements.len() == *length => {
            let elements: Option<Vec<_>> = elements.iter().map(value_of).collect();
            ModelValue::Elements(elements?)
        }
        Value::Sequence { .. } | Value::Other(_) => return None,
    })
}
