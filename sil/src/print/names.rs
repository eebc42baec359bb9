//! Names for what is moved or made up while printing.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::Writer;
use super::types::type_text;
use crate::program::{Contract, LocalId, LocalKind, Member, Method, MethodId, Program, Type};
use crate::source::Name;

/// Returns the names of all members, domain functions and axioms.
pub(super) fn of_members(program: &Program) -> FxHashSet<String> {
    let members = program.order.iter().map(|member| match member {
        Member::Field(id) => &program.fields[*id].name,
        Member::Predicate(id) => &program.predicates[*id].name,
        Member::Function(id) => &program.functions[*id].name,
        Member::Domain(id) => &program.domains[*id].name,
        Member::Method(id) => &program.methods[*id].name,
    });
    let functions = program.domain_functions.values().map(|function| &function.name);
    let axioms = program
        .domains
        .values()
        .flat_map(|domain| domain.axioms.iter().filter_map(|axiom| axiom.name.as_ref()));
    members.chain(functions).chain(axioms).map(ToString::to_string).collect()
}

/// Returns the name, or one like it that is still free.
pub(super) fn fresh_global(taken: &mut FxHashSet<String>, name: String) -> String {
    fresh(&name, |candidate| taken.insert(candidate.to_owned()))
}

fn fresh(name: &str, mut take: impl FnMut(&str) -> bool) -> String {
    if take(name) {
        return name.to_owned();
    }
    let mut number = 1;
    loop {
        let candidate = format!("{name}${number}");
        if take(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// New names for the variables of a body whose scopes become one: no two variables share a name, no
/// bound variable has the name of one that is not bound.
pub(super) fn without_scopes(
    method: &Method,
    used: impl IntoIterator<Item = LocalId>,
    also_taken: impl IntoIterator<Item = String>,
) -> IndexMap<LocalId, Name> {
    let is_bound =
        |local: LocalId| matches!(method.locals[local].kind, LocalKind::Bound | LocalKind::Let);
    let mut used: Vec<LocalId> = used.into_iter().collect();
    used.sort_unstable();
    used.dedup();
    let mut taken: FxHashSet<String> = also_taken.into_iter().collect();
    taken.extend(
        method
            .formals
            .iter()
            .chain(&method.returns)
            .map(|&local| method.locals[local].name.to_string()),
    );
    let mut renamed = IndexMap::new();
    let mut rename = |local: LocalId, name: String| {
        if *name != *method.locals[local].name {
            renamed.insert(local, Name::from(name));
        }
    };
    for &local in &used {
        if matches!(method.locals[local].kind, LocalKind::Variable) {
            let name = &method.locals[local].name;
            rename(local, fresh(name, |candidate| taken.insert(candidate.to_owned())));
        }
    }
    // Bound variables may share a name with each other.
    for &local in &used {
        if is_bound(local) {
            let name = &method.locals[local].name;
            rename(local, fresh(name, |candidate| !taken.contains(candidate)));
        }
    }
    renamed
}

impl Writer<'_> {
    /// Returns a method that returns an arbitrary value of the type: one of the program, or one
    /// declared at the end.
    pub(super) fn havoc_method(&mut self, ty: &Type) -> String {
        if let Some(name) = self.havoc_methods.get(ty) {
            return name.clone();
        }
        let mut name = "$havoc_".to_owned();
        for part in type_text(self.program, ty).chars() {
            match part {
                '[' | ',' => name.push('$'),
                ']' | ' ' => {}
                _ => name.push(part),
            }
        }
        if self.program.order.iter().any(|member| {
            matches!(member, Member::Method(id) if is_havoc_method(self.program, *id, &name, ty))
        }) {
            return name;
        }
        let name = fresh_global(&mut self.global_names, name);
        self.havoc_methods.insert(ty.clone(), name.clone());
        name
    }
}

fn is_havoc_method(program: &Program, id: MethodId, name: &str, ty: &Type) -> bool {
    let method = &program.methods[id];
    let Contract { preconditions, postconditions, .. } = &method.contract;
    let [result] = method.returns[..] else { return false };
    &*method.name == name
        && method.formals.is_empty()
        && method.locals[result].ty == *ty
        && preconditions.is_empty()
        && postconditions.is_empty()
        && method.implementations.is_empty()
}
