//! Members and macro definitions.

use crate::source::Name;
use crate::syntax::{
    Adt, Axiom, Constructor, Contract, Define, Derive, Domain, DomainFunction, Function, Ident,
    Import, MacroBody, Member, MemberKind, Method, Predicate, Type, TypeKind,
};

use pest::iterators::Pair;

use super::{Builder, Node, Nodes, Rule, find, fitted, next, skip};

impl Builder<'_> {
    /// Hands the members among `parts` to `take`.
    pub(in crate::parser) fn members(&mut self, parts: Nodes<'_>, take: &mut impl FnMut(Member)) {
        let parts = parts.flat_map(Pair::into_inner);
        for part in parts.filter(|part| part.as_rule() == Rule::member) {
            let member = self.member(part);
            if self.has_members && matches!(member.kind, MemberKind::Program(_)) {
                self.error(member.span, "the name of the program stands at the head of its file");
            }
            self.has_members = true;
            take(member);
        }
    }

    fn member(&mut self, node: Node<'_>) -> Member {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let part = next(&mut parts);
        let kind = match part.as_rule() {
            Rule::method => MemberKind::Method(self.method(part)),
            Rule::function => MemberKind::Function(self.function(part)),
            Rule::predicate => MemberKind::Predicate(self.predicate(part)),
            Rule::field => MemberKind::Fields(self.typed_names(part)),
            Rule::domain => MemberKind::Domain(self.domain(part)),
            Rule::define => MemberKind::Define(self.define(part)),
            Rule::import => MemberKind::Import(self.import(part)),
            Rule::program => {
                MemberKind::Program(self.ident(&find(&mut part.into_inner(), Rule::ident)))
            }
            _ => MemberKind::Adt(self.adt(part)),
        };
        Member { annotations, span, kind }
    }

    fn import(&mut self, node: Node<'_>) -> Import {
        let mut parts = node.into_inner();
        skip(&mut parts, Rule::kw_import);
        let path = next(&mut parts);
        // Both kinds of path have one delimiter at each end.
        Import { path: self.string(&path), standard: path.as_rule() == Rule::standard_path }
    }

    fn predicate(&mut self, node: Node<'_>) -> Predicate {
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let formals = self.typed_names(next(&mut parts));
        Predicate { name, formals, body: parts.next().map(|part| self.exp_body(part)) }
    }

    fn exp_body(&mut self, node: Node<'_>) -> crate::syntax::Expr {
        self.exp(next(&mut node.into_inner()))
    }

    fn function(&mut self, node: Node<'_>) -> Function {
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let formals = self.typed_names(next(&mut parts));
        skip(&mut parts, Rule::colon);
        let result = self.ty(next(&mut parts));
        let mut contract = Contract::default();
        let mut body = None;
        for part in parts {
            if part.as_rule() == Rule::exp_body {
                body = Some(self.exp_body(part));
            } else {
                self.clause(part, &mut contract);
            }
        }
        Function { name, formals, result, contract: contract.fitted(), body }
    }

    fn method(&mut self, node: Node<'_>) -> Method {
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let formals = self.typed_names(next(&mut parts));
        let mut returns = Vec::new();
        let mut contract = Contract::default();
        let mut implementations = Vec::new();
        for part in parts {
            match part.as_rule() {
                Rule::returns => {
                    returns = self.typed_names(find(&mut part.into_inner(), Rule::formals));
                }
                Rule::implementation => implementations.push(self.implementation(part)),
                _ => self.clause(part, &mut contract),
            }
        }
        if implementations.len() > 1 {
            for implementation in implementations.iter().filter(|one| !one.explicit) {
                let message = "a body without the word `implementation` must be the only one";
                let span = implementation.span;
                self.error(span, message);
            }
        }
        let implementations = fitted(implementations);
        Method { name, formals, returns, contract: contract.fitted(), implementations }
    }

    fn clause(&mut self, node: Node<'_>, contract: &mut Contract) {
        match node.as_rule() {
            Rule::requires => {
                let exp = self.exp(find(&mut node.into_inner(), Rule::exp));
                contract.preconditions.push(exp);
            }
            Rule::ensures => {
                let exp = self.exp(find(&mut node.into_inner(), Rule::exp));
                contract.postconditions.push(exp);
            }
            _ => {
                let mut clause = self.decreases(node);
                clause.in_postcondition = !contract.postconditions.is_empty();
                contract.decreases.push(clause);
            }
        }
    }

    fn domain(&mut self, node: Node<'_>) -> Domain {
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let mut domain = Domain {
            name,
            parameters: Vec::new(),
            interpretations: Vec::new(),
            functions: Vec::new(),
            axioms: Vec::new(),
        };
        for part in parts {
            match part.as_rule() {
                Rule::type_parameters => domain.parameters = self.idents(part),
                Rule::interpretations => {
                    let backends = part.into_inner().filter(|part| part.as_rule() == Rule::backend);
                    for backend in backends {
                        let mut parts = backend.into_inner();
                        let name = self.ident(&next(&mut parts));
                        let text = self.interpretation(&find(&mut parts, Rule::string));
                        domain.interpretations.push((name, text));
                    }
                }
                Rule::domain_member => self.domain_member(part, &mut domain),
                _ => {}
            }
        }
        domain
    }

    fn domain_member(&mut self, node: Node<'_>, domain: &mut Domain) {
        let start = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let part = next(&mut parts);
        // Without the `;` that may follow.
        let span = start_to_end(start, self.span(&part));
        if part.as_rule() == Rule::axiom {
            let mut name = None;
            let mut body = None;
            for part in part.into_inner() {
                match part.as_rule() {
                    Rule::ident => name = Some(self.ident(&part)),
                    Rule::exp => body = Some(self.exp(part)),
                    _ => {}
                }
            }
            let body = body.expect("the grammar requires a body");
            domain.axioms.push(Axiom { annotations, name, body, span });
        } else {
            let mut function = self.domain_function(part);
            function.annotations = annotations;
            function.span = span;
            domain.functions.push(function);
        }
    }

    fn domain_function(&mut self, node: Node<'_>) -> DomainFunction {
        let span = self.span(&node);
        let mut unique = false;
        let mut name = None;
        let mut formals = Vec::new();
        let mut result = None;
        let mut interpretation = None;
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::kw_unique => unique = true,
                Rule::ident => name = Some(self.ident(&part)),
                Rule::domain_formal => formals.push(self.domain_formal(part)),
                Rule::string => interpretation = Some(self.interpretation(&part)),
                Rule::kw_function
                | Rule::kw_predicate
                | Rule::open_paren
                | Rule::close_paren
                | Rule::colon
                | Rule::kw_interpretation => {}
                _ => result = Some(self.ty(part)),
            }
        }
        DomainFunction {
            annotations: Vec::new(),
            name: name.expect("the grammar requires a name"),
            unique,
            is_constructor: false,
            formals,
            result: result.unwrap_or(Type { kind: TypeKind::Bool, span }),
            interpretation,
            span,
        }
    }

    /// Returns the text of an interpretation; as in the reference, there has to be one.
    fn interpretation(&mut self, node: &Node<'_>) -> Name {
        let text = self.string(node);
        if text.trim_ascii().is_empty() {
            self.error(self.span(node), "the text of an interpretation is empty");
        }
        text
    }

    fn domain_formal(&mut self, node: Node<'_>) -> (Option<Ident>, crate::syntax::Type) {
        let mut name = None;
        let mut parts = node.into_inner();
        let mut part = next(&mut parts);
        if part.as_rule() == Rule::ident {
            name = Some(self.ident(&part));
            part = next(&mut parts);
        }
        (name, self.ty(part))
    }

    fn adt(&mut self, node: Node<'_>) -> Adt {
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let mut adt =
            Adt { name, parameters: Vec::new(), constructors: Vec::new(), derives: Vec::new() };
        for part in parts {
            match part.as_rule() {
                Rule::type_parameters => adt.parameters = self.idents(part),
                Rule::constructor => adt.constructors.push(self.constructor(part)),
                Rule::derives => {
                    let derives = part.into_inner().filter(|part| part.as_rule() == Rule::derive);
                    adt.derives.extend(derives.map(|part| self.derive(part)));
                }
                _ => {}
            }
        }
        adt
    }

    fn constructor(&mut self, node: Node<'_>) -> Constructor {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let name = self.ident(&next(&mut parts));
        let formals = next(&mut parts);
        let span = start_to_end(span, self.span(&formals));
        Constructor { annotations, name, formals: self.typed_names(formals), span }
    }

    fn derive(&mut self, node: Node<'_>) -> Derive {
        let mut parts = node.into_inner();
        let name = self.ident(&next(&mut parts));
        let mut argument = None;
        let mut without = Vec::new();
        for part in parts {
            match part.as_rule() {
                Rule::kw_without | Rule::close_bracket => {}
                Rule::ident => without.push(self.ident(&part)),
                _ => argument = Some(self.ty(part)),
            }
        }
        Derive { name, argument, without }
    }

    pub(super) fn define(&mut self, node: Node<'_>) -> Define {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let name = self.ident(&find(&mut parts, Rule::ident));
        let mut parameters = None;
        let mut body = MacroBody::Empty;
        for part in parts {
            body = match part.as_rule() {
                Rule::macro_parameters => {
                    parameters = Some(self.idents(part));
                    continue;
                }
                Rule::block => MacroBody::Block(self.block(part)),
                Rule::exp => MacroBody::Expr(Box::new(self.exp(part))),
                _ => MacroBody::Type(self.ty(part)),
            };
        }
        Define { name, parameters, body, span }
    }
}

/// From the start of one span to the end of another that lies inside it.
fn start_to_end(outer: crate::source::Span, inner: crate::source::Span) -> crate::source::Span {
    crate::source::Span { end: inner.end, ..outer }
}

impl Contract {
    fn fitted(self) -> Self {
        Self {
            preconditions: fitted(self.preconditions),
            postconditions: fitted(self.postconditions),
            decreases: fitted(self.decreases),
        }
    }
}
