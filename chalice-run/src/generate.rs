//! Starts of methods, made from their preconditions.
//!
//! A start is made by granting: the precondition is evaluated with the environment as the giver,
//! which has all permission to objects that come into being when something refers to them. Values
//! are chosen when they are first read; what a conjunct then says filters, with the youngest choice
//! changed first. The method under test takes no part in it, so contracts that no caller can meet
//! are not hidden.

mod grant;
mod head;
mod histories;
mod model;
mod positions;
mod text;
mod values;

pub use head::{Head, HeadText, Location, Share, Unfit};
pub(crate) use model::Following;
pub use model::{Model, ModelValue};
pub(crate) use positions::Positions;
pub use text::StartText;

use std::sync::Arc;

use crate::choices::{Choices, Policy, SplitMix};
use crate::code::{Code, literals_of};
use crate::fault::Trouble;
use crate::machine::{Config, Machine};

/// How large a start may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Objects of each class.
    pub objects: u32,
    /// Integers from minus this to this.
    pub integers: i64,
    /// Elements of a sequence or set.
    pub length: u32,
    /// How deep predicates are nested.
    pub depth: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { objects: 2, integers: 2, length: 3, depth: 3 }
    }
}

/// How starts are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All within the bounds, one after the other.
    All,
    /// At random, by a seed.
    Random(u64),
}

/// The preferences of a random start, where nothing else decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Nothing in particular.
    Any,
    /// Objects of their own.
    Apart,
    /// Objects and numbers that there are already.
    Same,
    /// Null, and collections without elements.
    Nothing,
}

/// The result of looking for the next start.
#[derive(Debug)]
pub enum Found<'c> {
    /// A machine about to execute the method.
    Start(Box<Machine<'c>>),
    /// No more starts exist within the bounds.
    Exhausted,
    /// So many contradictions were met that the search has stopped.
    GaveUp,
    /// The precondition cannot be granted: it is ill-formed, or not executable. An id of what is in
    /// the way.
    Impossible(String),
}

/// The starts of a method.
#[derive(Debug, Clone)]
pub struct Starts<'c> {
    code: &'c Code,
    method: u32,
    config: Config,
    bounds: Bounds,
    order: Order,
    /// How many were found.
    pub found: u64,
    /// The choices of the attempt that comes next, and where each began.
    positions: Positions,
    /// How often all choices of the start that is looked for were made anew.
    renewals: u32,
    hints: Arc<[i64]>,
    /// Numbers among the hints that are not there by themselves.
    extra: Vec<i64>,
    model: Option<Model>,
    /// Where they are, if not at the start of the method.
    head: Option<Arc<Head>>,
    /// How many contradictions in a row end the search.
    pub patience: u32,
}

impl<'c> Starts<'c> {
    /// Returns the starts of a method within bounds.
    pub fn new(code: &'c Code, method: u32, config: Config, bounds: Bounds, order: Order) -> Self {
        Self {
            code,
            method,
            config,
            bounds,
            order,
            found: 0,
            positions: Positions::default(),
            renewals: 0,
            hints: hints(code, method, bounds, &[]),
            extra: Vec::new(),
            model: None,
            head: None,
            patience: 20_000,
        }
    }

    /// Starts that follow a model as far as it goes.
    #[must_use]
    pub fn following(mut self, model: Model) -> Self {
        self.extra = model.integers();
        self.hints = hints(self.code, self.method, self.bounds, &self.extra);
        self.model = Some(model);
        self
    }

    /// Starts at the head of a loop.
    #[must_use]
    pub fn at(self, head: Arc<Head>) -> Self {
        let model = head.model().clone();
        Self { head: Some(head), ..self.following(model) }
    }

    /// Starts from the one that a report has named on.
    #[must_use]
    pub fn from_text(mut self, text: &StartText) -> Self {
        self.extra.clone_from(&text.integers);
        self.hints = hints(self.code, self.method, self.bounds, &self.extra);
        self.positions = Positions::from_choices(&text.decisions);
        self
    }

    /// Returns the text that leads to a start, and on to the end of its run, again.
    pub fn text_of(&self, ended: &Machine<'_>) -> StartText {
        let decisions = ended.choices.taken().iter().map(|decision| decision.choice).collect();
        StartText { decisions, integers: self.extra.clone() }
    }

    /// Returns the next start. Its machine goes on to take decisions as it was found.
    pub fn next_start(&mut self) -> Found<'c> {
        self.renewals = 0;
        let mut renewed = 0;
        for attempt in 0..self.patience {
            if self.positions.is_exhausted() {
                return Found::Exhausted;
            }
            if attempt - renewed == FRUITLESS << self.renewals && self.order != Order::All {
                // Perhaps an early choice is to blame: others, all of them.
                renewed = attempt;
                self.renewals += 1;
                self.positions.clear();
            }
            let mut machine = Machine::new(self.code, self.config.clone());
            machine.choices = Choices::new(self.positions.script(), self.policy());
            machine.is_generated = true;
            machine.bounds = self.bounds;
            machine.hints = self.hints.clone();
            machine.style = self.style();
            machine.following = self.model.clone().map(|model| Box::new(Following::new(model)));
            let granted = match &self.head {
                Some(head) => {
                    machine.bounds.objects += head.count();
                    machine.start_at(self.method, head)
                }
                None => machine.grant(self.method),
            };
            self.positions.remember(machine.choices.taken());
            match granted {
                // The choices after those of the start are those that its run will make.
                Ok(()) => {
                    self.found += 1;
                    return Found::Start(Box::new(machine));
                }
                Err(trouble) => match self.cut(*trouble, &machine) {
                    // An expression without a value makes the precondition false, as far as starts
                    // are concerned. So does a function that goes round a cycle for ever.
                    Trouble::Contradiction | Trouble::Fault(_) | Trouble::Bound(..) => {
                        self.positions.step_on();
                    }
                    Trouble::Unknown { what, .. } => return Found::Impossible(what.to_owned()),
                    _ => return Found::Impossible("not executable".to_owned()),
                },
            }
        }
        Found::GaveUp
    }

    /// Returns the first starts at random are extremes; then comes any other between those.
    fn style(&self) -> Style {
        match (self.order, self.found % 8) {
            (Order::All, _) => Style::Any,
            _ if self.renewals > 0 => Style::Any,
            (Order::Random(_), 0) => Style::Apart,
            (Order::Random(_), 1) => Style::Same,
            (Order::Random(_), 2) => Style::Nothing,
            (Order::Random(_), _) => Style::Any,
        }
    }

    fn policy(&self) -> Policy {
        match self.order {
            Order::All => Policy::First,
            Order::Random(seed) => {
                let number = self.found.wrapping_add(u64::from(self.renewals) << 32);
                Policy::Random(SplitMix(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
        }
    }

    /// Passes a trouble on; choices after it do not matter.
    fn cut(&mut self, trouble: Trouble, machine: &Machine<'_>) -> Trouble {
        self.positions.truncate(machine.choices.taken().len());
        trouble
    }

    /// Goes on to the next start. Choices that the run of this one has made of values count to it.
    pub fn go_on(&mut self, ended: &Machine<'_>) {
        match self.order {
            Order::All => {
                let values = ended.choices.taken();
                let is_value =
                    |one: &&crate::choices::Decision| one.about == crate::choices::About::Value;
                if values.iter().take_while(is_value).count() == values.len() {
                    self.positions.remember(values);
                    self.positions.truncate(values.len());
                }
                self.positions.step_on();
            }
            Order::Random(_) => {
                self.positions.clear();
            }
        }
    }
}

/// After so many contradictions a start at random is begun anew, and each time later after twice as
/// many.
const FRUITLESS: u32 = 40;

/// The number of tried integers among those that a program mentions, with their neighbours.
const MENTIONED: usize = 16;

/// Integers that matter to a method: small ones, those that the program mentions with their
/// neighbours, and others.
fn hints(code: &Code, method: u32, bounds: Bounds, extra: &[i64]) -> Arc<[i64]> {
    let mut hints = vec![0];
    for size in 1..=bounds.integers {
        hints.extend([size, -size]);
    }
    let mut mentioned = literals_of(code, method);
    let mut seen = std::collections::BTreeSet::new();
    mentioned.retain(|literal| seen.insert(*literal));
    for literal in mentioned.into_iter().take(MENTIONED) {
        for number in [literal, literal.saturating_add(1), literal.saturating_sub(1)] {
            if !hints.contains(&number) {
                hints.push(number);
            }
        }
    }
    hints.extend(extra);
    hints.into()
}
