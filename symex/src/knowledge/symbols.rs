//! Sorts of types and symbols of functions, and the axioms that the prover is told at their first
//! use.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use sil::program::{DomainId, FunctionId, LocalId, PredicateId, Type};
use smt::terms::{Sort, Symbol, SymbolKind, Term, TermKind, Terms, grow_stack};

use crate::knowledge::functions::{FunctionAxioms, Phase};
use crate::{Configuration, Path, Symbols};

/// The depth of definitions, one inside the other, whose functions the prover is told at once.
const NEAR: u32 = 8;

/// The symbols of a program function f. All but `stateless` take the snapshot of the precondition
/// first.
#[derive(Clone, Copy, Debug)]
pub struct FunctionSymbols {
    pub full: Symbol,
    /// Equal to `full`, but the definition is not unrolled for it.
    pub limited: Symbol,
    /// True for all arguments to which the function was applied; for triggers.
    pub stateless: Symbol,
    /// The claim that the application is in the function's domain.
    pub(crate) precondition: Symbol,
}

/// The declarations that a member mentions.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(from = "Numbers", into = "Numbers")]
pub(crate) struct Emitted {
    pub(crate) functions: IndexSet<FunctionId, FxBuildHasher>,
    /// Instances of domains, their type arguments ground.
    pub(crate) domains: IndexSet<(DomainId, Vec<Type>), FxBuildHasher>,
}

/// [`Emitted`] in stored data: ids are numbers.
#[derive(Serialize, Deserialize)]
struct Numbers {
    functions: Vec<u32>,
    domains: Vec<(u32, Vec<Type>)>,
}

impl From<Emitted> for Numbers {
    fn from(Emitted { functions, domains }: Emitted) -> Self {
        let functions = functions.into_iter().map(|id| id.into_raw().into_u32()).collect();
        let domains = domains.into_iter();
        let domains = domains.map(|(id, types)| (id.into_raw().into_u32(), types)).collect();
        Self { functions, domains }
    }
}

impl From<Numbers> for Emitted {
    fn from(Numbers { functions, domains }: Numbers) -> Self {
        let functions = functions.into_iter().map(|id| FunctionId::from_raw(id.into())).collect();
        let domains = domains.into_iter();
        let domains = domains.map(|(id, types)| (DomainId::from_raw(id.into()), types)).collect();
        Self { functions, domains }
    }
}

impl Symbols<'_> {
    pub(crate) fn function_symbols(&mut self, function: FunctionId) -> FunctionSymbols {
        if let Some(&known) = self.caches.function_symbols.get(&function) {
            return known;
        }
        let symbols = self.declare_function_symbols(function);
        self.caches.function_symbols.insert(function, symbols);
        symbols
    }

    /// Tells whether a symbol claims that an application of a program function is in the function's
    /// domain.
    pub(crate) fn is_precondition(&self, symbol: Symbol) -> bool {
        self.caches.function_symbols.values().any(|known| known.precondition == symbol)
    }

    fn declare_function_symbols(&mut self, function: FunctionId) -> FunctionSymbols {
        let program = self.program;
        let declaration = &program.functions[function];
        let arguments: Vec<Sort> = declaration
            .formals
            .iter()
            .map(|&formal| self.sort(&declaration.locals[formal].ty))
            .collect();
        let result = self.sort(&declaration.result);
        let mut with_snapshot = vec![Sort::SNAP];
        with_snapshot.extend(&arguments);
        let name = &declaration.name;
        FunctionSymbols {
            full: self.terms.declare_function(name, &with_snapshot, result),
            limited: self.terms.declare_function(
                &format!("{name}%limited"),
                &with_snapshot,
                result,
            ),
            stateless: self.terms.declare_function(
                &format!("{name}%stateless"),
                &arguments,
                Sort::BOOL,
            ),
            precondition: self.terms.declare_function(
                &format!("{name}%precondition"),
                &with_snapshot,
                Sort::BOOL,
            ),
        }
    }

    /// Returns trigP, of the snapshot and the arguments of an instance.
    pub(crate) fn predicate_trigger(&mut self, predicate: PredicateId) -> Symbol {
        let program = self.program;
        let declaration = &program.predicates[predicate];
        let mut sorts = vec![Sort::SNAP];
        for &formal in &declaration.formals {
            sorts.push(self.sort(&declaration.locals[formal].ty));
        }
        self.terms.declare_mark(&format!("{}%trigger", declaration.name), &sorts, Sort::BOOL)
    }

    /// Returns the axioms of a function that have been shown, and may be used.
    pub(super) fn shown_of(&self, function: FunctionId) -> Vec<Arc<FunctionAxioms>> {
        // The axioms of a function that is not visible may or may not be there by now.
        let visible = self.setting.visible;
        let is_defined =
            visible.functions.contains(&function) || visible.definitions.contains(&function);
        let phases: &[Phase] = if is_defined {
            &[Phase::Contract, Phase::Body]
        } else if visible.contracts.contains(&function) {
            &[Phase::Contract]
        } else {
            &[]
        };
        let of_phase = |&phase: &Phase| self.context.functions.get(function, phase).cloned();
        phases.iter().filter_map(of_phase).collect()
    }
}

impl Path<'_> {
    /// Notes that the member applies a function. The prover is told the axioms of the function
    /// justified so far, and those of the functions that they mention.
    ///
    /// PERFORMANCE: functions that only a long chain of definitions leads to are told when an
    /// obligation fails without them ([`Path::tell_far_functions`]). Most proofs unroll few
    /// definitions. For the last function of a chain, the prover would be told all others.
    pub(crate) fn use_function(&mut self, function: FunctionId) {
        self.domains.emitted.functions.insert(function);
        self.tell_function(function, NEAR);
    }

    /// Tells the prover the functions that [`Path::use_function`] has left out. Tells whether there
    /// were any.
    pub(crate) fn tell_far_functions(&mut self) -> bool {
        let told_before = self.domains.reach.len();
        for function in std::mem::take(&mut self.domains.far) {
            self.tell_function(function, u32::MAX);
        }
        self.domains.reach.len() > told_before
    }

    /// Tells the prover the axioms of a function, and those of the functions to which `reach`
    /// definitions lead, one inside the other.
    fn tell_function(&mut self, function: FunctionId, reach: u32) {
        let known = self.domains.reach.get(&function).copied();
        if known.is_some_and(|known| known >= reach) {
            return;
        }
        self.domains.reach.insert(function, reach);
        for shown in self.shown_of(function) {
            for &used in &shown.uses.functions {
                match reach.checked_sub(1) {
                    Some(reach) => grow_stack(|| self.tell_function(used, reach)),
                    None => _ = self.domains.far.insert(used),
                }
            }
            if known.is_none() {
                for (domain, instance) in &shown.uses.domains {
                    self.use_domain_of_function(*domain, instance);
                }
                for &axiom in &shown.axioms {
                    let axiom = self.terms.import(&shown.terms, axiom);
                    self.prover.add_axiom(axiom);
                }
            }
        }
    }
}

impl Configuration<'_> {
    /// Gives fresh values to variables.
    pub fn havoc(&mut self, variables: impl IntoIterator<Item = LocalId>) {
        for variable in variables {
            let local = &self.frame.locals[variable];
            let sort = self.sort(&local.ty);
            let value = self.fresh(&local.name, sort);
            self.frame.store.set(variable, value);
        }
    }
}

/// Returns the fresh symbols in terms, in a fixed order.
pub fn fresh_symbols(terms: &Terms, roots: Vec<Term>) -> IndexSet<Symbol, FxBuildHasher> {
    let mut found = IndexSet::default();
    terms.visit(roots, |term| {
        if let TermKind::Apply(symbol, _) = terms.kind(term)
            && terms.declaration(*symbol).kind == SymbolKind::Fresh
        {
            found.insert(*symbol);
        }
        true
    });
    found
}
