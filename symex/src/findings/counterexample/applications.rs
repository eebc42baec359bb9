//! The functions of a path, and their arguments.

use rustc_hash::{FxHashMap, FxHashSet};
use smt::terms::{Symbol, Term, TermKind};

use crate::{Path, Symbols};

/// The number of applications whose values are asked for.
const TOLD: usize = 64;

/// A function applied to values, where no heap takes part.
pub(super) struct Application {
    pub(super) function: String,
    pub(super) arguments: Vec<Term>,
    pub(super) whole: Term,
}

impl Symbols<'_> {
    /// Returns the names of the functions that the program declares, by their symbols.
    fn declared_functions(&self) -> FxHashMap<Symbol, &str> {
        let of_program = self.caches.function_symbols.iter().flat_map(|(&id, symbols)| {
            let name = &*self.program.functions[id].name;
            [symbols.full, symbols.limited].map(|symbol| (symbol, name))
        });
        let of_domain = |&symbol: &Symbol| {
            let name = &self.terms.declaration(symbol).name;
            (symbol, name.split('[').next().unwrap_or_default())
        };
        of_program.chain(self.domains.symbols.iter().map(of_domain)).collect()
    }
}

impl Path<'_> {
    /// Returns the applications of declared functions in the facts of the path and in `goal`, the
    /// latest facts first. Functions of heaps are left out: their values depend on the heap.
    pub(super) fn applications(&self, goal: Term) -> Vec<Application> {
        if self.program.is_translated() {
            return Vec::new();
        }
        let functions = self.declared_functions();
        let scopes = self.knowledge.scopes.iter().rev();
        let facts = scopes.flat_map(|scope| scope.facts.iter().rev().chain(&scope.literal));
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for &fact in [goal].iter().chain(facts) {
            let mut pending = vec![fact];
            while let Some(term) = pending.pop() {
                if found.len() == TOLD {
                    return found;
                }
                if !seen.insert(term) {
                    continue;
                }
                let TermKind::Apply(symbol, arguments) = self.terms.kind(term) else {
                    self.terms.kind(term).for_each_operand(|operand| pending.push(operand));
                    continue;
                };
                pending.extend(arguments.iter());
                let Some(&name) = functions.get(symbol) else { continue };
                let is_unit = |term: &Term| matches!(self.terms.kind(*term), TermKind::Unit);
                let arguments = if self.domains.symbols.contains(symbol) {
                    &arguments[..]
                } else if arguments.first().is_some_and(is_unit) {
                    &arguments[1..]
                } else {
                    continue;
                };
                if !self.terms.is_open(term) {
                    let function = name.to_owned();
                    let arguments = arguments.to_vec();
                    found.push(Application { function, arguments, whole: term });
                }
            }
        }
        found
    }

    /// Returns all terms in the facts of the path, and in these.
    pub(super) fn mentioned(&self, also: impl IntoIterator<Item = Term>) -> FxHashSet<Term> {
        let scopes = self.knowledge.scopes.iter();
        let facts = scopes.flat_map(|scope| scope.facts.iter().chain(&scope.literal));
        let mut pending: Vec<Term> = facts.copied().chain(also).collect();
        let mut seen = FxHashSet::default();
        while let Some(term) = pending.pop() {
            if seen.insert(term) {
                match self.terms.kind(term) {
                    TermKind::Apply(_, arguments) => pending.extend(arguments.iter()),
                    kind => kind.for_each_operand(|operand| pending.push(operand)),
                }
            }
        }
        seen
    }
}
