//! Domains: applications of their functions, and their axioms, which are trusted (trap T19).

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use sil::program::{Domain, DomainFunctionId, DomainId, Expr, ExprKind, Type};
use sil::source::Name;
use smt::terms::{Sort, Symbol, Term};

use crate::engine::knowledge::symbols::Emitted;
use crate::engine::{Engine, Stop};

/// What has been used of the domains, and what the prover has been told.
#[derive(Debug, Default)]
pub(crate) struct Domains {
    /// The functions of domains that have been applied.
    pub(crate) symbols: FxHashSet<Symbol>,
    /// What the type parameters of a domain stand for while its axioms are evaluated.
    pub(crate) type_arguments: FxHashMap<Name, Type>,
    /// How many axioms of domains are being evaluated, one because of the other.
    pub(crate) axioms_in_progress: usize,
    /// Instances of domains whose axioms the prover has not been told.
    pub(crate) untold: VecDeque<(DomainId, Vec<Type>)>,
    /// How deep types may be nested in instances of domains that axioms ask for.
    pub(crate) type_depth: usize,
    /// What the prover has been told.
    pub(crate) emitted: Emitted,
}

impl Engine<'_> {
    /// A domain function applied to values; `instance` says what the domain's parameters are.
    pub(crate) fn domain_application(
        &mut self,
        function: DomainFunctionId,
        instance: &[Type],
        arguments: &[Term],
    ) -> Result<Term, Stop> {
        let program = self.program;
        let declaration = &program.domain_functions[function];
        let instance: Vec<Type> = instance.iter().map(|ty| self.ground(ty)).collect();
        self.use_domain(declaration.domain, &instance)?;
        let symbol = self.domain_symbol(function, &instance);
        self.domains.symbols.insert(symbol);
        Ok(self.terms.apply(symbol, arguments))
    }

    fn domain_symbol(
        &mut self,
        function: DomainFunctionId,
        instance: &[Type],
    ) -> smt::terms::Symbol {
        let program = self.program;
        let declaration = &program.domain_functions[function];
        let domain = &program.domains[declaration.domain];
        self.in_instance(domain, instance, |engine| {
            let sorts: Vec<Sort> =
                declaration.formals.iter().map(|(_, ty)| engine.sort(ty)).collect();
            let result = engine.sort(&declaration.result);
            if let Some(text) = &declaration.interpretation {
                return engine.terms.declare_backend(&declaration.name, &sorts, result, text);
            }
            let parameters: Vec<_> = instance
                .iter()
                .map(|ty| {
                    let sort = engine.sort(ty);
                    engine.terms.sort_name(sort)
                })
                .collect();
            let name = if parameters.is_empty() {
                declaration.name.to_string()
            } else {
                format!("{}[{}]", declaration.name, parameters.join(","))
            };
            engine.terms.declare_function(&name, &sorts, result)
        })
    }

    pub(crate) fn in_instance<T>(
        &mut self,
        domain: &Domain,
        instance: &[Type],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let arguments = domain.parameters.iter().cloned().zip(instance.iter().cloned()).collect();
        let outer = std::mem::replace(&mut self.domains.type_arguments, arguments);
        let result = run(self);
        self.domains.type_arguments = outer;
        result
    }

    /// Lets axioms ask for instances as deep as this one.
    pub(crate) fn allow_depth(&mut self, instance: &[Type]) {
        let depth = instance.iter().map(depth).max().unwrap_or(0);
        self.domains.type_depth = self.domains.type_depth.max(depth);
    }

    /// Tells the prover the axioms of an instance of a domain, once.
    pub(crate) fn use_domain(&mut self, domain: DomainId, instance: &[Type]) -> Result<(), Stop> {
        let depth = instance.iter().map(depth).max().unwrap_or(0);
        if self.domains.axioms_in_progress == 0 {
            self.domains.type_depth = self.domains.type_depth.max(depth + 1);
        }
        // Instances nested deeper than what the program mentions come from axioms that make ever larger ones.
        if depth > self.domains.type_depth
            || !self.domains.emitted.domains.insert((domain, instance.to_vec()))
        {
            return Ok(());
        }
        self.domains.untold.push_back((domain, instance.to_vec()));
        Ok(())
    }

    /// Evaluates the axioms of the domains used so far. Only the prover looks at them, and many a member asks it nothing.
    pub(crate) fn tell_domains(&mut self) -> Result<(), Stop> {
        while let Some((domain, instance)) = self.domains.untold.pop_front() {
            (self.setting.above.axioms)(self, domain, &instance)?;
        }
        Ok(())
    }

    /// `unique` constants of one sort are pairwise different.
    pub(crate) fn assume_unique(&mut self, domain: &Domain, instance: &[Type]) {
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

    /// Axioms may speak about functions of other domains: such domains are used from the start, as nothing in the
    /// member need mention them.
    pub(crate) fn use_foreign_axioms(&mut self) -> Result<(), Stop> {
        let program = self.program;
        for (id, domain) in program.domains.iter() {
            if (domain.parameters.is_empty() || domain.functions.is_empty())
                && domain.axioms.iter().any(|axiom| mentions_other_domain(program, id, &axiom.body))
            {
                self.use_domain(id, &vec![Type::Int; domain.parameters.len()])?;
            }
        }
        Ok(())
    }
}

fn mentions_other_domain(program: &sil::program::Program, own: DomainId, expr: &Expr) -> bool {
    let mut found = false;
    sil::walk::walk_expr(expr, |expr| {
        found |= match &expr.kind {
            ExprKind::DomainApply { function, .. } => {
                program.domain_functions[*function].domain != own
            }
            ExprKind::Apply { .. } => true,
            _ => false,
        };
    });
    found
}

fn depth(ty: &Type) -> usize {
    match ty {
        Type::Seq(element) | Type::Set(element) | Type::Multiset(element) => 1 + depth(element),
        Type::Map(key, value) => 1 + depth(key).max(depth(value)),
        Type::Domain(_, arguments) => 1 + arguments.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
