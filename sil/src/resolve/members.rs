//! Members: signatures first, so that every member may use every other; then contracts and bodies.

use la_arena::Arena;

use super::context::{Facts, Introspection, Place, Resolver, Shared, split_annotations};
use super::names::{Found, Global, Globals, duplicate};
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{
    Axiom, Body, Contract, Domain, DomainFunction, DomainId, Expr, Field, Function, Implementation,
    Local, LocalId, LocalKind, Member, Method, Predicate, Program, Type,
};
use crate::source::{FileId, Name, OriginId, Span};
use crate::syntax::{self, Ident, MemberKind, TypedName};

/// Builds the arenas: signatures with resolved types, contracts and bodies still empty.
pub(super) fn signatures(
    tree: &syntax::Program,
    globals: &Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Program, Facts) {
    let mut signatures =
        Signatures { globals, diagnostics, program: Program::default(), facts: Facts::default() };
    for member in &tree.members {
        signatures.member(member);
    }
    (signatures.program, signatures.facts)
}

struct Signatures<'a> {
    globals: &'a Globals,
    diagnostics: &'a mut Vec<Diagnostic>,
    program: Program,
    facts: Facts,
}

impl Signatures<'_> {
    fn member(&mut self, member: &syntax::Member) {
        let mut origin = OriginId::NONE;
        let annotations =
            split_annotations(&member.annotations, &mut origin, &mut self.program.origins);
        let span = Span { origin, ..member.span };
        match &member.kind {
            // Files that are imported have names of their own.
            MemberKind::Program(name) if name.span.file == FileId(0) => {
                self.program.name = Some(name.name.clone());
            }
            MemberKind::Program(_) => {}
            MemberKind::Fields(fields) => {
                for field in fields {
                    let id = self.program.fields.alloc(Field {
                        name: field.name.name.clone(),
                        ty: self.globals.resolve_type(&field.ty, &[], self.diagnostics),
                        annotations: annotations.clone(),
                        span: Span { origin, ..field.name.span },
                    });
                    self.program.order.push(Member::Field(id));
                }
            }
            MemberKind::Predicate(predicate) => {
                let (locals, formals) = self.formals(&predicate.formals, &[], origin);
                let id = self.program.predicates.alloc(Predicate {
                    name: predicate.name.name.clone(),
                    locals,
                    formals,
                    body: None,
                    annotations,
                    span,
                });
                self.facts.has_body.insert(id, predicate.body.is_some());
                self.program.order.push(Member::Predicate(id));
            }
            MemberKind::Function(function) => {
                let (locals, formals) = self.formals(&function.formals, &[], origin);
                let result = self.globals.resolve_type(&function.result, &[], self.diagnostics);
                let id = self.program.functions.alloc(Function {
                    name: function.name.name.clone(),
                    locals,
                    formals,
                    result,
                    contract: Contract::default(),
                    body: None,
                    annotations,
                    span,
                });
                let has_precondition = !function.contract.preconditions.is_empty();
                self.facts.has_precondition.insert(id, has_precondition);
                self.program.order.push(Member::Function(id));
            }
            MemberKind::Method(method) => {
                let (locals, formals) = self.formals(&method.formals, &method.returns, origin);
                let (formals, returns) = split(formals, method.formals.len());
                let id = self.program.methods.alloc(Method {
                    name: method.name.name.clone(),
                    locals,
                    formals,
                    returns,
                    contract: Contract::default(),
                    implementations: Vec::new(),
                    annotations,
                    span,
                });
                self.program.order.push(Member::Method(id));
            }
            MemberKind::Domain(domain) => self.domain(domain, annotations, span),
            MemberKind::Adt(adt) => {
                let is_domain = |global| matches!(global, Global::Domain(_));
                if self.globals.find(&adt.name.name, is_domain) == Found::Nothing {
                    let message = "adts are desugared before names are resolved";
                    self.diagnostics.push(Diagnostic::new(Code::TypecheckerError, span, message));
                }
            }
            MemberKind::Import(_) | MemberKind::Define(_) => {
                let message = "imports and macros are expanded before names are resolved";
                self.diagnostics.push(Diagnostic::new(Code::TypecheckerError, span, message));
            }
        }
    }

    fn domain(
        &mut self,
        domain: &syntax::Domain,
        annotations: Vec<syntax::Annotation>,
        span: Span,
    ) {
        let parameters: Vec<Name> =
            domain.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let id = self.program.domains.alloc(Domain {
            name: domain.name.name.clone(),
            parameters: parameters.clone(),
            interpretations: domain
                .interpretations
                .iter()
                .map(|(back_end, text)| (back_end.name.clone(), text.clone()))
                .collect(),
            functions: Vec::new(),
            axioms: Vec::new(),
            annotations,
            span,
        });
        for function in &domain.functions {
            // The names of an adt's constructors are checked as its fields.
            if !self.globals.is_adt(&domain.name.name) {
                self.check_argument_names(function);
            }
            let mut origin = span.origin;
            let origins = &mut self.program.origins;
            let annotations = split_annotations(&function.annotations, &mut origin, origins);
            let mut ty =
                |ty: &syntax::Type| self.globals.resolve_type(ty, &parameters, self.diagnostics);
            let formals = function
                .formals
                .iter()
                .map(|(name, formal)| (name.as_ref().map(|name| name.name.clone()), ty(formal)))
                .collect();
            let function = DomainFunction {
                name: function.name.name.clone(),
                domain: id,
                unique: function.unique,
                is_constructor: function.is_constructor,
                formals,
                result: ty(&function.result),
                interpretation: function.interpretation.clone(),
                annotations,
                span: Span { origin, ..function.span },
            };
            let function = self.program.domain_functions.alloc(function);
            self.program.domains[id].functions.push(function);
        }
        self.program.order.push(Member::Domain(id));
    }

    fn check_argument_names(&mut self, function: &syntax::DomainFunction) {
        let names: Vec<_> = function.formals.iter().filter_map(|(name, _)| name.as_ref()).collect();
        for (index, name) in names.iter().enumerate() {
            let is_same = |other: &&&Ident| other.name == name.name;
            if names[..index].iter().find(is_same).is_some() {
                continue;
            }
            // As in the reference, reported at the first.
            if let Some(second) = names[index + 1..].iter().find(is_same) {
                let message = format!("duplicate argument name `{}`", name.name);
                self.diagnostics.push(
                    Diagnostic::new(Code::TypecheckerError, name.span, message)
                        .with_related(second.span, "declared again here"),
                );
            }
        }
    }

    /// Locals for formal parameters and results, in that order.
    fn formals(
        &mut self,
        formals: &[TypedName],
        returns: &[TypedName],
        origin: OriginId,
    ) -> (Arena<Local>, Vec<LocalId>) {
        let mut locals = Arena::with_capacity(formals.len() + returns.len());
        let kinds = std::iter::repeat_n(LocalKind::Formal, formals.len())
            .chain(std::iter::repeat_n(LocalKind::Returned, returns.len()));
        let ids = formals
            .iter()
            .chain(returns)
            .zip(kinds)
            .map(|(local, kind)| {
                locals.alloc(Local {
                    name: local.name.name.clone(),
                    ty: self.globals.resolve_type(&local.ty, &[], self.diagnostics),
                    kind,
                    span: Span { origin, ..local.name.span },
                })
            })
            .collect();
        (locals, ids)
    }
}

fn split(mut ids: Vec<LocalId>, at: usize) -> (Vec<LocalId>, Vec<LocalId>) {
    let rest = ids.split_off(at);
    (ids, rest)
}

/// The additions of the second pass to a member.
pub(super) enum Resolved {
    Predicate { locals: Arena<Local>, body: Option<Expr> },
    Function { locals: Arena<Local>, contract: Contract, body: Option<Expr> },
    Method { locals: Arena<Local>, contract: Contract, implementations: Vec<Implementation> },
    Axioms(Vec<Axiom>),
}

/// Tells whether there is something to resolve behind the signatures.
pub(super) fn has_body(member: &syntax::Member) -> bool {
    match member.kind {
        MemberKind::Predicate(_)
        | MemberKind::Function(_)
        | MemberKind::Method(_)
        | MemberKind::Domain(_) => true,
        MemberKind::Program(_)
        | MemberKind::Import(_)
        | MemberKind::Define(_)
        | MemberKind::Fields(_)
        | MemberKind::Adt(_) => false,
    }
}

/// Resolves contract and body of a member. Wrong parts are reported and left out.
pub(super) fn resolve_member(
    shared: &mut Shared<'_>,
    id: Member,
    written: &MemberKind,
) -> Option<Resolved> {
    let program = shared.program;
    match (id, written) {
        (Member::Predicate(id), MemberKind::Predicate(written)) => {
            let predicate = &program.predicates[id];
            let mut resolver = Resolver::new(shared, predicate.span, predicate.locals.clone());
            resolver.declare_formals(&predicate.formals);
            resolver.place = Place { wands: false, ..Place::BODY };
            let body = written.body.as_ref().and_then(|body| resolver.assertion(body));
            Some(Resolved::Predicate { locals: resolver.locals, body })
        }
        (Member::Function(id), MemberKind::Function(written)) => {
            Some(resolve_function(shared, &program.functions[id], written))
        }
        (Member::Method(id), MemberKind::Method(written)) => {
            Some(resolve_method(shared, &program.methods[id], written))
        }
        (Member::Domain(id), MemberKind::Domain(written)) => {
            let span = program.domains[id].span;
            let axioms = written.axioms.iter();
            let axioms = axioms.filter_map(|axiom| resolve_axiom(shared, id, axiom, span));
            Some(Resolved::Axioms(axioms.collect()))
        }
        _ => None,
    }
}

/// Undoes [`Resolved::complete`]. Axioms stay: they are few, and their names are compared with
/// those of others.
pub(super) fn reduce_to_signature(member: Member, program: &mut Program) {
    match member {
        Member::Predicate(id) => {
            let predicate = &mut program.predicates[id];
            predicate.body = None;
            keep_formals(&mut predicate.locals);
        }
        Member::Function(id) => {
            let function = &mut program.functions[id];
            (function.contract, function.body) = Default::default();
            keep_formals(&mut function.locals);
        }
        Member::Method(id) => {
            let method = &mut program.methods[id];
            (method.contract, method.implementations) = Default::default();
            keep_formals(&mut method.locals);
        }
        Member::Domain(_) | Member::Field(_) => {}
    }
}

/// Formals and results are the first locals of a member.
fn keep_formals(locals: &mut Arena<Local>) {
    let is_formal = |local: &&Local| matches!(local.kind, LocalKind::Formal | LocalKind::Returned);
    *locals = locals.values().take_while(is_formal).cloned().collect();
    locals.shrink_to_fit();
}

fn resolve_function(
    shared: &mut Shared<'_>,
    function: &Function,
    written: &syntax::Function,
) -> Resolved {
    let mut resolver = Resolver::new(shared, function.span, function.locals.clone());
    resolver.declare_formals(&function.formals);
    resolver.place = Place { wands: false, ..Place::CONTRACT };
    let preconditions = resolver.assertions(&written.contract.preconditions);
    resolver.place = Place {
        result: Some(function.result.clone()),
        introspection: Introspection::Nowhere,
        ..Place::BODY
    };
    let postconditions = written
        .contract
        .postconditions
        .iter()
        .filter_map(|clause| resolver.value(clause, &Type::Bool))
        .collect();
    // Each is part of the precondition or of the postcondition.
    let (before, behind) = written.contract.split_decreases();
    resolver.place = Place { wands: false, ..Place::CONTRACT };
    let mut decreases = resolver.decreases_clauses(before);
    resolver.place.introspection = Introspection::Nowhere;
    decreases.extend(resolver.decreases_clauses(behind));
    // The consistency checks say that a body cannot mention `result`.
    resolver.place = Place { result: Some(function.result.clone()), ..Place::BODY };
    let body = written.body.as_ref().and_then(|body| resolver.value(body, &function.result));
    Resolved::Function {
        locals: resolver.locals,
        contract: Contract { preconditions, postconditions, decreases },
        body,
    }
}

fn resolve_method(shared: &mut Shared<'_>, method: &Method, written: &syntax::Method) -> Resolved {
    let mut resolver = Resolver::new(shared, method.span, method.locals.clone());
    resolver.declare_formals(&method.formals);
    resolver.declare_formals(&method.returns);
    resolver.place = Place::CONTRACT;
    let preconditions = resolver.assertions(&written.contract.preconditions);
    let postconditions = resolver.assertions(&written.contract.postconditions);
    let decreases = resolver.decreases_clauses(&written.contract.decreases);
    resolver.place = Place::BODY;
    resolver.in_body = true;
    let implementations =
        written.implementations.iter().map(|body| resolver.implementation(body)).collect();
    let names: Vec<_> =
        written.implementations.iter().filter_map(|one| one.name.as_ref()).collect();
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = names[..index].iter().find(|first| first.name == name.name) {
            let clash = duplicate(&name.name, first.span, name.span);
            resolver.shared.diagnostics.push(clash);
        }
    }
    Resolved::Method {
        locals: resolver.locals,
        contract: Contract { preconditions, postconditions, decreases },
        implementations,
    }
}

fn resolve_axiom(
    shared: &mut Shared<'_>,
    domain: DomainId,
    written: &syntax::Axiom,
    span: Span,
) -> Option<Axiom> {
    let parameters = &shared.program.domains[domain].parameters;
    let mut resolver = Resolver::new(shared, span, Arena::new());
    resolver.parameters = parameters;
    resolver.place = Place { axiom_of: Some(domain), ..Place::BODY };
    let (annotations, _) = resolver.enter(&written.annotations);
    let body = resolver.value(&written.body, &Type::Bool)?;
    let span = resolver.at(written.span);
    let name = written.name.as_ref().map(|name| name.name.clone());
    Some(Axiom { name, locals: resolver.locals, body, annotations, span })
}

impl Resolver<'_, '_> {
    fn assertions(&mut self, clauses: &[syntax::Expr]) -> Vec<Expr> {
        clauses.iter().filter_map(|clause| self.assertion(clause)).collect()
    }

    fn implementation(&mut self, written: &syntax::Implementation) -> Implementation {
        let (annotations, outer) = self.enter(&written.annotations);
        self.labels = Arena::new();
        self.label_names.clear();
        self.scopes.open();
        let body = match &written.body {
            syntax::Body::Structured(block) => {
                self.declare_labels(&block.statements);
                Body::Structured(self.block(block))
            }
            syntax::Body::Graph(graph) => {
                self.declare_blocks(graph);
                Body::Graph(self.graph(graph))
            }
        };
        self.scopes.close();
        let implementation = Implementation {
            name: written.name.as_ref().map(|name| name.name.clone()),
            labels: std::mem::take(&mut self.labels),
            body,
            annotations,
            span: self.at(written.span),
        };
        self.label_names.clear();
        self.origin = outer;
        implementation
    }
}

impl Resolved {
    /// Completes the member whose signature is in `program` already.
    pub(super) fn complete(self, member: Member, program: &mut Program) {
        match (member, self) {
            (Member::Predicate(id), Self::Predicate { locals, body }) => {
                let predicate = &mut program.predicates[id];
                predicate.locals = locals;
                predicate.body = body;
            }
            (Member::Function(id), Self::Function { locals, contract, body }) => {
                let function = &mut program.functions[id];
                function.locals = locals;
                function.contract = contract;
                function.body = body;
            }
            (Member::Method(id), Self::Method { locals, contract, implementations }) => {
                let method = &mut program.methods[id];
                method.locals = locals;
                method.contract = contract;
                method.implementations = implementations;
            }
            (Member::Domain(id), Self::Axioms(axioms)) => program.domains[id].axioms = axioms,
            _ => unreachable!("a member is completed by what it was resolved to"),
        }
    }
}
