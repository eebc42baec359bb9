//! Checks of declarations: domains, names of axioms, and functions that need themselves to be
//! defined.

use la_arena::ArenaMap;
use rustc_hash::FxHashMap;

use super::{Applications, Checker};
use crate::program::{Domain, Expr, Function, FunctionId, Member};
use crate::recursion::{applied, components};
use crate::source::{Name, Span};

pub(super) fn check(checker: &mut Checker<'_>, applications: &ArenaMap<FunctionId, Applications>) {
    domains(checker);
    axiom_names(checker);
    recursion_through_preconditions(checker, applications);
}

fn domains(checker: &mut Checker<'_>) {
    let program = checker.program;
    for (_, domain) in program.domains.iter() {
        if domain.interpretations.is_empty() {
            continue;
        }
        if domain.interpretation().is_none() {
            let (name, back_end) = (&domain.name, Domain::BACK_END);
            let message = format!("the domain `{name}` has no interpretation for {back_end}");
            checker.error(domain.span, message);
        }
        if !domain.parameters.is_empty() {
            checker.error(domain.span, "interpreted domains cannot have type parameters");
        }
    }
    for (_, function) in program.domain_functions.iter() {
        if function.unique && !function.formals.is_empty() {
            checker.error(function.span, "only functions without arguments can be unique");
        }
    }
}

/// A named axiom shares its name with no other axiom and with no member.
fn axiom_names(checker: &mut Checker<'_>) {
    let program = checker.program;
    let mut taken: FxHashMap<&Name, Span> = FxHashMap::default();
    for member in &program.order {
        let (name, span) = match *member {
            Member::Field(id) => (&program.fields[id].name, program.fields[id].span),
            Member::Predicate(id) => (&program.predicates[id].name, program.predicates[id].span),
            Member::Function(id) => (&program.functions[id].name, program.functions[id].span),
            Member::Method(id) => (&program.methods[id].name, program.methods[id].span),
            Member::Domain(id) => (&program.domains[id].name, program.domains[id].span),
        };
        taken.insert(name, span);
    }
    taken.extend(program.domain_functions.values().map(|function| (&function.name, function.span)));
    for axiom in program.domains.values().flat_map(|domain| &domain.axioms) {
        let Some(name) = &axiom.name else { continue };
        match taken.get(name) {
            Some(&first) => {
                let error = crate::diagnostics::Diagnostic::new(
                    crate::diagnostics::Code::ConsistencyError,
                    axiom.span,
                    format!("duplicate identifier `{name}`"),
                );
                let error = error.with_related(first, format!("`{name}` is first declared here"));
                checker.found.push(error);
            }
            None => {
                taken.insert(name, axiom.span);
            }
        }
    }
}

/// A function whose precondition calls, directly or not, the function itself has no meaning: what
/// the call needs to be defined is the call. Other recursion is a matter of termination.
fn recursion_through_preconditions(
    checker: &mut Checker<'_>,
    applications: &ArenaMap<FunctionId, Applications>,
) {
    let anywhere = applications.iter().map(|(id, of)| (id, of.anywhere.clone()));
    let component = components(anywhere);
    for (id, Applications { required, .. }) in applications.iter() {
        // A function that reaches back is in the same component.
        if required.iter().any(|&callee| component[callee] == component[id]) {
            let function = &checker.program.functions[id];
            let message =
                format!("the function `{}` recurses through its precondition", function.name);
            checker.error(function.span, message);
        }
    }
}

/// Returns the functions that a function applies.
pub(super) fn applied_anywhere(function: &Function) -> Vec<FunctionId> {
    let parts = parts_that_come_first(function);
    applied(parts.into_iter().chain(&function.contract.postconditions).chain(&function.body))
}

/// Returns the functions that have to have a meaning before the function has one. A measure counts:
/// what a call decreases cannot be found by that call.
pub(super) fn required(function: &Function) -> Vec<FunctionId> {
    applied(parts_that_come_first(function))
}

fn parts_that_come_first(function: &Function) -> Vec<&Expr> {
    let contract = &function.contract;
    let mut parts: Vec<&Expr> = contract.preconditions.iter().collect();
    for clause in &contract.decreases {
        clause.for_each_child(|child| parts.push(child));
    }
    parts
}
