//! `derives { contains }`: which values are parts of which.

use indexmap::IndexSet;

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::{Adt, Axiom, Derive, MemberKind, Program, Type};

use super::tree::{Tree, substitute};
use super::{Adts, application, argument_types, error, self_type, transitive};

/// The only function that can be derived.
const CONTAINS: &str = "contains";

/// How many types of parts an adt is asked for: adts that are arguments of themselves have infinitely many.
const MAX_PART_TYPES: usize = 32;

/// Whether the file that makes `derives` effective was imported, which shows in the domain that it declares.
pub(super) fn is_imported(program: &Program) -> bool {
    program.members.iter().any(|member| match &member.kind {
        MemberKind::Domain(domain) => &*domain.name.name == "ContainsDomain",
        _ => false,
    })
}

/// Adds the axioms of what `adt` derives to `axioms`.
pub(super) fn derive(
    adt: &Adt,
    adts: &Adts,
    axioms: &mut Vec<Axiom>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    check(adt, diagnostics);
    let Some(derive) = derivation(adt) else { return };
    let tree = Tree { span: derive.name.span };
    for constructor in &adt.constructors {
        let made = application(adt, constructor);
        let parts = constructor.formals.iter().zip(&made.variables);
        let facts = parts.filter(|(formal, _)| !leaves_out(derive, &formal.name.name)).map(
            |(_, (variable, _))| {
                tree.call(CONTAINS, vec![tree.variable(variable), made.term.clone()])
            },
        );
        let facts: Vec<_> = facts.collect();
        if !facts.is_empty() {
            let triggers = vec![vec![made.term.clone()]];
            axioms.push(tree.axiom(tree.forall(&made.variables, triggers, tree.and(facts))));
        }
    }
    let whole = substitute(&self_type(adt), &indexmap::IndexMap::new(), tree.span);
    for middle in part_types(adt, derive, tree.span) {
        for part in all_part_types(&middle, adts, tree.span) {
            let types = [part, middle.clone(), whole.clone()];
            axioms.push(transitive(tree, CONTAINS, types));
        }
    }
}

fn check(adt: &Adt, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = IndexSet::new();
    for derive in &adt.derives {
        let name = &derive.name;
        if &*name.name != CONTAINS {
            error(diagnostics, name.span, format!("`{}` cannot be derived", name.name));
        }
        // As in the reference, reported at the first.
        let is_again = |other: &&Derive| other.name.name == name.name;
        if seen.insert(&*name.name) && adt.derives.iter().filter(is_again).count() > 1 {
            error(diagnostics, name.span, format!("`{}` is derived twice", name.name));
        }
        for field in &derive.without {
            let mut formals = adt.constructors.iter().flat_map(|one| &one.formals);
            if !formals.any(|formal| formal.name.name == field.name) {
                let message = format!("`{}` has no field `{}`", adt.name.name, field.name);
                error(diagnostics, field.span, message);
            }
        }
    }
}

fn derivation(adt: &Adt) -> Option<&Derive> {
    adt.derives.iter().find(|derive| &*derive.name.name == CONTAINS)
}

fn leaves_out(derive: &Derive, field: &str) -> bool {
    derive.without.iter().any(|ident| &*ident.name == field)
}

/// The types of the direct parts of an adt's values, each once.
fn part_types(adt: &Adt, derive: &Derive, span: Span) -> Vec<Type> {
    let mut types = Vec::new();
    for constructor in &adt.constructors {
        for (formal, ty) in constructor.formals.iter().zip(argument_types(constructor, span)) {
            if !leaves_out(derive, &formal.name.name) && !types.contains(&ty) {
                types.push(ty);
            }
        }
    }
    types
}

/// The types of direct and indirect parts of values of `whole`.
fn all_part_types(whole: &Type, adts: &Adts, span: Span) -> Vec<Type> {
    let mut found: Vec<Type> = Vec::new();
    let mut next = 0;
    let mut current = Some(whole.clone());
    while let Some(ty) = current {
        if let Some((adt, instance)) = adts.instance(&ty)
            && let Some(derive) = derivation(adt)
        {
            for part in part_types(adt, derive, span) {
                let part = substitute(&part, &instance, span);
                if found.len() < MAX_PART_TYPES && !found.contains(&part) {
                    found.push(part);
                }
            }
        }
        current = found.get(next).cloned();
        next += 1;
    }
    found
}
