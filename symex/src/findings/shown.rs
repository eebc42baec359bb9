//! The state before a statement in the words of the program, for observers.
//!
//! Nothing here changes knowledge, makes a symbol or asks the prover, so an observed verification
//! is the same.

use rustc_hash::{FxHashMap, FxHashSet};
use sil::source::Span;
use smt::terms::{Symbol, Term, TermKind, Terms, TheoryOp, grow_stack};

use super::names;
use crate::report::shown::{Contents, HeldPermission, NamedValue, ShownState};
use crate::state::heap::{Chunk, Heap, Resource};
use crate::{Configuration, Path, Symbols};

/// The number of facts that are shown of a state.
const FACTS: usize = 40;
/// The number of nodes of a term that are shown; a larger one has no words.
const NODES: usize = 60;
/// The most fields in a name such as `x.next.next.f`.
const FIELDS: usize = 4;

/// The words for the terms of one state.
struct Words<'a> {
    terms: &'a Terms,
    names: FxHashMap<Term, String>,
    functions: FxHashMap<Symbol, String>,
    invented: usize,
}

/// A text, and whether it may stand beside an operator as it is.
type Phrase = Option<(String, bool)>;

impl Words<'_> {
    /// Returns the words for a term. A part without words gets a name if `invents`; otherwise the
    /// term has no words.
    fn of(&mut self, term: Term, invents: bool) -> Option<String> {
        self.phrase(term, invents, &mut { NODES }).map(|(text, _)| text)
    }

    /// Returns the words for a term without the term's own name. A term that is nothing but a name
    /// has none.
    fn value(&mut self, term: Term) -> Option<String> {
        self.composed(term, true, &mut { NODES }).map(|(text, _)| text)
    }

    fn phrase(&mut self, term: Term, invents: bool, room: &mut usize) -> Phrase {
        if let Some(name) = self.names.get(&term) {
            return Some((name.clone(), true));
        }
        *room = room.checked_sub(1)?;
        let found = grow_stack(|| self.composed(term, invents, room));
        if found.is_some() || !invents || self.terms.is_open(term) {
            return found;
        }
        self.invented += 1;
        let name = format!("v{}", self.invented);
        self.names.insert(term, name.clone());
        Some((name, true))
    }

    fn operand(&mut self, term: Term, invents: bool, room: &mut usize) -> Option<String> {
        let (text, is_simple) = self.phrase(term, invents, room)?;
        Some(if is_simple { text } else { format!("({text})") })
    }

    fn list(&mut self, terms: &[Term], invents: bool, room: &mut usize) -> Option<String> {
        let texts: Option<Vec<String>> = terms
            .iter()
            .map(|&term| self.phrase(term, invents, room).map(|(text, _)| text))
            .collect();
        Some(texts?.join(", "))
    }

    fn joined(
        &mut self,
        operator: &str,
        operands: &[Term],
        invents: bool,
        room: &mut usize,
    ) -> Phrase {
        let texts: Option<Vec<String>> =
            operands.iter().map(|&term| self.operand(term, invents, room)).collect();
        Some((texts?.join(&format!(" {operator} ")), false))
    }

    /// Returns an equation or its negation, literals on the right.
    fn compared(
        &mut self,
        operator: &str,
        left: Term,
        right: Term,
        invents: bool,
        room: &mut usize,
    ) -> Phrase {
        let operands = if self.is_literal(left) { [right, left] } else { [left, right] };
        self.joined(operator, &operands, invents, room)
    }

    fn is_literal(&self, term: Term) -> bool {
        matches!(
            self.terms.kind(term),
            TermKind::Bool(_) | TermKind::Int(_) | TermKind::Perm(_) | TermKind::Null
        )
    }

    fn composed(&mut self, term: Term, invents: bool, room: &mut usize) -> Phrase {
        let terms = self.terms;
        match terms.kind(term) {
            TermKind::Bool(value) => Some((value.to_string(), true)),
            TermKind::Int(value) => Some((value.to_string(), true)),
            TermKind::Perm(_) if term == Terms::NONE => Some(("none".to_owned(), true)),
            TermKind::Perm(_) if term == Terms::WRITE => Some(("write".to_owned(), true)),
            TermKind::Perm(value) => Some((value.to_string(), true)),
            TermKind::Null => Some(("null".to_owned(), true)),
            TermKind::Apply(symbol, arguments) => {
                let name = self.functions.get(symbol)?.clone();
                // The first argument is the part of the heap that the function reads.
                let arguments = arguments.get(1..)?;
                // If functions belong to classes, the next argument is the object.
                let text = match (name.rsplit_once('.'), arguments) {
                    (Some((_, name)), [object, others @ ..]) => {
                        let object = self.operand(*object, invents, room)?;
                        format!("{object}.{name}({})", self.list(others, invents, room)?)
                    }
                    _ => format!("{name}({})", self.list(arguments, invents, room)?),
                };
                Some((text, true))
            }
            &TermKind::Not(of) => match *terms.kind(of) {
                TermKind::Eq(left, right) => self.compared("!=", left, right, invents, room),
                TermKind::Lt(left, right) => self.joined("<=", &[right, left], invents, room),
                TermKind::Le(left, right) => self.joined("<", &[right, left], invents, room),
                _ => Some((format!("!{}", self.operand(of, invents, room)?), true)),
            },
            TermKind::And(operands) => self.joined("&&", operands, invents, room),
            TermKind::Or(operands) => self.joined("||", operands, invents, room),
            &TermKind::Implies(left, right) => self.joined("==>", &[left, right], invents, room),
            &TermKind::Eq(left, right) => self.compared("==", left, right, invents, room),
            &TermKind::Lt(left, right) => self.joined("<", &[left, right], invents, room),
            &TermKind::Le(left, right) => self.joined("<=", &[left, right], invents, room),
            &TermKind::Add(left, right) => self.joined("+", &[left, right], invents, room),
            &TermKind::Sub(left, right) => self.joined("-", &[left, right], invents, room),
            &TermKind::Mul(left, right) => self.joined("*", &[left, right], invents, room),
            &(TermKind::IntDiv(left, right) | TermKind::PermDiv(left, right)) => {
                self.joined("/", &[left, right], invents, room)
            }
            &TermKind::IntMod(left, right) => self.joined("%", &[left, right], invents, room),
            &TermKind::Ite(condition, then, otherwise) => {
                let condition = self.operand(condition, invents, room)?;
                let then = self.operand(then, invents, room)?;
                let otherwise = self.operand(otherwise, invents, room)?;
                Some((format!("{condition} ? {then} : {otherwise}"), false))
            }
            TermKind::Theory(operator, operands, _) => {
                self.of_theory(*operator, operands, invents, room)
            }
            _ => None,
        }
    }

    fn of_theory(
        &mut self,
        operator: TheoryOp,
        operands: &[Term],
        invents: bool,
        room: &mut usize,
    ) -> Phrase {
        match (operator, operands) {
            (TheoryOp::SeqLength | TheoryOp::SetCard | TheoryOp::MultisetCard, &[of]) => {
                Some((format!("|{}|", self.phrase(of, invents, room)?.0), true))
            }
            (TheoryOp::SeqIndex, &[of, index]) => {
                let of = self.operand(of, invents, room)?;
                Some((format!("{of}[{}]", self.phrase(index, invents, room)?.0), true))
            }
            (TheoryOp::SeqContains | TheoryOp::SetContains, operands) => {
                self.joined("in", operands, invents, room)
            }
            (TheoryOp::SeqAppend, operands) => self.joined("++", operands, invents, room),
            (TheoryOp::SetUnion, operands) => self.joined("union", operands, invents, room),
            (TheoryOp::SeqEqual | TheoryOp::SetEqual | TheoryOp::MultisetEqual, operands) => {
                self.joined("==", operands, invents, room)
            }
            (TheoryOp::SeqEmpty | TheoryOp::SeqSingleton, operands) => {
                Some((format!("Seq({})", self.list(operands, invents, room)?), true))
            }
            (TheoryOp::SetEmpty | TheoryOp::SetSingleton, operands) => {
                Some((format!("Set({})", self.list(operands, invents, room)?), true))
            }
            _ => None,
        }
    }
}

impl Configuration<'_> {
    /// Shows the state, if an observer wants the states at `at`.
    ///
    /// A replayed run has shown its states before.
    pub fn show_state(&mut self, at: Span) {
        let observer = self.context.observer;
        if !observer.wants_state(at) || !self.run.is_live() {
            return;
        }
        let contents = self.contents();
        let path = self.here.path.iter().map(|step| self.path_step(step)).collect();
        observer.reached(ShownState { at, path, contents });
    }

    /// Shows the state, if an observer wants the states at one of several clauses.
    pub fn show_state_at_all(&mut self, clauses: impl IntoIterator<Item = Span>) {
        for clause in clauses {
            self.show_state(clause);
        }
    }

    /// Shows the state at the closing brace of a body.
    ///
    /// In a translated program the brace stands for the whole body in the author's text, so nothing
    /// is shown there.
    pub fn show_state_at_end(&mut self, body: Span) {
        let is_brace = self.context.sources.text(body).is_some_and(|text| text.ends_with('}'));
        if is_brace && !self.program.origins.is_annotated {
            self.show_state(Span { start: body.end - 1, ..body });
        }
    }

    fn contents(&mut self) -> Contents {
        let variables = self.variables_with_values();
        let heap = self.here.heap.clone();
        let positive = self.surely_held(&heap);
        let old = self.frame.past.old.clone().unwrap_or_default();
        let positive_before = self.surely_held(&old);
        let functions = self.caches.function_symbols.iter().flat_map(|(&id, symbols)| {
            let function = &self.program.functions[id];
            let name = names::called(self.program, &function.name, function.span);
            let named = move |symbol| name.clone().map(|name| (symbol, name));
            [symbols.full, symbols.limited].into_iter().filter_map(named)
        });
        let mut words = Words {
            terms: &self.terms,
            names: FxHashMap::default(),
            functions: functions.collect(),
            invented: 0,
        };
        for (name, value) in &variables {
            words.add(*value, || name.clone());
        }
        let of_variables = words.names.clone();
        for _ in 0..FIELDS {
            let known = words.names.clone();
            self.name_fields(&heap, &positive, &known, &mut words, str::to_owned);
        }
        self.name_fields(&old, &positive_before, &of_variables, &mut words, |location| {
            format!("old({location})")
        });

        let shown = variables.into_iter().map(|(name, value)| {
            let other = words.names.get(&value).filter(|other| **other != name).cloned();
            let value = other.or_else(|| words.value(value));
            NamedValue { name, value }
        });
        let variables = shown.collect();
        let held = self.held_in_words(&heap, &positive, &mut words);
        let mut contents = Contents { variables, held, ..Contents::default() };
        let mut seen = FxHashSet::default();
        for scope in &self.knowledge.scopes {
            for &fact in scope.literal.iter().chain(&scope.facts) {
                if fact == Terms::TRUE || !seen.insert(fact) {
                    continue;
                }
                match words.of(fact, false) {
                    Some(text) if contents.facts.len() < FACTS => contents.facts.push(text),
                    _ => contents.other_facts += 1,
                }
            }
        }
        contents
    }
}

impl Path<'_> {
    /// Returns the amounts of chunks that are plainly positive. Only there do values mean
    /// something.
    fn surely_held(&mut self, heap: &Heap) -> FxHashSet<Term> {
        let amounts = heap.resources().flat_map(|(_, chunks)| chunks).map(|chunk| chunk.amount);
        amounts
            .filter(|&amount| {
                let is_positive = self.terms.lt(Terms::NONE, amount);
                is_positive == Terms::TRUE || self.knowledge.known.contains(&is_positive)
            })
            .collect()
    }
}

impl Symbols<'_> {
    /// Names the values of fields whose receivers have names.
    fn name_fields(
        &self,
        heap: &Heap,
        positive: &FxHashSet<Term>,
        known: &FxHashMap<Term, String>,
        words: &mut Words<'_>,
        as_said: impl Fn(&str) -> String,
    ) {
        for (resource, chunks) in heap.resources() {
            if !matches!(resource, Resource::Field(_)) {
                continue;
            }
            for chunk in chunks.iter().filter(|chunk| positive.contains(&chunk.amount)) {
                let receiver = known.get(&chunk.arguments[0]);
                let location = receiver.and_then(|receiver| {
                    names::location(self.program, resource, std::slice::from_ref(receiver))
                });
                if let Some(location) = location {
                    words.add(chunk.value, || as_said(&location));
                }
            }
        }
    }

    fn held_in_words(
        &self,
        heap: &Heap,
        positive: &FxHashSet<Term>,
        words: &mut Words<'_>,
    ) -> Vec<HeldPermission> {
        let mut held = Vec::new();
        for (resource, chunks) in heap.resources() {
            for chunk in chunks {
                let mut portion = self.chunk_in_words(resource, chunk, words);
                if let Some(portion) = &mut portion
                    && !positive.contains(&chunk.amount)
                {
                    portion.value = None;
                }
                held.extend(portion);
            }
        }
        for (resource, chunks) in heap.quantified_resources() {
            let location = match resource {
                Resource::Wand(_) => Some("magic wands".to_owned()),
                Resource::Field(_) => self.for_some(resource, "x", "x"),
                Resource::Predicate(predicate) => {
                    match &self.program.predicates[predicate].formals[..] {
                        [_] => self.for_some(resource, "x", "x"),
                        _ => self.for_some(resource, "…", "arguments"),
                    }
                }
            };
            let Some(location) = location else { continue };
            let portion = HeldPermission { location, amount: None, value: None };
            held.extend(chunks.iter().map(|_| portion.clone()));
        }
        held
    }

    /// Returns the words for instances of a resource whose arguments are not shown.
    fn for_some(&self, resource: Resource, arguments: &str, which: &str) -> Option<String> {
        let location = names::location(self.program, resource, &[arguments.to_owned()])?;
        Some(format!("{location} for some {which}"))
    }

    fn chunk_in_words(
        &self,
        resource: Resource,
        chunk: &Chunk,
        words: &mut Words<'_>,
    ) -> Option<HeldPermission> {
        let amount = words.of(chunk.amount, true);
        let (location, value) = match resource {
            Resource::Field(_) => {
                let receiver = words.operand(chunk.arguments[0], true, &mut { NODES })?;
                let location = names::location(self.program, resource, &[receiver])?;
                let name = words.names.get(&chunk.value).filter(|name| **name != location).cloned();
                let value = name.or_else(|| words.value(chunk.value));
                (location, value)
            }
            Resource::Predicate(_) => {
                let arguments: Option<Vec<String>> = chunk
                    .arguments
                    .iter()
                    .map(|&argument| {
                        words.phrase(argument, true, &mut { NODES }).map(|(text, _)| text)
                    })
                    .collect();
                (names::location(self.program, resource, &arguments?)?, None)
            }
            Resource::Wand(_) => ("a magic wand".to_owned(), None),
        };
        Some(HeldPermission { location, amount, value })
    }
}

impl Words<'_> {
    /// Gives a value a name, unless it has one or is a literal.
    fn add(&mut self, value: Term, name: impl FnOnce() -> String) {
        if !self.is_literal(value) {
            self.names.entry(value).or_insert_with(name);
        }
    }
}
