//! Procedures and lemmas.

use findings::{ErrorId, Pattern, Reason};
use sil::build::*;
use sil::syntax as s;
use sil::syntax::TypeKind;
use spl::program::{Block, Clause, LocalId, Procedure, ProcedureId, Type};

use super::assertions::{NO_ACCESS, conjuncts_of, next_solved};
use super::{Scope, Thesis};
use crate::lower::annotations::{Annotate, named, renamed, said};
use crate::lower::expressions::Expressions;

impl Thesis<'_, '_> {
    /// Returns a procedure or lemma as a method.
    ///
    /// A parameter that the body assigns has its last value in a result of its own: what the
    /// postcondition says of the parameter it says of that, and callers do not use it.
    pub(super) fn method(&self, id: ProcedureId) -> s::Member {
        let program = self.lowering.program;
        let declared = &program.procedures[id];
        let name = self.lowering.names.borrow().procedures[id].clone();
        let mut scope = self.scope(declared.span);
        let mut method = s::Method::new(&name);
        method.formals = scope.formals(&declared.parameters);
        method.returns = scope.formals(&declared.results);
        scope.results = program.explicit(&declared.results);
        scope.is_lemma = declared.is_lemma();
        let assigned = declared.assigned(&declared.parameters);
        for &local in &assigned {
            let last = scope.member.fresh(&format!("{}_out", program.locals[local].name));
            method.returns.push(typed(&last, self.lowering.local_type(local)));
            scope.last_values.insert(local, last);
        }
        scope.is_entry = true;
        for granted in scope.granted(id) {
            method = method.requires(inhale_exhale(granted, truth(true)));
        }
        for clause in &declared.requires {
            let lowered = scope.clause(clause);
            method = method.requires(if clause.is_free {
                inhale_exhale(lowered, truth(true))
            } else {
                lowered
            });
        }
        if declared.is_lemma() {
            method = method.decreases(scope.lemma_measure(id, declared));
        }
        scope.is_entry = false;
        for clause in &declared.ensures {
            method = method.ensures(scope.postcondition(clause));
        }
        if let Some(body) = &declared.body {
            if self.lowering.options.leaks {
                let at = declared.ensures.first().map_or(declared.name_span, |clause| clause.span);
                for nothing_left in scope.nothing_left() {
                    let nothing_left = nothing_left.with(self.lowering.at(at));
                    method = method.ensures(inhale_exhale(truth(true), nothing_left));
                }
            }
            let statements = scope.body(declared, body, &assigned);
            method = method.body(statements);
        }
        let member: s::Member = method.into();
        member
            .with(self.lowering.at(declared.name_span))
            .with(named(&declared.name))
            .with(scope.member.variables())
            .with(crate::lower::annotations::ends())
    }
}

impl Scope<'_, '_, '_> {
    /// A free postcondition is promised to callers without being checked.
    fn postcondition(&mut self, clause: &Clause) -> s::Expr {
        let lowered = self.clause(clause);
        if clause.is_free { inhale_exhale(lowered, truth(true)) } else { lowered }
    }

    fn body(&mut self, procedure: &Procedure, body: &Block, assigned: &[LocalId]) -> Vec<s::Stmt> {
        let outer = self.member.begin_block();
        for local in assigned {
            let entry = var(&self.member.name_of(*local));
            let last = var(&self.last_values[local]);
            self.member.emit_plain(assign(last, entry));
        }
        self.stmts_of_body(body);
        if let Some(end) = self.end.clone() {
            self.member.emit_plain(label(&end));
        }
        self.close_results(procedure);
        self.member.end_block(outer)
    }

    /// Gives implicit results that the body does not assign the value that an equation of the
    /// postcondition determines.
    fn close_results(&mut self, procedure: &Procedure) {
        let mut open = self.member.program().left_open(procedure);
        let mut conjuncts = Vec::new();
        for clause in &procedure.ensures {
            conjuncts_of(&clause.condition, &mut conjuncts);
        }
        while let Some((at, value)) = next_solved(&conjuncts, &open) {
            self.member.span = value.span;
            let value = self.expr(&value);
            let result = var(&self.member.name_of(open.remove(at)));
            self.member.emit(
                assign(result, value)
                    .with(renamed(ErrorId::AssignmentFailed, ErrorId::PostconditionViolated))
                    .with(said(
                        (ErrorId::AssignmentFailed, Reason::InsufficientPermission),
                        NO_ACCESS,
                    )),
            );
        }
    }

    /// Makes the claim that nothing is owned any more: no field of any object, no predicate.
    fn nothing_left(&mut self) -> Vec<s::Expr> {
        let program = self.member.program();
        let lowering = self.member.lowering;
        let mut all = Vec::new();
        for (id, declared) in program.fields.iter() {
            let object = self.member.fresh("left");
            let resource = field(var(&object), &lowering.names.borrow().fields[id]);
            let words = format!("the field `{}` of an object might be left behind", declared.name);
            let none = forperm([typed(&object, TypeKind::Ref)], resource, truth(false));
            all.push(leak(none, &words));
        }
        for (id, declared) in program.predicates.iter() {
            if declared.ty != Type::Permission {
                continue;
            }
            let variables: Vec<_> = declared
                .parameters
                .iter()
                .map(|&local| typed(&self.member.fresh("left"), lowering.local_type(local)))
                .collect();
            let arguments: Vec<_> =
                variables.iter().map(|variable| var(&variable.name.name)).collect();
            let resource = call(&lowering.names.borrow().predicates[id], arguments);
            let words = format!("an instance of `{}` might be left behind", declared.name);
            // Without parameters there is one instance, and nothing to bind.
            let nothing = if variables.is_empty() {
                eq(perm(resource), none())
            } else {
                forperm(variables, resource, truth(false))
            };
            all.push(leak(nothing, &words));
        }
        all
    }
}

fn leak(nothing: s::Expr, words: &str) -> s::Expr {
    nothing
        .with(renamed(
            ErrorId::PostconditionViolated,
            (ErrorId::PostconditionViolated, Reason::Leak),
        ))
        .with(said(Pattern::ANY, words))
}
