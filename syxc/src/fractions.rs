//! Amounts of permission, and the amount of `rd` (Heule, Leino, Müller and Summers 2011).
//!
//! Every method, call and loop has one unknown amount, so small that each reader can let others
//! read. It is only bounded above, by positive amounts: below the amount of the context, and below
//! the held amount of each location of which `rd` is asked. Predicates, monitors and channels share
//! one such amount. A counting permission is smaller than all of them, however often it is taken.
//!
//! SOUNDNESS: so some amount meets all bounds, for all held amounts. A bound is assumed only of an
//! amount that has been chosen for this use. There are finitely many amounts, so there is one below
//! all of them, and counting permissions below that. These are so far below that no number in a run
//! multiplies them up to it, since a run has finitely many numbers.

use chalice::program::{Access, Counted, Expr, ExprKind, Permission, PermissionKind};
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::many::is_many;
use super::{Chalice, Threads, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::state::heap::Resource;
use symex::{Amounts, Explore, Path, Stop};

/// The claim about an access and its locations.
pub(super) type Claim<'c, 'v, 'p> = &'c mut dyn FnMut(
    &mut Chalice<'v, 'p>,
    &Access,
    &[(Resource, Vec<Term>)],
) -> Result<Term, Stop>;

/// The factor by which an amount is smaller than that of its context, at least.
const FACTOR: i64 = 1000;

impl Threads<'_, '_> {
    /// Returns the amount of `rd` in the present state, if there is one.
    pub(super) fn fraction(&self) -> Option<Term> {
        self.frame.store.get(self.direct.fraction)
    }

    /// Sets the amount of `rd` in the present state.
    pub(super) fn set_fraction(&mut self, fraction: Term) {
        self.core.frame.store.set(self.direct.fraction, fraction);
    }

    /// Returns the amount of every permission, if only the presence of permission counts.
    pub(super) fn whole(&self) -> Option<Term> {
        self.frame.store.get(self.direct.whole)
    }

    /// Tells whether permissions are counted in the member.
    pub(super) fn counts(&self) -> bool {
        self.frame.store.get(self.direct.least).is_some()
    }

    /// Begins to count permissions, which may occur from here on.
    pub(super) fn count(&mut self) {
        let least = self.terms.constant("direct.least", Sort::PERM);
        self.core.frame.store.set(self.direct.least, least);
    }

    /// Chooses a new amount, below that of the context or, without one, below a hundredth.
    pub(super) fn choose_fraction(&mut self, context: Option<Term>) -> Result<Term, Stop> {
        let fraction = self.fresh("rd", Sort::PERM);
        self.is_fraction(fraction, context)?;
        self.set_fraction(fraction);
        Ok(fraction)
    }

    /// Assumes that an amount is far below that of its context, and far above all counting
    /// permissions.
    pub(super) fn is_fraction(
        &mut self,
        fraction: Term,
        context: Option<Term>,
    ) -> Result<(), Stop> {
        let above = match context {
            Some(context) => context,
            None => self.terms.fraction(1, 100),
        };
        let bounded = far_below(&mut self.terms, fraction, above);
        self.assume(bounded)?;
        self.is_some_fraction(fraction)
    }

    /// Assumes that an amount is positive and, if permissions are counted, above all counting
    /// permissions.
    fn is_some_fraction(&mut self, fraction: Term) -> Result<(), Stop> {
        let positive = self.terms.lt(Terms::NONE, fraction);
        self.assume(positive)?;
        if self.counts() {
            let least = least(self)?;
            let above = far_below(&mut self.terms, least, fraction);
            self.assume(above)?;
        }
        Ok(())
    }

    /// Returns the amount of `rd` in predicates, monitors and channels.
    pub(super) fn common(&mut self) -> Result<Term, Stop> {
        let common = self.terms.constant("direct.rd", Sort::PERM);
        self.is_fraction(common, None)?;
        Ok(common)
    }

    /// Returns the amount of `rd` at the fork that made a token.
    pub(super) fn of_token(&mut self, token: Term) -> Result<Term, Stop> {
        let symbol = self.terms.declare_function("direct.rd.of", &[Sort::REF], Sort::PERM);
        let fraction = self.terms.apply(symbol, &[token]);
        self.is_fraction(fraction, None)?;
        Ok(fraction)
    }

    /// Tells whether an amount is `rd*` where permissions are counted. Then it is a fraction.
    pub(super) fn is_any_fraction(&self, amount: &Permission) -> bool {
        amount.kind == PermissionKind::Star
            && self.counts()
            && self.whole().is_none()
            && self.frame.assertion.amounts == Amounts::Exact
    }

    /// Chooses `rd*` of locations, where permissions are counted. A part of each location stays
    /// when it is given away.
    ///
    /// SOUNDNESS: the amount has to be more than all counting permissions. Only for a share of an
    /// instance that may be a counting permission itself, it need not be.
    pub(super) fn any_fraction(&mut self, places: &[(Resource, Vec<Term>)]) -> Result<Term, Stop> {
        let any = self.fresh("any", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, any);
        self.assume(positive)?;
        let least = least(self)?;
        let is_more = far_below(&mut self.terms, least, any);
        let share = self.frame.assertion.scale.unwrap_or(Terms::WRITE);
        let is_share = self.terms.lt(least, share);
        let known = self.terms.implies(is_share, is_more);
        self.assume(known)?;
        if self.here.consuming.is_some() {
            for (resource, arguments) in places {
                let left = self.here.left();
                let held = self.held_in(&left, *resource, arguments);
                let fact = self.leaves_fraction(any, held)?;
                self.assume(fact)?;
            }
        }
        Ok(any)
    }

    /// Makes the claim that a fraction is left when an amount is taken, if a fraction is held. The
    /// claim may be assumed about an amount that has been chosen for this use.
    ///
    /// SOUNDNESS: an amount above [`least`] is a fraction, and far above it, since there are
    /// finitely many.
    pub(super) fn leaves_fraction(&mut self, amount: Term, held: Term) -> Result<Term, Stop> {
        let least = if self.counts() { least(self)? } else { Terms::NONE };
        let some = self.terms.lt(least, held);
        let rest = self.terms.sub(held, amount);
        let left = far_below(&mut self.terms, least, rest);
        Ok(self.terms.implies(some, left))
    }
}

/// Returns an amount below all fractions and above all counting permissions.
fn least(path: &mut Path<'_>) -> Result<Term, Stop> {
    let least = path.terms.constant("direct.least", Sort::PERM);
    let one = path.terms.constant("direct.counting", Sort::PERM);
    let positive = path.terms.lt(Terms::NONE, one);
    path.assume(positive)?;
    let below = far_below(&mut path.terms, one, least);
    path.assume(below)?;
    let hundredth = path.terms.fraction(1, 100);
    let small = far_below(&mut path.terms, least, hundredth);
    path.assume(small)?;
    Ok(least)
}

/// Returns the amount of `count` counting permissions.
pub(super) fn counting(path: &mut Path<'_>, count: Term) -> Result<Term, Stop> {
    let least = least(path)?;
    let one = path.terms.constant("direct.counting", Sort::PERM);
    let count = path.terms.int_to_perm(count);
    let all = path.terms.mul(count, one);
    let few = far_below(&mut path.terms, all, least);
    path.assume(few)?;
    Ok(all)
}

fn one_counted(path: &mut Path<'_>) -> Result<Term, Stop> {
    let one = path.terms.int(1);
    counting(path, one)
}

/// Returns the part of a monitor's counting permissions that each of its readers gets.
fn share_of_reader(path: &mut Path<'_>) -> Result<Term, Stop> {
    let one = one_counted(path)?;
    let share = path.terms.constant("direct.share", Sort::PERM);
    let positive = path.terms.lt(Terms::NONE, share);
    path.assume(positive)?;
    let small = far_below(&mut path.terms, share, one);
    path.assume(small)?;
    Ok(share)
}

impl<'v, 'p> Chalice<'v, 'p> {
    /// Returns an amount as it is written, which is not negative. A rule that gives it away has to
    /// show this.
    pub(super) fn amount(&mut self, amount: &Permission, blame: Blame) -> Result<Term, Stop> {
        if let Some(whole) = self.threads.whole() {
            return Ok(whole);
        }
        let value = self.amount_of(amount, blame)?;
        if self.terms.as_perm(value).is_some_and(|value| !num_traits::Signed::is_negative(value))
            || self.is_open_wildcard(value)
        {
            return Ok(value);
        }
        let not_negative = self.terms.le(Terms::NONE, value);
        if self.here.consuming.is_some() && !blame.is_silent() {
            let at = span(amount.span);
            self.prove(not_negative, blame, Reason::NegativePermission, at)?;
        } else {
            self.assume(not_negative)?;
        }
        Ok(value)
    }

    /// Returns the amount of an instance that is opened or made. It is shown to be positive.
    ///
    /// SOUNDNESS: its sign is not assumed before.
    pub(super) fn positive(&mut self, amount: &Permission, blame: Blame) -> Result<Term, Stop> {
        if let Some(whole) = self.threads.whole() {
            return Ok(whole);
        }
        let value = self.amount_of(amount, blame)?;
        let positive = self.terms.lt(Terms::NONE, value);
        let at = span(amount.span);
        self.prove_defined(positive, blame, Reason::PermissionNotPositive, at)?;
        Ok(value)
    }

    /// Returns the value of an amount, without obligations and assumptions.
    pub(super) fn amount_of(&mut self, amount: &Permission, blame: Blame) -> Result<Term, Stop> {
        match &amount.kind {
            PermissionKind::Full => Ok(Terms::WRITE),
            PermissionKind::Percentage(percent) => {
                let percent = self.eval(percent, blame)?;
                let percent = self.terms.int_to_perm(percent);
                let hundred = self.terms.fraction(100, 1);
                Ok(self.terms.perm_div(percent, hundred))
            }
            // Where amounts do not matter, any is as good.
            PermissionKind::AbstractRead if self.frame.assertion.amounts == Amounts::SomeOrNone => {
                Ok(Terms::WRITE)
            }
            PermissionKind::AbstractRead => match self.threads.fraction() {
                Some(fraction) => Ok(fraction),
                None => unsupported_at(span(amount.span), "this amount"),
            },
            PermissionKind::Epsilons(count) => {
                let count = self.eval(count, blame)?;
                counting(&mut self.threads, count)
            }
            PermissionKind::Star => self.wildcard(),
            // The object does not matter, but it has to exist and be readable.
            PermissionKind::PredicateRead(of)
            | PermissionKind::MonitorRead(of)
            | PermissionKind::ChannelRead(of) => {
                self.eval(of, blame)?;
                self.threads.common()
            }
            PermissionKind::TokenRead(token) => {
                let token = self.eval(token, blame)?;
                self.threads.of_token(token)
            }
            PermissionKind::Add(left, right) => {
                let left = grow_stack(|| self.operand(left, blame))?;
                let right = grow_stack(|| self.operand(right, blame))?;
                Ok(self.terms.add(left, right))
            }
            PermissionKind::Sub(left, right) => {
                let left = grow_stack(|| self.operand(left, blame))?;
                let right = grow_stack(|| self.operand(right, blame))?;
                Ok(self.terms.sub(left, right))
            }
            PermissionKind::Scale { factor, amount } => {
                let factor = self.eval(factor, blame)?;
                let factor = self.terms.int_to_perm(factor);
                let amount = grow_stack(|| self.operand(amount, blame))?;
                Ok(self.terms.mul(factor, amount))
            }
        }
    }

    /// Returns an amount for a calculation.
    ///
    /// SOUNDNESS: if amounts do not matter, an amount that stands for any other must not be part of
    /// a calculation. There `rd` is always the same small amount, and only the sign of the result
    /// matters.
    fn operand(&mut self, amount: &Permission, blame: Blame) -> Result<Term, Stop> {
        if self.frame.assertion.amounts == Amounts::SomeOrNone {
            match amount.kind {
                PermissionKind::AbstractRead => return self.threads.common(),
                PermissionKind::Star => {
                    return unsupported_at(span(amount.span), "any amount that is reckoned with");
                }
                _ => {}
            }
        }
        self.amount_of(amount, blame)
    }

    /// Returns an amount times the share of the instance that is being folded or unfolded.
    ///
    /// A reader of a monitor gets one counting permission of a fraction, and a share of counted
    /// permissions.
    ///
    /// SOUNDNESS: the parts of all readers together are less than the monitor has. Of no permission
    /// a reader gets none, since another thread may hold everything.
    pub(super) fn scaled(&mut self, access: &Access, blame: Blame) -> Result<Term, Stop> {
        let amount = self.amount(&access.amount, blame)?;
        if !self.frame.thread.is_reader {
            return self.times_scale(amount);
        }
        let part = match access.amount.counted() {
            Counted::Nowhere => one_counted(&mut self.threads)?,
            Counted::Alone => share_of_reader(&mut self.threads)?,
            Counted::Beside => {
                let (one, share) =
                    (one_counted(&mut self.threads)?, share_of_reader(&mut self.threads)?);
                let least = least(&mut self.threads)?;
                let is_fraction = self.terms.lt(least, amount);
                self.terms.ite(is_fraction, one, share)
            }
        };
        let some = self.terms.lt(Terms::NONE, amount);
        Ok(self.terms.ite(some, part, Terms::NONE))
    }

    /// Returns the positive amount of an instance that is opened or made. For `rd` it is the amount
    /// of the surroundings if this is held, so that an opened instance is made again as a whole.
    /// Otherwise, and for `rd*` where permissions are counted, it is a smaller amount that leaves a
    /// part of its source. `fits` asks in the present state.
    ///
    /// SOUNDNESS: the amount is the verifier's choice.
    pub(super) fn traded(
        &mut self,
        access: &Access,
        blame: Blame,
        fits: impl FnOnce(&mut Self, Term) -> Result<Term, Stop>,
        bound: impl FnOnce(&mut Self, Term) -> Result<(), Stop>,
    ) -> Result<Term, Stop> {
        let is_read = access.amount.kind == PermissionKind::AbstractRead
            && self.frame.assertion.amounts == Amounts::Exact
            && self.threads.whole().is_none();
        if !is_read && !self.threads.is_any_fraction(&access.amount) {
            return self.positive(&access.amount, blame);
        }
        let outer = self.threads.fraction();
        if let (true, Some(outer)) = (is_read, outer) {
            let is_there = fits(self, outer)?;
            if self.check(is_there)? {
                return Ok(outer);
            }
        }
        let smaller = self.fresh("rd", Sort::PERM);
        self.threads.is_fraction(smaller, outer)?;
        bound(self, smaller)?;
        Ok(smaller)
    }

    /// Assumes that an amount is smaller than the held amount of each location of which clauses ask
    /// `rd`, however often they do.
    pub(super) fn bound<'e>(
        &mut self,
        fraction: Term,
        clauses: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), Stop> {
        let clauses: Vec<&Expr> = clauses.into_iter().collect();
        let mut reads = 0;
        for clause in &clauses {
            clause.for_each(&mut |part| reads += i64::from(asks_to_read(part)));
        }
        for clause in clauses {
            self.bound_by(fraction, reads, clause, |kind| *kind == PermissionKind::AbstractRead)?;
        }
        Ok(())
    }

    /// Assumes the same for accesses of some kinds, of which there are `count`.
    pub(super) fn bound_by(
        &mut self,
        fraction: Term,
        count: i64,
        clause: &Expr,
        counts: impl Fn(&PermissionKind) -> bool,
    ) -> Result<(), Stop> {
        let count = self.terms.fraction(count.max(1), 1);
        let all = self.terms.mul(count, fraction);
        let heap = self.here.heap.clone();
        let fact = self.claims(clause, &mut |chalice, access, places| {
            if !counts(&access.amount.kind) {
                return Ok(Terms::TRUE);
            }
            let mut facts = Vec::new();
            for (resource, arguments) in places {
                let held = chalice.held_in(&heap, *resource, arguments);
                facts.push(chalice.threads.leaves_fraction(all, held)?);
            }
            Ok(chalice.terms.and(facts))
        })?;
        self.assume(fact)
    }

    /// Collects the claim of each access in an assertion, about its locations, under its
    /// conditions. Undefined parts are reported where the assertion is given away.
    pub(super) fn claims(
        &mut self,
        assertion: &Expr,
        claim: Claim<'_, 'v, 'p>,
    ) -> Result<Term, Stop> {
        if assertion.is_pure() {
            return Ok(Terms::TRUE);
        }
        let blame = Blame::new(ErrorId::CallFailed, span(assertion.span)).silent();
        match &assertion.kind {
            _ if is_many(assertion) => self.claims_of_many(assertion, blame, claim),
            ExprKind::And(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.push(grow_stack(|| self.claims(part, claim))?);
                }
                Ok(self.terms.and(all))
            }
            ExprKind::Implies { guard, body } => {
                let guard = self.eval(guard, blame)?;
                self.claims_under(guard, body, claim)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                let negation = self.terms.not(condition);
                let then = self.claims_under(condition, then, claim)?;
                let otherwise = self.claims_under(negation, otherwise, claim)?;
                Ok(self.terms.and([then, otherwise]))
            }
            ExprKind::Access(access) => {
                let places = self.locations(access, blame)?;
                claim(self, access, &places)
            }
            _ => Ok(Terms::TRUE),
        }
    }

    fn claims_under(
        &mut self,
        guard: Term,
        body: &Expr,
        claim: Claim<'_, 'v, 'p>,
    ) -> Result<Term, Stop> {
        let claimed = self.under(guard, |chalice| grow_stack(|| chalice.claims(body, claim)))?;
        Ok(self.terms.implies(guard, claimed.unwrap_or(Terms::TRUE)))
    }
}

fn asks_to_read(part: &Expr) -> bool {
    matches!(&part.kind, ExprKind::Access(access) if access.amount.kind == PermissionKind::AbstractRead)
}

fn far_below(terms: &mut Terms, small: Term, large: Term) -> Term {
    let factor = terms.fraction(FACTOR, 1);
    let product = terms.mul(factor, small);
    terms.lt(product, large)
}
