//! Functions that apply each other must work their way down: each such application needs a smaller footprint.
//!
//! For every recursive function there is a method that owns the footprint of the precondition, follows the body, and
//! at each application gives away the footprint of what is applied: some field must be left over. Heaps are finite,
//! so this cannot go on for ever (Leino and Müller 2009, on functions).
//!
//! SOUNDNESS: what counts is which locations and predicates there are, not how much of them. So all amounts are the one
//! fraction of the method; what is opened or given away is opened or given away as a whole, however often it is named;
//! and what is applied may need nothing that is not there as it is, such as a predicate that has been opened.
//!
//! DIVERGENCE: only applications inside a cycle of functions are checked; the others cannot make a function useless.

use std::rc::Rc;

use chalice::program::{AccessTarget, Expr, ExprKind, FunctionId};
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, named, renamed, said};
use super::assertions::Part;
use super::env::{Env, Locks, OldState, ReadAmount, Side};
use super::{Lowering, Member};
use crate::build::*;
use crate::stack::grow;
use crate::walk::each_expr;

impl Lowering<'_> {
    /// The method that checks the applications in a function's body, if the function is recursive.
    pub(crate) fn termination(&self, id: FunctionId) -> Option<s::Member> {
        let function = &self.program.functions[id];
        let body = function.body.as_ref()?;
        let cycle = self.recursion.cycle_of(self.program, id);
        if cycle.is_empty() || !self.options.termination {
            return None;
        }
        let mut member = Member::new(self, function.span);
        member.class = Some(function.class);
        let mut formals = vec![typed(&member.fresh("this"), ty(TypeKind::Ref))];
        formals.extend(member.bound(&function.parameters));
        let k = member.fresh("k");
        formals.push(typed(&k, ty(TypeKind::Perm)));
        let env = Env {
            this: var("this"),
            replaced: Rc::default(),
            read: ReadAmount::Fraction(var(&k)),
            old: OldState::Nowhere,
            locks: Locks::Unknown,
            old_locks: Locks::Unknown,
            side: Side::Inhaled,
            then: None,
        };
        let mut check = Footprints { cycle, owned: Vec::new() };
        let statements = member.block(|member| {
            let mut known = vec![self.is_read_fraction(var(&k))];
            if !function.is_static {
                known.push(ne(var("this"), null()));
            }
            member.emit_plain(inhale(and(known)));
            for clause in &function.requires {
                let clause = with_one_fraction(clause);
                let received = member.assertion(&clause, &env);
                // If the contract is not well-formed, that is said at the contract.
                member.span = clause.span;
                member.emit(inhale(received).with(renamed("inhale.failed:*", "not.wellformed:*")));
                check.own(member, &clause, &env);
            }
            check.follow(member, body, &env);
        });
        let name = self.names.borrow().terminations[id].clone();
        let method = s::Method { formals, ..s::Method::new(&name).body(statements) };
        let class = &self.program.classes[function.class].name;
        let called = named(&format!("{class}.{} (termination)", function.name));
        Some(member_at(self, method, function.span).with(called))
    }
}

fn member_at(lowering: &Lowering<'_>, method: s::Method, span: chalice::Span) -> s::Member {
    crate::build::member(s::MemberKind::Method(method))
        .with(lowering.at(span))
        .with(renamed("if.failed:*", "function.not.wellformed:*"))
}

/// The check of one function's body.
struct Footprints {
    /// The functions whose applications count.
    cycle: Vec<FunctionId>,
    /// Fields that are in the footprint, each under the condition that it is.
    owned: Vec<(s::Expr, s::Expr)>,
}

impl Footprints {
    /// Notes the fields that an assertion brings.
    fn own(&mut self, member: &mut Member<'_, '_>, assertion: &Expr, env: &Env) {
        for part in member.parts(assertion, env) {
            let Part::Access(access) = part.part else { continue };
            if part.binder.is_some() {
                continue;
            }
            if let AccessTarget::Field { receiver, field } = &access.target {
                let receiver = member.expr(receiver, env);
                let location = member.field_of(receiver, *field);
                self.owned.push((part.guard, location));
            }
        }
    }

    fn applies(&self, e: &Expr) -> bool {
        let mut applies = false;
        each_expr(e, &mut |part| {
            applies |= matches!(&part.kind, ExprKind::Apply { function, .. } if self.cycle.contains(function));
        });
        applies
    }

    /// Follows an expression, as far as it leads to applications.
    fn follow(&mut self, member: &mut Member<'_, '_>, e: &Expr, env: &Env) {
        if !self.applies(e) {
            return;
        }
        grow(|| match &e.kind {
            ExprKind::Conditional { condition, then, otherwise } => {
                self.follow(member, condition, env);
                let value = member.expr(condition, env);
                let then = member.block(|member| self.follow(member, then, env));
                let otherwise = member.block(|member| self.follow(member, otherwise, env));
                member.emit_plain(branch(value, then, otherwise));
            }
            ExprKind::Implies { guard, body } => {
                self.follow(member, guard, env);
                let value = member.expr(guard, env);
                let then = member.block(|member| self.follow(member, body, env));
                member.emit_plain(branch(value, then, Vec::new()));
            }
            ExprKind::And(parts) => self.follow_sequence(member, parts, env, |value| value),
            ExprKind::Or(parts) => self.follow_sequence(member, parts, env, not),
            ExprKind::Unfolding { access, body } => {
                let AccessTarget::Predicate { receiver, predicate } = &access.target else {
                    return;
                };
                let this = member.expr(receiver, env);
                let statements = member.block(|member| {
                    let instance = member.predicate_at(this.clone(), *predicate);
                    // That the predicate is there is checked with the function itself.
                    let renaming = renamed("unfold.failed:*", "function.not.wellformed:*");
                    member.emit(unfold(acc(instance.clone(), perm(instance))).with(renaming));
                    let before = self.owned.len();
                    let inner = env.about(this.clone());
                    self.own(member, &member.program().predicates[*predicate].body, &inner);
                    self.follow(member, body, env);
                    self.owned.truncate(before);
                });
                self.aside(member, statements);
            }
            ExprKind::Quantified { variables, domain, body, .. } => {
                for variable in member.bound(variables) {
                    member.emit_plain(declare(&variable.name.name, variable.ty.clone(), None));
                }
                let (membership, _) = member.membership(variables, domain, env);
                let then = member.block(|member| self.follow(member, body, env));
                member.emit_plain(branch(membership, then, Vec::new()));
            }
            ExprKind::Apply { receiver, function, arguments } => {
                self.follow(member, receiver, env);
                for argument in arguments {
                    self.follow(member, argument, env);
                }
                if self.cycle.contains(function) {
                    self.application(member, e, receiver, *function, arguments, env);
                }
            }
            _ => crate::walk::each_child(e, &mut |child| self.follow(member, child, env)),
        });
    }

    /// Each part is evaluated only if those before it do not decide.
    fn follow_sequence(
        &mut self,
        member: &mut Member<'_, '_>,
        parts: &[Expr],
        env: &Env,
        goes_on: fn(s::Expr) -> s::Expr,
    ) {
        let Some((first, rest)) = parts.split_first() else { return };
        self.follow(member, first, env);
        if rest.iter().any(|part| self.applies(part)) {
            let value = member.expr(first, env);
            let then =
                member.block(|member| grow(|| self.follow_sequence(member, rest, env, goes_on)));
            member.emit_plain(branch(goes_on(value), then, Vec::new()));
        }
    }

    /// Does something that is undone afterwards.
    fn aside(&self, member: &mut Member<'_, '_>, mut statements: Vec<s::Stmt>) {
        let choice = member.fresh("aside");
        member.emit_plain(declare(&choice, ty(TypeKind::Bool), None));
        statements.push(inhale(truth(false)));
        member.emit_plain(branch(var(&choice), statements, Vec::new()));
    }

    /// Gives away what an application needs; some field must be left.
    fn application(
        &mut self,
        member: &mut Member<'_, '_>,
        e: &Expr,
        receiver: &Expr,
        function: FunctionId,
        arguments: &[Expr],
        env: &Env,
    ) {
        let callee = &member.program().functions[function];
        let this = member.expr(receiver, env);
        let actuals: Vec<_> = arguments.iter().map(|argument| member.expr(argument, env)).collect();
        let replaced = callee.parameters.iter().copied().zip(actuals).collect();
        let inner = Env { this, replaced: Rc::new(replaced), side: Side::Exhaled, ..env.clone() };
        let statements = member.block(|member| {
            member.span = e.span;
            let needed = needed(member, &callee.requires, &inner);
            let there = needed.iter().map(|part| part.when(lt(none(), perm(part.location.clone()))));
            let decreases = renamed("assert.failed:*", "termination.failed:footprint.not.decreasing");
            let words = said("*", "the function might apply itself without end: what it applies might not need less of the heap");
            member.emit(assert(and(there)).with(decreases.clone()).with(words.clone()));
            let given = needed.iter().filter(|part| part.variables.is_empty()).map(|part| {
                let location = part.location.clone();
                part.when(acc(location.clone(), perm(location)))
            });
            let renaming = renamed("exhale.failed:*", "function.not.wellformed:*");
            member.emit(exhale(and(given)).with(renaming));
            let left = self.owned.iter().map(|(guard, location)| {
                let others = needed.iter().filter_map(|part| part.is_elsewhere(location));
                let is_left = lt(none(), perm(location.clone()));
                and([guard.clone(), is_left].into_iter().chain(others))
            });
            member.emit(assert(or(left)).with(decreases).with(words));
        });
        self.aside(member, statements);
    }
}

/// A location that a precondition asks for.
struct Needed {
    /// When it does, and for which values of the variables.
    guard: s::Expr,
    variables: Vec<s::TypedName>,
    location: s::Expr,
}

impl Needed {
    fn when(&self, claim: s::Expr) -> s::Expr {
        let claim = implies(self.guard.clone(), claim);
        if self.variables.is_empty() { claim } else { forall(self.variables.clone(), [], claim) }
    }

    /// That one of many locations, which cannot be given away one by one, is not this one.
    fn is_elsewhere(&self, other: &s::Expr) -> Option<s::Expr> {
        let parts = |location: &s::Expr| match &location.kind {
            s::ExprKind::Field { receiver, name } => {
                Some(((**receiver).clone(), name.name.clone()))
            }
            _ => None,
        };
        if self.variables.is_empty() {
            return None;
        }
        let ((receiver, field), (other, other_field)) = (parts(&self.location)?, parts(other)?);
        (field == other_field).then(|| self.when(ne(receiver, other)))
    }
}

/// All locations that a precondition asks for.
fn needed(member: &mut Member<'_, '_>, requires: &[Expr], env: &Env) -> Vec<Needed> {
    let mut needed = Vec::new();
    for clause in requires {
        for part in member.parts(clause, env) {
            let Part::Access(access) = part.part else { continue };
            for (location, binder) in member.locations(&access.target, env) {
                let mut guard = part.guard.clone();
                let mut variables =
                    part.binder.as_ref().map(|(all, _)| all.clone()).unwrap_or_default();
                if let Some(each) = binder {
                    guard = and([guard, each.inside]);
                    variables.push(typed(&each.name, ty(TypeKind::Ref)));
                }
                needed.push(Needed { guard, variables, location });
            }
        }
    }
    needed
}

/// An assertion whose amounts are all the abstract read fraction.
fn with_one_fraction(e: &Expr) -> Expr {
    let mut e = e.clone();
    super::classes::weaken(&mut e, &chalice::program::PermissionKind::AbstractRead);
    e
}
