//! Amounts and values as functions of the location: terms over the formals of a resource, and maps.

use smt::terms::{Sort, Substitution, Symbol, Term};

use crate::Symbols;
use crate::state::heap::Resource;

impl Symbols<'_> {
    /// Returns the sorts of a resource's receiver or arguments.
    pub(crate) fn argument_sorts(&mut self, resource: Resource) -> Vec<Sort> {
        match resource {
            Resource::Field(_) => vec![Sort::REF],
            Resource::Predicate(predicate) => {
                let program = self.program;
                let declaration = &program.predicates[predicate];
                declaration
                    .formals
                    .iter()
                    .map(|&formal| self.sort(&declaration.locals[formal].ty))
                    .collect()
            }
            Resource::Wand(index) => self.made.wands[index].clone(),
        }
    }

    /// Returns the variables that stand for a location in quantified chunks.
    pub fn formals(&mut self, resource: Resource) -> Vec<Term> {
        let sorts = self.argument_sorts(resource);
        sorts
            .into_iter()
            .enumerate()
            .map(|(position, sort)| self.terms.named_variable(&format!("r%{position}"), sort))
            .collect()
    }

    /// Returns a term over the formals, for one location.
    pub fn at(&mut self, resource: Resource, term: Term, arguments: &[Term]) -> Term {
        let formals = self.formals(resource);
        let map: Substitution = formals.into_iter().zip(arguments.iter().copied()).collect();
        self.terms.substitute(term, &map)
    }

    /// Returns the sort of the maps of a resource.
    pub fn map_sort(&mut self, resource: Resource) -> Sort {
        let name = self.resource_name(resource);
        self.terms.user_sort(&format!("map.{name}"), &[])
    }

    fn lookup_symbol(&mut self, resource: Resource) -> Symbol {
        let mut sorts = vec![self.map_sort(resource)];
        sorts.extend(self.argument_sorts(resource));
        let result = self.resource_sort(resource);
        let name = format!("lookup.{}", self.resource_name(resource));
        self.terms.declare_function(&name, &sorts, result)
    }

    /// Returns map@arguments.
    pub fn map_at(&mut self, resource: Resource, map: Term, arguments: &[Term]) -> Term {
        let symbol = self.lookup_symbol(resource);
        let operands: Vec<Term> = std::iter::once(map).chain(arguments.iter().copied()).collect();
        self.terms.apply(symbol, &operands)
    }
}
