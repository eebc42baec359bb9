//! States in which a failed obligation may fail, from the solver's models.
//!
//! Nothing here decides anything. The questions come after the failure has been recorded, in a
//! scope of their own.

mod applications;
pub(crate) mod values;

use la_arena::Arena;
use rustc_hash::FxHashSet;
use sil::program::{Local, LocalKind};
use sil::source::Span;
use smt::prover::Budget;
use smt::terms::{Quant, Sort, Substitution, Term, TermKind, Terms, grow_stack};

use self::applications::Application;
use self::values::{Encoded, Names, Wanted};
use super::names as author;
use crate::findings::evaluated::Evaluated;
use crate::report::{Applied, Counterexample, Forgotten, PartValue};
use crate::state::heap::{Chunk, Heap, Resource};
use crate::state::quantified::QuantifiedChunk;
use crate::state::{Forgot, Store};
use crate::{Configuration, Engine, Path, Symbols};

/// The budget of a counterexample.
const BUDGET: Budget = Budget { resources: 2_000_000, conflicts: 0, milliseconds: 10_000 };

/// The budget of the first tries, which want values to be small.
const FIRST_TRY: Budget = Budget { resources: 300_000, conflicts: 0, milliseconds: 2_000 };

/// The largest integers in the first tries.
const LARGEST: [Option<i64>; 3] = [Some(5), Some(100), None];

/// The depth to which nested quantifiers are split.
const QUANTIFIERS: usize = 4;

/// A location to which there may be permission.
struct Held {
    resource: Resource,
    arguments: Vec<Term>,
    amount: Term,
    value: Option<Term>,
}

impl Held {
    fn of(resource: Resource, chunk: &Chunk) -> Self {
        Self {
            resource,
            arguments: chunk.arguments.clone(),
            amount: chunk.amount,
            value: matches!(resource, Resource::Field(_)).then_some(chunk.value),
        }
    }
}

/// The state at the head of a loop.
struct Head {
    span: Span,
    variables: Vec<(String, Term)>,
    held: Vec<Held>,
    /// Values of the read fraction of the method.
    read: Vec<Term>,
    /// Tells whether there is permission beyond the listed permissions.
    has_more: bool,
}

/// Returns the name of a quantifier's variable, as it is written.
fn variable_name(terms: &Terms, variable: Term) -> String {
    let TermKind::Apply(symbol, _) = terms.kind(variable) else { unreachable!("a variable") };
    let name = &terms.declaration(*symbol).name;
    name.split('@').next().unwrap_or_default().to_owned()
}

/// A goal without the quantifiers in front, as it fails: with constants in place of their
/// variables.
struct Instance {
    goal: Term,
    constants: Substitution,
    /// The constants, by the names of the variables.
    witness: Vec<(String, Term)>,
}

impl Engine<'_> {
    /// Returns a state on this path in which `goal` does not hold, if the solver offers one. `goal`
    /// is the value of the condition at `at`.
    pub(crate) fn counterexample(
        &mut self,
        goal: Term,
        at: Span,
        encoded: Encoded,
    ) -> Option<Counterexample> {
        let mut variables = self.variables_with_values();
        let heap = self.here.heap.clone();
        let held = self.locations_of(&heap, &variables);
        let old = self.frame.past.old.clone().filter(|old| !old.same_version(&heap));
        let old = old.map(|old| self.locations_of(&old, &variables)).unwrap_or_default();
        let head = self.frame.past.forgot.clone().map(|forgot| self.head_of(&forgot));
        let mut instance =
            Instance { goal, constants: Substitution::default(), witness: Vec::new() };
        instance.goal = self.as_it_fails(goal, QUANTIFIERS, &mut instance);
        let Instance { goal, constants, witness } = instance;
        let parts = self.evaluated.parts_of(at);
        let parts = parts.into_iter().filter_map(|(span, value)| {
            let value = self.terms.substitute(value, &constants);
            (!self.terms.is_open(value)).then_some((span, value))
        });
        let parts: Vec<(Span, Term)> = parts.collect();
        let applications = self.applications(goal);
        let told = held.iter().chain(&old).flat_map(|location| {
            location.arguments.iter().chain([&location.amount]).chain(&location.value)
        });
        let mentioned = self.mentioned(told.chain([&goal]).copied());
        let unassigned = self.unassigned(&mentioned);
        variables.retain(|variable| !unassigned.contains(variable));

        let Encoded { adts, memberships, constants } = encoded;
        let mut wanted = Wanted::new(adts, memberships);
        wanted.add(&mut self.terms, Terms::NULL);
        for &(_, constant) in &constants {
            wanted.add(&mut self.terms, constant);
        }
        let of_head = head.iter().flat_map(|head| &head.variables);
        for &(_, value) in variables.iter().chain(&witness).chain(of_head) {
            wanted.add(&mut self.terms, value);
        }
        for &(_, value) in &parts {
            wanted.add(&mut self.terms, value);
        }
        for application in &applications {
            for &term in application.arguments.iter().chain([&application.whole]) {
                wanted.add(&mut self.terms, term);
            }
        }
        for location in held.iter().chain(&old).chain(head.iter().flat_map(|head| &head.held)) {
            for &term in location.arguments.iter().chain([&location.amount]).chain(&location.value)
            {
                wanted.add(&mut self.terms, term);
            }
        }
        wanted.add_contents(&mut self.terms);
        let values = self.small_values_where_not(goal, &wanted)?;
        let mut names = Names::new(self.program, &self.terms, &wanted, values);
        names.call(constants);
        let variables = names.variables(variables);
        let witness = names.variables(witness);
        let heap = names.locations(held, &[]).0;
        let old = names.locations(old, &[]).0;
        let forgotten = head.map(|head| {
            let variables = names.variables(head.variables);
            let (heap, is_whole) = names.locations(head.held, &head.read);
            let has_more = head.has_more || !is_whole;
            Box::new(Forgotten { line: 0, column: 0, variables, heap, head: head.span, has_more })
        });
        let parts = parts.into_iter().map(|(span, value)| (span, names.of(value)));
        let parts = parts.collect::<Vec<_>>().into_iter().filter_map(|(span, value)| {
            let text = self.context.sources.text(span)?;
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Some(PartValue { span, text, value })
        });
        let parts = Evaluated::worth_telling(parts, variables.iter().chain(&witness));
        let mut functions: Vec<Applied> = Vec::new();
        for Application { function, arguments, whole } in applications {
            let arguments = arguments.into_iter().map(|term| names.of(term)).collect();
            let applied = Applied { function, arguments, value: names.of(whole) };
            if !functions.contains(&applied) {
                functions.push(applied);
            }
        }
        Some(Counterexample { variables, witness, parts, functions, heap, old, forgotten })
    }
}

impl Configuration<'_> {
    /// Returns the author's name of a quantifier's variable; `None` if a front end has made it.
    fn quantified_variable(&self, name: &str) -> Option<String> {
        let mut locals = self.frame.locals.iter().map(|(_, local)| local);
        let local = locals.find(|local| *local.name == *name && local.kind == LocalKind::Bound)?;
        author::variable(self.program, local)
    }

    /// Replaces the variables of universal quantifiers by constants.
    fn as_it_fails(&mut self, goal: Term, depth: usize, instance: &mut Instance) -> Term {
        match self.terms.kind(goal).clone() {
            TermKind::And(parts) => {
                let parts: Vec<Term> = parts
                    .iter()
                    .map(|&part| grow_stack(|| self.as_it_fails(part, depth, instance)))
                    .collect();
                self.terms.and(parts)
            }
            TermKind::Implies(guard, inner) => {
                let inner = grow_stack(|| self.as_it_fails(inner, depth, instance));
                self.terms.implies(guard, inner)
            }
            TermKind::Quantifier(quantifier) if quantifier.quant == Quant::Forall && depth > 0 => {
                let Some(noted) = self.made.quantifiers.get(&goal).cloned() else { return goal };
                let mut constants = Substitution::default();
                for &variable in &noted.bound {
                    let name = variable_name(&self.terms, variable);
                    let sort = self.terms.sort(variable);
                    // No fresh symbol: later questions must be the same as without this one.
                    let number = instance.constants.len();
                    let constant = format!("witness%{number}%{}", self.terms.sort_name(sort));
                    let constant = self.terms.constant(&constant, sort);
                    constants.insert(variable, constant);
                    instance.constants.insert(variable, constant);
                    let called = self.quantified_variable(&name);
                    instance.witness.extend(called.map(|called| (called, constant)));
                }
                let body = self.terms.substitute(noted.body, &constants);
                self.as_it_fails(body, depth - 1, instance)
            }
            _ => goal,
        }
    }

    /// Returns the state at the head of a loop, where the path left its past behind.
    fn head_of(&mut self, forgot: &Forgot) -> Head {
        // Loops stand in bodies. The user of a callee's contract has come along the loop.
        let locals = self.frame.user.as_ref().map_or(self.frame.locals, |user| user.locals);
        let mut variables = Vec::new();
        self.add_variables((locals, &forgot.store), "", &mut variables);
        let is_read = |local: &Local| {
            author::is_chosen(self.program, local) && local.kind == LocalKind::Formal
        };
        let read = locals.iter().filter(|(_, local)| is_read(local));
        let read = read.filter_map(|(id, _)| forgot.store.get(id)).collect();
        let mut held: Vec<Held> = Vec::new();
        for heap in [&forgot.heap, &forgot.around] {
            for (resource, chunks) in heap.resources() {
                for chunk in chunks {
                    let same = |one: &&mut Held| {
                        one.resource == resource && one.arguments == chunk.arguments
                    };
                    match held.iter_mut().find(same) {
                        Some(known) => {
                            known.amount = self.terms.add(known.amount, chunk.amount);
                        }
                        None => held.push(Held::of(resource, chunk)),
                    }
                }
            }
        }
        let mut quantified =
            [&forgot.heap, &forgot.around].into_iter().flat_map(Heap::quantified_resources);
        // The invariants tell what is folded in the loop. What is folded around it has an unknown
        // past.
        let mut around = forgot.around.resources();
        let is_folded = |(resource, chunks): (Resource, &[Chunk])| {
            !matches!(resource, Resource::Field(_)) && !chunks.is_empty()
        };
        let has_more = quantified.any(|(_, chunks)| !chunks.is_empty()) || around.any(is_folded);
        Head { span: forgot.head, variables, held, read, has_more }
    }

    /// Returns the results and variables of the body that have no value yet which anything speaks
    /// about.
    fn unassigned(&self, mentioned: &FxHashSet<Term>) -> Vec<(String, Term)> {
        let (locals, store) = match &self.frame.user {
            Some(user) => (user.locals, &user.store),
            None => (self.frame.locals, &self.frame.store),
        };
        let is_new =
            |local: &Local| matches!(local.kind, LocalKind::Returned | LocalKind::Variable);
        let of_body = locals.iter().filter(|(_, local)| is_new(local));
        let unassigned = of_body.filter_map(|(id, local)| {
            let value = store.get(id)?;
            let TermKind::Apply(_, arguments) = self.terms.kind(value) else { return None };
            let is_open = arguments.is_empty() && !mentioned.contains(&value);
            let name = author::variable(self.program, local).filter(|_| is_open)?;
            Some((name, value))
        });
        unassigned.collect()
    }

    /// Returns the variables that the user has named, and `result`. Where the contract of a callee
    /// is used, these are the variables of the caller, and the callee's parameters as `callee.a`.
    pub(super) fn variables_with_values(&self) -> Vec<(String, Term)> {
        let mut named = Vec::new();
        let own = (self.frame.locals, &self.frame.store);
        match &self.frame.user {
            Some(user) => {
                self.add_variables((user.locals, &user.store), "", &mut named);
                // The parameters of a predicate stand for expressions of its user.
                if self.frame.assertion.bodies.is_empty() {
                    self.add_variables(own, "callee.", &mut named);
                }
            }
            None => self.add_variables(own, "", &mut named),
        }
        let result = self.frame.result.map(|result| ("result".to_owned(), result));
        named.extend(result);
        named.retain(|(_, value)| !self.terms.mentions(*value, &self.mode.bound));
        named
    }
}

impl Symbols<'_> {
    fn add_variables(
        &self,
        (locals, store): (&Arena<Local>, &Store),
        prefix: &str,
        named: &mut Vec<(String, Term)>,
    ) {
        let checks = self.context.termination;
        let is_shown = |local: &Local| {
            let is_generated = checks.is_some_and(|checks| checks.check(local.span).is_some());
            matches!(local.kind, LocalKind::Formal | LocalKind::Returned | LocalKind::Variable)
                && !is_generated
        };
        for (id, local) in locals.iter().filter(|(_, local)| is_shown(local)) {
            if let Some(value) = store.get(id) {
                let is_chosen = author::is_chosen(self.program, local);
                let called = author::variable(self.program, local).filter(|_| !is_chosen);
                named.extend(called.map(|called| (format!("{prefix}{called}"), value)));
            }
        }
    }

    /// Returns the locations of a heap: those of its chunks, and in quantified chunks those of the
    /// variables.
    fn locations_of(&mut self, heap: &Heap, variables: &[(String, Term)]) -> Vec<Held> {
        let mut held = Vec::new();
        for (resource, chunks) in heap.resources() {
            for chunk in chunks {
                held.push(Held::of(resource, chunk));
            }
        }
        for (resource, chunks) in heap.quantified_resources() {
            if !matches!(resource, Resource::Field(_)) {
                continue;
            }
            for &(_, value) in variables {
                if self.terms.sort(value) == Sort::REF {
                    held.extend(self.held_of(resource, chunks, value));
                }
            }
        }
        held
    }

    /// Returns the portions of one location in quantified chunks.
    fn held_of(
        &mut self,
        resource: Resource,
        chunks: &[QuantifiedChunk],
        receiver: Term,
    ) -> Vec<Held> {
        let portion = |chunk: &QuantifiedChunk| {
            let amount = self.at(resource, chunk.amount, &[receiver]);
            let value = self.map_at(resource, chunk.map, &[receiver]);
            Held { resource, arguments: vec![receiver], amount, value: Some(value) }
        };
        chunks.iter().map(portion).collect()
    }
}

impl Path<'_> {
    /// Returns the values in a state where `goal` does not hold: one of small values, if there is
    /// one.
    fn small_values_where_not(&mut self, goal: Term, wanted: &Wanted) -> Option<Vec<String>> {
        let facts = wanted.facts(&mut self.terms);
        for largest in LARGEST {
            let is_small = wanted.is_small(&mut self.terms, largest);
            let wish = self.terms.and([facts, is_small]);
            let values = self.values_where_not(goal, wish, &wanted.terms, FIRST_TRY);
            if values.is_some() {
                return values;
            }
        }
        self.values_where_not(goal, facts, &wanted.terms, BUDGET)
    }

    /// Returns the values of terms in a state where `goal` does not hold, and `wish` does.
    fn values_where_not(
        &mut self,
        goal: Term,
        wish: Term,
        wanted: &[Term],
        budget: Budget,
    ) -> Option<Vec<String>> {
        let mut constants = Vec::with_capacity(wanted.len());
        let mut formulas = vec![self.terms.not(goal), wish];
        for (index, &term) in wanted.iter().enumerate() {
            let sort = self.terms.sort(term);
            let name = format!("value%{index}%{}", self.terms.sort_name(sort));
            let constant = self.terms.constant(&name, sort);
            formulas.push(self.terms.identical(constant, term));
            constants.push(constant);
        }
        let formula = self.terms.and(formulas);
        // An error of the solver shows at the next question that matters.
        self.prover.values(&mut self.symbols.terms, formula, &constants, budget).ok().flatten()
    }
}
