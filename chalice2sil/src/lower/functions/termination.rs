//! Functions that apply each other must work their way down: each such application needs a smaller
//! footprint.
//!
//! For every recursive function there is a method that owns the footprint of the precondition,
//! follows the body, and at each application gives away the footprint of what is applied: some
//! field must be left over. Heaps are finite, so this cannot go on for ever (Leino and Müller 2009,
//! on functions).
//!
//! SOUNDNESS: what counts is which locations and predicates there are, not how much of them. So all
//! amounts are the one fraction of the method; what is opened or given away is opened or given away
//! as a whole, however often it is named; and what is applied may need nothing that is not there as
//! it is, such as a predicate that has been opened.
//!
//! Where functions have measures (`decreases`), these get smaller, and no field has to be left.
//!
//! DIVERGENCE: only applications inside a cycle of functions are checked; the others cannot make a
//! function useless.

use std::rc::Rc;

use chalice::program::{Access, AccessTarget, Decrease, Expr, ExprKind, FunctionId, Reached};
use findings::{ErrorId, Pattern, Reason};
use front::grow_stack;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, named, renamed, said};
use crate::lower::assertions::Part;
use crate::lower::env::{Env, Locks, OldState, ReadAmount, Side};
use crate::lower::{Body, Lowering};

impl Lowering<'_> {
    /// Returns the method that checks the applications in a function's body, if the function is
    /// recursive.
    pub(crate) fn termination(&self, id: FunctionId) -> Option<s::Member> {
        let function = &self.program.functions[id];
        let body = function.body.as_ref()?;
        let cycle = self.recursion.cycle_of(self.program, id);
        if cycle.is_empty() || !self.options.termination {
            return None;
        }
        let mut member = Body::new(self, function.span);
        member.class = Some(function.class);
        // All that is there has the fraction `k`.
        member.opens_any = true;
        let mut formals = vec![typed(&member.fresh("this"), ty(TypeKind::Ref))];
        formals.extend(member.bound(&function.parameters));
        let locks = member.held_formals(id, &mut formals);
        let k = member.fresh("k");
        formals.push(typed(&k, ty(TypeKind::Perm)));
        let env = Env {
            this: var("this"),
            replaced: Rc::default(),
            read: ReadAmount::Fraction(var(&k)),
            old: OldState::Nowhere,
            locks,
            old_locks: Locks::Unknown,
            side: Side::Inhaled,
            then: None,
        };
        let mut check = Footprints { function: id, cycle, owned: Vec::new() };
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
                member.emit(
                    inhale(received).with(renamed(ErrorId::InhaleFailed, ErrorId::NotWellformed)),
                );
                check.own(member, &clause, &env);
            }
            for measure in &function.decreases {
                let value = member.expr(&measure.number, &env);
                let start = member.local(measure.start);
                member.span = measure.number.span;
                member.emit_plain(declare(&start, ty(TypeKind::Int), None));
                let renaming = renamed(ErrorId::AssignmentFailed, ErrorId::NotWellformed);
                member.emit(assign(var(&start), value).with(renaming));
            }
            check.follow(member, body, &env);
        });
        let name = self.names.borrow().terminations[id].clone();
        let method = s::Method { formals, ..s::Method::new(&name).body(statements) };
        let class = &self.program.classes[function.class].name;
        let called = named(&format!("{class}.{} (termination)", function.name));
        Some(member_at(self, method, function.span).with(called).with(member.variables()))
    }
}

fn member_at(lowering: &Lowering<'_>, method: s::Method, span: chalice::Span) -> s::Member {
    crate::build::member(s::MemberKind::Method(method)).with(lowering.at(span))
}

/// The check of one function's body.
struct Footprints {
    /// The function.
    function: FunctionId,
    /// The functions whose applications count.
    cycle: Vec<FunctionId>,
    /// Fields that are in the footprint, each under the condition that it is.
    owned: Vec<(s::Expr, s::Expr)>,
}

impl Footprints {
    /// Notes the fields that an assertion brings.
    fn own(&mut self, member: &mut Body<'_, '_>, assertion: &Expr, env: &Env) {
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
        e.any(&mut |part| matches!(&part.kind, ExprKind::Apply { function, .. } if self.cycle.contains(function)))
    }

    /// Follows an expression, as far as it leads to applications.
    ///
    /// SOUNDNESS: every part is followed, and what the parts are is said by [`Expr::for_each_part`]
    /// alone. A part comes before what it decides, so the value of a condition is used only after
    /// its own applications were checked.
    fn follow(&mut self, member: &mut Body<'_, '_>, e: &Expr, env: &Env) {
        if !self.applies(e) {
            return;
        }
        grow_stack(|| {
            e.for_each_part(&mut |part, reached| self.follow_part(member, part, reached, env));
        });
        if let ExprKind::Apply { receiver, function, arguments } = &e.kind
            && self.cycle.contains(function)
        {
            match member.program().decrease(self.function, *function, (receiver, arguments), e.span)
            {
                Decrease::Footprint => {
                    self.application(member, e, receiver, *function, arguments, env);
                }
                Decrease::Measure(claim) => {
                    let words = "the measure might not get smaller with this application, or might be negative";
                    self.measured(member, e, &claim, (Reason::TupleFalse, words), env);
                }
                Decrease::Missing => {
                    let kind = ExprKind::Bool(false);
                    let claim = Expr { kind, ty: chalice::program::Type::Bool, span: e.span };
                    let words = "of two functions that apply each other, one has a measure and the other has not";
                    let reason = Reason::TerminationConditionFalse;
                    self.measured(member, e, &claim, (reason, words), env);
                }
            }
        }
    }

    /// Follows a part of an expression where it is evaluated.
    fn follow_part(
        &mut self,
        member: &mut Body<'_, '_>,
        part: &Expr,
        reached: Reached<'_>,
        env: &Env,
    ) {
        if !self.applies(part) {
            return;
        }
        let statements = match reached {
            Reached::Always => return self.follow(member, part, env),
            Reached::If(condition, value) => member.block(|member| {
                suppose(member, std::slice::from_ref(condition), value, env);
                self.follow(member, part, env);
            }),
            Reached::Behind(before, value) => member.block(|member| {
                suppose(member, before, value, env);
                self.follow(member, part, env);
            }),
            Reached::Opened(access) => self.opened(member, access, part, env),
            Reached::Each(variables, domain) => member.block(|member| {
                for variable in member.bound(variables) {
                    member.emit_plain(declare(&variable.name.name, variable.ty.clone(), None));
                }
                let (membership, _) = member.membership(variables, domain, env);
                member.emit(inhale(membership).with(not_well_formed()));
                self.follow(member, part, env);
            }),
            // The measure asks for nothing more in another state.
            Reached::Earlier => member.block(|member| {
                member.emit(assert(truth(false)).with(not_decreasing()).with(endless()));
            }),
        };
        self.aside(member, statements);
    }

    /// Follows what is evaluated with a predicate opened.
    fn opened(
        &mut self,
        member: &mut Body<'_, '_>,
        access: &Access,
        body: &Expr,
        env: &Env,
    ) -> Vec<s::Stmt> {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else {
            unreachable!("the resolver lets only predicates be opened")
        };
        let this = member.expr(receiver, env);
        member.block(|member| {
            let instance = member.predicate_at(this.clone(), *predicate);
            // The function itself checks that the predicate is there.
            let renaming = renamed(ErrorId::UnfoldFailed, ErrorId::FunctionNotWellformed);
            member.emit(unfold(acc(instance.clone(), perm(instance))).with(renaming));
            let before = self.owned.len();
            let inner = env.about(this.clone());
            self.own(member, &member.program().predicates[*predicate].body, &inner);
            self.follow(member, body, env);
            self.owned.truncate(before);
        })
    }

    /// Does something that is undone afterwards.
    fn aside(&self, member: &mut Body<'_, '_>, mut statements: Vec<s::Stmt>) {
        let choice = member.fresh("aside");
        member.emit_plain(declare(&choice, ty(TypeKind::Bool), None));
        statements.push(inhale(truth(false)));
        member.emit_plain(branch(var(&choice), statements, Vec::new()));
    }

    /// Shows at an application that the measure gets smaller.
    fn measured(
        &self,
        member: &mut Body<'_, '_>,
        e: &Expr,
        claim: &Expr,
        (reason, words): (Reason, &str),
        env: &Env,
    ) {
        member.span = e.span;
        let claim = member.expr(claim, env);
        let renaming = renamed(
            (ErrorId::AssertFailed, Reason::AssertionFalse),
            (ErrorId::TerminationFailed, reason),
        );
        let undefined = renamed(ErrorId::AssertFailed, ErrorId::FunctionNotWellformed);
        let proof =
            assert(claim).with(renaming).with(undefined).with(said(Reason::AssertionFalse, words));
        let statements = member.block(|member| member.emit(proof));
        self.aside(member, statements);
    }

    /// Gives away what an application needs; some field must be left.
    fn application(
        &mut self,
        member: &mut Body<'_, '_>,
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
            let there =
                needed.iter().map(|part| part.when(lt(none(), perm(part.location.clone()))));
            member.emit(assert(and(there)).with(not_decreasing()).with(endless()));
            let given = needed.iter().filter(|part| part.variables.is_empty()).map(|part| {
                let location = part.location.clone();
                part.when(acc(location.clone(), perm(location)))
            });
            let renaming = renamed(ErrorId::ExhaleFailed, ErrorId::FunctionNotWellformed);
            member.emit(exhale(and(given)).with(renaming));
            let left = self.owned.iter().map(|(guard, location)| {
                let others = needed.iter().filter_map(|part| part.is_elsewhere(location));
                let is_left = lt(none(), perm(location.clone()));
                and([guard.clone(), is_left].into_iter().chain(others))
            });
            member.emit(assert(or(left)).with(not_decreasing()).with(endless()));
        });
        self.aside(member, statements);
    }
}

/// From here on, each of some conditions has a value; that they have one at all is checked with the
/// function itself.
fn suppose(member: &mut Body<'_, '_>, conditions: &[Expr], value: bool, env: &Env) {
    for condition in conditions {
        let condition = member.expr(condition, env);
        let supposed = if value { condition } else { not(condition) };
        member.emit(inhale(supposed).with(not_well_formed()));
    }
}

fn not_well_formed() -> s::Annotation {
    renamed(ErrorId::InhaleFailed, ErrorId::FunctionNotWellformed)
}

fn not_decreasing() -> s::Annotation {
    renamed(ErrorId::AssertFailed, (ErrorId::TerminationFailed, Reason::FootprintNotDecreasing))
}

fn endless() -> s::Annotation {
    said(
        Pattern::ANY,
        "the function might apply itself without end: what it applies might not need less of the heap",
    )
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

    /// Makes the claim that one of many locations, which cannot be given away one by one, is not
    /// this one.
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

/// Returns all locations that a precondition asks for.
fn needed(member: &mut Body<'_, '_>, requires: &[Expr], env: &Env) -> Vec<Needed> {
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

/// Returns an assertion whose amounts are all the abstract read fraction.
fn with_one_fraction(e: &Expr) -> Expr {
    let mut e = e.clone();
    crate::lower::classes::weaken(&mut e, &chalice::program::PermissionKind::AbstractRead);
    e
}
