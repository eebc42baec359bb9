//! Matches of triggers with terms of the graph, up to equality.

use super::graph::{Graph, Head};
use crate::terms::{Term, TermKind, Terms, grow_stack};

/// Values of variables.
#[derive(Clone, Default, Debug)]
pub(super) struct Binding(Vec<(Term, Term)>);

impl Binding {
    pub(super) fn value(&self, variable: Term) -> Option<Term> {
        self.0.iter().find(|(known, _)| *known == variable).map(|&(_, value)| value)
    }
}

/// A task of a match.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// A pattern and the term that it has to equal.
    With(Term, Term),
    /// A pattern that any term may match.
    WithAny(Term),
}

/// A search for values of variables. A bound variable is unbound again before the next way is
/// tried.
struct Matching<'a> {
    graph: &'a Graph,
    terms: &'a Terms,
    /// The steps that may still be spent.
    fuel: &'a mut u32,
    /// The tasks that are left, the next one last.
    tasks: Vec<Task>,
    binding: Binding,
    found: Vec<Binding>,
}

impl Graph {
    /// Returns the ways in which all parts of a trigger match, the one at `index` with this term.
    /// `fuel` is what may be spent; it is taken off.
    pub(super) fn matches(
        &self,
        terms: &Terms,
        trigger: &[Term],
        index: usize,
        term: Term,
        fuel: &mut u32,
    ) -> Vec<Binding> {
        let others = trigger.iter().enumerate().filter(|&(other, _)| other != index);
        let tasks = others.rev().map(|(_, &part)| Task::WithAny(part)).collect();
        let mut matching = Matching {
            graph: self,
            terms,
            fuel,
            tasks,
            binding: Binding::default(),
            found: Vec::new(),
        };
        matching.operands(trigger[index], term);
        matching.found
    }
}

impl<'a> Matching<'a> {
    /// Goes on with the next task, in each way; where none is left, a way has been found.
    fn go_on(&mut self) {
        if *self.fuel == 0 {
            return;
        }
        let Some(task) = self.tasks.pop() else {
            self.found.push(self.binding.clone());
            return;
        };
        grow_stack(|| match task {
            Task::With(pattern, term) => self.with(pattern, term),
            Task::WithAny(pattern) => {
                for &term in self.candidates(pattern) {
                    self.operands(pattern, term);
                }
            }
        });
        self.tasks.push(task);
    }

    /// Returns the terms that a pattern may match: those with its head, or those with an operand
    /// that is bound, if these are fewer.
    fn candidates(&self, pattern: Term) -> &'a [Term] {
        let graph = self.graph;
        let mut fewest = graph.with_head(Head::of(self.terms, pattern));
        self.terms.kind(pattern).for_each_operand(|operand| {
            if let Some(value) = self.binding.value(operand) {
                let uses = graph.uses(value);
                if uses.len() < fewest.len() {
                    fewest = uses;
                }
            }
        });
        fewest
    }

    fn with(&mut self, pattern: Term, term: Term) {
        *self.fuel -= 1;
        let graph = self.graph;
        if !self.terms.is_open(pattern) {
            if graph.find_form(self.terms, pattern) == graph.find(term) {
                self.go_on();
            }
            return;
        }
        if let TermKind::Apply(symbol, _) = self.terms.kind(pattern)
            && self.terms.declaration(*symbol).is_variable()
        {
            match self.binding.value(pattern) {
                Some(value) if graph.find(value) != graph.find(term) => {}
                Some(_) => self.go_on(),
                None => {
                    self.binding.0.push((pattern, term));
                    self.go_on();
                    self.binding.0.pop();
                }
            }
            return;
        }
        for member in graph.members(term) {
            self.operands(pattern, member);
        }
    }

    /// Matches the operands of a pattern with those of a term, if they have the same form
    /// otherwise.
    fn operands(&mut self, pattern: Term, term: Term) {
        let terms = self.terms;
        if Head::of(terms, pattern) != Head::of(terms, term) {
            return;
        }
        let of_one_sort = match (terms.kind(pattern), terms.kind(term)) {
            (TermKind::Unwrap(_, a), TermKind::Unwrap(_, b))
            | (TermKind::IsWrapped(_, a), TermKind::IsWrapped(_, b))
            | (TermKind::Theory(_, _, a), TermKind::Theory(_, _, b)) => a == b,
            _ => true,
        };
        let start = self.tasks.len();
        terms.kind(pattern).for_each_operand(|part| self.tasks.push(Task::With(part, part)));
        let mut index = start;
        let mut fits = of_one_sort;
        terms.kind(term).for_each_operand(|operand| {
            match self.tasks.get_mut(index) {
                Some(Task::With(part, with)) if terms.sort(*part) == terms.sort(operand) => {
                    *with = operand;
                }
                _ => fits = false,
            }
            index += 1;
        });
        if fits && index == self.tasks.len() {
            self.tasks[start..].reverse();
            self.go_on();
        }
        self.tasks.truncate(start);
    }
}
