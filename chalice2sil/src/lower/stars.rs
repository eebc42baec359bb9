//! `rd*` in predicates, monitor invariants and where clauses, of programs that count permissions.
//!
//! `rd*` is some fraction, which is more than any number of counting permissions (chalice.md 3.2). Contracts of methods
//! say so themselves; the bodies of SIL's predicates cannot speak of how much is held. So it is checked where something
//! is put into a predicate, monitor or channel, and known where it is taken out.
//!
//! Invariants
//! - SOUNDNESS: what is known of a location after taking was shown of it at every giving: both look at the same
//!   locations, which the clauses alone decide.
//! - SOUNDNESS: how much is held is looked at before anything has been given. So locations of which the same clauses
//!   give another amount as well are left out, at both ends.
//! - SOUNDNESS: counting permissions of a predicate contain no fraction. Nobody folds or unfolds them if the predicate
//!   contains `rd*`, as they cannot be divided.

use chalice::program::{
    Access, AccessTarget, Expr, ExprKind, FieldId, FieldRef, PermissionKind, PredicateId,
};
use sil::syntax as s;

use super::Member;
use super::annotations::{Annotate, renamed, said};
use super::assertions::{Guarded, Part};
use super::env::{Env, Side};
use super::permissions::Use;
use crate::build::*;
use crate::walk::{each_amount, each_expr};

/// What locations are of; those of different kinds are different.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Field(FieldRef),
    Predicate(PredicateId),
    BackPointers(FieldId),
}

impl<'p> Member<'_, 'p> {
    /// Before `clauses` are given to a predicate, monitor or channel: of what they ask `rd*` of, a fraction is held.
    pub(crate) fn check_stars(&mut self, clauses: &[Expr], env: &Env, kind: &str) {
        let least = self.lowering.least_fraction();
        for claim in self.stars(clauses, &env.on(Side::Exhaled), |held| lt(least.clone(), held)) {
            self.check_is_fraction(claim, kind);
        }
    }

    /// After `clauses` have been taken from a predicate, monitor or channel: of what they ask `rd*` of, a fraction is
    /// held, if `is_taken`.
    pub(crate) fn note_stars(
        &mut self,
        clauses: &[Expr],
        is_taken: &s::Expr,
        env: &Env,
        kind: &str,
    ) {
        let least = mul(int(1000), self.lowering.least_fraction());
        for claim in self.stars(clauses, &env.on(Side::Inhaled), |held| lt(least.clone(), held)) {
            let known = inhale(implies(is_taken.clone(), claim));
            self.emit(known.with(renamed("inhale.failed:*", &format!("{kind}:*"))));
        }
    }

    /// After `clauses` have been given away: `rd*` leaves a fraction.
    ///
    /// COMPLETENESS: of locations that are found without reading the heap, which may have been given away, too.
    pub(crate) fn note_left_stars(&mut self, clauses: &[Expr], env: &Env) {
        if !is_variable(&env.this) {
            return;
        }
        let is_stable =
            |e: &Expr| matches!(e.kind, ExprKind::This | ExprKind::Local(_) | ExprKind::Null);
        let least = mul(int(1000), self.lowering.least_fraction());
        for claim in self.stars_where(
            clauses,
            &env.on(Side::Inhaled),
            |held| lt(least.clone(), held),
            |part, access| {
                let is_found = match &access.target {
                    AccessTarget::Field { receiver, .. }
                    | AccessTarget::Predicate { receiver, .. }
                    | AccessTarget::AllFields { receiver, .. } => is_stable(receiver),
                    _ => false,
                };
                is_found && part.binder.is_none() && is_true(&part.guard)
            },
        ) {
            self.emit_plain(inhale(claim));
        }
    }

    /// Before a predicate is folded.
    pub(crate) fn check_stars_of_folded(&mut self, access: &Access, env: &Env) {
        if let Some((body, inner)) = self.inside(access, env) {
            self.check_stars(body, &inner, "fold.failed");
        }
    }

    /// After a predicate has been folded.
    pub(crate) fn note_left_of_folded(&mut self, access: &Access, env: &Env) {
        if let Some((body, inner)) = self.inside(access, env) {
            self.note_left_stars(body, &inner);
        }
    }

    /// The body of a predicate whose instance is folded or unfolded, and what it is about; nothing in programs that do
    /// not count permissions.
    fn inside(&mut self, access: &Access, env: &Env) -> Option<(&'p [Expr], Env)> {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else { return None };
        if !self.lowering.facts.counting {
            return None;
        }
        let this = self.expr(receiver, env);
        let body = std::slice::from_ref(&self.program().predicates[*predicate].body);
        Some((body, env.about(this)))
    }

    /// Unfolds a predicate.
    ///
    /// Of `rd*` of a predicate, `rd*` of what it contains is taken only if it is a fraction of which it is taken.
    pub(crate) fn unfold_stars(&mut self, access: &Access, env: &Env) {
        let traded = self.access(access, env, Use::Traded);
        let inside =
            self.inside(access, env).filter(|(body, _)| !star_kinds(self, body).is_empty());
        let Some((body, inner)) = inside else {
            self.emit(unfold(traded));
            return;
        };
        let mut is_taken = truth(true);
        let mut left = None;
        let mut counts = false;
        each_amount(&access.amount, &mut |amount| {
            counts |= matches!(amount, PermissionKind::Epsilons(_));
        });
        let least = self.lowering.least_fraction();
        match &access.amount.kind {
            PermissionKind::Full => {}
            PermissionKind::Star => {
                let AccessTarget::Predicate { predicate, .. } = &access.target else { return };
                let held = perm(self.predicate_at(inner.this.clone(), *predicate));
                self.check_is_fraction(lt(least.clone(), held.clone()), "unfold.failed");
                left = is_variable(&inner.this).then(|| lt(mul(int(1000), least), held));
            }
            _ => is_taken = lt(least, self.amount_of(&access.amount, env)),
        }
        self.emit(unfold(traded));
        if let Some(left) = left {
            self.emit_plain(inhale(left));
        }
        if !counts {
            self.note_stars(body, &is_taken, &inner, "unfold.failed");
        }
    }

    fn check_is_fraction(&mut self, claim: s::Expr, kind: &str) {
        let missing = format!("{kind}:insufficient.permission");
        self.emit(
            assert(claim)
                .with(renamed("assert.failed:assertion.false", &missing))
                .with(renamed("assert.failed:*", &format!("{kind}:*")))
                .with(said("*:assertion.false", "counting permissions are no fraction")),
        );
    }

    /// `claim` of how much is held of each location of which `clauses` ask `rd*` and nothing else.
    fn stars(
        &mut self,
        clauses: &[Expr],
        env: &Env,
        claim: impl Fn(s::Expr) -> s::Expr,
    ) -> Vec<s::Expr> {
        self.stars_where(clauses, env, claim, |_, _| true)
    }

    fn stars_where(
        &mut self,
        clauses: &[Expr],
        env: &Env,
        claim: impl Fn(s::Expr) -> s::Expr,
        counts: impl Fn(&Guarded<'_>, &Access) -> bool,
    ) -> Vec<s::Expr> {
        if !self.lowering.facts.counting {
            return Vec::new();
        }
        let kinds = star_kinds(self, clauses);
        let mut claims = Vec::new();
        for part in clauses.iter().flat_map(|clause| self.parts(clause, env)).collect::<Vec<_>>() {
            let Part::Access(access) = part.part else { continue };
            let is_star = matches!(access.amount.kind, PermissionKind::Star);
            let is_alone = kinds_of(self, access).iter().all(|kind| kinds.contains(kind));
            if !is_star || !is_alone || !counts(&part, access) {
                continue;
            }
            for (location, binder) in self.locations(&access.target, env) {
                let holds = claim(perm(location));
                claims.push(part.when(match binder {
                    Some(each) => each.satisfies(holds),
                    None => holds,
                }));
            }
        }
        claims
    }
}

/// Is it a term whose value does not depend on the heap?
fn is_variable(e: &s::Expr) -> bool {
    matches!(e.kind, s::ExprKind::Ident(_))
}

/// The kinds of locations of which clauses ask `rd*` and no other amount.
fn star_kinds(member: &Member<'_, '_>, clauses: &[Expr]) -> Vec<Kind> {
    let (mut stars, mut others) = (Vec::new(), Vec::new());
    for clause in clauses {
        each_expr(clause, &mut |e| {
            if let ExprKind::Access(access) = &e.kind {
                match access.amount.kind {
                    PermissionKind::Star => stars.extend(kinds_of(member, access)),
                    _ => others.extend(kinds_of(member, access)),
                }
            }
        });
    }
    stars.retain(|kind| !others.contains(kind));
    stars
}

/// The kinds of locations that an accessibility assertion speaks of.
fn kinds_of(member: &Member<'_, '_>, access: &Access) -> Vec<Kind> {
    match &access.target {
        AccessTarget::Field { field, .. } | AccessTarget::ElementsField { field, .. } => {
            vec![Kind::Field(*field)]
        }
        AccessTarget::Predicate { predicate, .. } => vec![Kind::Predicate(*predicate)],
        AccessTarget::AllFields { class, .. } | AccessTarget::ElementsAllFields { class, .. } => {
            let fields = member.program().classes[*class].fields();
            fields.map(|id| Kind::Field(FieldRef::Declared(id))).collect()
        }
        AccessTarget::BackPointers { field, .. } => vec![Kind::BackPointers(*field)],
    }
}
