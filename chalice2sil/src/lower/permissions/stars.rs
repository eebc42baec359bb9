//! `rd*` in predicates, monitor invariants and where clauses, of programs that count permissions.
//!
//! `rd*` is some fraction, which is more than any number of counting permissions (chalice.md 3.2).
//! Contracts of methods say so themselves; the bodies of SIL's predicates cannot speak of how much
//! is held. So it is checked where something is put into a predicate, monitor or channel, and known
//! where it is taken out.
//!
//! Invariants
//! - SOUNDNESS: what is known of a location after taking was shown of it at every giving: both look
//!   at the same locations, which the clauses alone decide.
//! - SOUNDNESS: how much is held is looked at before anything has been given. Of what is held of a
//!   location, the other amounts that the same clauses give of it do not count. Where these cannot
//!   be named, below quantifiers, the location is left out at both ends. Contracts look where `rd*`
//!   stands: there only amounts behind it count, and these leave the location out.
//! - SOUNDNESS: counting permissions of a predicate contain no fraction. Nobody folds or unfolds
//!   them if the predicate contains `rd*`, as they cannot be divided.

use chalice::program::{
    Access, AccessTarget, BinaryOp, Expr, ExprKind, FieldId, FieldRef, PermissionKind, PredicateId,
};
use findings::{ErrorId, Reason};
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, renamed, said};
use crate::lower::assertions::{Binder, Part, under};
use crate::lower::calls::EachElement;
use crate::lower::env::{Env, ReadAmount, Side};
use crate::lower::permissions::Use;
use crate::lower::permissions::fractions::may_be_same;
use crate::lower::{Body, Member};

/// The kind of locations; locations of different kinds are different.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Field(FieldRef),
    Predicate(PredicateId),
    BackPointers(FieldId),
}

/// The kind of assertion that asks for `rd*`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// A contract, which says how much has to be held where `rd*` stands: when what stands before
    /// it has been given.
    InContract,
    /// The body of a predicate, monitor or channel, of which that is checked beforehand.
    InBody,
}

/// The part of the assertion in the making that is done.
#[derive(Default)]
pub(crate) struct Said {
    /// The locations of which it has asked `rd*`.
    stars: Vec<GivenStar>,
    /// The other amounts that it has asked for.
    exact: Vec<Exact>,
    /// The expressions of which it has said that they are objects.
    objects: Vec<ExprKind>,
    /// Is an assertion in the making?
    is_open: bool,
    /// How many quantifiers stand around what is in the making.
    quantifiers: usize,
}

/// An amount of a location other than `rd*`, and when an assertion asks for it.
struct Exact {
    guard: s::Expr,
    location: s::Expr,
    amount: s::Expr,
}

impl Exact {
    /// Returns when it is an amount of a location, and how much it is; nothing if it never is.
    fn of(&self, location: &s::Expr) -> Option<(s::Expr, s::Expr)> {
        let same = may_be_same(&self.location, location)?;
        Some((and([self.guard.clone(), same]), self.amount.clone()))
    }
}

struct GivenStar {
    location: s::Expr,
    /// Locations of its kind of which the assertion has asked another amount since.
    since: Vec<s::Expr>,
    /// May other amounts of it have been asked for that cannot be named here?
    is_lost: bool,
}

/// SOUNDNESS: how much `rd*` takes is the verifier's choice, so that it leaves a fraction of a
/// fraction, as long as nothing else is taken of it. What is asked for under a condition, or for
/// all values of variables, counts within that alone; what is taken there besides `rd*`, behind it
/// as well.
impl Member<'_, '_> {
    /// Lowers what one party gives to another at once.
    pub(crate) fn in_one_transfer<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        if self.said.is_open {
            return lower(self);
        }
        self.said = Said { is_open: true, ..Said::default() };
        let lowered = lower(self);
        self.said.is_open = false;
        lowered
    }

    /// Lowers what is given where a condition holds.
    pub(crate) fn in_case<T>(
        &mut self,
        condition: &s::Expr,
        lower: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outside = self.said.exact.len();
        let mut inside = Vec::new();
        let lowered = self.in_some_cases(|member| {
            let lowered = lower(member);
            inside = member.said.exact.split_off(outside);
            lowered
        });
        for exact in &mut inside {
            exact.guard = and([condition.clone(), exact.guard.clone()]);
        }
        self.said.exact.extend(inside);
        lowered
    }

    /// Lowers what is given in some cases only.
    pub(crate) fn in_some_cases<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let Said { stars, exact, objects, .. } = &self.said;
        let (stars, exact, objects) = (stars.len(), exact.len(), objects.len());
        let lowered = lower(self);
        self.said.stars.truncate(stars);
        self.said.exact.truncate(exact);
        self.said.objects.truncate(objects);
        lowered
    }

    /// Lowers what is given for all values of the variables of a quantifier.
    pub(crate) fn for_each_value<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        self.said.quantifiers += 1;
        let lowered = self.in_some_cases(lower);
        self.said.quantifiers -= 1;
        lowered
    }

    /// Notes that the assertion says `e`, which speaks of no permission.
    pub(crate) fn note_said(&mut self, e: &Expr) {
        let ExprKind::Binary { op: BinaryOp::Ne, left, right } = &e.kind else { return };
        match (&left.kind, &right.kind) {
            (object, ExprKind::Null) | (ExprKind::Null, object) => {
                self.said.objects.push(object.clone());
            }
            _ => {}
        }
    }

    /// Has the assertion said that the value of an expression is an object?
    pub(crate) fn is_said_to_exist(&self, e: &Expr) -> bool {
        self.said.objects.contains(&e.kind)
    }

    /// When the assertion has asked `rd*` of a location before, and of nothing else since: then a
    /// fraction is left.
    pub(crate) fn divided_before(&self, location: &s::Expr) -> Vec<s::Expr> {
        let stars = self.said.stars.iter().filter(|star| !star.is_lost);
        let is_before = |star: &GivenStar| {
            let same = may_be_same(&star.location, location)?;
            let others = star.since.iter().filter_map(|other| may_be_same(other, location));
            Some(and([same].into_iter().chain(others.map(not))))
        };
        stars.filter_map(is_before).collect()
    }

    /// Returns the amounts of a location that the assertion has given before, as far as they can be
    /// named here.
    pub(crate) fn given_before(&self, location: &s::Expr) -> Vec<s::Expr> {
        let given = self.said.exact.iter().filter_map(|exact| exact.of(location));
        given.map(|(is_given, amount)| conditional(is_given, amount, none())).collect()
    }

    /// Notes what an access asks for: so much of its locations.
    pub(crate) fn note_given(&mut self, access: &Access, amount: &s::Expr, env: &Env) {
        if !self.lowering.facts.counting {
            return;
        }
        let is_star = matches!(access.amount.kind, PermissionKind::Star);
        for (location, each) in self.locations(&access.target, env) {
            let is_single = each.is_none() && self.said.quantifiers == 0;
            if is_star && each.is_none() {
                self.said.stars.push(GivenStar { location, since: Vec::new(), is_lost: false });
            } else if !is_star {
                if is_single {
                    let (location, amount) = (location.clone(), amount.clone());
                    self.said.exact.push(Exact { guard: truth(true), location, amount });
                }
                for star in &mut self.said.stars {
                    if may_be_same(&star.location, &location).is_none() {
                        continue;
                    }
                    if is_single {
                        star.since.push(location.clone());
                    } else {
                        star.is_lost = true;
                    }
                }
            }
        }
    }
}

impl Body<'_, '_> {
    /// Before `clauses` are given to a predicate, monitor or channel: of what they ask `rd*` of, a
    /// fraction is held beside the other amounts. `share`: so much is given of these; nothing that
    /// matters if it is not named.
    ///
    /// SOUNDNESS: the share of a reader is counted, and `rd*` of an instance is as little as
    /// necessary. Neither makes a fraction less than one.
    pub(crate) fn check_stars(
        &mut self,
        clauses: &[Expr],
        share: Option<&s::Expr>,
        env: &Env,
        kind: ErrorId,
    ) {
        let least = self.lowering.least_fraction();
        for star in self.stars(clauses, &env.on(Side::Exhaled), Given::InBody) {
            let claim = star.satisfies(share, |rest| lt(least.clone(), rest));
            self.check_is_fraction(claim, kind);
        }
    }

    /// After `clauses` have been taken from a predicate, monitor or channel: of what they ask `rd*`
    /// of, a fraction is held beside so much of the other amounts, if `is_taken`.
    pub(crate) fn note_stars(
        &mut self,
        clauses: &[Expr],
        (is_taken, share): (&s::Expr, Option<&s::Expr>),
        env: &Env,
        kind: ErrorId,
    ) {
        for star in self.stars(clauses, &env.on(Side::Inhaled), Given::InBody) {
            let claim = star.satisfies(share, |rest| self.lowering.known_fraction(rest));
            let known = inhale(implies(is_taken.clone(), claim));
            self.emit(known.with(renamed(ErrorId::InhaleFailed, kind)));
        }
    }

    /// Before `clauses` are given away: that `rd*` leaves a fraction of what it is taken from, to
    /// be noted afterwards by [`Self::note_left_stars`].
    ///
    /// SOUNDNESS: how much `rd*` is of a fraction is nobody's but the verifier's choice. The
    /// conditions here are those of what is given: no debt decides one of them (see
    /// [`Self::assertion`]). COMPLETENESS: not of locations below quantifiers.
    pub(crate) fn left_stars(
        &mut self,
        clauses: &[Expr],
        env: &Env,
        given: Given,
        kind: ErrorId,
    ) -> Vec<s::Expr> {
        let mut left = Vec::new();
        let renaming = renamed(ErrorId::AssignmentFailed, kind);
        for star in self.stars(clauses, &env.on(Side::Exhaled), given) {
            let Some(object) = object_of(&star.location) else { continue };
            if star.binder.is_some() || star.each.is_some() {
                continue;
            }
            let mut location = star.location.clone();
            let mut stores = Vec::new();
            if !is_variable(object) {
                // The path to the location may be given away as well.
                let name = self.fresh("left");
                self.emit_plain(declare(&name, ty(TypeKind::Ref), None));
                stores.push(assign(var(&name), object.clone()).with(renaming.clone()));
                location = at_object(location, var(&name));
            }
            let is_given = if is_true(&star.guard) && stores.is_empty() {
                star.guard
            } else {
                // The locations in the condition may be given away as well.
                let name = self.fresh("is_given");
                self.emit_plain(declare(&name, ty(TypeKind::Bool), Some(truth(false))));
                let store = assign(var(&name), star.guard).with(renaming.clone());
                // Without a value, what it stands behind is missing, which is told when it is given
                // away.
                self.emit(match star.defined {
                    Some(defined) if !is_true(&defined) => branch(defined, vec![store], Vec::new()),
                    _ => store,
                });
                if !stores.is_empty() {
                    let Some(found) = star.found else { continue };
                    let lost = vec![assign(var(&name), truth(false))];
                    self.emit(branch(and([var(&name), found]), stores, lost));
                }
                var(&name)
            };
            let is_fraction = self.lowering.known_fraction(perm(location));
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
            let share = match access.amount.kind {
                PermissionKind::Star => None,
                _ => Some(self.amount_of(&access.amount, env)),
            };
            self.check_stars(body, share.as_ref(), &inner, ErrorId::FoldFailed);
        }
    }

    /// Before a predicate is folded: what that leaves.
    pub(crate) fn left_of_folded(&mut self, access: &Access, env: &Env) -> Vec<s::Expr> {
        match self.inside(access, env) {
            Some((body, inner)) => {
                self.left_stars(body, &inner, Given::InBody, ErrorId::FoldFailed)
            }
            None => Vec::new(),
        }
    }

    /// Unfolds a predicate.
    ///
    /// Unfolds `rd*` of a predicate: `rd*` of its contents is taken only from a fraction.
    pub(crate) fn unfold_stars(&mut self, access: &Access, env: &Env) {
        let traded = self.access(access, env, Use::Traded);
        let inside = self.inside(access, env).filter(|(body, _)| body.iter().any(has_star));
        let Some((body, inner)) = inside else {
            self.emit(unfold(traded));
            return;
        };
        let mut is_taken = truth(true);
        let mut share = Some(write());
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
                self.check_is_fraction(lt(least.clone(), held.clone()), ErrorId::UnfoldFailed);
                left = is_variable(&inner.this).then(|| self.lowering.known_fraction(held));
                share = None;
            }
            _ => {
                let amount = self.amount_of(&access.amount, env);
                is_taken = lt(least, amount.clone());
                share = Some(amount);
            }
        }
        self.emit(unfold(traded));
        if let Some(left) = left {
            self.emit_plain(inhale(left));
        }
        if !counts {
            let taken = (&is_taken, share.as_ref());
            self.note_stars(body, taken, &inner, ErrorId::UnfoldFailed);
        }
    }

    fn check_is_fraction(&mut self, claim: s::Expr, kind: ErrorId) {
        let missing = (kind, Reason::InsufficientPermission);
        self.emit(
            assert(claim)
                .with(renamed((ErrorId::AssertFailed, Reason::AssertionFalse), missing))
                .with(renamed(ErrorId::AssertFailed, kind))
                .with(said(Reason::AssertionFalse, "counting permissions are no fraction")),
        );
    }
}

impl<'p> Member<'_, 'p> {
    /// Returns the body of a predicate whose instance is folded or unfolded, and what it is about;
    /// nothing in programs that do not count permissions.
    pub(crate) fn inside(&mut self, access: &Access, env: &Env) -> Option<(&'p [Expr], Env)> {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else { return None };
        if !self.lowering.facts.counting {
            return None;
        }
        let this = self.expr(receiver, env);
        let body = std::slice::from_ref(&self.program().predicates[*predicate].body);
        Some((body, env.about(this)))
    }

    /// Returns the locations of which `clauses` ask `rd*`, and when they ask for no other amount of
    /// locations of that kind that cannot be named; in contracts, for none behind it.
    fn stars(&mut self, clauses: &[Expr], env: &Env, given: Given) -> Vec<Star> {
        if !self.lowering.facts.counting || !clauses.iter().any(has_star) {
            return Vec::new();
        }
        let inside = Env { read: ReadAmount::Common, ..env.clone() };
        let (mut stars, mut others, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for clause in clauses {
            for part in self.parts(clause, env) {
                let Part::Access(access) = part.part else { continue };
                if matches!(access.amount.kind, PermissionKind::Star) {
                    stars.push((part, access, others.len()));
                } else if given == Given::InBody
                    && part.binder.is_none()
                    && !is_to_elements(&access.target)
                {
                    let amount = self.amount_of(&access.amount, &inside);
                    for (location, _) in self.locations(&access.target, env) {
                        let (guard, amount) = (part.guard.clone(), amount.clone());
                        named.push(Exact { guard, location, amount });
                    }
                } else {
                    others.push((kinds_of(self, access), part));
                }
            }
        }
        let mut all = Vec::new();
        for (part, access, before) in stars {
            let kinds = kinds_of(self, access);
            let mut beside = others[if given == Given::InContract { before } else { 0 }..]
                .iter()
                .filter(|(other, _)| other.iter().any(|kind| kinds.contains(kind)));
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
            let found = match &access.target {
                AccessTarget::Field { receiver, .. } | AccessTarget::Predicate { receiver, .. } => {
                    self.definedness(receiver, env)
                }
                _ => None,
            };
            for (location, each) in self.locations(&access.target, env) {
                let (guard, binder) = (and(guard.clone()), part.binder.clone());
                let (defined, found) = (defined.clone(), found.clone());
                let exact = named.iter().filter_map(|exact| exact.of(&location)).collect();
                all.push(Star { guard, defined, found, binder, location, each, exact });
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
    /// When its object has a value; nothing if that cannot be expressed.
    found: Option<s::Expr>,
    /// The quantifier it stands under.
    binder: Option<Binder>,
    location: s::Expr,
    /// The collection whose elements it ranges over.
    each: Option<EachElement>,
    /// The other amounts of the location: when the clauses ask for them, and how much each is.
    exact: Vec<(s::Expr, s::Expr)>,
}

impl Star {
    /// `claim` of how much is held of the location beside so much of the other amounts of it, which
    /// is nothing that matters if it is not named.
    fn satisfies(self, share: Option<&s::Expr>, claim: impl FnOnce(s::Expr) -> s::Expr) -> s::Expr {
        let mut rest = perm(self.location);
        if let Some(share) = share {
            for (is_given, amount) in self.exact {
                let part = match share.kind {
                    s::ExprKind::FullPerm => amount,
                    _ => mul(share.clone(), amount),
                };
                let given = conditional(is_given, part, none());
                rest = binary(s::BinaryOp::Sub, rest, given);
            }
        }
        let claim = claim(rest);
        let claim = match self.each {
            Some(each) => each.satisfies(claim),
            None => claim,
        };
        under(self.guard, self.binder, claim)
    }
}

/// Is it about the elements of a collection?
fn is_to_elements(target: &AccessTarget) -> bool {
    matches!(
        target,
        AccessTarget::ElementsField { .. }
            | AccessTarget::ElementsPredicate { .. }
            | AccessTarget::ElementsAllFields { .. }
    )
}

/// Does an assertion ask `rd*` of something?
pub(crate) fn has_star(e: &Expr) -> bool {
    e.any(&mut |part| {
        matches!(&part.kind, ExprKind::Access(access) if matches!(access.amount.kind, PermissionKind::Star))
    })
}

/// Returns the object that a location is of.
fn object_of(location: &s::Expr) -> Option<&s::Expr> {
    match &location.kind {
        s::ExprKind::Field { receiver, .. } => Some(receiver),
        s::ExprKind::Call { arguments, .. } => match &arguments[..] {
            [object] => Some(object),
            _ => None,
        },
        _ => None,
    }
}

/// The same location of another object.
fn at_object(mut location: s::Expr, object: s::Expr) -> s::Expr {
    match &mut location.kind {
        s::ExprKind::Field { receiver, .. } => **receiver = object,
        s::ExprKind::Call { arguments, .. } => *arguments = vec![object],
        _ => {}
    }
    location
}

/// Is it a term whose value does not depend on the heap?
fn is_variable(e: &s::Expr) -> bool {
    matches!(e.kind, s::ExprKind::Ident(_))
}

/// Returns the kinds of locations that an accessibility assertion speaks of.
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
