//! Replays errors of Chalice programs: looks for a run of the method that goes wrong where the
//! verifier says so.
//!
//! A counterexample is a state that the solver could not exclude; a run that fails is a fact. So
//! the method is started in states that its precondition describes, first in those that the
//! counterexample speaks of ([`chalice_run::replay`]). What is found is the best hint about what to
//! change: the code or its contract. If nothing is found, the contract of a callee or an invariant
//! may say too little: then a run that goes on from what contracts allow goes wrong, and those
//! contracts are blamed. Otherwise the prover may have given up.

use std::sync::{Arc, Mutex, PoisonError};

use chalice_run::amount::Rational;
use chalice_run::code::Code;
use chalice_run::generate::{
    Head, HeadText, Location as Place, Model, ModelValue, Share as Part, Unfit,
};
use chalice_run::replay::{Blame, Contract, Limits, NotFromLoop, Replayed, Search, replay};
use chalice_run::sources::Sources;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sil::render::{self, Severity, Texts};
use sil::source::LineColumn;

use super::input::Input;
use super::outcome::Diagnostic;
use symex::report::{Counterexample, Forgotten, HeapPlace, Location, Share, Value};

/// The result of replaying an error.
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
    /// A run does that starts at the head of a loop, in a state that its invariants allow.
    Segment {
        /// The line of the loop.
        line: usize,
        /// Statements executed.
        steps: u64,
        /// The state it starts in, in words.
        start: String,
        /// The contracts that allow it, the invariants of the loop first.
        blame: Vec<TooWeak>,
        /// Arguments of `chalice-run` that lead to the run again.
        again: String,
    },
    /// No run was found that does.
    None {
        /// How many were tried.
        runs: u64,
        /// The result of starting at the head of a loop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        segment: Option<NoSegment>,
    },
}

/// Why there is no run from the head of a loop on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoSegment {
    /// The line of the loop.
    pub line: usize,
    /// Why, in words.
    pub why: String,
}

/// A contract that allows an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TooWeak {
    pub contract: ContractOf,
    /// The name of the method, class or channel; for a loop, of its method.
    pub name: String,
    /// Where the contract is.
    pub line: usize,
    /// The line of the statement that relies on it.
    pub used: usize,
}

/// The owner of a contract.
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
                let blame = blame_in_words(blame);
                format!(
                    "replayed by contract: {run}; {blame}; run it again with chalice-run {again}"
                )
            }
            Self::Segment { line, steps, start, blame, again } => {
                let run = run_in_words(*steps, 1, start);
                let blame = blame_in_words(blame);
                format!(
                    "replayed from line {line}: {run}; {blame}; run it again with chalice-run {again}"
                )
            }
            Self::None { runs, segment } => {
                let tried = match runs {
                    0 => "no state was found that the precondition describes".to_owned(),
                    runs => format!("none of {runs} runs goes wrong here"),
                };
                let segment = segment.as_ref();
                let segment = segment
                    .map(|NoSegment { line, why }| format!("; not from line {line} on: {why}"));
                format!("not reproduced: {tried}{}", segment.unwrap_or_default())
            }
        }
    }
}

/// As in `the postcondition of C.m (line 3, used in line 9) allows it`.
fn blame_in_words(blame: &[TooWeak]) -> String {
    let words: Vec<String> = blame.iter().map(TooWeak::words).collect();
    let allows = if blame.len() == 1 { "allows" } else { "allow" };
    format!("{} {allows} it", words.join(", and "))
}

fn run_in_words(steps: u64, threads: usize, start: &str) -> String {
    let threads = if threads == 1 { String::new() } else { format!(", {threads} threads") };
    format!("{}{threads}, start: {start}", front::counted(steps, "step"))
}

/// A Chalice program whose errors are replayed.
pub(super) struct Replayer {
    file: String,
    sources: Sources,
    code: Code,
    fields: Vec<chalice2sil::FieldName>,
    /// The known results: a member is reported when it is through, and once more at the end.
    known: Mutex<Vec<(Diagnostic, Replay)>>,
}

impl Replayer {
    /// `None`: it is no Chalice program without errors.
    pub(super) fn new(input: &Input, texts: &Texts, is_direct: bool) -> Option<Self> {
        let file = input.name.as_str();
        let text = texts.get(file)?;
        let sources = Sources::new(vec![(file.to_owned(), text.text.to_string())])
            .with_options(input.parameters.clone());
        let program = sources.check().0?;
        let mut fields = chalice2sil::field_names(&program);
        if is_direct {
            with_own_names(&mut fields);
        }
        let code = Code::new(program, sources.options());
        Some(Self { file: file.to_owned(), sources, code, fields, known: Mutex::default() })
    }

    /// Replays an error by running its method.
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
        let known = diagnostic.counterexample.as_ref();
        let model = known.map(|known| model_of(known, &self.fields)).unwrap_or_default();
        let place = &diagnostic.message.place;
        let id = &diagnostic.message.id;
        let head = known.and_then(|known| known.forgotten.as_deref().map(|head| (known, head)));
        let head = head.map(|(known, head)| (head.line, self.head(method, known, head)));
        let start = head.as_ref().and_then(|(_, head)| head.as_ref().ok());
        let start = start.map(|(_, head)| Arc::new(head.clone()));
        let model = (&model, start.as_ref());
        let search = replay(&self.code, method, model, Limits::default(), |failure| {
            failure.id == *id && self.is_at(failure.span, place)
        });
        match search {
            Search::Replayed(found) => {
                let again = self.again(method, "", &found);
                let Replayed { steps, threads, start, .. } = *found;
                Replay::Whole { steps, threads, start, again }
            }
            Search::ByContract(found, blame) => {
                let again = self.again(method, "", &found) + &self.sites(&blame);
                let blame = blame.iter().map(|one| self.too_weak(method, one)).collect();
                let Replayed { steps, threads, start, .. } = *found;
                Replay::Contract { steps, threads, start, blame, again }
            }
            Search::FromLoop(found, blame) => {
                let text = head.and_then(|(_, head)| head.ok()).map(|(text, _)| text.to_string());
                let from = format!(" --from {}", text.unwrap_or_default());
                let again = self.again(method, &from, &found) + &self.sites(&blame[1..]);
                let blame: Vec<_> = blame.iter().map(|one| self.too_weak(method, one)).collect();
                let Replayed { steps, start, .. } = *found;
                Replay::Segment { line: blame[0].line, steps, start, blame, again }
            }
            Search::NotReproduced(runs, why) => {
                let segment = head.and_then(|(line, head)| {
                    let why = match (head, why) {
                        (Err(unfit), _) => unfit.to_string(),
                        (Ok(_), why) => self.not_from_loop(&why?),
                    };
                    Some(NoSegment { line, why })
                });
                Replay::None { runs, segment }
            }
            Search::NoStart => {
                let words = |(line, head): (usize, Result<_, NoHead>)| {
                    head.err().map(|unfit| NoSegment { line, why: unfit.to_string() })
                };
                Replay::None { runs: 0, segment: head.and_then(words) }
            }
        }
    }

    /// Returns the state at the head of a loop, or why no run can start in it.
    fn head(
        &self,
        method: u32,
        known: &Counterexample,
        head: &Forgotten,
    ) -> Result<(HeadText, Head), NoHead> {
        let text = head_text(known, head, &self.fields)?;
        let is_at = |span: chalice::Span| {
            let place = self.sources.place(span.start);
            (place.line, place.column) == text.place
        };
        let head = Head::new(&self.code, method, is_at, &text).map_err(NoHead::Unfit)?;
        Ok((text, head))
    }

    fn not_from_loop(&self, why: &NotFromLoop) -> String {
        match why {
            NotFromLoop::NoState(span) => {
                let words: Vec<&str> = self.sources.text(*span).split_whitespace().collect();
                let text = words.join(" ");
                format!("the solver's state there is none, as `{text}` does not hold in it")
            }
            NotFromLoop::NoContents => {
                "nothing was found that predicates contain in the solver's state there".to_owned()
            }
            NotFromLoop::NothingFails => {
                "in the solver's state there, nothing goes wrong".to_owned()
            }
            NotFromLoop::Other(failure) => {
                let line = self.sources.line(failure.span);
                format!(
                    "in the solver's state there, something else goes wrong first ({}, line {line})",
                    failure.id
                )
            }
        }
    }
}

impl Replayer {
    /// Is something at a place, or part of what is there, or what is there part of it? What stands
    /// beside it on the same line is something else.
    fn is_at(&self, span: chalice::Span, place: &render::Place) -> bool {
        let at = |offset| {
            let place = self.sources.place(offset);
            (place.line, place.column)
        };
        let of = |there: LineColumn| (there.line as usize, there.column as usize);
        let (start, end) = (at(span.start), at(span.end));
        let (first, last) = (of(place.start), of(place.end));
        start == first || (start < last && first < end)
    }

    fn again(&self, method: u32, from: &str, found: &Replayed) -> String {
        let method = &self.code.methods[method as usize].name;
        // From the head of a loop on there may be nothing to choose.
        let start = (from.is_empty() || !found.again.decisions.is_empty())
            .then(|| format!(" --start {}", found.again));
        format!("{} --entry {method}{from}{}", self.file, start.unwrap_or_default())
    }

    /// Returns the option that names the statements that rely on contracts, if there are any.
    fn sites(&self, blame: &[Blame]) -> String {
        let sites: Vec<String> = blame.iter().map(|one| self.site(one.used)).collect();
        let option = (!sites.is_empty()).then(|| format!(" --by-contract {}", sites.join(",")));
        option.unwrap_or_default()
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

/// Gives fields the names that they have in direct execution. Those of which there are several are
/// left out: nobody can say whose they are.
fn with_own_names(fields: &mut Vec<chalice2sil::FieldName>) {
    let names: Vec<String> = fields.iter().map(|one| one.field.clone()).collect();
    fields.retain(|one| names.iter().filter(|&name| *name == one.field).count() == 1);
    fields.iter_mut().for_each(|one| one.translated.clone_from(&one.field));
}

/// Returns the state at the start of the method, as far as a counterexample knows it. Of what was
/// not written, what is found at the error is what was there.
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
    let places = known.heap.iter().map(|one| (one, true));
    for (location, is_later) in places.chain(known.old.iter().map(|one| (one, false))) {
        let Some(value) = location.value.as_ref().and_then(value_of) else { continue };
        let Some(Place { object, class, name }) = place_of(location, names) else { continue };
        let place = (object, class, name);
        if is_later {
            model.later.insert(place.clone(), value.clone());
        }
        model.fields.insert(place, value);
    }
    model
}

/// Returns a location in the names of the program.
fn place_of(location: &Location, names: &[chalice2sil::FieldName]) -> Option<Place> {
    let (object, class, name) = match location.place.as_ref()? {
        HeapPlace::Field(Value::Reference(object), field) => {
            let field = names.iter().find(|one| one.translated == *field)?;
            (object, field.class.clone(), field.field.clone())
        }
        HeapPlace::Instance(arguments, name) => {
            let [Value::Reference(object)] = &arguments[..] else { return None };
            let (class, name) = name.split_once('.')?;
            (object, class.to_owned(), name.to_owned())
        }
        HeapPlace::Field(..) => return None,
    };
    Some(Place { object: *object as u32, class, name })
}

/// A state at the head of a loop in which no run can start.
#[derive(Debug, thiserror::Error)]
enum NoHead {
    #[error("more is held there than the solver's state describes")]
    More,
    #[error("the solver's state there does not say what `{0}` is")]
    Untold(String),
    #[error("how much of `{0}` is held there depends on read fractions")]
    OpenShare(String),
    #[error("{0}")]
    Unfit(Unfit),
}

/// Describes a counterexample's state at the head of a loop, where it says nothing else.
fn head_text(
    known: &Counterexample,
    head: &Forgotten,
    names: &[chalice2sil::FieldName],
) -> Result<HeadText, NoHead> {
    let untold = |what: &str| NoHead::Untold(what.to_owned());
    if head.has_more {
        return Err(NoHead::More);
    }
    let mut text = HeadText { place: (head.line, head.column), ..HeadText::default() };
    for variable in &head.variables {
        let value = value_of(&variable.value).ok_or_else(|| untold(&variable.name))?;
        text.variables.push((variable.name.clone(), value));
    }
    // Levels mean something to those who lock only, and who does is not started there.
    let is_level = |location: &&Location| matches!(&location.place, Some(HeapPlace::Field(_, name)) if name == chalice2sil::LEVEL);
    for location in head.heap.iter().filter(|location| !is_level(location)) {
        let untold = || untold(&location.location);
        let value = match &location.value {
            Some(value) => Some(value_of(value).ok_or_else(untold)?),
            None => None,
        };
        let place = place_of(location, names).ok_or_else(untold)?;
        let open = || NoHead::OpenShare(location.location.clone());
        let share = part_of(&location.share).ok_or_else(open)?;
        text.held.push((place, share, value));
    }
    for location in known.old.iter().filter(|location| !is_level(location)) {
        let Some(value) = &location.value else { continue };
        let untold = || untold(&format!("old({})", location.location));
        let value = value_of(value).ok_or_else(untold)?;
        text.old.push((place_of(location, names).ok_or_else(untold)?, value));
    }
    Ok(text)
}

fn part_of(share: &Share) -> Option<Part> {
    match share {
        Share::Number(number) => {
            let (above, below) = (number.numer().to_i64()?, number.denom().to_i64()?);
            Some(Part::Number(Rational::new(above, below)))
        }
        Share::Read => Some(Part::Read),
        Share::Open => None,
    }
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
        Value::Sequence { .. }
        | Value::Set { .. }
        | Value::Multiset { .. }
        | Value::Map { .. }
        | Value::Constructed(..)
        | Value::Opaque(..)
        | Value::Other(_) => return None,
    })
}
