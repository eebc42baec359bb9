//! `derives { contains }`: which values are parts of which.

use indexmap::{IndexMap, IndexSet};

use crate::build::{and, call, var};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::walk::{Visitor, visit};
use crate::syntax::{Adt, Axiom, Derive, Domain, Ident, MemberKind, Program, Type};

use super::tree::{axiom, forall, substitute};
use super::{Adts, application, argument_types, error, self_type, transitive};

/// The only function that can be derived.
const CONTAINS: &str = "contains";

/// How many types of parts an adt is asked for: adts that are arguments of themselves have
/// infinitely many.
const MAX_PART_TYPES: usize = 32;

/// Tells whether the file that makes `derives` effective was imported: its domain is declared then.
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
    let span = derive.name.span;
    for constructor in &adt.constructors {
        let made = application(adt, constructor);
        let parts = constructor.formals.iter().zip(&made.variables);
        let facts = parts
            .filter(|(formal, _)| !leaves_out(derive, &formal.name.name))
            .map(|(_, (variable, _))| call(CONTAINS, [var(variable), made.term.clone()]));
        let facts: Vec<_> = facts.collect();
        if !facts.is_empty() {
            let triggers = vec![vec![made.term.clone()]];
            axioms.push(axiom(forall(&made.variables, triggers, and(facts)), span));
        }
    }
    let chains = chains(&self_type(adt), adts, span);
    axioms.extend(chains.into_iter().map(|types| transitive(CONTAINS, types, span)));
}

/// Returns a domain with what [`derive`] cannot say of the types that are written in the program:
/// in general nothing is known of the parts of a type argument, but those of `List[List[Int]]` have
/// parts of their own.
pub(super) fn of_written_types(program: &Program, adts: &Adts) -> Option<Domain> {
    let mut written = Written { adts, types: IndexSet::new() };
    for member in &program.members {
        // The types in these may have parameters.
        if !matches!(member.kind, MemberKind::Domain(_) | MemberKind::Adt(_)) {
            written.member(member);
        }
    }
    let mut axioms = Vec::new();
    for whole in written.types {
        let Some((adt, instance)) = adts.instance(&whole) else { continue };
        let span = adt.name.span;
        let general = chains(&self_type(adt), adts, span);
        let said: IndexSet<_> = general
            .iter()
            .map(|types| types.each_ref().map(|ty| substitute(ty, &instance, span)))
            .collect();
        let all = chains(&whole, adts, span);
        let new = all.into_iter().filter(|types| !said.contains(types));
        axioms.extend(new.map(|types| transitive(CONTAINS, types, span)));
    }
    let span = axioms.first()?.span;
    let name = Ident { name: "contains$written".into(), span };
    Some(Domain {
        name,
        parameters: Vec::new(),
        interpretations: Vec::new(),
        functions: Vec::new(),
        axioms,
    })
}

/// Collects the instances of adts that are written somewhere.
struct Written<'a> {
    adts: &'a Adts,
    types: IndexSet<Type>,
}

impl Visitor<'_> for Written<'_> {
    fn ty(&mut self, ty: &Type) {
        if let Some((adt, instance)) = self.adts.instance(ty)
            && !instance.is_empty()
        {
            self.types.insert(substitute(ty, &IndexMap::new(), adt.name.span));
        }
        visit::ty(self, ty);
    }
}

/// Returns the types of x, y, z for which x may be a part of y, and y one of z, a value of type
/// `whole`.
fn chains(whole: &Type, adts: &Adts, span: Span) -> Vec<[Type; 3]> {
    let whole = substitute(whole, &IndexMap::new(), span);
    let mut chains = Vec::new();
    for middle in all_part_types(&whole, adts, span) {
        for part in all_part_types(&middle, adts, span) {
            chains.push([part, middle.clone(), whole.clone()]);
        }
    }
    chains
}

fn check(adt: &Adt, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = IndexSet::new();
    for derive in &adt.derives {
        let name = &derive.name;
        // As in the reference, what cannot be derived is left out.
        if &*name.name != CONTAINS {
            let message = format!("`{}` cannot be derived, and is left out", name.name);
            diagnostics.push(Diagnostic::new(Code::TypecheckerWarning, name.span, message));
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

/// Returns the types of the direct parts of an adt's values, each once.
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

/// Returns the types of direct and indirect parts of values of `whole`.
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
