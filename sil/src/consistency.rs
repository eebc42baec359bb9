//! Consistency: what a well-typed program must satisfy before it can be verified.
//!
//! The reference implementation finds errors in rounds, and a later round is reached only if the earlier ones found
//! nothing; so here. What the types of the resolved program rule out (a use without a declaration, an impure condition, an
//! assigned parameter) needs no check here.

mod clauses;
mod declarations;
mod expressions;
mod statements;
mod termination;
mod terms;
#[cfg(test)]
mod tests;

use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Axiom, Function, Local, Member, Method, Predicate, Program};
use crate::source::Span;
use expressions::Surroundings;
use la_arena::Arena;

/// Reports everything that makes `program` inconsistent.
pub fn check(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let mut checker = Checker { program, locals: None, found: Vec::new() };
    terms::check(&mut checker);
    if checker.found.is_empty() {
        checker.members();
    }
    if checker.found.is_empty() {
        // As in the reference, the measures are looked at only if everything else is consistent.
        termination::check(&mut checker);
    }
    checker.found.sort_by_key(|error| (error.span.file, error.span.start));
    diagnostics.append(&mut checker.found);
}

struct Checker<'p> {
    program: &'p Program,
    /// The variables of the member at hand.
    locals: Option<&'p Arena<Local>>,
    found: Vec<Diagnostic>,
}

impl<'p> Checker<'p> {
    fn members(&mut self) {
        declarations::check(self);
        let program = self.program;
        for &member in &program.order {
            match member {
                Member::Predicate(id) => self.predicate(&program.predicates[id]),
                Member::Function(id) => self.function(&program.functions[id]),
                Member::Method(id) => self.method(&program.methods[id]),
                Member::Domain(id) => {
                    for axiom in &program.domains[id].axioms {
                        self.axiom(axiom);
                    }
                }
                Member::Field(_) => {}
            }
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::new(Code::ConsistencyError, span, message));
    }

    fn predicate(&mut self, predicate: &'p Predicate) {
        self.locals = Some(&predicate.locals);
        if let Some(body) = &predicate.body {
            self.predicate_body(body);
            self.expression(body, Surroundings::METHOD);
        }
    }

    fn function(&mut self, function: &'p Function) {
        self.locals = Some(&function.locals);
        for clause in &function.contract.preconditions {
            self.precondition(clause);
            self.expression(clause, Surroundings::FUNCTION);
        }
        for clause in &function.contract.postconditions {
            self.function_postcondition(clause);
            self.expression(clause, Surroundings::FUNCTION);
        }
        self.measures_of_function(&function.contract.decreases);
        self.measures(&function.contract.decreases, Surroundings::FUNCTION);
        if let Some(body) = &function.body {
            self.function_body(body);
            self.expression(body, Surroundings::FUNCTION);
        }
    }

    fn method(&mut self, method: &'p Method) {
        self.locals = Some(&method.locals);
        for clause in &method.contract.preconditions {
            self.precondition(clause);
            self.no_results(clause, &method.locals);
            self.expression(clause, Surroundings::METHOD);
        }
        for clause in &method.contract.postconditions {
            self.method_postcondition(clause);
            self.expression(clause, Surroundings::METHOD);
        }
        self.measures_of_method(&method.contract.decreases, &method.locals);
        self.measures(&method.contract.decreases, Surroundings::METHOD);
        for implementation in &method.implementations {
            self.body(&implementation.body);
        }
    }

    fn axiom(&mut self, axiom: &'p Axiom) {
        self.locals = Some(&axiom.locals);
        self.axiom_body(&axiom.body);
        self.expression(&axiom.body, Surroundings::FUNCTION);
    }
}
