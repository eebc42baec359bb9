//! What the options `-defaults`, `-autoMagic` and `-checkLeaks` of the original verifier add.
//!
//! DIVERGENCE: `-defaults` opens the predicates of `this` in the body that a contract belongs to, and closes them at its
//! end, instead of replacing them in the contract, so that callers still see predicates. What `-defaults:2` inlines are
//! functions, whose bodies are known anyway.

use chalice::Program;
use chalice::program::{
    Access, AccessTarget, Expr, ExprKind, FieldRef, Permission, PermissionKind, Type,
};
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, renamed, said};
use super::assertions::Part;
use super::env::{Env, Side};
use super::permissions::Use;
use super::{Lowering, Member};
use crate::build::*;
use crate::names::fixed;
use crate::walk::{each_child, each_expr};

impl Member<'_, '_> {
    /// Predicates of `this` that clauses speak of: where each is mentioned, under which condition, and the assertion.
    fn own_predicates<'e>(
        &mut self,
        clauses: &'e [Expr],
        env: &Env,
    ) -> Vec<(chalice::Span, s::Expr, &'e Access)> {
        let mut found = Vec::new();
        for clause in clauses {
            for part in self.parts(clause, env) {
                let Part::Access(access) = part.part else { continue };
                let AccessTarget::Predicate { receiver, .. } = &access.target else { continue };
                if part.binder.is_none() && matches!(receiver.kind, ExprKind::This) {
                    found.push((clause.span, part.guard, access));
                }
            }
        }
        found
    }

    /// At the start of a body: opens what the precondition gives.
    pub(crate) fn open_own_predicates(&mut self, requires: &[Expr], env: &Env) {
        for (_, guard, access) in self.own_predicates(requires, env) {
            let traded = self.access(access, env, Use::Traded);
            self.emit_when(guard, unfold(traded));
        }
    }

    /// At the end of a body: closes what the postcondition asks for.
    pub(crate) fn close_own_predicates(&mut self, ensures: &[Expr], env: &Env) {
        let outer = self.span;
        for (span, guard, access) in self.own_predicates(ensures, env) {
            self.span = span;
            let traded = self.access(access, env, Use::Traded);
            let renaming = renamed("fold.failed:*", "postcondition.violated:*");
            self.emit_when(guard, fold(traded).with(renaming));
        }
        self.span = outer;
    }

    fn emit_when(&mut self, guard: s::Expr, stmt: s::Stmt) {
        if is_true(&guard) {
            self.emit(stmt);
        } else {
            let then = self.block(|member| member.emit(stmt));
            self.emit_plain(branch(guard, then, Vec::new()));
        }
    }

    /// The body of a function with the predicates of its precondition open.
    pub(crate) fn with_own_predicates(
        &mut self,
        requires: &[Expr],
        body: s::Expr,
        env: &Env,
    ) -> s::Expr {
        let own = self.own_predicates(requires, env);
        own.into_iter().rev().fold(body, |body, (_, guard, access)| {
            if !is_true(&guard) {
                return body;
            }
            let opened = self.access(access, env, Use::Opened);
            unfolding(opened, body)
        })
    }

    /// That nothing is left once `clauses` have been given away.
    pub(crate) fn check_leaks(&mut self, clauses: &[Expr], env: &Env, id: &str, words: &str) {
        let lowering = self.lowering;
        let object = self.bound_name("o");
        let statements = self.block(|member| {
            for clause in clauses {
                let given = member.assertion(clause, &env.on(Side::Exhaled));
                // That the clauses hold is checked elsewhere; if they do not, nothing more is said.
                let given = super::annotations::unplaced(given);
                member.emit_plain(
                    exhale(given).with(renamed("exhale.failed:*", "leak.failed:given")),
                );
            }
            for place in lowering.all_places(&var(&object)) {
                let nothing = for_perm(&object, place, truth(false));
                member.emit(
                    assert(nothing).with(renamed("assert.failed:*", id)).with(said("*", words)),
                );
            }
            member.emit_plain(inhale(truth(false)));
        });
        let choice = self.fresh("aside");
        self.emit_plain(declare(&choice, ty(TypeKind::Bool), None));
        self.emit_plain(branch(var(&choice), statements, Vec::new()));
    }
}

impl Lowering<'_> {
    /// Every kind of location, at an object.
    fn all_places(&self, object: &s::Expr) -> Vec<s::Expr> {
        let names = self.names.borrow();
        let mut places: Vec<_> =
            names.fields.values().map(|name| field(object.clone(), name)).collect();
        if self.facts.levels {
            places.push(field(object.clone(), fixed::MU));
        }
        places.extend(names.predicates.values().map(|name| call(name, vec![object.clone()])));
        places
    }
}

/// Makes contracts and predicates ask for what they read.
pub(crate) fn add_magic(program: &mut Program) {
    for method in program.methods.values_mut() {
        complete(&mut method.requires);
        complete(&mut method.ensures);
    }
    for function in program.functions.values_mut() {
        complete(&mut function.requires);
    }
    for predicate in program.predicates.values_mut() {
        complete(std::slice::from_mut(&mut predicate.body));
    }
}

/// Adds permission to the fields that clauses read and do not ask for, each in front of the conjunct that reads it.
fn complete(clauses: &mut [Expr]) {
    let mut covered: Vec<(ExprKind, FieldRef)> = Vec::new();
    for clause in clauses.iter() {
        each_expr(clause, &mut |e| {
            if let ExprKind::Access(access) = &e.kind
                && let AccessTarget::Field { receiver, field } = &access.target
            {
                covered.push((receiver.kind.clone(), *field));
            }
        });
    }
    for clause in clauses {
        let conjuncts = match &clause.kind {
            ExprKind::And(parts) => parts.clone(),
            _ => vec![clause.clone()],
        };
        let mut all = Vec::new();
        for conjunct in conjuncts {
            missing(&conjunct, &mut covered, &mut all);
            all.push(conjunct);
        }
        if all.len() > 1 {
            clause.kind = ExprKind::And(all);
        }
    }
}

fn missing(e: &Expr, covered: &mut Vec<(ExprKind, FieldRef)>, added: &mut Vec<Expr>) {
    // What is read in other states, of bound variables, or under a condition is not added.
    if matches!(
        e.kind,
        ExprKind::Old(_)
            | ExprKind::Quantified { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Eval { .. }
            | ExprKind::Implies { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Or(_)
    ) {
        return;
    }
    crate::stack::grow(|| each_child(e, &mut |child| missing(child, covered, added)));
    let ExprKind::FieldRead { receiver, field } = &e.kind else { return };
    let place = (receiver.kind.clone(), *field);
    if covered.contains(&place) {
        return;
    }
    covered.push(place);
    let target = AccessTarget::Field { receiver: (**receiver).clone(), field: *field };
    let amount = Permission { kind: PermissionKind::Full, span: e.span };
    let access = Access { target, amount, is_bare: false, span: e.span };
    added.push(Expr { kind: ExprKind::Access(Box::new(access)), ty: Type::Bool, span: e.span });
}
