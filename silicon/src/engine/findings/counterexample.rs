//! States in which a failed obligation may fail, from the solver's models.
//!
//! Nothing here decides anything: what is asked is asked after the failure has been recorded, in a
//! scope of its own.

use la_arena::Arena;
use num_rational::BigRational;
use sil::program::{Local, LocalKind, Program};
use sil::source::Span;
use smt::prover::Budget;
use smt::terms::{Sort, SortKind, Term, TermKind, Terms};

use super::names as author;
use crate::engine::Engine;
use crate::engine::state::heap::{Chunk, Heap, Resource};
use crate::engine::state::quantified::QuantifiedChunk;
use crate::engine::state::{Forgot, Store};
use crate::report::{Counterexample, Forgotten, HeapPlace, Location, Share, Value, Variable};

/// So many elements of a sequence are shown.
const SHOWN: i64 = 6;

/// So many values are looked for in a set or map.
const CANDIDATES: usize = 12;

/// The budget of a counterexample.
const BUDGET: Budget = Budget { resources: 2_000_000, conflicts: 0, milliseconds: 10_000 };

/// Values to be asked for, each by a constant that is equal to it.
#[derive(Default)]
struct Wanted {
    terms: Vec<Term>,
    /// The lengths and first elements of sequences.
    sequences: Vec<(Term, Term, Vec<Term>)>,
    /// The questions about the other values of sets and maps.
    contents: Vec<(Term, Vec<Content>)>,
}

/// A possible element of a set, or key of a map.
#[derive(Clone, Copy)]
struct Content {
    element: Term,
    is_in: Term,
    /// The map's value at that key.
    value: Option<Term>,
}

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
    /// There is permission beyond the listed permissions.
    has_more: bool,
}

impl Wanted {
    fn add(&mut self, terms: &mut Terms, term: Term) {
        if self.terms.contains(&term) {
            return;
        }
        self.terms.push(term);
        if let SortKind::Seq(_) = terms.sort_kind(terms.sort(term)) {
            let length = terms.seq_len(term);
            let elements: Vec<Term> = (0..SHOWN)
                .map(|index| {
                    let index = terms.int(index);
                    terms.seq_at(term, index)
                })
                .collect();
            self.terms.extend([length].iter().chain(&elements));
            self.sequences.push((term, length, elements));
        }
    }

    /// Asks of the sets and maps which of the other values are in them. Comes last.
    fn add_contents(&mut self, terms: &mut Terms) {
        let known = self.terms.clone();
        for &collection in &known {
            let (element, is_map) = match *terms.sort_kind(terms.sort(collection)) {
                SortKind::Set(element) => (element, false),
                SortKind::Map(key, _) => (key, true),
                _ => continue,
            };
            let candidates = known.iter().filter(|&&term| terms.sort(term) == element);
            let candidates: Vec<Term> = candidates.copied().take(CANDIDATES).collect();
            let contents = candidates.into_iter().map(|element| {
                if !is_map {
                    Content { element, is_in: terms.set_contains(element, collection), value: None }
                } else {
                    Content {
                        element,
                        is_in: terms.map_contains(element, collection),
                        value: Some(terms.map_lookup(collection, element)),
                    }
                }
            });
            let contents: Vec<Content> = contents.collect();
            for content in &contents {
                self.terms.extend([content.is_in].into_iter().chain(content.value));
            }
            self.contents.push((collection, contents));
        }
    }
}

/// The names under which values are shown: those of the solver mean nothing to anybody.
struct Names<'a> {
    program: &'a Program,
    terms: &'a Terms,
    wanted: &'a Wanted,
    values: Vec<String>,
    null: String,
    references: Vec<String>,
    others: Vec<(Sort, String)>,
}

impl Names<'_> {
    fn variables(&mut self, variables: Vec<(String, Term)>) -> Vec<Variable> {
        let of = |(name, value)| Variable { name, value: self.of(value) };
        variables.into_iter().map(of).collect()
    }

    /// Locations as the author writes them, and whether that is all of them.
    fn locations(&mut self, held: Vec<Held>, read: &[Term]) -> (Vec<Location>, bool) {
        let mut locations = Vec::new();
        let mut is_whole = true;
        for Held { resource, arguments, amount, value } in held {
            let share = self.share(amount, read);
            let amount = self.of(amount).to_string();
            if amount == "none" {
                continue;
            }
            let arguments: Vec<Value> = arguments.iter().map(|&term| self.of(term)).collect();
            let words: Vec<String> = arguments.iter().map(Value::to_string).collect();
            // What a front end has made means nothing to the author.
            let Some(location) = author::location(self.program, resource, &words) else {
                is_whole = false;
                continue;
            };
            let place = match resource {
                Resource::Field(field) => {
                    let name = self.program.fields[field].name.to_string();
                    Some(HeapPlace::Field(arguments[0].clone(), name))
                }
                Resource::Predicate(predicate) => {
                    let predicate = &self.program.predicates[predicate];
                    author::called(self.program, &predicate.name, predicate.span)
                        .map(|name| HeapPlace::Instance(arguments, name))
                }
                Resource::Wand(_) => None,
            };
            let value = value.map(|value| self.of(value));
            let location = Location { location, amount, value, place, share };
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        (locations, is_whole)
    }

    /// An amount, if it does not depend on what is chosen, or is the read fraction of the method.
    fn share(&self, amount: Term, read: &[Term]) -> Share {
        if read.contains(&amount) {
            return Share::Read;
        }
        let number = self.raw(amount).parse().ok().filter(|_| self.is_written(amount));
        number.map_or(Share::Open, Share::Number)
    }

    /// Tells whether an amount consists of numbers that the author has written, and of nothing that
    /// is chosen.
    fn is_written(&self, amount: Term) -> bool {
        match *self.terms.kind(amount) {
            TermKind::Ite(_, then, otherwise) => {
                self.is_written(then) && self.is_written(otherwise)
            }
            TermKind::Add(left, right) => self.is_written(left) && self.is_written(right),
            _ => self.terms.as_perm(amount).is_some(),
        }
    }

    fn raw(&self, term: Term) -> &str {
        let index = self.wanted.terms.iter().position(|&wanted| wanted == term);
        index.map_or("?", |index| &self.values[index])
    }

    fn of(&mut self, term: Term) -> Value {
        let sort = self.terms.sort(term);
        if let Some((_, length, elements)) =
            self.wanted.sequences.iter().find(|(sequence, ..)| *sequence == term)
        {
            return self.sequence(*length, elements);
        }
        if let Some((_, contents)) = self.wanted.contents.iter().find(|(of, _)| *of == term) {
            return self.collection(sort, contents);
        }
        let raw = self.raw(term).to_owned();
        match self.terms.sort_kind(sort) {
            SortKind::Bool => raw.parse().map_or(Value::Other(raw), Value::Bool),
            SortKind::Int => raw.parse().map_or(Value::Other(raw), Value::Int),
            SortKind::Backend(_) => Value::Other(raw),
            SortKind::Perm => Value::Other(match raw.parse::<BigRational>() {
                Ok(amount) => author::amount(self.program, amount),
                Err(_) => raw,
            }),
            SortKind::Ref if raw == self.null => Value::Null,
            SortKind::Ref => Value::Reference(number(&mut self.references, raw)),
            _ => {
                let own: Vec<String> = self
                    .others
                    .iter()
                    .filter(|(of, _)| *of == sort)
                    .map(|(_, raw)| raw.clone())
                    .collect();
                let index = own.iter().position(|known| *known == raw).unwrap_or_else(|| {
                    self.others.push((sort, raw));
                    own.len()
                });
                let kind = author::kind_of_value(self.program, &self.terms.sort_name(sort));
                Value::Other(format!("{kind}#{}", index + 1))
            }
        }
    }

    /// Other values than those asked for may be in it.
    fn collection(&mut self, sort: Sort, contents: &[Content]) -> Value {
        let is_map = matches!(self.terms.sort_kind(sort), SortKind::Map(..));
        let mut shown: Vec<String> = Vec::new();
        for content in contents {
            if self.raw(content.is_in) != "true" {
                continue;
            }
            let element = self.of(content.element);
            let entry = match content.value {
                Some(value) => format!("{element} := {}", self.of(value)),
                None => element.to_string(),
            };
            if !shown.contains(&entry) {
                shown.push(entry);
            }
        }
        shown.push("…".to_owned());
        let name = if is_map { "Map" } else { "Set" };
        Value::Other(format!("{name}({})", shown.join(", ")))
    }

    fn sequence(&mut self, length: Term, elements: &[Term]) -> Value {
        let length = self.raw(length).parse().unwrap_or(0_usize);
        let elements = elements.iter().take(length).map(|&element| self.of(element)).collect();
        Value::Sequence { elements, length }
    }
}

/// The number of a value among those seen so far, from 1.
fn number(seen: &mut Vec<String>, value: String) -> usize {
    match seen.iter().position(|known| *known == value) {
        Some(index) => index + 1,
        None => {
            seen.push(value);
            seen.len()
        }
    }
}

impl Engine<'_> {
    /// A state on this path in which `goal` does not hold, if the solver has one to offer.
    pub(crate) fn counterexample(&mut self, goal: Term) -> Option<Counterexample> {
        let variables = self.variables_with_values();
        let heap = self.here.heap.clone();
        let held = self.locations_of(&heap, &variables);
        let old = self.frame.past.old.clone().filter(|old| !old.same_version(&heap));
        let old = old.map(|old| self.locations_of(&old, &variables)).unwrap_or_default();
        let head = self.frame.past.forgot.clone().map(|forgot| self.head_of(&forgot));

        let mut wanted = Wanted::default();
        wanted.add(&mut self.terms, Terms::NULL);
        let of_head = head.iter().flat_map(|head| &head.variables);
        for &(_, value) in variables.iter().chain(of_head) {
            wanted.add(&mut self.terms, value);
        }
        for location in held.iter().chain(&old).chain(head.iter().flat_map(|head| &head.held)) {
            for &term in location.arguments.iter().chain([&location.amount]).chain(&location.value)
            {
                wanted.add(&mut self.terms, term);
            }
        }
        wanted.add_contents(&mut self.terms);
        let values = self.values_where_not(goal, &wanted.terms)?;
        let null = values[0].clone();
        let mut names = Names {
            program: self.program,
            terms: &self.terms,
            wanted: &wanted,
            values,
            null,
            references: Vec::new(),
            others: Vec::new(),
        };
        let variables = names.variables(variables);
        let heap = names.locations(held, &[]).0;
        let old = names.locations(old, &[]).0;
        let forgotten = head.map(|head| {
            let variables = names.variables(head.variables);
            let (heap, is_whole) = names.locations(head.held, &head.read);
            let has_more = head.has_more || !is_whole;
            Box::new(Forgotten { line: 0, column: 0, variables, heap, head: head.span, has_more })
        });
        Some(Counterexample { variables, heap, old, forgotten })
    }

    /// The state where the path left its past behind.
    fn head_of(&mut self, forgot: &Forgot) -> Head {
        // Loops stand in bodies; of the contract of a callee, its user has come along the loop.
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
        // What is folded in the loop is what the invariants say; around it, it has a past that
        // nobody can tell.
        let mut around = forgot.around.resources();
        let is_folded = |(resource, chunks): (Resource, &[Chunk])| {
            !matches!(resource, Resource::Field(_)) && !chunks.is_empty()
        };
        let has_more = quantified.any(|(_, chunks)| !chunks.is_empty()) || around.any(is_folded);
        Head { span: forgot.head, variables, held, read, has_more }
    }

    /// The variables that the user has named, and `result`. Where the contract of a callee is used,
    /// those of the caller, and the callee's parameters as `callee.a`.
    pub(super) fn variables_with_values(&self) -> Vec<(String, Term)> {
        let mut named = Vec::new();
        let own = (self.frame.locals, &self.frame.store);
        match &self.frame.user {
            Some(user) => {
                self.add_variables((user.locals, &user.store), "", &mut named);
                // The parameters of a predicate stand for what its user has written.
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

    /// The locations of a heap: those of its chunks, and where quantified chunks are, those of the
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

    /// The portions of one location in quantified chunks.
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

    /// The values of terms in a state where `goal` does not hold.
    fn values_where_not(&mut self, goal: Term, wanted: &[Term]) -> Option<Vec<String>> {
        let mut constants = Vec::with_capacity(wanted.len());
        let mut formulas = vec![self.terms.not(goal)];
        for (index, &term) in wanted.iter().enumerate() {
            let sort = self.terms.sort(term);
            let name = format!("value%{index}%{}", self.terms.sort_name(sort));
            let constant = self.terms.constant(&name, sort);
            formulas.push(self.terms.identical(constant, term));
            constants.push(constant);
        }
        let formula = self.terms.and(formulas);
        // A defect of the solver shows at the next question, which matters.
        self.prover.values(&mut self.terms, formula, &constants, BUDGET).ok().flatten()
    }
}
