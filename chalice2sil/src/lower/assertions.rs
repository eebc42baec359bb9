//! Assertions: expressions that may speak about permissions.

use chalice::program::locking::mentions_wait_level;
use chalice::program::{
    Access, AccessTarget, Domain, Expr, ExprKind, FieldRef, LocalId, Quantifier, Type,
};
use findings::Reason;
use front::grow_stack;
use sil::syntax as s;

use super::Member;
use super::annotations::{Annotate, said};
use super::env::{Env, Locks, Side};
use super::permissions::{Use, assumed};
use crate::build::*;

/// The variables of a quantifier and its triggers.
pub(crate) type Binder = (Vec<s::TypedName>, Vec<Vec<s::Expr>>);

/// An accessibility assertion, credit or claim about the wait level inside an assertion, and when
/// it counts.
pub(crate) struct Guarded<'e> {
    /// The conditions it stands under.
    pub(crate) guard: s::Expr,
    /// When these have values; nothing if that cannot be expressed.
    pub(crate) defined: Option<s::Expr>,
    /// The quantifier it stands under, if any: variables and what they range over.
    pub(crate) binder: Option<Binder>,
    pub(crate) part: Part<'e>,
}

/// A part of an assertion that is not just a fact about values: what it says depends on the thread.
#[derive(Clone, Copy)]
pub(crate) enum Part<'e> {
    Access(&'e Access),
    Credit { channel: &'e Expr, amount: Option<&'e Expr> },
    WaitLevel(&'e Expr),
}

/// The conditions that a part of an assertion stands under.
#[derive(Clone)]
struct Condition {
    value: s::Expr,
    /// When it has one; nothing if that cannot be expressed.
    defined: Option<s::Expr>,
}

impl Condition {
    /// This one, and behind it another.
    fn and_then(&self, value: s::Expr, defined: Option<s::Expr>) -> Self {
        let behind = defined.map(|defined| {
            if is_true(&defined) { defined } else { implies(self.value.clone(), defined) }
        });
        Self {
            value: and([self.value.clone(), value]),
            defined: self.defined.clone().zip(behind).map(|(before, behind)| and([before, behind])),
        }
    }
}

/// Returns the parts of the body of a quantifier that are permission to one location for all
/// elements, and the other parts; nothing if there are none of the first.
///
/// Parts that all elements share come first, so that the other parts can read them; these parts
/// cannot use the permissions to elements.
fn without_shared(variables: &[LocalId], body: &Expr) -> Option<(Vec<Expr>, Expr)> {
    let ExprKind::And(parts) = &body.kind else { return None };
    let (shared, own): (Vec<_>, Vec<_>) = parts
        .iter()
        .cloned()
        .partition(|part| matches!(part.kind, ExprKind::Access(_)) && !part.mentions(variables));
    let own = Expr { kind: ExprKind::And(own), ..body.clone() };
    (!shared.is_empty()).then_some((shared, own))
}

impl Guarded<'_> {
    /// `claim` under the conditions and the quantifier of this part.
    pub(crate) fn when(&self, claim: s::Expr) -> s::Expr {
        under(self.guard.clone(), self.binder.clone(), claim)
    }
}

/// `claim` under conditions, for all values of the variables of a quantifier.
pub(crate) fn under(guard: s::Expr, binder: Option<Binder>, claim: s::Expr) -> s::Expr {
    let claim = implies(guard, claim);
    match binder {
        None => claim,
        Some((variables, triggers)) => {
            quantified(s::Quantifier::Forall, variables, triggers, claim)
        }
    }
}

impl Member<'_, '_> {
    /// Returns a whole clause, with its place.
    pub(crate) fn clause(&mut self, e: &Expr, env: &Env) -> s::Expr {
        self.placed(e.span, |member| member.assertion(e, env))
    }

    /// Returns an assertion. Conjuncts of a conjunction get places of their own.
    pub(crate) fn assertion(&mut self, e: &Expr, env: &Env) -> s::Expr {
        self.in_one_transfer(|member| member.assertion_part(e, env))
    }

    fn assertion_part(&mut self, e: &Expr, env: &Env) -> s::Expr {
        if let Some(part) = self.depends_on_wait_level(e, env) {
            return self.unsupported("a permission or credit that depends on waitlevel", part);
        }
        grow_stack(|| match &e.kind {
            ExprKind::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.clause(part, env)).collect();
                and(parts
                    .into_iter()
                    .filter(|part| !crate::build::is_true(part))
                    .collect::<Vec<_>>())
            }
            ExprKind::Implies { guard, body } => {
                let guard = self.expr(guard, env);
                let body = self.in_case(&guard, |member| member.assertion(body, env));
                binary(s::BinaryOp::Implies, guard, body)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.expr(condition, env);
                let then = self.in_case(&condition, |member| member.assertion(then, env));
                let fails = not(condition.clone());
                let otherwise = self.in_case(&fails, |member| member.assertion(otherwise, env));
                conditional(condition, then, otherwise)
            }
            ExprKind::Quantified { quantifier: Quantifier::Forall, variables, domain, body }
                if body.is_impure() =>
            {
                if self.asks_for_all_locks(domain, body) {
                    return self.unsupported("what is held of all objects, beside channels,", e);
                }
                if let Some(unbound) = self.without_variables(variables, domain, body, env) {
                    return unbound;
                }
                if let Domain::Collection(collection) = domain
                    && let Some((shared, own)) = without_shared(variables, body)
                {
                    let shared: Vec<_> =
                        shared.iter().map(|part| self.once(collection, part, env)).collect();
                    let kind = ExprKind::Quantified {
                        quantifier: Quantifier::Forall,
                        variables: variables.clone(),
                        domain: domain.clone(),
                        body: Box::new(own),
                    };
                    let own = Expr { kind, ty: e.ty.clone(), span: e.span };
                    let own = self.assertion(&own, env);
                    return and(shared.into_iter().chain([own]));
                }
                let bound = self.bound(variables);
                let (membership, triggers) = self.membership(variables, domain, env);
                let body = self.for_each_value(|member| member.assertion(body, env));
                quantified(s::Quantifier::Forall, bound, triggers, implies(membership, body))
            }
            ExprKind::Access(access) => match &env.then {
                Some(then) => self.access_then(then, access, env),
                None => self.access(access, env, Use::Asserted),
            },
            ExprKind::Credit { channel, amount } => self.credit(channel, amount.as_deref(), env),
            ExprKind::Holds { target, .. } => self.claimed_lock(e, target, env),
            _ => {
                self.note_said(e);
                self.expr(e, env)
            }
        })
    }

    /// Finds the expression that makes the permissions or credits of an assertion depend on the
    /// wait level, if one party gives them to another.
    ///
    /// SOUNDNESS: what a party owes is known to it alone, and changes while credits are moved. So
    /// the two might not agree on such a condition: debts would vanish between them, and so would
    /// what is known of how much `rd*` leaves.
    fn depends_on_wait_level<'e>(&self, e: &'e Expr, env: &Env) -> Option<&'e Expr> {
        let facts = &self.lowering.facts;
        if env.side == Side::Asserted || !(facts.credits || facts.counting) {
            return None;
        }
        let deciding = match &e.kind {
            ExprKind::Implies { guard, .. } => &**guard,
            ExprKind::Conditional { condition, .. } => &**condition,
            ExprKind::Quantified { domain: Domain::Collection(collection), .. } => &**collection,
            ExprKind::Access(_) | ExprKind::Credit { .. } => e,
            _ => return None,
        };
        (mentions_wait_level(deciding) && e.is_impure()).then_some(deciding)
    }

    /// Returns an assertion about permissions below a quantifier whose variables it does not
    /// mention.
    ///
    /// For the elements of a collection it speaks of one location, which counts once, as each
    /// object does. For all values of a type it asks for endlessly many copies, which nobody can
    /// have.
    fn without_variables(
        &mut self,
        variables: &[LocalId],
        domain: &Domain,
        body: &Expr,
        env: &Env,
    ) -> Option<s::Expr> {
        match domain {
            _ if body.mentions(variables) => None,
            Domain::Type(Type::Bool) => None,
            Domain::Type(_) if matches!(body.kind, ExprKind::Access(_)) => Some(truth(false)),
            Domain::Type(_) => None,
            Domain::Collection(collection) => Some(self.once(collection, body, env)),
        }
    }

    /// Returns an assertion about permissions that is said of some element of a collection,
    /// whichever that is.
    fn once(&mut self, collection: &Expr, body: &Expr, env: &Env) -> s::Expr {
        let occupied = match &collection.kind {
            ExprKind::Range { from, to } => lt(self.expr(from, env), self.expr(to, env)),
            _ => lt(int(0), cardinality(self.expr(collection, env))),
        };
        let body = self.in_some_cases(|member| member.clause(body, env));
        binary(s::BinaryOp::Implies, occupied, body)
    }

    /// `credit(channel, amount)`: credits are moved beside assertions, so that only its parts are
    /// looked at here. In contracts and in `assert` they have to make sense; elsewhere that is
    /// known.
    fn credit(&mut self, channel: &Expr, amount: Option<&Expr>, env: &Env) -> s::Expr {
        if matches!(env.side, Side::Inhaled | Side::Exhaled) {
            return truth(true);
        }
        let mut defined = Vec::new();
        if !matches!(channel.kind, ExprKind::This) {
            let exists = ne(self.expr(channel, env), null());
            let exists = self.checked(exists, Reason::ReceiverNull, truth(true));
            defined.push(exists.with(said(Reason::AssertionFalse, "the channel might be null")));
        }
        if let Some(amount) = amount
            && !matches!(amount.kind, ExprKind::Int(_))
        {
            let amount = self.expr(amount, env);
            defined.push(eq(amount.clone(), amount));
        }
        and(defined)
    }

    /// `holds(target)` as a claim of its own: what is held is shared, so its level is not the least
    /// one.
    fn claimed_lock(&mut self, e: &Expr, target: &Expr, env: &Env) -> s::Expr {
        let held = self.expr(e, env);
        let Locks::State(locks) = &env.locks else { return held };
        let target = self.expr(target, env);
        let level = self.lowering.level_at(locks.levels.clone(), target);
        and([held, assumed(ne(level, self.lowering.lockbottom()), env.side)])
    }

    /// Returns the accessibility assertions, credits and claims about the wait level of an
    /// assertion, from left to right, each with its conditions.
    pub(crate) fn parts<'e>(&mut self, e: &'e Expr, env: &Env) -> Vec<Guarded<'e>> {
        let mut parts = Vec::new();
        let always = Condition { value: truth(true), defined: Some(truth(true)) };
        // The place of the assertion checks whether the conditions make sense.
        self.collect_parts(e, &env.on(Side::Asserted), &always, None, &mut parts);
        parts
    }

    fn collect_parts<'e>(
        &mut self,
        e: &'e Expr,
        env: &Env,
        guard: &Condition,
        binder: Option<&Binder>,
        parts: &mut Vec<Guarded<'e>>,
    ) {
        let mut found = |part| {
            let Condition { value, defined } = guard.clone();
            parts.push(Guarded { guard: value, defined, binder: binder.cloned(), part });
        };
        if e.is_pure() {
            if mentions_wait_level(e) {
                found(Part::WaitLevel(e));
            }
            return;
        }
        match &e.kind {
            ExprKind::Access(access) => found(Part::Access(access)),
            ExprKind::Credit { channel, amount } => {
                found(Part::Credit { channel, amount: amount.as_deref() });
            }
            ExprKind::And(conjuncts) => {
                for conjunct in conjuncts {
                    grow_stack(|| self.collect_parts(conjunct, env, guard, binder, parts));
                }
            }
            ExprKind::Implies { guard: condition, body } => {
                let defined = self.definedness(condition, env);
                let guard = guard.and_then(self.expr(condition, env), defined);
                grow_stack(|| self.collect_parts(body, env, &guard, binder, parts));
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let defined = self.definedness(condition, env);
                let condition = self.expr(condition, env);
                let holds = guard.and_then(condition.clone(), defined.clone());
                grow_stack(|| self.collect_parts(then, env, &holds, binder, parts));
                let fails = guard.and_then(not(condition), defined);
                grow_stack(|| self.collect_parts(otherwise, env, &fails, binder, parts));
            }
            ExprKind::Quantified { variables, domain, body, .. } => {
                let mut bound = self.bound(variables);
                let (membership, mut triggers) = self.membership(variables, domain, env);
                if let Some((outer, _)) = binder {
                    bound = outer.iter().cloned().chain(bound).collect();
                    triggers = Vec::new();
                }
                let defined = match domain {
                    Domain::Collection(collection) => self.definedness(collection, env),
                    Domain::Type(_) => Some(truth(true)),
                };
                let guard = guard.and_then(membership, defined);
                grow_stack(|| {
                    self.collect_parts(body, env, &guard, Some(&(bound, triggers)), parts);
                });
            }
            _ => {}
        }
    }

    /// Makes the facts about lock levels that follow when an assertion has been received inside a
    /// predicate, whose body cannot speak of the thread's locks.
    pub(crate) fn levels_in(&mut self, e: &Expr, env: &Env) -> Vec<s::Expr> {
        if !matches!(env.locks, Locks::State(_)) && !self.lowering.facts.credits {
            return Vec::new();
        }
        let env = env.on(Side::Inhaled);
        let mut facts = Vec::new();
        for part in self.parts(e, &env) {
            let Part::Access(access) = part.part else { continue };
            let AccessTarget::Field { receiver, field: FieldRef::Mu } = &access.target else {
                continue;
            };
            let ty = &receiver.ty;
            if part.binder.is_some() || !matches!(ty, Type::Class(_) | Type::Channel(_)) {
                continue;
            }
            let receiver = self.expr(receiver, &env);
            let level = self.lowering.level_of(receiver.clone());
            let known = self.level_known(&receiver, ty, &env);
            if !is_true(&known) {
                facts.push(part.when(implies(lt(none(), perm(level)), known)));
            }
        }
        facts
    }
}
