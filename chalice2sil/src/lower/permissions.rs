//! Accessibility assertions and permission amounts.
//!
//! DIVERGENCE: `acc(x.f, 0)` is trivially true, a negative amount is an error when it must be given
//! and a contradiction when it is received, as in the later translation of Chalice.

pub(super) mod fractions;
pub(super) mod stars;

use chalice::program::{
    Access, AccessTarget, ClassId, Counted, Expr, ExprKind, FieldRef, LocalKind, MethodId,
    Permission, PermissionKind, Type,
};
use findings::Reason;
use num_bigint::BigInt;
use num_integer::Integer;
use sil::syntax as s;

use super::Member;
use super::annotations::{Annotate, renamed};
use super::env::{Env, Locks, OldState, ReadAmount, Side};
use crate::build::*;

/// The purpose of an accessibility assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The predicate is part of an assertion.
    Asserted,
    /// The predicate is opened by `unfolding`: any positive amount will do where the source does
    /// not give a number.
    Opened,
    /// The predicate is the operand of `fold` or `unfold`.
    Traded,
}

/// An amount and what is taken for granted when it is received.
struct Amount {
    value: s::Expr,
    /// The claim that the amount is not negative, where that is not obvious.
    sign: Option<s::Expr>,
    /// The claim that the counting permissions in it are few: the receiver knows so, and nobody has
    /// to show it.
    few: Option<s::Expr>,
    /// True whenever it has a value: mentions what has to be readable although the amount does not
    /// depend on it.
    defined: s::Expr,
}

impl Amount {
    fn positive(value: s::Expr) -> Self {
        Self { value, sign: None, few: None, defined: truth(true) }
    }

    /// Returns an amount computed from two; it may be negative.
    fn combined(op: s::BinaryOp, left: Self, right: Self) -> Self {
        let defined = and([left.defined, right.defined]);
        let few = match (left.few, right.few) {
            (Some(left), Some(right)) => Some(and([left, right])),
            (few, None) | (None, few) => few,
        };
        let parts = [&left.value, &right.value];
        if parts.iter().any(|part| matches!(part.kind, s::ExprKind::Wildcard)) {
            return Self { few, defined, ..Self::positive(wildcard()) };
        }
        let value = binary(op, left.value, right.value);
        Self { sign: Some(le(none(), value.clone())), value, few, defined }
    }
}

impl Member<'_, '_> {
    /// Returns an accessibility assertion.
    pub(crate) fn access(&mut self, access: &Access, env: &Env, purpose: Use) -> s::Expr {
        let amount = match (purpose, &access.amount.kind) {
            (Use::Opened, PermissionKind::AbstractRead | PermissionKind::Star) => {
                Amount::positive(wildcard())
            }
            (Use::Opened, _) if self.opens_any => Amount::positive(wildcard()),
            (Use::Asserted, kind) if self.for_readers && !matches!(kind, PermissionKind::Star) => {
                self.amount_for_readers(&access.amount, env)
            }
            _ => self.amount(&access.amount, env),
        };
        if purpose != Use::Asserted {
            let AccessTarget::Predicate { receiver, predicate } = &access.target else {
                unreachable!("the resolver accepts predicates only")
            };
            let receiver = self.expr(receiver, env);
            return acc(self.predicate_at(receiver, *predicate), amount.value);
        }
        let granted = amount.sign.map_or(truth(true), |sign| not_negative(sign, env.side));
        let few = amount.few.map_or(truth(true), |few| assumed(few, env.side));
        let given = self.targets(access, amount.value.clone(), env);
        let (held, received) = self.star_is_fraction(access, env);
        self.note_given(access, &amount.value, env);
        and([amount.defined, granted, few, held, given, received])
    }

    /// Returns the amount that a reader of a monitor gets of what the monitor has: one counting
    /// permission of a fraction, and a reader's share of what is counted (Schwerhoff 2011, section
    /// 3.2.4, scales to one counting permission always).
    ///
    /// SOUNDNESS: however many readers there are, their parts together are less than what the
    /// monitor has. Of nothing a reader gets nothing: somebody else may hold everything then.
    fn amount_for_readers(&mut self, amount: &Permission, env: &Env) -> Amount {
        let counted = amount.counted();
        let part = match counted {
            Counted::Nowhere | Counted::Beside => self.lowering.counting_fraction(),
            Counted::Alone => self.lowering.readers_fraction(),
        };
        if is_certain(&amount.kind) {
            return Amount::positive(part);
        }
        let Amount { value, defined, .. } = self.amount(amount, env);
        let some = lt(none(), value.clone());
        let part = match counted {
            Counted::Nowhere | Counted::Alone => conditional(some, part, none()),
            Counted::Beside => {
                let is_fraction = lt(self.lowering.least_fraction(), value);
                let share = conditional(some, self.lowering.readers_fraction(), none());
                conditional(is_fraction, part, share)
            }
        };
        Amount { defined, ..Amount::positive(part) }
    }

    /// `rd*` is some fraction. Where there are counting permissions, which are less, this is shown
    /// of what it is taken from, and known of what is received. Predicates cannot say it, so
    /// nothing is known of what they contain.
    fn star_is_fraction(&mut self, access: &Access, env: &Env) -> (s::Expr, s::Expr) {
        let is_star = matches!(access.amount.kind, PermissionKind::Star);
        if !is_star || !self.lowering.facts.counting || matches!(env.old, OldState::Nowhere) {
            return (truth(true), truth(true));
        }
        let least = self.lowering.least_fraction();
        let (mut held, mut received) = (Vec::new(), Vec::new());
        for (location, binder) in self.locations(&access.target, env) {
            let say = |claim: s::Expr| match &binder {
                Some(each) => each.satisfies(claim),
                None => claim,
            };
            let is_fraction = lt(least.clone(), perm(location.clone()));
            held.push(say(or([is_fraction].into_iter().chain(self.divided_before(&location)))));
            // Whatever else is held of it, what is left without the other amounts contains `rd*`.
            let beside = self.given_before(&location);
            let rest = |all, other| binary(s::BinaryOp::Sub, all, other);
            let star = beside.into_iter().fold(perm(location), rest);
            received.push(say(self.lowering.known_fraction(star)));
        }
        let (held, received) = (and(held), and(received));
        match env.side {
            Side::Both => (
                inhale_exhale(truth(true), held.with(is_permission())),
                assumed(received, env.side),
            ),
            Side::Inhaled => (truth(true), received),
            Side::Exhaled => (held.with(is_permission()), truth(true)),
            // Nobody builds upon it.
            Side::Asserted => (truth(true), truth(true)),
        }
    }

    /// `P(receiver)`
    pub(crate) fn predicate_at(
        &self,
        receiver: s::Expr,
        predicate: chalice::program::PredicateId,
    ) -> s::Expr {
        let name = self.lowering.names.borrow().predicates[predicate].clone();
        call(&name, vec![receiver])
    }

    fn targets(&mut self, access: &Access, amount: s::Expr, env: &Env) -> s::Expr {
        match &access.target {
            AccessTarget::Field { receiver, field } => {
                let ty = &receiver.ty;
                let receiver = self.expr(receiver, env);
                self.field_access(
                    receiver,
                    ty,
                    *field,
                    amount,
                    is_certain(&access.amount.kind),
                    env,
                )
            }
            AccessTarget::Predicate { receiver, predicate } => {
                let is_this = matches!(receiver.kind, ExprKind::This);
                let object = self.expr(receiver, env);
                let instance = self.predicate_at(object.clone(), *predicate);
                let given = acc(instance.clone(), amount);
                if is_this {
                    return given;
                }
                let exists = ne(object, null());
                if matches!(env.old, OldState::Nowhere) || self.is_said_to_exist(receiver) {
                    return and([exists, given]);
                }
                // An instance that is held has a receiver: to fold one asks for it. So a missing
                // one is told once.
                let exists = implies(lt(none(), perm(instance)), exists);
                and([
                    given,
                    match env.side {
                        Side::Both => inhale_exhale(exists.clone(), exists),
                        Side::Inhaled | Side::Exhaled | Side::Asserted => exists,
                    },
                ])
            }
            AccessTarget::AllFields { receiver, class } => {
                let receiver = self.expr(receiver, env);
                self.all_fields(&receiver, *class, &amount)
            }
            AccessTarget::ElementsField { elements, field } => {
                let element_type = elements.ty.element().cloned().unwrap_or(Type::Null);
                let each = self.each_of(elements, env);
                let element = var(&each.name);
                let given = self.field_access(element, &element_type, *field, amount, false, env);
                each.satisfies(given)
            }
            AccessTarget::ElementsPredicate { elements, predicate } => {
                let each = self.each_of(elements, env);
                let element = var(&each.name);
                let exists = ne(element.clone(), null());
                let given = acc(self.predicate_at(element, *predicate), amount);
                and([each.satisfies(exists), each.satisfies(given)])
            }
            AccessTarget::ElementsAllFields { elements, class } => {
                let each = self.each_of(elements, env);
                let given = self.all_fields(&var(&each.name), *class, &amount);
                each.satisfies(given)
            }
            AccessTarget::BackPointers { receiver, field, .. } => {
                let receiver = self.expr(receiver, env);
                acc(self.pointers_to(receiver, *field), amount)
            }
        }
    }

    /// Permission to one field, with what belongs to it: the ghost fields of a token to `joinable`,
    /// what is known of the level of a held object to `mu`.
    fn field_access(
        &mut self,
        receiver: s::Expr,
        ty: &Type,
        of: FieldRef,
        amount: s::Expr,
        is_certain: bool,
        env: &Env,
    ) -> s::Expr {
        let location = self.field_of(receiver.clone(), of);
        let given = acc(location, amount.clone());
        match (of, ty) {
            (FieldRef::Joinable, Type::Token(method)) => {
                and([given, self.token_access(&receiver, *method, &amount)])
            }
            (FieldRef::Mu, _) if is_certain => and([given, self.level_known(&receiver, ty, env)]),
            _ => given,
        }
    }

    /// Permission to everything that the token of a forked method carries.
    pub(crate) fn token_access(
        &mut self,
        token: &s::Expr,
        method: MethodId,
        amount: &s::Expr,
    ) -> s::Expr {
        let lowering = self.lowering;
        let fields = lowering.tokens[method].fields();
        and(fields.map(|name| acc(field(token.clone(), name), amount.clone())).collect::<Vec<_>>())
    }

    /// Makes the facts that permission to `receiver.mu` implies: a held object has the level that
    /// the thread remembers for it, and is shared; a channel has the level that it was made with.
    pub(crate) fn level_known(&mut self, receiver: &s::Expr, ty: &Type, env: &Env) -> s::Expr {
        let level = self.lowering.level_of(receiver.clone());
        if matches!(ty, Type::Channel(_)) {
            return assumed(eq(level, self.lowering.channel_level(receiver.clone())), env.side);
        }
        let Locks::State(locks) = &env.locks else { return truth(true) };
        let remembered = self.lowering.level_at(locks.levels.clone(), receiver.clone());
        let is_shared = ne(level.clone(), self.lowering.lockbottom());
        let known = and([eq(level, remembered), is_shared]);
        assumed(implies(self.lowering.is_held(locks, receiver), known), env.side)
    }

    fn all_fields(&mut self, receiver: &s::Expr, class: ClassId, amount: &s::Expr) -> s::Expr {
        let fields = self.program().classes[class].fields();
        let granted: Vec<_> = fields
            .map(|id| acc(self.field_of(receiver.clone(), FieldRef::Declared(id)), amount.clone()))
            .collect();
        if granted.is_empty() { ne(receiver.clone(), null()) } else { and(granted) }
    }

    /// Returns the value of an amount.
    pub(crate) fn amount_of(&mut self, amount: &Permission, env: &Env) -> s::Expr {
        self.amount(amount, env).value
    }

    /// Makes the claim that so many counting permissions are less than any fraction.
    ///
    /// SOUNDNESS: an upper bound on one counting permission; an execution counts finitely often, so
    /// some amount is below all bounds. That is so for values that a state has, not for each of
    /// those that a bound variable goes through.
    pub(crate) fn are_few(&self, count: &s::Expr) -> s::Expr {
        let one = self.lowering.counting_fraction();
        let total = mul(count.clone(), one.clone());
        let small = lt(mul(int(1000), total.clone()), self.lowering.least_fraction());
        // A consequence of arithmetic that solvers do not see, as the product is of two unknowns.
        let ordered = implies(le(int(1), count.clone()), le(one, total));
        and([small, ordered])
    }

    /// Tells whether an expression mentions a variable that a quantifier binds.
    fn mentions_bound(&self, e: &Expr) -> bool {
        let locals = &self.program().locals;
        e.any(&mut |part| {
            matches!(part.kind, ExprKind::Local(local) if locals[local].kind == LocalKind::Quantified)
        })
    }

    fn amount(&mut self, amount: &Permission, env: &Env) -> Amount {
        match &amount.kind {
            PermissionKind::Full => Amount::positive(write()),
            PermissionKind::Percentage(percent) => match &percent.kind {
                ExprKind::Int(value) => Amount::positive(percentage(value)),
                _ => {
                    let percent = self.expr(percent, env);
                    let sign = le(int(0), percent.clone());
                    let value = binary(s::BinaryOp::Div, percent, int(100));
                    Amount { sign: Some(sign), ..Amount::positive(value) }
                }
            },
            PermissionKind::AbstractRead => Amount::positive(match &env.read {
                ReadAmount::Fraction(fraction) => fraction.clone(),
                ReadAmount::Any => wildcard(),
                ReadAmount::Common => self.lowering.common_fraction(),
            }),
            PermissionKind::Epsilons(count) => {
                let one = self.lowering.counting_fraction();
                match &count.kind {
                    ExprKind::Int(value) if *value == BigInt::from(1) => Amount::positive(one),
                    ExprKind::Int(value) => Amount::positive(mul(int(value.clone()), one)),
                    _ => {
                        let is_value = matches!(count.kind, ExprKind::FieldRead { .. })
                            || !self.mentions_bound(count);
                        let count = self.expr(count, env);
                        let sign = Some(le(int(0), count.clone()));
                        let few = is_value.then(|| self.are_few(&count));
                        // Receivers know that they are few. Whoever reads a contract as its givers
                        // do has not been told, and finds an amount that is small all the same.
                        let all = mul(count, one.clone());
                        let value = match &few {
                            Some(few) if env.side == Side::Both => {
                                conditional(few.clone(), all, one)
                            }
                            _ => all,
                        };
                        Amount { sign, few, ..Amount::positive(value) }
                    }
                }
            }
            PermissionKind::Star => Amount::positive(wildcard()),
            PermissionKind::PredicateRead(object)
            | PermissionKind::MonitorRead(object)
            | PermissionKind::ChannelRead(object) => {
                let defined = if matches!(object.kind, ExprKind::This | ExprKind::Local(_)) {
                    truth(true)
                } else {
                    let object = self.expr(object, env);
                    eq(object.clone(), object)
                };
                Amount { defined, ..Amount::positive(self.lowering.common_fraction()) }
            }
            PermissionKind::TokenRead(token) => {
                let token = self.expr(token, env);
                Amount::positive(self.lowering.fork_fraction(token))
            }
            PermissionKind::Add(left, right) => {
                Amount::combined(s::BinaryOp::Add, self.amount(left, env), self.amount(right, env))
            }
            PermissionKind::Sub(left, right) => {
                Amount::combined(s::BinaryOp::Sub, self.amount(left, env), self.amount(right, env))
            }
            PermissionKind::Scale { factor, amount } => {
                let factor = Amount::positive(self.expr(factor, env));
                Amount::combined(s::BinaryOp::Mul, factor, self.amount(amount, env))
            }
        }
    }
}

/// Returns a condition that fails for want of permission.
fn is_permission() -> s::Annotation {
    renamed(Reason::AssertionFalse, Reason::InsufficientPermission)
}

/// Makes the claim about the sign: a receiver of permission may take its amount for a permission,
/// and a giver has to show that the amount is not below zero. So both readings of a contract are
/// well-defined.
fn not_negative(sign: s::Expr, side: Side) -> s::Expr {
    let shown = sign.clone().with(renamed(Reason::AssertionFalse, Reason::NegativePermission));
    match side {
        Side::Both => inhale_exhale(sign, shown),
        Side::Inhaled => sign,
        Side::Exhaled | Side::Asserted => shown,
    }
}

/// `n` hundredths in lowest terms.
fn percentage(percent: &BigInt) -> s::Expr {
    let hundred = BigInt::from(100);
    if *percent == hundred {
        return write();
    }
    if *percent == BigInt::from(0) {
        return none();
    }
    let divisor = percent.gcd(&hundred);
    binary(s::BinaryOp::Div, int(percent / &divisor), int(hundred / divisor))
}

/// Is the amount positive whatever the state is?
pub(crate) fn is_certain(amount: &PermissionKind) -> bool {
    match amount {
        PermissionKind::Percentage(percent) | PermissionKind::Epsilons(percent) => {
            matches!(&percent.kind, ExprKind::Int(value) if value.sign() == num_bigint::Sign::Plus)
        }
        PermissionKind::Add(..) | PermissionKind::Scale { .. } => false,
        // `100 - rd` and the like: read fractions are small.
        PermissionKind::Sub(left, right) => {
            is_certain(&left.kind)
                && matches!(left.kind, PermissionKind::Percentage(_) | PermissionKind::Full)
                && !matches!(right.kind, PermissionKind::Percentage(_) | PermissionKind::Full)
                && is_certain(&right.kind)
        }
        _ => true,
    }
}

/// Returns a fact that holds by itself: it is taken when an assertion is received and need not be
/// shown when it is given.
pub(crate) fn assumed(fact: s::Expr, side: Side) -> s::Expr {
    match side {
        Side::Both => inhale_exhale(fact, truth(true)),
        Side::Inhaled => fact,
        Side::Exhaled | Side::Asserted => truth(true),
    }
}
