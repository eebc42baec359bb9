//! Interpretations: whether the SMT-LIB texts that a program gives for its domains and their
//! functions mean something.
//!
//! Only the prover can say so, and it is asked before anything is verified: a text that it does not
//! understand is an error of the program, whoever mentions it.

use rustc_hash::FxHashSet;
use sil::diagnostics::{Code, Diagnostic};
use sil::program::{DomainFunctionId, Expr, ExprKind, Member, Program, Type};
use sil::walk::{Visit, walk_body, walk_expr};
use smt::prover::{ProverError, Workspace};
use smt::terms::{Sort, Terms};

/// Returns an error for each domain whose text is no sort, and for each function that is applied
/// and whose text is no function of its types.
pub(crate) fn errors(program: &Program) -> Vec<Diagnostic> {
    let workspace = Workspace::new();
    let mut errors = Vec::new();
    for (_, domain) in program.domains.iter() {
        if let Some(text) = domain.interpretation()
            && let Err(error) = workspace.check_sort(text)
        {
            let what = format!("the interpretation of the domain `{}`", domain.name);
            errors.push(Diagnostic::new(Code::ConsistencyError, domain.span, words(&what, &error)));
        }
    }
    if !errors.is_empty() || program.domain_functions.values().all(|it| it.interpretation.is_none())
    {
        return errors;
    }
    let applied = applied(program);
    let mut terms = Terms::default();
    for (id, function) in program.domain_functions.iter() {
        let Some(text) = function.interpretation.as_ref().filter(|_| applied.contains(&id)) else {
            continue;
        };
        let args: Option<Vec<Sort>> =
            function.formals.iter().map(|(_, ty)| sort(&mut terms, program, ty)).collect();
        let what = format!("the interpretation of the function `{}`", function.name);
        let message = match args.zip(sort(&mut terms, program, &function.result)) {
            None => format!("{what} is about a type without one"),
            Some((args, result)) => match workspace.check_function(&terms, text, &args, result) {
                Ok(()) => continue,
                Err(error) => words(&what, &error),
            },
        };
        errors.push(Diagnostic::new(Code::ConsistencyError, function.span, message));
    }
    errors
}

fn words(what: &str, error: &ProverError) -> String {
    format!("{what} is unusable: {error}")
}

/// Returns the sort of a type that SMT-LIB text can speak of.
fn sort(terms: &mut Terms, program: &Program, ty: &Type) -> Option<Sort> {
    match ty {
        Type::Int => Some(Sort::INT),
        Type::Bool => Some(Sort::BOOL),
        Type::Perm => Some(Sort::PERM),
        Type::Domain(domain, _) => {
            let text = program.domains[*domain].interpretation()?;
            Some(terms.backend_sort(text))
        }
        _ => None,
    }
}

/// Returns the functions of domains that the program applies.
fn applied(program: &Program) -> FxHashSet<DomainFunctionId> {
    let mut applied = FxHashSet::default();
    let mut note = |expr: &Expr| {
        walk_expr(expr, |expr| {
            if let ExprKind::DomainApply { function, .. } = expr.kind {
                applied.insert(function);
            }
        });
    };
    for &member in &program.order {
        let contract = match member {
            Member::Field(_) => continue,
            Member::Predicate(id) => {
                program.predicates[id].body.iter().for_each(&mut note);
                continue;
            }
            Member::Domain(id) => {
                program.domains[id].axioms.iter().for_each(|axiom| note(&axiom.body));
                continue;
            }
            Member::Function(id) => {
                program.functions[id].body.iter().for_each(&mut note);
                &program.functions[id].contract
            }
            Member::Method(id) => {
                for implementation in &program.methods[id].implementations {
                    walk_body(&implementation.body, |visit| {
                        if let Visit::Expr(expr) = visit {
                            note(expr);
                        }
                    });
                }
                &program.methods[id].contract
            }
        };
        contract.preconditions.iter().chain(&contract.postconditions).for_each(&mut note);
        for clause in &contract.decreases {
            clause.for_each_child(&mut note);
        }
    }
    applied
}
