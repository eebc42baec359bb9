//! Members: what is declared, contracts, bodies.

use super::{Encoder, Part};
use sil::program::*;

impl Encoder<'_> {
    pub(super) fn part(&mut self, part: Part) {
        let program = self.reader.program;
        match part {
            Part::Field(id) => {
                self.tag(0);
                let Field { name, ty, annotations, span } = &program.fields[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.ty(ty);
                    this.annotations(annotations);
                });
            }
            Part::Domain(id) => {
                self.tag(1);
                self.covered(program.domains[id].span, |this| this.domain(&program.domains[id]));
            }
            Part::Predicate(id) => {
                self.tag(2);
                let Predicate { name, locals, formals, body, annotations, span } =
                    &program.predicates[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.locals(locals);
                    this.ids(formals);
                    this.maybe(body.as_ref(), Self::expr);
                    this.annotations(annotations);
                });
            }
            Part::Function(id) => {
                self.tag(3);
                let Function { name, locals, formals, result, contract, body, annotations, span } =
                    &program.functions[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.locals(locals);
                    this.ids(formals);
                    this.ty(result);
                    this.contract(contract);
                    this.maybe(body.as_ref(), Self::expr);
                    this.annotations(annotations);
                });
            }
            Part::Contract(id) => {
                self.tag(4);
                let Method {
                    name,
                    locals,
                    formals,
                    returns,
                    contract,
                    implementations,
                    annotations,
                    span,
                } = &program.methods[id];
                self.place(*span);
                self.name(name);
                self.signature(locals, formals);
                self.signature(locals, returns);
                self.locals_of_contract = Some(locals);
                self.contract(contract);
                self.flag(implementations.is_empty());
                self.annotations(annotations);
            }
            Part::Method(id) => {
                self.tag(5);
                self.covered(program.methods[id].span, |this| this.method(id));
            }
        }
    }

    pub(super) fn method(&mut self, id: MethodId) {
        let Method {
            name,
            locals,
            formals,
            returns,
            contract,
            implementations,
            annotations,
            span: _,
        } = &self.reader.program.methods[id];
        self.name(name);
        self.locals(locals);
        self.ids(formals);
        self.ids(returns);
        self.contract(contract);
        self.number(implementations.len());
        for (index, implementation) in implementations.iter().enumerate() {
            let Implementation { name, labels, body, annotations, span } = implementation;
            self.span(*span);
            self.maybe(name.as_ref(), Self::name);
            self.number(labels.len());
            for (_, Label { name, span }) in labels.iter() {
                self.name(name);
                self.span(*span);
            }
            match body {
                Body::Structured(block) => {
                    self.tag(0);
                    self.block(block);
                }
                Body::Graph(graph) => {
                    self.tag(1);
                    self.graph(graph);
                }
            }
            self.annotations(annotations);
            let checked = self.reader.checks.and_then(|checks| checks.graphs.get(&(id, index)));
            self.maybe(checked, Self::cfg);
        }
        self.annotations(annotations);
    }

    pub(super) fn domain(&mut self, domain: &Domain) {
        let Domain { name, parameters, interpretations, functions, axioms, annotations, span: _ } =
            domain;
        self.name(name);
        self.all(parameters, Self::name);
        self.number(interpretations.len());
        for (back_end, text) in interpretations {
            self.name(back_end);
            self.name(text);
        }
        self.all(functions, |this, &id| {
            let DomainFunction {
                name,
                domain: _,
                unique,
                is_constructor,
                formals,
                result,
                interpretation,
                annotations,
                span,
            } = &this.reader.program.domain_functions[id];
            this.name(name);
            this.flag(*unique);
            this.flag(*is_constructor);
            this.all(formals, |this, (name, ty)| {
                this.maybe(name.as_ref(), Self::name);
                this.ty(ty);
            });
            this.ty(result);
            this.maybe(interpretation.as_ref(), Self::name);
            this.annotations(annotations);
            this.span(*span);
        });
        self.all(axioms, |this, Axiom { name, locals, body, annotations, span }| {
            this.maybe(name.as_ref(), Self::name);
            this.locals(locals);
            this.expr(body);
            this.annotations(annotations);
            this.span(*span);
        });
        self.annotations(annotations);
    }

    pub(super) fn contract(&mut self, contract: &Contract) {
        let Contract { preconditions, postconditions, decreases } = contract;
        for clauses in [preconditions, postconditions] {
            self.all(clauses, |this, clause| {
                if this.covered.is_some() {
                    this.expr(clause);
                } else {
                    this.covered(clause.span, |this| this.expr(clause));
                }
            });
        }
        self.decreases(decreases);
    }

    pub(super) fn decreases(&mut self, clauses: &[Decreases]) {
        self.all(
            clauses,
            |this, Decreases { kind, condition, in_postcondition, measure, span }| {
                match kind {
                    DecreasesKind::Tuple(elements) => {
                        this.tag(0);
                        this.exprs(elements);
                    }
                    DecreasesKind::Wildcard => this.tag(1),
                    DecreasesKind::Star => this.tag(2),
                }
                this.maybe(condition.as_ref(), Self::expr);
                this.flag(*in_postcondition);
                this.span(*measure);
                this.span(*span);
            },
        );
    }
}
