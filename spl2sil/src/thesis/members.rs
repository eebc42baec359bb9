//! Fields, predicates and functions.

use sil::build::*;
use sil::syntax as s;
use spl::program::{FunctionId, LocalId, PredicateId, StructId, Type};

use super::{Scope, Thesis};
use crate::lower::annotations::{Annotate, named};
use crate::lower::expressions::Expressions;

impl Thesis<'_, '_> {
    pub(super) fn fields(&self, id: StructId) -> Vec<s::Member> {
        let program = self.lowering.program;
        let fields = program.structs[id].fields.iter().map(|&id| {
            let declared = &program.fields[id];
            let name = self.lowering.names.borrow().fields[id].clone();
            field_member(&name, self.lowering.ty(&declared.ty))
                .with(self.lowering.at(declared.span))
                .with(named(&declared.name))
        });
        fields.collect()
    }

    /// Returns a predicate; a function if it says nothing about permissions.
    pub(super) fn predicate(&self, id: PredicateId) -> s::Member {
        let declared = &self.lowering.program.predicates[id];
        let name = self.lowering.names.borrow().predicates[id].clone();
        let mut scope = self.scope(declared.span);
        let formals = scope.formals(&declared.parameters);
        let member: s::Member = if declared.ty == Type::Permission {
            let body = declared.body.as_ref().map(|body| scope.expr(body));
            s::Predicate { name: ident(&name), formals, body }.into()
        } else {
            let mut function = s::Function::new(&name, s::TypeKind::Bool);
            function.formals = formals;
            for clause in &declared.requires {
                function = function.requires(scope.clause(clause));
            }
            if self.recursion.is_recursive_predicate(id) {
                function = function.decreases(scope.predicate_measure(declared));
            }
            function.body = declared.body.as_ref().map(|body| scope.expr(body));
            function.into()
        };
        member
            .with(self.lowering.at(declared.name_span))
            .with(named(&declared.name))
            .with(scope.member.variables())
            .with(crate::lower::annotations::ends())
    }

    pub(super) fn function(&self, id: FunctionId) -> s::Member {
        let declared = &self.lowering.program.functions[id];
        let name = self.lowering.names.borrow().functions[id].clone();
        let mut scope = self.scope(declared.span);
        let mut function = s::Function::new(&name, self.lowering.local_type(declared.result));
        function.formals = scope.formals(&declared.parameters);
        for clause in &declared.requires {
            function = function.requires(scope.clause(clause));
        }
        if self.recursion.is_recursive_function(id) {
            function = function.decreases(scope.function_measure(id, declared));
        }
        scope.result = Some(declared.result);
        for clause in &declared.ensures {
            function = function.ensures(scope.clause(clause));
        }
        function.body = declared.body.as_ref().map(|body| scope.expr(body));
        let member: s::Member = function.into();
        member
            .with(self.lowering.at(declared.name_span))
            .with(named(&declared.name))
            .with(scope.member.variables())
            .with(crate::lower::annotations::ends())
    }
}

impl Scope<'_, '_, '_> {
    /// Parameters or results as they are declared.
    pub(super) fn formals(&mut self, locals: &[LocalId]) -> Vec<s::TypedName> {
        let declare = |&local: &LocalId| {
            let name = self.member.name_of(local);
            typed(&name, self.member.lowering.local_type(local))
        };
        locals.iter().map(declare).collect()
    }
}
