//! Sorts of types, of the values of resources, and their names.

use sil::program::Type;
use smt::terms::{Sort, Terms};

use crate::Symbols;
use crate::state::heap::Resource;

impl Symbols<'_> {
    /// Returns a type with the parameters of the domain in progress replaced.
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

    /// Returns the sort of the values of a type.
    pub fn sort(&mut self, ty: &Type) -> Sort {
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
                if let Some(text) = declaration.interpretation() {
                    return self.terms.backend_sort(text);
                }
                let arguments: Vec<_> =
                    arguments.iter().map(|argument| self.sort(argument)).collect();
                self.terms.user_sort(&declaration.name, &arguments)
            }
            Type::Variable(name) => match self.domains.type_arguments.get(name).cloned() {
                Some(ty) => self.sort(&ty),
                // No axiom binds this parameter: any sort will do.
                None => Sort::INT,
            },
        }
    }

    /// Returns the sort of the values held in chunks of a resource.
    pub fn resource_sort(&mut self, resource: Resource) -> Sort {
        match resource {
            Resource::Field(field) => {
                let program = self.program;
                self.sort(&program.fields[field].ty)
            }
            Resource::Predicate(_) => Sort::SNAP,
            Resource::Wand(_) => wand_sort(&mut self.terms),
        }
    }

    /// Returns the name of a resource in symbols.
    pub fn resource_name(&self, resource: Resource) -> String {
        match resource {
            Resource::Field(field) => self.program.fields[field].name.to_string(),
            Resource::Predicate(predicate) => self.program.predicates[predicate].name.to_string(),
            Resource::Wand(index) => format!("wand{index}"),
        }
    }
}

/// Returns the sort of functions from left-hand to right-hand snapshots.
pub fn wand_sort(terms: &mut Terms) -> Sort {
    terms.user_sort("MWSF", &[])
}
