//! Consistency: what a well-typed program must satisfy before it can be verified.
//!
//! The reference implementation finds errors in rounds, and a later round is reached only if the
//! earlier ones found nothing; so here. What the types of the resolved program rule out (a use
//! without a declaration, an impure condition, an assigned parameter) needs no check here.

mod clauses;
mod declarations;
mod expressions;
mod statements;
mod termination;
mod terms;

use crate::diagnostics::{Code, Diagnostic};
use crate::load::Assumptions;
use crate::program::{Axiom, Function, FunctionId, Local, Member, Method, Predicate, Program};
use crate::recursion::applied;
use crate::source::Span;
use expressions::Surroundings;
use la_arena::{Arena, ArenaMap};

/// Reports everything that makes `program` inconsistent.
pub fn check(program: &Program, assumptions: Assumptions, diagnostics: &mut Vec<Diagnostic>) {
    let mut rounds = Rounds::new(assumptions);
    for &member in &program.order {
        rounds.member(program, member);
    }
    rounds.finish(program, diagnostics);
}

/// The checks, made one member at a time. What concerns several members is found out at the end,
/// from what was noted of each, so bodies and contracts of members that were checked are needed no
/// more.
#[derive(Default)]
pub(crate) struct Rounds {
    assumptions: Assumptions,
    terms: Vec<Diagnostic>,
    members: Vec<Diagnostic>,
    /// About the measures of methods.
    measures: Vec<Diagnostic>,
    functions: ArenaMap<FunctionId, Applications>,
}

/// The facts about a function that are needed when all members have been looked at.
struct Applications {
    /// The functions that have to have a meaning before this one has one.
    required: Vec<FunctionId>,
    /// The functions that are applied anywhere in it.
    anywhere: Vec<FunctionId>,
    in_body: Vec<FunctionId>,
    /// The functions that postconditions apply, and where, of a function without a measure.
    in_postconditions: Vec<(FunctionId, Span)>,
    /// The errors of its own measures.
    measures: Vec<Diagnostic>,
}

impl Rounds {
    /// Makes checks under some assumptions.
    pub(crate) fn new(assumptions: Assumptions) -> Self {
        Self { assumptions, ..Self::default() }
    }

    /// Checks a member; those of a program come in its order.
    pub(crate) fn member(&mut self, program: &Program, member: Member) {
        let assumptions = self.assumptions;
        self.terms
            .append(&mut found(program, assumptions, |checker| terms::check(checker, member)));
        if !self.terms.is_empty() {
            return;
        }
        self.members.append(&mut found(program, assumptions, |checker| checker.member(member)));
        match member {
            Member::Function(id) => {
                let function = &program.functions[id];
                let measures = found(program, assumptions, |checker| {
                    termination::clauses(checker, &function.contract.decreases);
                });
                let applications = Applications {
                    required: declarations::required(function),
                    anywhere: declarations::applied_anywhere(function),
                    in_body: applied(&function.body),
                    in_postconditions: termination::applied_in_postconditions(function),
                    measures,
                };
                self.functions.insert(id, applications);
            }
            Member::Method(id) => {
                self.measures.append(&mut found(program, assumptions, |checker| {
                    termination::method(checker, &program.methods[id]);
                }));
            }
            Member::Predicate(_) | Member::Domain(_) | Member::Field(_) => {}
        }
    }

    /// Tells whether nothing was found so far.
    pub(crate) fn are_clean(&self) -> bool {
        [&self.terms, &self.members, &self.measures].into_iter().all(Vec::is_empty)
    }

    /// Reports what was found in the first round that found something.
    pub(crate) fn finish(mut self, program: &Program, diagnostics: &mut Vec<Diagnostic>) {
        let assumptions = self.assumptions;
        let mut errors = self.terms;
        if errors.is_empty() {
            errors = found(program, assumptions, |checker| {
                declarations::check(checker, &self.functions);
            });
            errors.append(&mut self.members);
        }
        if errors.is_empty() {
            // As in the reference, the measures are looked at only if everything else is
            // consistent.
            errors = found(program, assumptions, |checker| {
                termination::functions(checker, self.functions);
            });
            errors.append(&mut self.measures);
        }
        errors.sort_by_key(|error| (error.span.file, error.span.start));
        diagnostics.append(&mut errors);
    }
}

/// Returns the findings of a check.
fn found<'p>(
    program: &'p Program,
    assumptions: Assumptions,
    check: impl FnOnce(&mut Checker<'p>),
) -> Vec<Diagnostic> {
    let mut checker = Checker { program, assumptions, locals: None, found: Vec::new() };
    check(&mut checker);
    checker.found
}

struct Checker<'p> {
    program: &'p Program,
    assumptions: Assumptions,
    /// The variables of the member at hand.
    locals: Option<&'p Arena<Local>>,
    found: Vec<Diagnostic>,
}

impl<'p> Checker<'p> {
    fn member(&mut self, member: Member) {
        let program = self.program;
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
