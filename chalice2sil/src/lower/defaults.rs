//! The additions of the original verifier's options `-defaults` and `-checkLeaks`.
//!
//! DIVERGENCE: `-defaults` opens the predicates of `this` in the body that a contract belongs to,
//! and closes them at its end, instead of replacing them in the contract, so that callers still see
//! predicates. What `-defaults:2` inlines are functions, whose bodies are known anyway.

use chalice::program::{Access, AccessTarget, Expr, ExprKind};
use findings::{ErrorId, Pattern, Reason};
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, renamed, said};
use super::assertions::Part;
use super::env::{Env, Side};
use super::permissions::Use;
use super::{Body, Lowering, Member};
use crate::build::*;
use crate::names::fixed;

impl Member<'_, '_> {
    /// Predicates of `this` that clauses speak of: where each is mentioned, under which condition,
    /// and the assertion.
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

    /// Returns the body of a function with the predicates of its precondition open.
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
}

impl Body<'_, '_> {
    /// At the start of a body: opens what the precondition gives.
    pub(crate) fn open_own_predicates(&mut self, requires: &[Expr], env: &Env) {
        for (_, guard, access) in self.own_predicates(requires, env) {
            self.emit_when(guard, |member| {
                member.unfold_stars(access, env);
                member.move_folded_credits(access, env, s::BinaryOp::Add);
            });
        }
    }

    /// At the end of a body: closes what the postcondition asks for.
    pub(crate) fn close_own_predicates(&mut self, ensures: &[Expr], env: &Env) {
        let outer = self.span;
        for (span, guard, access) in self.own_predicates(ensures, env) {
            self.span = span;
            self.emit_when(guard, |member| {
                member.check_stars_of_folded(access, env);
                member.move_folded_credits(access, env, s::BinaryOp::Sub);
                let traded = member.access(access, env, Use::Traded);
                let renaming = renamed(ErrorId::FoldFailed, ErrorId::PostconditionViolated);
                member.emit(fold(traded).with(renaming));
            });
        }
        self.span = outer;
    }

    fn emit_when(&mut self, guard: s::Expr, stmts: impl FnOnce(&mut Self)) {
        if is_true(&guard) {
            stmts(self);
        } else {
            let then = self.block(stmts);
            self.emit_plain(branch(guard, then, Vec::new()));
        }
    }

    /// Makes the claim that nothing is left once `clauses` have been given away.
    pub(crate) fn check_leaks(
        &mut self,
        clauses: &[Expr],
        env: &Env,
        id: (ErrorId, Reason),
        words: &str,
    ) {
        let lowering = self.lowering;
        let object = self.bound_name("o");
        let statements = self.block(|member| {
            for clause in clauses {
                let given = member.assertion(clause, &env.on(Side::Exhaled));
                // Another place checks that the clauses hold; if they do not, nothing more is said.
                let given = super::annotations::unplaced(given);
                member.emit_plain(
                    exhale(given)
                        .with(renamed(ErrorId::ExhaleFailed, (ErrorId::LeakFailed, Reason::Given))),
                );
            }
            for place in lowering.all_places(&var(&object)) {
                let nothing = for_perm(&object, place, truth(false));
                member.emit(
                    assert(nothing)
                        .with(renamed(ErrorId::AssertFailed, id))
                        .with(said(Pattern::ANY, words)),
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
    /// Returns every kind of location, at an object.
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
