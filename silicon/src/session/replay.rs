//! Replays errors of Chalice programs: looks for a run of the method that goes wrong where the verifier says so.
//!
//! A counterexample is a state that the solver could not exclude; a run that fails is a fact. So the method is started in
//! states that its precondition describes, first in those that the counterexample speaks of
//! ([`chalice_run::replay`]). What is found is the best hint about what to change: the code or its contract. If nothing
//! is found, the contract of a callee or an invariant may say too little: then a run that goes on from what contracts
//! allow goes wrong, and those contracts are blamed. Otherwise the prover may have given up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chalice_run::code::Code;
use chalice_run::generate::{Model, ModelValue};
use chalice_run::replay::{Blame, Contract, Limits, Replayed, Search, replay};
use chalice_run::sources::Sources;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sil::render::{Place, Severity, Texts};
use sil::source::LineColumn;

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
    /// A run does that goes on from what contracts allow, and not from what the code at hand does.
    Contract {
        /// Statements executed.
        steps: u64,
        threads: usize,
        /// The state it starts in, in words.
        start: String,
        /// The contracts that allow it.
        blame: Vec<TooWeak>,
        /// Arguments of `chalice-run` that lead to the run again.
        again: String,
    },
    /// No run was found that does.
    None {
        /// How many were tried.
        runs: u64,
    },
}

/// A contract that allows an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TooWeak {
    pub contract: ContractOf,
    /// Of the method, class or channel; of a loop, the method that it is in.
    pub name: String,
    /// Where the contract is.
    pub line: usize,
    /// The line of the statement that relies on it.
    pub used: usize,
}

/// What a contract belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContractOf {
    Method,
    Loop,
    Class,
    Channel,
}

impl TooWeak {
    /// As in `the postcondition of C.m (line 3, used in line 9)`.
    fn words(&self) -> String {
        let Self { name, line, used, .. } = self;
        match self.contract {
            ContractOf::Method => {
                format!("the postcondition of {name} (line {line}, used in line {used})")
            }
            ContractOf::Loop => format!("the invariant of the loop in line {line}"),
            ContractOf::Class => {
                format!("the invariant of {name} (line {line}, used in line {used})")
            }
            ContractOf::Channel => {
                format!("the where clause of {name} (line {line}, used in line {used})")
            }
        }
    }
}

impl Replay {
    /// As a remark beside the error.
    pub fn words(&self) -> String {
        match self {
            Self::Whole { steps, threads, start, again } => {
                let run = run_in_words(*steps, *threads, start);
                format!("replayed: {run}; run it again with chalice-run {again}")
            }
            Self::Contract { steps, threads, start, blame, again } => {
                let run = run_in_words(*steps, *threads, start);
                let blame: Vec<String> = blame.iter().map(TooWeak::words).collect();
                let allows = if blame.len() == 1 { "allows" } else { "allow" };
                let blame = blame.join(", and ");
                format!(
                    "replayed by contract: {run}; {blame} {allows} it; run it again with chalice-run {again}"
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

fn run_in_words(steps: u64, threads: usize, start: &str) -> String {
    let threads = if threads == 1 { String::new() } else { format!(", {threads} threads") };
    format!("{steps} steps{threads}, start: {start}")
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
        let place = &diagnostic.message.place;
        let id = &diagnostic.message.id;
        let search = replay(&self.code, method, &model, Limits::default(), |failure| {
            failure.id == *id && self.is_at(failure.span, place)
        });
        match search {
            Search::Replayed(found) => {
                let again = self.again(method, &found);
                let Replayed { steps, threads, start, .. } = *found;
                Replay::Whole { steps, threads, start, again }
            }
            Search::ByContract(found, blame) => {
                let sites: Vec<String> = blame.iter().map(|one| self.site(one.used)).collect();
                let again =
                    format!("{} --by-contract {}", self.again(method, &found), sites.join(","));
                let blame = blame.iter().map(|one| self.too_weak(method, one)).collect();
                let Replayed { steps, threads, start, .. } = *found;
                Replay::Contract { steps, threads, start, blame, again }
            }
            Search::NotReproduced(runs) => Replay::None { runs },
            Search::NoStart => Replay::None { runs: 0 },
        }
    }
}

impl Replayer {
    /// Is something at a place, or part of what is there, or what is there part of it? What stands beside it on the same
    /// line is something else.
    fn is_at(&self, span: chalice::Span, place: &Place) -> bool {
        let at = |offset| {
            let place = self.sources.place(offset);
            (place.line, place.column)
        };
        let of = |there: LineColumn| (there.line as usize, there.column as usize);
        let (start, end) = (at(span.start), at(span.end));
        let (first, last) = (of(place.start), of(place.end));
        start == first || (start < last && first < end)
    }

    fn again(&self, method: u32, found: &Replayed) -> String {
        let method = &self.code.methods[method as usize].name;
        format!("{} --entry {method} --start {}", self.file, found.again)
    }

    fn site(&self, span: chalice::Span) -> String {
        let place = self.sources.place(span.start);
        format!("{}:{}", place.line, place.column)
    }

    fn too_weak(&self, method: u32, blame: &Blame) -> TooWeak {
        let code = &self.code;
        let (contract, name, at) = match blame.contract {
            Contract::Method(callee) => {
                let callee = &code.methods[callee as usize];
                let first = callee.ensures.first().map_or(callee.span, |clause| clause.span);
                (ContractOf::Method, &callee.name, first)
            }
            Contract::Loop(at) => (ContractOf::Loop, &code.methods[method as usize].name, at),
            Contract::Class(class) => {
                let class = &code.classes[class as usize];
                let first = class.invariants.first().map_or(blame.used, |clause| clause.span);
                (ContractOf::Class, &class.name, first)
            }
            Contract::Channel(channel) => {
                let channel = &code.channels[channel as usize];
                let clause = channel.where_clause.as_ref();
                (ContractOf::Channel, &channel.name, clause.map_or(blame.used, |one| one.span))
            }
        };
        let line = |span| self.sources.line(span);
        TooWeak { contract, name: name.clone(), line: line(at), used: line(blame.used) }
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
    let places = known.heap.iter().map(|one| (one, true));
    for (Location { field, value, .. }, is_later) in
        places.chain(known.old.iter().map(|one| (one, false)))
    {
        let (Some((Value::Reference(object), field)), Some(value)) = (field, value) else {
            continue;
        };
        let (Some(name), Some(value)) = (names.get(field.as_str()), value_of(value)) else {
            continue;
        };
        let place = (*object as u32, name.class.clone(), name.field.clone());
        if is_later {
            model.later.insert(place.clone(), value.clone());
        }
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
