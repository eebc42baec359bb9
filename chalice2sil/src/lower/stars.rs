//! `rd*` in predicates, monitor invariants and where clauses, of programs that count permissions.
//!
//! `rd*` is some fraction, which is more than any number of counting permissions (chalice.md 3.2). Contracts of methods
//! say so themselves; the bodies of SIL's predicates cannot speak of how much is held. So it is checked where something
//! is put into a predicate, monitor or channel, and known where it is taken out.
//!
//! Invariants
//! - SOUNDNESS: what is known of a location after taking was shown of it at every giving: both look at the same
//!   locations, which the clauses alone decide.
//! - SOUNDNESS: how much is held is looked at before anything has been given. So locations are left out, at both ends,
//!   where the same clauses give another amount of some location of their kind; conditions that exclude each other, as
//!   in `n == 0 ? acc(x) : rd*(x)`, decide that with values that the clauses fix.
//! - SOUNDNESS: counting permissions of a predicate contain no fraction. Nobody folds or unfolds them if the predicate
//!   contains `rd*`, as they cannot be divided.

use chalice::program::{
    Access, AccessTarget, Expr, ExprKind, FieldId, FieldRef, PermissionKind, PredicateId,
};
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::Member;
use super::annotations::{Annotate, renamed, said};
use super::assertions::{Binder, Part, under};
use super::calls::EachElement;
use super::env::{Env, Side};
use super::permissions::Use;
use crate::build::*;

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
        for star in self.stars(clauses, &env.on(Side::Exhaled)) {
            let claim = star.satisfies(|held| lt(least.clone(), held));
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
        for star in self.stars(clauses, &env.on(Side::Inhaled)) {
            let claim = star.satisfies(|held| self.lowering.known_fraction(held));
            let known = inhale(implies(is_taken.clone(), claim));
            self.emit(known.with(renamed("inhale.failed:*", &format!("{kind}:*"))));
        }
    }

    /// Before `clauses` are given away: that `rd*` leaves a fraction of what it is taken from, to be noted afterwards by
    /// [`Self::note_left_stars`].
    ///
    /// SOUNDNESS: how much `rd*` is of a fraction is nobody's but the verifier's choice. The conditions here are those of
    /// what is given: no debt decides one of them (see [`Self::assertion`]).
    /// COMPLETENESS: of locations that are found without reading the heap, which may have been given away, too.
    pub(crate) fn left_stars(&mut self, clauses: &[Expr], env: &Env, kind: &str) -> Vec<s::Expr> {
        let mut left = Vec::new();
        for star in self.stars(clauses, &env.on(Side::Exhaled)) {
            let is_found = match &star.location.kind {
                s::ExprKind::Field { receiver, .. } => is_variable(receiver),
                s::ExprKind::Call { arguments, .. } => arguments.iter().all(is_variable),
                _ => false,
            };
            if !is_found || star.binder.is_some() || star.each.is_some() {
                continue;
            }
            let is_given = if is_true(&star.guard) {
                star.guard
            } else {
                // What decides may be given away as well.
                let name = self.fresh("is_given");
                self.emit_plain(declare(&name, ty(TypeKind::Bool), Some(truth(false))));
                let renaming = renamed("assignment.failed:*", &format!("{kind}:*"));
                let store = assign(var(&name), star.guard).with(renaming);
                // Without a value, what it stands behind is missing, which is told when it is given away.
                self.emit(match star.defined {
                    Some(defined) if !is_true(&defined) => branch(defined, vec![store], Vec::new()),
                    _ => store,
                });
                var(&name)
            };
            let is_fraction = self.lowering.known_fraction(perm(star.location));
            left.push(implies(is_given, is_fraction));
        }
        left
    }

    /// After something has been given away: what [`Self::left_stars`] said.
    pub(crate) fn note_left_stars(&mut self, left: Vec<s::Expr>) {
        for claim in left {
            self.emit_plain(inhale(claim));
        }
    }

    /// Before a predicate is folded.
    pub(crate) fn check_stars_of_folded(&mut self, access: &Access, env: &Env) {
        if let Some((body, inner)) = self.inside(access, env) {
            self.check_stars(body, &inner, "fold.failed");
        }
    }

    /// Before a predicate is folded: what that leaves.
    pub(crate) fn left_of_folded(&mut self, access: &Access, env: &Env) -> Vec<s::Expr> {
        match self.inside(access, env) {
            Some((body, inner)) => self.left_stars(body, &inner, "fold.failed"),
            None => Vec::new(),
        }
    }

    /// The body of a predicate whose instance is folded or unfolded, and what it is about; nothing in programs that do
    /// not count permissions.
    pub(crate) fn inside(&mut self, access: &Access, env: &Env) -> Option<(&'p [Expr], Env)> {
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
        let inside = self.inside(access, env).filter(|(body, _)| body.iter().any(has_star));
        let Some((body, inner)) = inside else {
            self.emit(unfold(traded));
            return;
        };
        let mut is_taken = truth(true);
        let mut left = None;
        let mut counts = false;
        access.amount.for_each_amount(&mut |amount| {
            counts |= matches!(amount, PermissionKind::Epsilons(_));
        });
        let least = self.lowering.least_fraction();
        match &access.amount.kind {
            PermissionKind::Full => {}
            PermissionKind::Star => {
                let AccessTarget::Predicate { predicate, .. } = &access.target else { return };
                let held = perm(self.predicate_at(inner.this.clone(), *predicate));
                self.check_is_fraction(lt(least.clone(), held.clone()), "unfold.failed");
                left = is_variable(&inner.this).then(|| self.lowering.known_fraction(held));
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

    /// The locations of which `clauses` ask `rd*`, and when they ask for no other amount of locations of that kind.
    fn stars(&mut self, clauses: &[Expr], env: &Env) -> Vec<Star> {
        if !self.lowering.facts.counting || !clauses.iter().any(has_star) {
            return Vec::new();
        }
        let (mut stars, mut others) = (Vec::new(), Vec::new());
        for clause in clauses {
            for part in self.parts(clause, env) {
                let Part::Access(access) = part.part else { continue };
                match access.amount.kind {
                    PermissionKind::Star => stars.push((part, access)),
                    _ => others.push((kinds_of(self, access), part)),
                }
            }
        }
        let mut all = Vec::new();
        for (part, access) in stars {
            let kinds = kinds_of(self, access);
            let mut beside =
                others.iter().filter(|(other, _)| other.iter().any(|kind| kinds.contains(kind)));
            let mut guard = vec![part.guard.clone()];
            let mut defined = part.defined.clone();
            let is_alone = beside.all(|(_, other)| {
                guard.push(not(other.guard.clone()));
                defined =
                    defined.take().zip(other.defined.clone()).map(|(one, two)| and([one, two]));
                other.binder.is_none() && !is_true(&other.guard)
            });
            if !is_alone {
                continue;
            }
            for (location, each) in self.locations(&access.target, env) {
                let (guard, binder) = (and(guard.clone()), part.binder.clone());
                all.push(Star { guard, defined: defined.clone(), binder, location, each });
            }
        }
        all
    }
}

/// A location of which clauses ask `rd*`.
struct Star {
    /// When they do, and ask for nothing else.
    guard: s::Expr,
    /// When that has a value; nothing if that cannot be expressed.
    defined: Option<s::Expr>,
    /// The quantifier it stands under.
    binder: Option<Binder>,
    location: s::Expr,
    /// The collection whose elements it ranges over.
    each: Option<EachElement>,
}

impl Star {
    /// `claim` of how much is held of the location.
    fn satisfies(self, claim: impl Fn(s::Expr) -> s::Expr) -> s::Expr {
        let claim = claim(perm(self.location));
        let claim = match self.each {
            Some(each) => each.satisfies(claim),
            None => claim,
        };
        under(self.guard, self.binder, claim)
    }
}

/// Does an assertion ask `rd*` of something?
pub(crate) fn has_star(e: &Expr) -> bool {
    e.any(&mut |part| {
        matches!(&part.kind, ExprKind::Access(access) if matches!(access.amount.kind, PermissionKind::Star))
    })
}

/// Is it a term whose value does not depend on the heap?
fn is_variable(e: &s::Expr) -> bool {
    matches!(e.kind, s::ExprKind::Ident(_))
}

/// The kinds of locations that an accessibility assertion speaks of.
fn kinds_of(member: &Member<'_, '_>, access: &Access) -> Vec<Kind> {
    match &access.target {
        AccessTarget::Field { field, .. } | AccessTarget::ElementsField { field, .. } => {
            vec![Kind::Field(*field)]
        }
        AccessTarget::Predicate { predicate, .. }
        | AccessTarget::ElementsPredicate { predicate, .. } => vec![Kind::Predicate(*predicate)],
        AccessTarget::AllFields { class, .. } | AccessTarget::ElementsAllFields { class, .. } => {
            let fields = member.program().classes[*class].fields();
            fields.map(|id| Kind::Field(FieldRef::Declared(id))).collect()
        }
        AccessTarget::BackPointers { field, .. } => vec![Kind::BackPointers(*field)],
    }
}
