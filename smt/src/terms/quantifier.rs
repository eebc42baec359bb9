//! Quantified formulas.
//!
//! Bound variables get canonical names (`q!0`, `q!1`, …, counted from the innermost quantifier
//! outwards), so a formula evaluated twice is one term, and no name is captured when quantifiers
//! are nested.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{Info, Quant, Quantifier, Sort, Symbol, SymbolKind, Term, TermKind, Terms};

/// A set of symbols in order of first occurrence.
pub(crate) type Symbols = IndexSet<Symbol, FxBuildHasher>;

impl Terms {
    /// Makes the claim ∀ variables {triggers}. body. The variables come from
    /// [`Terms::fresh_variable`]. The terms of a trigger are matched together. Triggers that the
    /// prover would reject are left out.
    pub fn forall(
        &mut self,
        variables: &[Term],
        triggers: Vec<Vec<Term>>,
        body: Term,
        label: impl Into<Arc<str>>,
        weight: u32,
    ) -> Term {
        self.quantify(Quant::Forall, variables, triggers, body, label.into(), weight)
    }

    /// Makes the claim ∃ variables {triggers}. body.
    pub fn exists(
        &mut self,
        variables: &[Term],
        triggers: Vec<Vec<Term>>,
        body: Term,
        label: impl Into<Arc<str>>,
        weight: u32,
    ) -> Term {
        self.quantify(Quant::Exists, variables, triggers, body, label.into(), weight)
    }

    /// Makes a formula of either kind: [`Terms::forall`] or [`Terms::exists`].
    pub fn quantify(
        &mut self,
        quant: Quant,
        variables: &[Term],
        triggers: Vec<Vec<Term>>,
        body: Term,
        label: Arc<str>,
        weight: u32,
    ) -> Term {
        // Sorts are not empty, so a decided body decides the quantifier.
        if self.as_bool(body).is_some() {
            return body;
        }
        let mut used = self.free_variables(body);
        for &term in triggers.iter().flatten() {
            used.extend(self.free_variables(term));
        }
        let variables: Vec<Symbol> = variables
            .iter()
            .map(|&variable| self.variable_symbol(variable))
            .filter(|symbol| used.contains(symbol))
            .collect();
        if variables.is_empty() {
            return body;
        }
        let triggers = self.usable_triggers(&variables, triggers);
        let quantifier = Quantifier {
            quant,
            variables: variables.into(),
            triggers: triggers.into_iter().map(Into::into).collect(),
            body,
            weight,
            label,
        };
        let quantifier = self.with_canonical_variables(quantifier, &used);
        self.intern_quantifier(quantifier)
    }

    /// Returns the symbol of a variable.
    pub(super) fn variable_symbol(&self, variable: Term) -> Symbol {
        match *self.kind(variable) {
            TermKind::Apply(symbol, _) if self.declaration(symbol).is_variable() => symbol,
            ref other => panic!("not a variable: {other:?}"),
        }
    }

    fn with_canonical_variables(&mut self, quantifier: Quantifier, used: &Symbols) -> Quantifier {
        let parts = quantifier.triggers.iter().flatten().copied().chain([quantifier.body]);
        let base = parts.map(|part| self.infos[part.index()].binders).max().unwrap_or(0);
        // A variable of an enclosing quantifier that was taken apart must not be captured.
        let enclosing = used.iter().filter(|symbol| !quantifier.variables.contains(symbol));
        let enclosing = enclosing.filter_map(|&symbol| self.canonical_number(symbol)).max();
        let base = base.max(enclosing.map_or(0, |number| number + 1));
        let mut renaming = FxHashMap::default();
        let mut variables = Vec::with_capacity(quantifier.variables.len());
        for (&symbol, number) in quantifier.variables.iter().zip(base..) {
            let canonical = self.canonical_variable(number, self.declaration(symbol).result);
            variables.push(canonical);
            if canonical != symbol {
                let (from, to) = (self.apply(symbol, &[]), self.apply(canonical, &[]));
                renaming.insert(from, to);
            }
        }
        if renaming.is_empty() {
            return quantifier;
        }
        let triggers = quantifier
            .triggers
            .iter()
            .map(|trigger| trigger.iter().map(|&term| self.rename(term, &renaming)).collect())
            .collect();
        let body = self.rename(quantifier.body, &renaming);
        Quantifier { variables: variables.into(), triggers, body, ..quantifier }
    }

    fn canonical_variable(&mut self, number: u32, sort: Sort) -> Symbol {
        self.declare_as(format!("q!{number}"), &[], sort, SymbolKind::Bound(number))
    }

    /// Makes a quantified term. No other function makes them.
    pub(super) fn intern_quantifier(&mut self, quantifier: Quantifier) -> Term {
        let mut free = self.free_variables(quantifier.body);
        free.retain(|symbol| !quantifier.variables.contains(symbol));
        let numbers = quantifier.variables.iter().map(|&symbol| {
            self.canonical_number(symbol).expect("variables of a quantifier are canonical") + 1
        });
        let mut binders = numbers.max().unwrap_or(0);
        for &part in quantifier.triggers.iter().flatten().chain([&quantifier.body]) {
            binders = binders.max(self.infos[part.index()].binders);
        }
        let kind = TermKind::Quantifier(Box::new(quantifier));
        match self.find(&kind) {
            Some(term) => term,
            None => self.push(kind, Info { sort: Sort::BOOL, open: !free.is_empty(), binders }),
        }
    }

    fn canonical_number(&self, symbol: Symbol) -> Option<u32> {
        match self.declaration(symbol).kind {
            SymbolKind::Bound(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the body of a quantifier, with values for its variables.
    pub fn instantiate(&mut self, quantified: Term, values: &[Term]) -> Term {
        let TermKind::Quantifier(quantifier) = self.kind(quantified) else {
            panic!("not a quantifier")
        };
        let (variables, body) = (quantifier.variables.clone(), quantifier.body);
        debug_assert_eq!(variables.len(), values.len());
        let mut map = FxHashMap::default();
        for (&variable, &value) in variables.iter().zip(values) {
            map.insert(self.apply(variable, &[]), value);
        }
        self.substitute(body, &map)
    }

    /// Returns the free variables of a term, in order of first occurrence.
    pub fn free_variables(&self, term: Term) -> Symbols {
        let mut found = Symbols::default();
        let mut visited = FxHashSet::default();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if !self.is_open(term) || !visited.insert(term) {
                continue;
            }
            match self.kind(term) {
                TermKind::Apply(symbol, args) if args.is_empty() => {
                    found.insert(*symbol);
                }
                TermKind::Quantifier(inner) => {
                    let mut free = super::grow_stack(|| self.free_variables(inner.body));
                    free.retain(|symbol| !inner.variables.contains(symbol));
                    found.extend(free);
                }
                kind => {
                    let first = pending.len();
                    kind.for_each_operand(|operand| pending.push(operand));
                    pending[first..].reverse();
                }
            }
        }
        found
    }

    /// Returns the triggers that the prover accepts: each mentions every variable, and has
    /// matchable terms only.
    fn usable_triggers(&self, variables: &[Symbol], triggers: Vec<Vec<Term>>) -> Vec<Vec<Term>> {
        let mut usable: Vec<Vec<Term>> = Vec::new();
        for mut trigger in triggers {
            let mut covered = Symbols::default();
            trigger.retain(|&term| {
                let free = self.free_variables(term);
                let mentions = variables.iter().any(|variable| free.contains(variable));
                covered.extend(free);
                mentions
            });
            let mut seen = FxHashSet::default();
            trigger.retain(|&term| seen.insert(term));
            if variables.iter().all(|variable| covered.contains(variable))
                && trigger.iter().all(|&term| self.is_matchable(term))
                && !usable.contains(&trigger)
            {
                usable.push(trigger);
            }
        }
        usable
    }

    /// Tells whether a term can stand in a trigger. Such a term applies a function that the prover
    /// does not interpret, and has no logical parts. Sums and differences of numbers are matched
    /// literally below the top.
    pub fn is_matchable(&self, term: Term) -> bool {
        let at_top = match self.kind(term) {
            TermKind::Apply(symbol, args) => {
                let kind = &self.declaration(*symbol).kind;
                !args.is_empty()
                    && matches!(
                        kind,
                        SymbolKind::Uninterpreted
                            | SymbolKind::Mark
                            | SymbolKind::Constructor
                            | SymbolKind::Fresh
                    )
            }
            TermKind::Theory(..)
            | TermKind::Wrap(_)
            | TermKind::Unwrap(..)
            | TermKind::Pair(..)
            | TermKind::First(_)
            | TermKind::Second(_) => true,
            _ => false,
        };
        at_top && self.has_matchable_parts(term)
    }

    fn has_matchable_parts(&self, term: Term) -> bool {
        !self.some_subterm(term, |term| {
            matches!(
                self.kind(term),
                TermKind::Bool(_)
                    | TermKind::Not(_)
                    | TermKind::And(_)
                    | TermKind::Or(_)
                    | TermKind::Implies(..)
                    | TermKind::Ite(..)
                    | TermKind::Eq(..)
                    | TermKind::Distinct(_)
                    | TermKind::Quantifier(_)
                    | TermKind::Lt(..)
                    | TermKind::Le(..)
                    | TermKind::PermMin(..)
                    | TermKind::IsPair(_)
                    | TermKind::IsWrapped(..)
            )
        })
    }
}
