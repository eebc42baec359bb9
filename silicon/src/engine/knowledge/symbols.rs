//! Sorts of types and symbols of functions; what the prover is told about them when they are first used.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use sil::program::{DomainId, FunctionId, PredicateId, Type};
use smt::terms::{Sort, Symbol};

use crate::engine::members::function::Phase;
use crate::engine::{Engine, Stop};

/// The symbols of a program function f (Viper engine reference, 14.1). All but `stateless` take the snapshot of the
/// precondition first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionSymbols {
    pub(crate) full: Symbol,
    /// Equal to `full`, but the definition is not unrolled for it.
    pub(crate) limited: Symbol,
    /// True of all arguments the function was applied to; for triggers.
    pub(crate) stateless: Symbol,
    /// The application is in the function's domain.
    pub(crate) precondition: Symbol,
}

/// What the prover has been told.
#[derive(Clone, Default, Debug)]
pub(crate) struct Emitted {
    pub(crate) functions: IndexSet<FunctionId, FxBuildHasher>,
    /// Instances of domains, their type arguments ground.
    pub(crate) domains: IndexSet<(DomainId, Vec<Type>), FxBuildHasher>,
}

impl Engine<'_> {
    /// The sort of the values of a type.
    pub(crate) fn sort(&mut self, ty: &Type) -> Sort {
        match ty {
            Type::Int => Sort::INT,
            Type::Bool | Type::Wand => Sort::BOOL,
            Type::Perm => Sort::PERM,
            Type::Ref => Sort::REF,
            Type::Seq(element) => {
                let element = self.sort(element);
                self.terms.seq_sort(element)
            }
            Type::Set(element) => {
                let element = self.sort(element);
                self.terms.set_sort(element)
            }
            Type::Multiset(element) => {
                let element = self.sort(element);
                self.terms.multiset_sort(element)
            }
            Type::Map(key, value) => {
                let (key, value) = (self.sort(key), self.sort(value));
                self.terms.map_sort(key, value)
            }
            Type::Domain(domain, arguments) => {
                let declaration = &self.program.domains[*domain];
                if let Some(text) = declaration.interpretations.get("SMTLIB") {
                    return self.terms.backend_sort(text);
                }
                let arguments: Vec<_> =
                    arguments.iter().map(|argument| self.sort(argument)).collect();
                self.terms.user_sort(&declaration.name, &arguments)
            }
            Type::Variable(name) => match self.domains.type_arguments.get(name).cloned() {
                Some(ty) => self.sort(&ty),
                // A parameter that no axiom binds: any sort will do.
                None => Sort::INT,
            },
        }
    }

    /// A type with the parameters of the domain in progress replaced.
    pub(crate) fn ground(&self, ty: &Type) -> Type {
        let ground = |ty: &Type| std::sync::Arc::new(self.ground(ty));
        match ty {
            Type::Seq(element) => Type::Seq(ground(element)),
            Type::Set(element) => Type::Set(ground(element)),
            Type::Multiset(element) => Type::Multiset(ground(element)),
            Type::Map(key, value) => Type::Map(ground(key), ground(value)),
            Type::Domain(domain, arguments) => Type::Domain(
                *domain,
                arguments.iter().map(|argument| self.ground(argument)).collect(),
            ),
            Type::Variable(name) => {
                self.domains.type_arguments.get(name).cloned().unwrap_or(Type::Int)
            }
            Type::Int | Type::Bool | Type::Perm | Type::Ref | Type::Wand => ty.clone(),
        }
    }

    pub(crate) fn function_symbols(&mut self, function: FunctionId) -> FunctionSymbols {
        if let Some(&known) = self.caches.function_symbols.get(&function) {
            return known;
        }
        let symbols = self.declare_function_symbols(function);
        self.caches.function_symbols.insert(function, symbols);
        symbols
    }

    /// Whether a symbol says of a program function that an application is in its domain.
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

    /// trigP, of the snapshot and the arguments of an instance.
    pub(crate) fn predicate_trigger(&mut self, predicate: PredicateId) -> Symbol {
        let program = self.program;
        let declaration = &program.predicates[predicate];
        let mut sorts = vec![Sort::SNAP];
        for &formal in &declaration.formals {
            sorts.push(self.sort(&declaration.locals[formal].ty));
        }
        self.terms.declare_function(&format!("{}%trigger", declaration.name), &sorts, Sort::BOOL)
    }

    /// Tells the prover the axioms of a function, as far as they are justified by now, and of what they mention.
    pub(crate) fn use_function(&mut self, function: FunctionId) -> Result<(), Stop> {
        if !self.domains.emitted.functions.insert(function) {
            return Ok(());
        }
        let context = self.context;
        // Whether the axioms of a function that is not visible are there by now is a matter of chance.
        let phases: &[Phase] = if self.setting.visible.functions.contains(&function) {
            &[Phase::Contract, Phase::Body]
        } else if self.setting.visible.contracts.contains(&function) {
            &[Phase::Contract]
        } else {
            &[]
        };
        for known in phases.iter().filter_map(|&phase| context.functions.get(function, phase)) {
            for &used in &known.uses.functions {
                self.use_function(used)?;
            }
            // They are as deep as axioms made them.
            self.domains.axioms_in_progress += 1;
            for (domain, instance) in &known.uses.domains {
                self.allow_depth(instance);
                self.use_domain(*domain, instance)?;
            }
            self.domains.axioms_in_progress -= 1;
            for &axiom in &known.axioms {
                let axiom = self.terms.import(&known.terms, axiom);
                self.prover.add_axiom(axiom);
            }
        }
        Ok(())
    }
}
