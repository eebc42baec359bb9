//! The second round over declarations: types first, then what refers to them.

use super::declare::Item;
use super::scope::new_local;
use super::{Context, Home, Resolver, purity};
use crate::program::{Axiom, Clause, Declaration, Local, LocalId, LocalKind, Type};
use crate::syntax::{self, ClauseKind, DeclarationKind, Ident, Parameter, Signature};

impl<'s> Resolver<'s> {
    /// Types of fields, parameters and results.
    pub(super) fn types(&mut self, items: &[Item<'s>]) {
        let macros = self.macros.iter().map(|one| (one.name.name.as_str(), one.body));
        for id in purity::with_permissions(items, macros) {
            self.program.predicates[id].ty = Type::Permission;
        }
        for (declaration, id) in items {
            self.declared_types(declaration, *id);
        }
    }

    fn declared_types(&mut self, declaration: &'s syntax::Declaration, id: Option<Declaration>) {
        match (&declaration.kind, id) {
            (DeclarationKind::Type { value: Some(value), .. }, None) => {
                self.type_of(value);
            }
            (DeclarationKind::Struct { fields, .. }, Some(Declaration::Struct(id))) => {
                let ids = self.program.structs[id].fields.clone();
                for (field, id) in fields.iter().zip(ids) {
                    self.program.fields[id].ty = self.type_of(&field.formal.ty);
                }
            }
            (DeclarationKind::Datatype { constructors, .. }, Some(Declaration::Datatype(id))) => {
                let ids = self.program.datatypes[id].constructors.clone();
                for (constructor, id) in constructors.iter().zip(ids) {
                    let ids = self.program.constructors[id].destructors.clone();
                    for (field, id) in constructor.fields.iter().zip(ids) {
                        self.program.destructors[id].ty = self.type_of(&field.ty);
                    }
                }
            }
            (DeclarationKind::Global(global), Some(Declaration::Global(id))) => {
                self.program.globals[id].ty = self.type_of(&global.formal.ty);
            }
            (DeclarationKind::Const(formal), Some(Declaration::Function(id))) => {
                let result = self.program.functions[id].result;
                self.program.locals[result].ty = self.type_of(&formal.ty);
            }
            (DeclarationKind::Procedure { signature, .. }, Some(Declaration::Procedure(id))) => {
                let parameters = self.parameters(&signature.parameters, LocalKind::Parameter);
                let results = self.parameters(&signature.results, LocalKind::Result);
                self.program.procedures[id].parameters = parameters;
                self.program.procedures[id].results = results;
            }
            (DeclarationKind::Predicate { signature, .. }, Some(Declaration::Predicate(id))) => {
                let parameters = self.parameters(&signature.parameters, LocalKind::Parameter);
                self.program.predicates[id].parameters = parameters;
            }
            (DeclarationKind::Function { signature, .. }, Some(Declaration::Function(id))) => {
                let parameters = self.parameters(&signature.parameters, LocalKind::Parameter);
                self.program.functions[id].parameters = parameters;
                let result = self.program.functions[id].result;
                let written = &signature.results[0].formal;
                let ty = self.type_of(&written.ty);
                self.program.locals[result] = Local {
                    is_ghost: signature.results[0].is_ghost,
                    ..new_local(&written.name, ty, LocalKind::Result)
                };
            }
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &'s [Parameter], kind: LocalKind) -> Vec<LocalId> {
        let declare = |parameter: &'s Parameter| {
            let ty = self.type_of(&parameter.formal.ty);
            let local = Local {
                is_ghost: parameter.is_ghost,
                is_implicit: parameter.is_implicit,
                ..new_local(&parameter.formal.name, ty, kind)
            };
            self.locals().alloc(local)
        };
        parameters.iter().map(declare).collect()
    }

    /// Contracts, axioms and bodies.
    pub(super) fn bodies(&mut self, items: &[Item<'s>]) {
        for (declaration, id) in items {
            self.home = Home::default();
            match (&declaration.kind, id) {
                (DeclarationKind::Axiom(condition), Some(Declaration::Axiom(_))) => {
                    let condition = self.formula(condition, Context::ONE_STATE);
                    self.program.axioms.push(Axiom { condition, span: declaration.span });
                }
                (
                    DeclarationKind::Procedure { signature, body, .. },
                    Some(Declaration::Procedure(id)),
                ) => {
                    let results = self.program.procedures[*id].results.clone();
                    self.home.results = self.program.explicit(&results);
                    let parameters = self.program.procedures[*id].parameters.clone();
                    let (requires, ensures) =
                        self.contract(signature, &parameters, &results, Context::TWO_STATE);
                    let body = body.as_ref().map(|body| {
                        self.scoped(|resolver| {
                            resolver.enter_all(&signature.parameters, &parameters);
                            resolver.enter_all(&signature.results, &results);
                            resolver.block(body)
                        })
                    });
                    let procedure = &mut self.program.procedures[*id];
                    (procedure.requires, procedure.ensures) = (requires, ensures);
                    procedure.body = body;
                }
                (
                    DeclarationKind::Predicate { signature, body, is_pure },
                    Some(Declaration::Predicate(id)),
                ) => {
                    let parameters = self.program.predicates[*id].parameters.clone();
                    let (requires, ensures) =
                        self.contract(signature, &parameters, &[], Context::ONE_STATE);
                    let body = body.as_ref().map(|body| {
                        self.scoped(|resolver| {
                            resolver.enter_all(&signature.parameters, &parameters);
                            if *is_pure {
                                resolver.formula(body, Context::ONE_STATE)
                            } else {
                                resolver.assertion(body, Context::ONE_STATE)
                            }
                        })
                    });
                    let predicate = &mut self.program.predicates[*id];
                    (predicate.requires, predicate.ensures) = (requires, ensures);
                    predicate.body = body;
                }
                (
                    DeclarationKind::Function { signature, body },
                    Some(Declaration::Function(id)),
                ) => {
                    let parameters = self.program.functions[*id].parameters.clone();
                    let result = self.program.functions[*id].result;
                    let ty = self.program.locals[result].ty.clone();
                    let (requires, ensures) =
                        self.contract(signature, &parameters, &[result], Context::ONE_STATE);
                    self.home.value = Some((&signature.results[0].formal.name, result));
                    let body = body.as_ref().map(|body| {
                        self.scoped(|resolver| {
                            resolver.enter_all(&signature.parameters, &parameters);
                            resolver.expr_of(body, &ty, Context::ONE_STATE)
                        })
                    });
                    let function = &mut self.program.functions[*id];
                    (function.requires, function.ensures) = (requires, ensures);
                    function.body = body;
                }
                _ => {}
            }
        }
    }

    /// Pre- and postconditions; results are in scope in the latter only.
    fn contract(
        &mut self,
        signature: &'s Signature,
        parameters: &[LocalId],
        results: &[LocalId],
        post: Context,
    ) -> (Vec<Clause>, Vec<Clause>) {
        let (mut requires, mut ensures) = (Vec::new(), Vec::new());
        for clause in &signature.contract {
            let resolved = self.scoped(|resolver| {
                resolver.enter_all(&signature.parameters, parameters);
                let is_post = clause.kind == ClauseKind::Ensures;
                if is_post {
                    resolver.enter_all(&signature.results, results);
                }
                resolver.clause(clause, if is_post { post } else { Context::ONE_STATE })
            });
            match clause.kind {
                ClauseKind::Ensures => ensures.push(resolved),
                _ => requires.push(resolved),
            }
        }
        (requires, ensures)
    }

    /// Returns a clause of a contract or an invariant.
    pub(super) fn clause(&mut self, clause: &'s syntax::Clause, context: Context) -> Clause {
        let condition = if clause.is_pure {
            self.formula(&clause.condition, context)
        } else {
            self.assertion(&clause.condition, context)
        };
        Clause { is_pure: clause.is_pure, is_free: clause.is_free, condition, span: clause.span }
    }

    fn enter_all(&mut self, parameters: &'s [Parameter], locals: &[LocalId]) {
        for (parameter, &local) in parameters.iter().zip(locals) {
            let name: &'s Ident = &parameter.formal.name;
            self.enter(name, local);
        }
    }
}
