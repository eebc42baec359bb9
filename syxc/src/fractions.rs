//! Amounts of permission, and what `rd` stands for (Heule, Leino, Müller and Summers 2011).
//!
//! Every method, call and loop has one unknown amount, so small that whoever reads can let others
//! read. It is bounded above only, by positive amounts: below the amount of the context, and below
//! what is held of each location that it is asked of. Predicates, monitors and channels share one
//! such amount. A counting permission is smaller than all of them, however often it is taken.
//!
//! SOUNDNESS: so some amount meets all bounds, whatever is held. A bound is assumed of an amount
//! that has been chosen for this use alone. There are finitely many amounts, so there is one below
//! all of them, and counting permissions below that: so far below that no number that occurs in a
//! run makes as much of them, for a run has finitely many.

use chalice::program::{Access, Counted, Expr, ExprKind, Permission, PermissionKind};
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::many::is_many;
use super::{Chalice, Threads, is_pure, span};
use symex::findings::blame::unsupported_at;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::state::heap::Resource;
use symex::{Amounts, Explore, Stop};

/// A claim of an access and its locations.
pub(super) type Claim<'c, 'v, 'p> = &'c mut dyn FnMut(
    &mut Chalice<'v, 'p>,
    &Access,
    &[(Resource, Vec<Term>)],
) -> Result<Term, Stop>;

/// An amount is so many times smaller than that of its context.
const FACTOR: i64 = 1000;

impl Threads<'_, '_> {
    /// Returns the amount of `rd` in the present state, if there is one.
    pub(super) fn fraction(&self) -> Option<Term> {
        self.frame.store.get(self.direct.fraction)
    }

    /// Lets `rd` stand for another amount in the present state.
    pub(super) fn set_fraction(&mut self, fraction: Term) {
        self.core.frame.store.set(self.direct.fraction, fraction);
    }

    /// Returns the amount of every permission, where only what there is counts.
    pub(super) fn whole(&self) -> Option<Term> {
        self.frame.store.get(self.direct.whole)
    }

    /// Tells whether permissions are counted in the member.
    pub(super) fn counts(&self) -> bool {
        self.frame.store.get(self.direct.least).is_some()
    }

    /// From here on counting permissions may occur.
    pub(super) fn count(&mut self) {
        let least = self.terms.constant("direct.least", Sort::PERM);
        self.core.frame.store.set(self.direct.least, least);
    }

    /// Chooses a new amount, below that of the context or, where there is none, below a hundredth.
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

    /// Assumes that an amount is positive and, where permissions are counted, above all that are.
    fn is_some_fraction(&mut self, fraction: Term) -> Result<(), Stop> {
        let positive = self.terms.lt(Terms::NONE, fraction);
        self.assume(positive)?;
        if self.counts() {
            let least = self.least()?;
            let above = far_below(&mut self.terms, least, fraction);
            self.assume(above)?;
        }
        Ok(())
    }

    /// Returns an amount below all fractions and above all counting permissions.
    fn least(&mut self) -> Result<Term, Stop> {
        let least = self.terms.constant("direct.least", Sort::PERM);
        let one = self.terms.constant("direct.counting", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, one);
        self.assume(positive)?;
        let below = far_below(&mut self.terms, one, least);
        self.assume(below)?;
        let hundredth = self.terms.fraction(1, 100);
        let small = far_below(&mut self.terms, least, hundredth);
        self.assume(small)?;
        Ok(least)
    }

    /// So many counting permissions.
    pub(super) fn counting(&mut self, count: Term) -> Result<Term, Stop> {
        let least = self.least()?;
        let one = self.terms.constant("direct.counting", Sort::PERM);
        let count = self.terms.int_to_perm(count);
        let all = self.terms.mul(count, one);
        let few = far_below(&mut self.terms, all, least);
        self.assume(few)?;
        Ok(all)
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

    fn one_counted(&mut self) -> Result<Term, Stop> {
        let one = self.terms.int(1);
        self.counting(one)
    }

    /// The part of what a monitor counts that each of its readers gets.
    fn share_of_reader(&mut self) -> Result<Term, Stop> {
        let one = self.one_counted()?;
        let share = self.terms.constant("direct.share", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, share);
        self.assume(positive)?;
        let small = far_below(&mut self.terms, share, one);
        self.assume(small)?;
        Ok(share)
    }

    /// Tells whether an amount is `rd*` where permissions are counted: then it is a fraction.
    pub(super) fn is_any_fraction(&self, amount: &Permission) -> bool {
        amount.kind == PermissionKind::Star
            && self.counts()
            && self.whole().is_none()
            && self.frame.assertion.amounts == Amounts::Exact
    }

    /// Chooses `rd*` of locations, where permissions are counted. Of what is given away something
    /// is left.
    ///
    /// SOUNDNESS: what is asked for has to be more than all counting permissions, and is no more
    /// than that for the share of an instance that may be one itself.
    pub(super) fn any_fraction(&mut self, places: &[(Resource, Vec<Term>)]) -> Result<Term, Stop> {
        let any = self.fresh("any", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, any);
        self.assume(positive)?;
        let least = self.least()?;
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

    /// Makes the claim that a fraction is left when an amount is taken, if a fraction is held. It
    /// may be assumed of an amount that has been chosen for this use alone.
    ///
    /// SOUNDNESS: what is more than [`Self::least`] is a fraction, and so far above it, for there
    /// are finitely many.
    pub(super) fn leaves_fraction(&mut self, amount: Term, held: Term) -> Result<Term, Stop> {
        let least = if self.counts() { self.least()? } else { Terms::NONE };
        let some = self.terms.lt(least, held);
        let rest = self.terms.sub(held, amount);
        let left = far_below(&mut self.terms, least, rest);
        Ok(self.terms.implies(some, left))
    }
}

impl<'v, 'p> Chalice<'v, 'p> {
    /// Returns an amount as it is written, which is not negative: whoever gives it away has to show
    /// that.
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

    /// Returns an amount that an instance is opened or made with, which is shown to be positive.
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

    /// Returns the value of an amount, of which nothing has to be shown and nothing is assumed.
    pub(super) fn amount_of(&mut self, amount: &Permission, blame: Blame) -> Result<Term, Stop> {
        match &amount.kind {
            PermissionKind::Full => Ok(Terms::WRITE),
            PermissionKind::Percentage(percent) => {
                let percent = self.eval(percent, blame)?;
                let percent = self.terms.int_to_perm(percent);
                let hundred = self.terms.fraction(100, 1);
                Ok(self.terms.perm_div(percent, hundred))
            }
            // Where amounts mean nothing, any is as good.
            PermissionKind::AbstractRead if self.frame.assertion.amounts == Amounts::SomeOrNone => {
                Ok(Terms::WRITE)
            }
            PermissionKind::AbstractRead => match self.threads.fraction() {
                Some(fraction) => Ok(fraction),
                None => unsupported_at(span(amount.span), "this amount"),
            },
            PermissionKind::Epsilons(count) => {
                let count = self.eval(count, blame)?;
                self.threads.counting(count)
            }
            PermissionKind::Star => self.wildcard(),
            // Which object it is does not matter, but there has to be one that can be read.
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

    /// Returns an amount that is reckoned with.
    ///
    /// SOUNDNESS: what stands for any amount where amounts mean nothing must not be reckoned with.
    /// There `rd` is always the same small amount, and all that matters of the result is its sign.
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

    /// The same, times the share of the instance around that is folded or unfolded.
    ///
    /// The amount that a reader of a monitor gets of a fraction is one counting permission, and of
    /// what is counted a share.
    ///
    /// SOUNDNESS: however many readers there are, their parts together are less than what the
    /// monitor has. Of nothing a reader gets nothing: somebody else may hold everything then.
    pub(super) fn scaled(&mut self, access: &Access, blame: Blame) -> Result<Term, Stop> {
        let amount = self.amount(&access.amount, blame)?;
        if !self.frame.thread.is_reader {
            return self.times_scale(amount);
        }
        let part = match access.amount.counted() {
            Counted::Nowhere => self.threads.one_counted()?,
            Counted::Alone => self.threads.share_of_reader()?,
            Counted::Beside => {
                let (one, share) = (self.threads.one_counted()?, self.threads.share_of_reader()?);
                let least = self.threads.least()?;
                let is_fraction = self.terms.lt(least, amount);
                self.terms.ite(is_fraction, one, share)
            }
        };
        let some = self.terms.lt(Terms::NONE, amount);
        Ok(self.terms.ite(some, part, Terms::NONE))
    }

    /// How much of an instance is opened or made: positive. With `rd` it is that of the
    /// surroundings if so much is there, so that what has been opened is made again as a whole;
    /// else, and with `rd*` where permissions are counted, a smaller one that leaves something of
    /// what it is taken from. `fits`: asks in the state as it is.
    ///
    /// SOUNDNESS: how much it is, is the verifier's choice.
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

    /// The amount is smaller than what is held of each location that clauses ask `rd` of, however
    /// often they do.
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

    /// The same, for accesses of some kinds, of which there are `count`.
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

    /// Collects the claim of each access in an assertion, of its locations, under its conditions.
    /// Undefined parts are told where the assertion is given away.
    pub(super) fn claims(
        &mut self,
        assertion: &Expr,
        claim: Claim<'_, 'v, 'p>,
    ) -> Result<Term, Stop> {
        if is_pure(assertion) {
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
