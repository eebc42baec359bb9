//! The words for missing permission: the location, the needed amount, and the held amount.
//!
//! No question is asked here. A repeated run has to come to the same questions, and words are not
//! worth the prover's time. So only evidently held amounts are told, and values without a name in
//! the program are left out.

use std::rc::Rc;

use sil::program::{LocalKind, PredicateId};
use sil::source::Span;
use smt::terms::{Sort, Term, TermKind, Terms, TheoryOp};

use crate::findings::log::{Reported, Taker};
use crate::findings::names;
use crate::permission::ordinary::same_arguments;
use crate::report::{Amount, Shortfall, in_percent};
use crate::state::Given;
use crate::state::heap::{Heap, Resource};
use crate::{Amounts, Configuration, Path, Symbols};

/// The most steps in a name such as `list.next.value`.
const LONGEST: usize = 6;

/// The number of permissions given away that are kept in mind.
const KEPT: usize = 32;

/// The number of statements that are told to have given permission away.
const TAKERS: usize = 3;

impl Configuration<'_> {
    /// Adds to a report which location lacks permission. `needed`: the amount, `None` for any.
    pub fn tell_shortfall(
        &mut self,
        reported: Reported,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
        needed: Option<Term>,
    ) {
        if !reported.wants_shortfall() {
            return;
        }
        let Some(location) = self.location_in_words(heap, resource, arguments) else { return };
        let needed = match needed {
            // In functions any amount will do.
            _ if self.frame.assertion.amounts != Amounts::Exact => Amount::Some,
            None => Amount::Some,
            Some(amount) => self.amount_in_words(heap, amount),
        };
        let (held, is_all) = self.evidently_held(heap, resource, arguments);
        let inside = if held == Terms::NONE {
            self.instance_around(heap, resource, arguments)
        } else {
            None
        };
        let held = self.amount_in_words(heap, held);
        let takers = self.takers_of(resource, arguments);
        let shortfall = Shortfall { location, needed, held, is_all, inside };
        self.log.add_shortfall(reported, shortfall, &takers);
    }

    /// Adds to a report which receiver might be null.
    pub(crate) fn tell_receiver(&mut self, reported: Reported, receiver: Term) {
        if let Some(name) = self.in_words(&self.here.heap, receiver, LONGEST) {
            self.log.name_receiver(reported, name);
        }
    }

    /// Remembers that a statement gives permission away.
    pub(crate) fn note_given(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        amount: Term,
        by: Span,
    ) {
        self.note(Given { resource, arguments: arguments.to_vec(), amount, by, is_opened: false });
    }

    /// Remembers that a statement opens an instance of a predicate.
    pub fn note_unfolded(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        by: Span,
    ) {
        let (resource, arguments) = (Resource::Predicate(predicate), arguments.to_vec());
        self.note(Given { resource, arguments, amount, by, is_opened: true });
    }

    fn note(&mut self, new: Given) {
        let given = Rc::make_mut(&mut self.here.given);
        if given.len() == KEPT {
            given.remove(0);
        }
        given.push(new);
    }

    /// Remembers that a statement gives away what a heap has lost.
    pub fn note_lost(&mut self, before: &Heap, after: &Heap, by: Span) {
        for (resource, chunks) in before.resources() {
            let kept = after.of(resource);
            for chunk in chunks.iter().filter(|chunk| !kept.contains(chunk)) {
                self.note_given(resource, &chunk.arguments, chunk.amount, by);
            }
        }
    }

    /// Forgets who gave away permission, as far as it has come back.
    pub(crate) fn note_received(&mut self, resource: Resource, arguments: &[Term], amount: Term) {
        let is_it = |given: &Given| given.resource == resource && given.arguments == arguments;
        if !self.here.given.iter().any(is_it) {
            return;
        }
        let mut given = std::mem::take(&mut self.here.given);
        let terms = &mut self.terms;
        Rc::make_mut(&mut given).retain_mut(|given| {
            if !is_it(given) {
                return true;
            }
            let has_all = given.amount == amount
                || match (terms.as_perm(given.amount), terms.as_perm(amount)) {
                    (Some(given), Some(received)) => given <= received,
                    _ => false,
                };
            if terms.is_literal(given.amount) && terms.is_literal(amount) {
                given.amount = terms.sub(given.amount, amount);
            }
            !has_all
        });
        self.here.given = given;
    }

    /// Returns the statements that gave away permission to a location which has not come back, the
    /// last one first: up to one that gave all away, and not more than a few.
    fn takers_of(&mut self, resource: Resource, arguments: &[Term]) -> Vec<Taker> {
        let given = self.here.given.clone();
        let mut takers: Vec<Taker> = Vec::new();
        for given in given.iter().rev().filter(|given| given.resource == resource) {
            let same = same_arguments(&mut self.terms, &given.arguments, arguments);
            if !self.is_evident(same) {
                continue;
            }
            let taker = Taker { at: given.by, is_opened: given.is_opened };
            if !takers.contains(&taker) {
                takers.push(taker);
            }
            if given.amount == Terms::WRITE || takers.len() == TAKERS {
                break;
            }
        }
        takers
    }

    /// Returns a location as the user would write it.
    fn location_in_words(
        &self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
    ) -> Option<String> {
        let words: Option<Vec<String>> =
            arguments.iter().map(|&argument| self.in_words(heap, argument, LONGEST)).collect();
        names::location(self.program, resource, &words?)
    }

    /// Returns a held instance of a predicate whose body mentions permission to this location of
    /// its argument. Perhaps it has to be unfolded.
    fn instance_around(
        &self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
    ) -> Option<String> {
        let (Resource::Field(field), &[receiver]) = (resource, arguments) else { return None };
        heap.resources().find_map(|(of, chunks)| {
            let Resource::Predicate(id) = of else { return None };
            let formals = &self.program.predicates[id].formals;
            let holds = self.setting.above.holds;
            let chunk = chunks.iter().find(|chunk| {
                let mut formals = formals.iter().zip(&chunk.arguments);
                formals.any(|(&formal, &argument)| {
                    argument == receiver && holds(self.program, id, formal, field)
                })
            })?;
            self.location_in_words(heap, of, &chunk.arguments)
        })
    }

    fn amount_in_words(&self, heap: &Heap, amount: Term) -> Amount {
        match self.terms.as_perm(amount) {
            Some(literal) if self.setting.above.amounts.is_some() => {
                Amount::Written(in_percent(literal))
            }
            Some(literal) => Amount::Known(literal.clone()),
            None => self.in_words(heap, amount, LONGEST).map_or(Amount::Nameless, Amount::Written),
        }
    }

    /// Returns a value as the user would write it: by variables and the fields that hold it.
    fn in_words(&self, heap: &Heap, value: Term, steps: usize) -> Option<String> {
        let steps = steps.checked_sub(1)?;
        match self.terms.kind(value) {
            TermKind::Null => return Some("null".to_owned()),
            TermKind::Int(number) => return Some(number.to_string()),
            TermKind::Perm(amount) if self.setting.above.amounts.is_some() => {
                return Some(in_percent(amount));
            }
            TermKind::Perm(amount) => return Some(names::amount(self.program, amount.clone())),
            &TermKind::Mul(left, right) => {
                if let Some(multiple) = self
                    .multiple_in_words(left, right)
                    .or_else(|| self.multiple_in_words(right, left))
                {
                    return Some(multiple);
                }
            }
            TermKind::Apply(..) => {
                if let Some(name) = self.constant_in_words(value) {
                    return Some(name);
                }
            }
            _ => {}
        }
        if let Some(name) = self.variable_in_words(value) {
            return Some(name);
        }
        for (resource, chunks) in heap.resources() {
            let Resource::Field(field) = resource else { continue };
            for chunk in chunks.iter().filter(|chunk| chunk.value == value) {
                if let Some(receiver) = self.in_words(heap, chunk.arguments[0], steps) {
                    let field = &self.program.fields[field];
                    return Some(format!(
                        "{receiver}.{}",
                        names::called(self.program, &field.name, field.span)?
                    ));
                }
            }
        }
        let operation = |left: Term, sign: &str, right: Term| {
            let (left, right) =
                (self.in_words(heap, left, steps)?, self.in_words(heap, right, steps)?);
            Some(format!("{left} {sign} {right}"))
        };
        match self.terms.kind(value) {
            &TermKind::Mul(left, right) if self.is_simple(left) && self.is_simple(right) => {
                operation(left, "*", right)
            }
            &TermKind::Add(left, right) => operation(left, "+", right),
            &TermKind::Sub(left, right) if self.is_simple(right) => operation(left, "-", right),
            TermKind::Theory(TheoryOp::SeqIndex, parts, _) => {
                let sequence = self.in_words(heap, parts[0], steps)?;
                Some(format!("{sequence}[{}]", self.in_words(heap, parts[1], steps)?))
            }
            _ => None,
        }
    }

    /// Tells whether a value needs no parentheses as an operand.
    fn is_simple(&self, value: Term) -> bool {
        self.terms.is_literal(value) || self.variable_in_words(value).is_some()
    }

    /// Returns a variable with this value.
    fn variable_in_words(&self, value: Term) -> Option<String> {
        let (locals, store) = match &self.frame.user {
            Some(user) => (user.locals, &user.store),
            None => (self.frame.locals, &self.frame.store),
        };
        let with_value = locals.iter().filter(|(id, _)| store.get(*id) == Some(value));
        // A variable of `let` stands for the expression beside it.
        with_value
            .filter(|(_, local)| local.kind != LocalKind::Let)
            .find_map(|(_, local)| names::variable(self.program, local))
    }
}

impl Path<'_> {
    /// Returns the amount of the chunks that evidently are the location. Also tells whether the
    /// others evidently are not.
    fn evidently_held(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
    ) -> (Term, bool) {
        let mut amounts: Vec<Term> = Vec::new();
        let mut is_all = true;
        for chunk in heap.of(resource) {
            let same = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            if self.is_evident(same) {
                amounts.push(chunk.amount);
            } else {
                let other = self.terms.not(same);
                is_all &= self.is_evident(other);
            }
        }
        for chunk in heap.quantified(resource) {
            let mut amount = self.at(resource, chunk.amount, arguments);
            if let &TermKind::Ite(condition, then, _) = self.terms.kind(amount)
                && self.is_evident(condition)
            {
                amount = then;
            }
            if self.terms.is_literal(amount) { amounts.push(amount) } else { is_all = false }
        }
        (self.terms.sum(Sort::PERM, amounts), is_all)
    }

    /// Tells whether a condition is among the known facts, without a question.
    fn is_evident(&self, condition: Term) -> bool {
        self.terms.as_bool(condition) == Some(true)
            || self.knowledge.known.contains(&condition)
            || self.knowledge.facts.known(&self.terms, condition) == Some(true)
    }
}

impl Symbols<'_> {
    /// Returns a multiple of a named amount, as in `2ε`.
    fn multiple_in_words(&self, number: Term, of: Term) -> Option<String> {
        let number = self.terms.as_perm(number).filter(|number| number.is_integer())?;
        Some(format!("{number}{}", self.constant_in_words(of)?))
    }

    /// Returns a constant, if it has a name of its own.
    fn constant_in_words(&self, value: Term) -> Option<String> {
        let &TermKind::Apply(symbol, ref arguments) = self.terms.kind(value) else { return None };
        if !arguments.is_empty() {
            return None;
        }
        let name = &self.terms.declaration(symbol).name;
        if let Some(words) = self.setting.above.amounts {
            return words(name).map(str::to_owned);
        }
        if !self.domains.symbols.contains(&symbol) {
            return None;
        }
        let mut functions = self.program.domain_functions.iter().map(|(_, function)| function);
        let function = functions.find(|function| function.name == *name)?;
        names::called(self.program, &function.name, function.span)
    }
}
