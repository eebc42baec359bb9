//! Domains: applications of their functions, and their axioms, which are trusted (trap T19).

use std::collections::{BTreeMap, VecDeque};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use sil::plugins::adt;
use sil::program::{Domain, DomainFunctionId, DomainId, FunctionId, Type};
use sil::source::{Name, Span};
use smt::terms::{Sort, Symbol, Term};

use crate::findings::counterexample::values::{
    Adts, Constructor, Constructors, Encoded, Memberships,
};
use crate::findings::names;
use crate::knowledge::symbols::Emitted;
use crate::knowledge::type_patterns::Instance;
use crate::{Engine, Path, Stop, Symbols};

/// The most instances of domains that a member uses.
const INSTANCES: usize = 1000;

/// The used parts of the domains, and the declarations that the member mentions.
#[derive(Debug, Default)]
pub struct Domains {
    /// The functions of domains that have been applied.
    pub(crate) symbols: FxHashSet<Symbol>,
    /// The types in place of the parameters of a domain while its axioms are evaluated.
    pub type_arguments: FxHashMap<Name, Type>,
    /// The number of domain axioms in evaluation, one because of the other.
    pub axioms_in_progress: usize,
    /// Instances of domains whose axioms the prover has not been told.
    pub(crate) untold: VecDeque<Instance>,
    /// Instances that axioms ask for beyond the bounds.
    left_out: IndexSet<Instance, FxBuildHasher>,
    /// The depth to which types may be nested in instances that axioms ask for.
    type_depth: usize,
    /// The declarations that the member mentions.
    pub(crate) emitted: Emitted,
    /// The functions that the prover knows, each with the number of definitions from it that the
    /// prover knows, too.
    pub(crate) reach: FxHashMap<FunctionId, u32>,
    /// Functions that definitions lead to, and that the prover does not know yet.
    pub(crate) far: IndexSet<FunctionId, FxBuildHasher>,
}

impl Symbols<'_> {
    /// Returns the types that an instance gives the parameters of a domain.
    pub fn type_arguments(domain: &Domain, instance: &[Type]) -> FxHashMap<Name, Type> {
        domain.parameters.iter().cloned().zip(instance.iter().cloned()).collect()
    }

    /// Applies a domain function to values. `instance` has the types of the domain's parameters.
    pub fn domain_application(
        &mut self,
        function: DomainFunctionId,
        instance: &[Type],
        arguments: &[Term],
    ) -> Result<Term, Stop> {
        let program = self.program;
        let declaration = &program.domain_functions[function];
        let instance: Vec<Type> = instance.iter().map(|ty| self.ground(ty)).collect();
        self.use_domain(declaration.domain, &instance);
        let symbol = self.domain_symbol(function, &instance);
        self.domains.symbols.insert(symbol);
        Ok(self.terms.apply(symbol, arguments))
    }

    /// Returns the function symbol of a domain function at an instance of the domain.
    fn domain_symbol(
        &mut self,
        function: DomainFunctionId,
        instance: &[Type],
    ) -> smt::terms::Symbol {
        let program = self.program;
        let declaration = &program.domain_functions[function];
        let domain = &program.domains[declaration.domain];
        self.in_instance(domain, instance, |symbols| {
            let sorts: Vec<Sort> =
                declaration.formals.iter().map(|(_, ty)| symbols.sort(ty)).collect();
            let result = symbols.sort(&declaration.result);
            if let Some(text) = &declaration.interpretation {
                return symbols.terms.declare_backend(&declaration.name, &sorts, result, text);
            }
            let parameters: Vec<_> = instance
                .iter()
                .map(|ty| {
                    let sort = symbols.sort(ty);
                    symbols.terms.sort_name(sort)
                })
                .collect();
            let name = if parameters.is_empty() {
                declaration.name.to_string()
            } else {
                format!("{}[{}]", declaration.name, parameters.join(","))
            };
            if declaration.is_constructor {
                symbols.terms.declare_constructor(&name, &sorts, result)
            } else {
                symbols.terms.declare_function(&name, &sorts, result)
            }
        })
    }

    /// Returns what the domains that the path speaks about say of their values.
    pub(crate) fn encoded(&mut self) -> Encoded {
        let constants = self.named_constants();
        Encoded { adts: self.adts_met(), memberships: self.memberships(), constants }
    }

    /// Returns the constants of domains that the path speaks about, by their author's names.
    fn named_constants(&mut self) -> Vec<(String, Term)> {
        let program = self.program;
        let mut named = Vec::new();
        for (id, function) in program.domain_functions.iter() {
            let is_plain = program.domains[function.domain].parameters.is_empty();
            let is_value = matches!(function.result, Type::Domain(..));
            if !is_plain || !is_value || !function.formals.is_empty() || function.is_constructor {
                continue;
            }
            let Some(name) = names::called(program, &function.name, function.span) else {
                continue;
            };
            let name = if program.is_translated() { name } else { format!("{name}()") };
            let symbol = self.domain_symbol(id, &[]);
            // Nothing is known of the value of one that the path does not mention.
            if self.domains.symbols.contains(&symbol) {
                named.push((name, self.terms.apply(symbol, &[])));
            }
        }
        named
    }

    /// Returns the sets of a front end that the path speaks about, by the function that is called
    /// `in`.
    fn memberships(&mut self) -> Memberships {
        let program = self.program;
        let mut found = Memberships::default();
        for (id, function) in program.domain_functions.iter().filter(|_| program.is_translated()) {
            let is_plain = program.domains[function.domain].parameters.is_empty();
            let name = names::called(program, &function.name, function.span);
            if let [(_, element), (_, set)] = &function.formals[..]
                && is_plain
                && function.result == Type::Bool
                && name.as_deref() == Some("in")
            {
                let (set, element) = (self.sort(set), self.sort(element));
                let symbol = self.domain_symbol(id, &[]);
                if self.domains.symbols.contains(&symbol) {
                    found.insert(set, (element, symbol));
                }
            }
        }
        found
    }

    /// Returns the adts that the path speaks about.
    fn adts_met(&mut self) -> Adts {
        let met: Vec<Instance> = self.domains.emitted.domains.iter().cloned().collect();
        met.iter().filter_map(|(domain, instance)| self.adt(*domain, instance)).collect()
    }

    /// Returns the sort and the constructors of an adt; `None` if the domain encodes none.
    fn adt(&mut self, domain: DomainId, instance: &[Type]) -> Option<(Sort, Constructors)> {
        let program = self.program;
        let declaration = &program.domains[domain];
        let named = |name: &str| {
            let mut functions = declaration.functions.iter().copied();
            functions.find(|&function| *program.domain_functions[function].name == *name)
        };
        let tag = named(&adt::tag_name(&declaration.name))?;
        let tag = self.domain_symbol(tag, instance);
        let functions = declaration.functions.iter().map(|&id| &program.domain_functions[id]);
        let mut of_adt: Vec<_> = functions.filter(|function| function.is_constructor).collect();
        of_adt.sort_by_key(|function| &function.name);
        let constructors = of_adt.into_iter().map(|function| {
            let destructors = function.formals.iter().map(|(name, _)| {
                let name = adt::destructor_name(&declaration.name, name.as_deref()?);
                Some(self.domain_symbol(named(&name)?, instance))
            });
            let destructors = destructors.collect::<Option<_>>()?;
            let name = names::called(program, &function.name, function.span)?;
            Some(Constructor { name, destructors })
        });
        let constructors = constructors.collect::<Option<_>>()?;
        let sort = self.terms.declaration(tag).args[0];
        Some((sort, Constructors { tag, constructors }))
    }

    /// Runs with the types that an instance gives the parameters of a domain.
    pub fn in_instance<T>(
        &mut self,
        domain: &Domain,
        instance: &[Type],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let arguments = Self::type_arguments(domain, instance);
        let outer = std::mem::replace(&mut self.domains.type_arguments, arguments);
        let result = run(self);
        self.domains.type_arguments = outer;
        result
    }

    /// Lets axioms ask for instances as deep as this one.
    fn allow_depth(&mut self, depth: usize) {
        if depth > self.domains.type_depth {
            self.domains.type_depth = depth;
            for (domain, instance) in std::mem::take(&mut self.domains.left_out) {
                self.use_within_bounds(domain, &instance);
            }
        }
    }

    /// Notes that an instance of a domain is used. The prover will get its axioms, and those about
    /// the instance.
    pub fn use_domain(&mut self, domain: DomainId, instance: &[Type]) {
        if self.domains.axioms_in_progress == 0 {
            self.allow_depth(depth_of(instance) + 1);
        }
        self.use_within_bounds(domain, instance);
    }

    /// Notes that axioms of a function use an instance of a domain. Its types are as deep as axioms
    /// made them.
    pub(crate) fn use_domain_of_function(&mut self, domain: DomainId, instance: &[Type]) {
        self.allow_depth(depth_of(instance));
        self.use_within_bounds(domain, instance);
    }

    /// Uses an instance, and the instances that axioms call for because of it, to a fixpoint.
    /// Deeper instances than the program mentions, or very many, come from axioms that make ever
    /// more, and are left out.
    fn use_within_bounds(&mut self, domain: DomainId, instance: &[Type]) {
        let mut pending = vec![(domain, instance.to_vec())];
        while let Some(new) = pending.pop() {
            let Domains { emitted, type_depth, left_out, untold, .. } = &mut self.domains;
            if emitted.domains.contains(&new) {
                continue;
            }
            if depth_of(&new.1) > *type_depth || emitted.domains.len() >= INSTANCES {
                left_out.insert(new);
                continue;
            }
            emitted.domains.insert(new.clone());
            pending.extend(self.context.types.called_for(self.program, &new, emitted));
            untold.push_back(new);
        }
    }

    /// Returns the place of a domain and words about an instance beyond the bounds, if some axiom
    /// has asked for one.
    pub(crate) fn axioms_left_out(&self) -> Option<(Span, String)> {
        let (domain, instance) = self.domains.left_out.first()?;
        let ty = Type::Domain(*domain, instance.clone().into());
        let ty = ty.display(self.program);
        let words = format!("axioms ask for ever more types: those for `{ty}` are not used");
        Some((self.program.domains[*domain].span, words))
    }

    /// Uses the domains whose axioms nothing in the member calls for, since they speak about other
    /// functions, and no types.
    pub(crate) fn use_foreign_axioms(&mut self) {
        let context = self.context;
        for (domain, instance) in &context.types.initial {
            self.use_domain(*domain, instance);
        }
    }
}

impl Path<'_> {
    /// Assumes that `unique` constants of one sort are pairwise different.
    pub fn assume_unique(&mut self, domain: &Domain, instance: &[Type]) {
        let mut constants: BTreeMap<Sort, Vec<Term>> = BTreeMap::new();
        for &function in &domain.functions {
            if self.program.domain_functions[function].unique {
                let symbol = self.domain_symbol(function, instance);
                let constant = self.terms.apply(symbol, &[]);
                constants.entry(self.terms.sort(constant)).or_default().push(constant);
            }
        }
        for constants in constants.into_values().filter(|constants| constants.len() > 1) {
            let distinct = self.terms.distinct(&constants);
            self.prover.add_axiom(distinct);
        }
    }
}

impl Engine<'_> {
    /// Evaluates the axioms of the domains used so far. Only the prover needs them, and many
    /// members ask it nothing.
    pub(crate) fn tell_domains(&mut self) -> Result<(), Stop> {
        while let Some((domain, instance)) = self.domains.untold.pop_front() {
            (self.setting.above.axioms)(self, domain, &instance)?;
        }
        Ok(())
    }
}

fn depth_of(instance: &[Type]) -> usize {
    instance.iter().map(depth).max().unwrap_or(0)
}

fn depth(ty: &Type) -> usize {
    match ty {
        Type::Seq(element) | Type::Set(element) | Type::Multiset(element) => 1 + depth(element),
        Type::Map(key, value) => 1 + depth(key).max(depth(value)),
        Type::Domain(_, arguments) => 1 + depth_of(arguments),
        _ => 0,
    }
}
