//! Methods: contract, ghost parameters, and what holds at the ends of the body.

use std::rc::Rc;

use chalice::program::locking::Given;
use chalice::program::{Expr, ExprKind, LocalId, Method, MethodId, Type};
use findings::{ErrorId, Reason};
use rustc_hash::FxHashMap;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, hidden, named, renamed, said};
use super::env::{Env, LockState, Locks, OldState, ReadAmount, Side};
use super::threads::levels::holdings;
use super::{Body, Lowering, Member};
use crate::build::*;
use crate::names::fixed;

/// Ghost parameters for the locks of the thread that runs a method.
pub(crate) struct LockNames {
    pub(crate) held: sil::source::Name,
    pub(crate) read_held: Option<sil::source::Name>,
    pub(crate) levels: sil::source::Name,
    pub(crate) acquired: Option<sil::source::Name>,
    pub(crate) released: Option<sil::source::Name>,
}

impl LockNames {
    pub(crate) fn new(member: &mut Member<'_, '_>, suffix: &str) -> Self {
        let held = member.fresh(&format!("heldMap{suffix}"));
        let read_held = member
            .lowering
            .facts
            .locking
            .has_readers
            .then(|| member.fresh(&format!("rdHeldMap{suffix}")));
        let levels = member.fresh(&format!("muMap{suffix}"));
        let states = &member.lowering.states;
        let (acquired, released) = (states.keeps_acquired(), states.keeps_released());
        Self {
            held,
            read_held,
            levels,
            acquired: acquired.then(|| member.fresh(&format!("acquiredMap{suffix}"))),
            released: released.then(|| member.fresh(&format!("releasedMap{suffix}"))),
        }
    }

    pub(crate) fn state(&self) -> LockState {
        LockState {
            held: var(&self.held),
            read_held: self.read_held.as_ref().map(|name| var(name)),
            levels: var(&self.levels),
            acquired: self.acquired.as_ref().map(|name| var(name)),
            released: self.released.as_ref().map(|name| var(name)),
            credits: None,
            owed_by_callers: None,
        }
    }

    pub(crate) fn declared(&self, lowering: &Lowering<'_>) -> Vec<s::TypedName> {
        let mut all = vec![typed(&self.held, lowering.objects_type())];
        all.extend(self.read_held.as_ref().map(|name| typed(name, lowering.objects_type())));
        all.push(typed(&self.levels, lowering.levels_type()));
        let states = self.acquired.iter().chain(&self.released);
        all.extend(states.map(|name| typed(name, lowering.states_type())));
        all
    }
}

impl LockState {
    /// Returns the state as a list, in the order of the ghost parameters.
    pub(crate) fn values(&self) -> Vec<s::Expr> {
        let mut all = vec![self.held.clone()];
        all.extend(self.read_held.clone());
        all.push(self.levels.clone());
        all.extend(self.acquired.iter().chain(&self.released).cloned());
        all
    }

    /// The same, and the credits, in the order of the parameters of messages that speak of locks.
    pub(crate) fn values_with_credits(&self) -> Vec<s::Expr> {
        let mut all = self.values();
        all.extend(self.credits.clone());
        all
    }
}

impl Lowering<'_> {
    /// Returns a method.
    pub(crate) fn method(&self, id: MethodId) -> s::Member {
        let method = &self.program.methods[id];
        let facts = &self.facts.methods[id];
        let mut member = Body::new(self, method.span);
        member.method = Some(id);
        member.class = Some(method.class);

        let mut formals = vec![typed(&member.fresh("this"), ty(TypeKind::Ref))];
        formals.extend(member.bound(&method.parameters));
        let mut returns = member.bound(&method.results);
        let mut entry_values = FxHashMap::default();
        for &result in &facts.entry_results {
            let local = &self.program.locals[result];
            let name = member.fresh(&format!("{}0", local.name));
            formals.push(typed(&name, self.ty(&local.ty)));
            entry_values.insert(result, var(&name));
        }
        let fraction = facts.read_fraction.then(|| member.fresh_fraction("k", "rd"));
        formals.extend(fraction.iter().map(|name| typed(name, ty(TypeKind::Perm))));
        let has_locks = self.facts.locking.method(id).locks;
        let entry_locks = has_locks.then(|| LockNames::new(&mut member, "0"));
        let locks = has_locks.then(|| LockNames::new(&mut member, ""));
        formals.extend(entry_locks.iter().flat_map(|names| names.declared(self)));
        returns.extend(locks.iter().flat_map(|names| names.declared(self)));

        let state = |names: &Option<LockNames>| match names {
            Some(names) => Locks::State(names.state()),
            None => Locks::Unknown,
        };
        let before = Env {
            this: var("this"),
            replaced: Rc::new(entry_values),
            read: fraction
                .as_ref()
                .map_or(ReadAmount::Common, |name| ReadAmount::Fraction(var(name))),
            old: OldState::Entry,
            locks: state(&entry_locks),
            old_locks: state(&entry_locks),
            side: Side::Both,
            then: None,
        };
        let after = Env { locks: state(&locks), replaced: Rc::default(), ..before.clone() };

        let mut contract = s::Contract::default();
        contract.preconditions.push(receiver_exists(var("this")));
        if let Some(name) = &fraction {
            contract.preconditions.push(self.is_read_fraction(var(name)).with(hidden()));
        }
        contract.preconditions.extend(member.clauses(&method.requires, &before));
        contract.postconditions.extend(member.clauses(&method.ensures, &after));
        if let (Locks::State(old), Locks::State(new)) = (&before.locks, &after.locks) {
            contract.postconditions.extend(member.lock_frame(method, id, old, new, &after));
        }

        let body = member.block(|member| member.method_body(id, method, &before, &after));
        let name = self.names.borrow().methods[id].clone();
        let lowered = s::Method { formals, returns, contract, ..s::Method::new(&name).body(body) };
        let called = format!("{}.{}", self.program.classes[method.class].name, method.name);
        crate::build::member(s::MemberKind::Method(lowered))
            .with(self.at(method.span))
            .with(named(&called))
            .with(member.variables())
    }
}

/// Makes the claim that the receiver of a call is an object.
fn receiver_exists(this: s::Expr) -> s::Expr {
    ne(this, null()).with(said(Reason::AssertionFalse, "the receiver might be null"))
}

impl Member<'_, '_> {
    /// Clauses, without those that say nothing about the state.
    pub(crate) fn clauses(&mut self, clauses: &[Expr], env: &Env) -> Vec<s::Expr> {
        let lowered: Vec<_> = self.in_one_transfer(|member| {
            clauses.iter().map(|clause| member.clause(clause, env)).collect()
        });
        let kept = self.kept_levels(clauses, env);
        lowered.into_iter().filter(|clause| !is_true(clause)).chain(kept).collect()
    }

    /// Makes the claims that the expressions of a lockchange list have values, each at its place:
    /// an error of an expression is told there, and not at the effect of the list.
    pub(crate) fn defined_locks(&mut self, list: &[Expr], env: &Env) -> Vec<s::Expr> {
        let risky = list.iter().filter(|e| !self.is_stable(e, &[])).collect::<Vec<_>>();
        let defined = risky.into_iter().map(|e| {
            self.placed(e.span, |member| {
                let value = member.expr(e, env);
                // A location that cannot be read has two values; that counts once, as ill-formed.
                binary(s::BinaryOp::Implies, eq(value.clone(), value), truth(true))
            })
        });
        defined.collect()
    }

    /// A method leaves the locks as they were, except for those it names.
    fn lock_frame(
        &mut self,
        method: &Method,
        id: MethodId,
        old: &LockState,
        new: &LockState,
        env: &Env,
    ) -> Vec<s::Expr> {
        let at = self.lowering.at(method.span);
        let mut clauses = self.defined_locks(&method.lock_changes, env);
        let changed: Vec<_> = method.lock_changes.iter().map(|e| self.expr(e, env)).collect();
        let unnamed = |claim: s::Expr| {
            claim
                .with(at.clone())
                .with(renamed(
                    (ErrorId::PostconditionViolated, Reason::AssertionFalse),
                    (ErrorId::LockchangeViolated, Reason::ByMethod),
                ))
                .with(said(
                    Reason::AssertionFalse,
                    "the method might lock or unlock more than its lockchange clause allows",
                ))
        };
        clauses.push(unnamed(self.same_locks(old, new, &changed)));
        if self.lowering.facts.locking.method(id).is_forked && !method.lock_changes.is_empty() {
            clauses.push(self.ends_with_nothing(old, new).with(at.clone()));
        }
        if !self.lowering.facts.locking.method(id).may_relevel {
            let releveled = self.releveled(id, env);
            let levels = self
                .same_levels(old, new, &[changed.clone(), releveled].concat())
                .with(at.clone())
                .with(renamed((ErrorId::PostconditionViolated, Reason::AssertionFalse), (ErrorId::LockchangeViolated, Reason::ByMethod)))
                .with(said(Reason::AssertionFalse, "the method might change the level of an object that its lockchange clause does not name"));
            clauses.push(levels);
        }
        if !self.lowering.facts.locking.method(id).may_unlock {
            // Nothing is left that is held: the states in which it was acquired are the same,
            // unless something is held that was not.
            let states = self.same_states(old, new, &changed);
            if !is_true(&states) {
                clauses.push(unnamed(states));
            }
        }
        clauses
    }

    /// Makes the claim that a method that starts with nothing held ends so, as a forked method has
    /// to.
    ///
    /// SOUNDNESS: nobody else can release what a thread holds, so once it has ended, whoever
    /// acquires that waits for ever.
    fn ends_with_nothing(&mut self, old: &LockState, new: &LockState) -> s::Expr {
        let name = self.bound_name("o");
        let holds_nothing = |locks: &LockState| {
            let held = holdings(locks, &var(&name)).into_iter();
            and(held.map(|held| forall_ref(&name, vec![held.clone()], not(held))))
        };
        implies(holds_nothing(old), holds_nothing(new))
            .with(renamed(
                (ErrorId::PostconditionViolated, Reason::AssertionFalse),
                (ErrorId::LockchangeViolated, Reason::ByThread),
            ))
            .with(said(
                Reason::AssertionFalse,
                "the method is forked, and its thread might end with a lock held",
            ))
    }

    /// Lists the given objects to which a method may give another level.
    pub(crate) fn releveled(&mut self, id: MethodId, env: &Env) -> Vec<s::Expr> {
        let given = &self.lowering.facts.locking.method(id).relevels;
        let value = |given: &Given| match given {
            Given::This => env.this.clone(),
            Given::Parameter(local) => self.variable(*local, env),
        };
        given.iter().map(value).collect()
    }

    /// Makes the claim that the same objects are held before and after, except for those in
    /// `changed`.
    pub(crate) fn same_locks(
        &mut self,
        old: &LockState,
        new: &LockState,
        changed: &[s::Expr],
    ) -> s::Expr {
        let pairs =
            [(Some(&old.held), Some(&new.held)), (old.read_held.as_ref(), new.read_held.as_ref())];
        let pairs = pairs.into_iter().filter_map(|(old, new)| Some((old?, new?)));
        if changed.is_empty() {
            return and(pairs.map(|(old, new)| eq(new.clone(), old.clone())).collect::<Vec<_>>());
        }
        let name = self.bound_name("o");
        let o = var(&name);
        let unlisted = and(changed.iter().map(|e| ne(o.clone(), e.clone())).collect::<Vec<_>>());
        let same = pairs.map(|(old, new)| {
            let (before, after) = (contains(old, &o), contains(new, &o));
            let same = binary(s::BinaryOp::Iff, after.clone(), before.clone());
            forall_ref(&name, vec![after, before], implies(unlisted.clone(), same))
        });
        and(same.collect::<Vec<_>>())
    }

    /// Makes the claim that the recorded states are the same, apart from those of newly acquired
    /// objects.
    pub(crate) fn same_states(
        &mut self,
        old: &LockState,
        new: &LockState,
        changed: &[s::Expr],
    ) -> s::Expr {
        let mut same = Vec::new();
        if let (Some(old), Some(new)) = (&old.released, &new.released) {
            same.push(eq(new.clone(), old.clone()));
        }
        if let (Some(old), Some(new)) = (&old.acquired, &new.acquired) {
            let name = self.bound_name("o");
            let o = var(&name);
            let unlisted = and(changed.iter().map(|e| ne(o.clone(), e.clone())));
            let (before, after) =
                (self.lowering.state_at(old, &o), self.lowering.state_at(new, &o));
            let unchanged = implies(unlisted, eq(after.clone(), before));
            same.push(forall_ref(&name, vec![after], unchanged));
        }
        and(same)
    }

    /// Makes the claim that objects held before and after have the same level, except for those in
    /// `changed`.
    pub(crate) fn same_levels(
        &mut self,
        old: &LockState,
        new: &LockState,
        changed: &[s::Expr],
    ) -> s::Expr {
        let name = self.bound_name("o");
        let o = var(&name);
        let (before, after) = (
            self.lowering.level_at(old.levels.clone(), o.clone()),
            self.lowering.level_at(new.levels.clone(), o.clone()),
        );
        let mut conditions: Vec<_> = changed.iter().map(|e| ne(o.clone(), e.clone())).collect();
        conditions.push(self.lowering.is_held(old, &o));
        conditions.push(self.lowering.is_held(new, &o));
        forall_ref(&name, vec![after.clone()], implies(and(conditions), eq(after, before)))
    }

    /// Different objects that a thread holds have different levels.
    pub(crate) fn different_levels(&mut self, locks: &LockState) -> s::Expr {
        let (first, second) = (self.bound_name("o"), self.bound_name("p"));
        let (o, p) = (var(&first), var(&second));
        let level = |object: &s::Expr| self.lowering.level_at(locks.levels.clone(), object.clone());
        let (o_held, p_held) = (self.lowering.is_held(locks, &o), self.lowering.is_held(locks, &p));
        let differ =
            implies(and([o_held, p_held, ne(o.clone(), p.clone())]), ne(level(&o), level(&p)));
        let object = || ty(TypeKind::Ref);
        quantified(
            s::Quantifier::Forall,
            vec![typed(&first, object()), typed(&second, object())],
            vec![vec![level(&o), level(&p)]],
            differ,
        )
    }

    /// Does the body choose or mention read fractions, though the contract does not?
    fn needs_fraction(&self, method: &Method) -> bool {
        use chalice::program::{PermissionKind, StmtKind};
        let mut needs = false;
        crate::walk::each_expr_in_block(&method.body, &mut |e| {
            if let Some(access) = crate::walk::access_of(e) {
                access.amount.for_each_amount(&mut |amount| {
                    needs |= matches!(amount, PermissionKind::AbstractRead);
                });
            }
        });
        crate::walk::each_stmt(&method.body, &mut |stmt| match &stmt.kind {
            StmtKind::Call { method, .. } | StmtKind::Fork { method, .. } => {
                needs |= self.lowering.facts.methods[*method].read_fraction;
            }
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                needs |= matches!(access.amount.kind, PermissionKind::AbstractRead);
            }
            _ => {}
        });
        needs
    }

    /// Makes the claim about a variable's value that follows from its type.
    pub(crate) fn local_class(&mut self, local: LocalId) -> s::Expr {
        let ty = self.program().locals[local].ty.clone();
        let value = var(&self.local(local));
        self.has_class(&value, &ty, false)
    }

    /// `value == null || typeOf(value) == C`, or nothing if the type is no class.
    pub(crate) fn has_class(&self, value: &s::Expr, ty: &Type, exists: bool) -> s::Expr {
        let Type::Class(class) = ty else { return truth(true) };
        if self.program().classes.len() < 2 {
            return truth(true);
        }
        self.lowering.used.borrow_mut().classes = true;
        let class = call(&self.lowering.class_constant(*class), Vec::new());
        let fits = eq(call(fixed::TYPE_OF, vec![value.clone()]), class);
        if exists { fits } else { or(vec![eq(value.clone(), null()), fits]) }
    }

    /// Is `e` a term that can be written twice and means the same after other variables are
    /// assigned?
    pub(crate) fn is_stable(&self, e: &Expr, assigned: &[LocalId]) -> bool {
        match &e.kind {
            ExprKind::This | ExprKind::Null | ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Local(local) => !assigned.contains(local),
            _ => false,
        }
    }
}

impl Body<'_, '_> {
    fn method_body(&mut self, id: MethodId, method: &Method, before: &Env, after: &Env) {
        let facts = self.lowering.facts.methods[id].clone();
        let mut env = after.clone();
        for result in &facts.entry_results {
            let name = self.local(*result);
            self.emit_plain(assign(var(&name), before.replaced[result].clone()));
        }
        if let (Locks::State(old), Locks::State(new)) = (&before.locks, &after.locks) {
            for (new, old) in new.values().into_iter().zip(old.values()) {
                self.emit_plain(assign(new, old));
            }
            self.assume_classes(method);
            let locking = &self.lowering.facts.locking;
            if method.requires.iter().any(|clause| locking.mentions_holds(clause)) {
                let different = self.different_levels(old);
                self.emit_plain(inhale(different));
            }
        }
        if !facts.read_fraction && self.needs_fraction(method) {
            let k = self.fresh_fraction("k", "rd");
            self.emit_plain(declare(&k, ty(TypeKind::Perm), None));
            let small = self.lowering.is_read_fraction(var(&k));
            self.emit_plain(inhale(small));
            env.read = ReadAmount::Fraction(var(&k));
        }
        if let Locks::State(locks) = &env.locks {
            self.remember_states(id, locks);
        }
        if facts.credits {
            let credits = self.fresh("credits");
            let none = call(fixed::NO_CREDITS, Vec::new());
            let ty = self.lowering.credits_type();
            self.emit_plain(declare(&credits, ty, Some(none)));
            if let Locks::State(locks) = &mut env.locks {
                locks.credits = Some(var(&credits));
            }
            self.credits = Some(credits);
            for clause in &method.requires {
                self.move_credits(clause, &env.on(Side::Inhaled), s::BinaryOp::Add);
            }
            self.keep_entry_credits(method, &mut env);
        }
        self.bound_all_counts(&method.requires, &env);
        let options = self.lowering.options;
        if options.defaults > 0 {
            self.open_own_predicates(&method.requires, &env);
        }
        self.statements(&method.body, &env.on(Side::Asserted));
        if options.defaults > 0 {
            self.close_own_predicates(&method.ensures, &env);
        }
        self.bound_all_counts(&method.ensures, &env);
        if options.check_leaks {
            self.span = method.span;
            let words = "the method might leak permission";
            self.check_leaks(&method.ensures, &env, (ErrorId::LeakFailed, Reason::ByMethod), words);
        }
        if facts.credits {
            self.span = method.span;
            if self.lowering.facts.locking.method(id).is_forked {
                self.check_no_debt_in_token(&method.ensures, &env.on(Side::Exhaled));
            }
            for clause in &method.ensures {
                self.move_credits(clause, &env.on(Side::Exhaled), s::BinaryOp::Sub);
            }
            self.check_debt(
                (ErrorId::DebtFailed, Reason::ByMethod),
                "the method must not leave a debt",
            );
        }
    }

    /// Keeps the credits with which a method starts, if its body compares with the wait level that
    /// it started with.
    fn keep_entry_credits(&mut self, method: &Method, env: &mut Env) {
        let mut looks_back = false;
        crate::walk::each_expr_in_block(&method.body, &mut |e| {
            looks_back |= matches!(&e.kind, ExprKind::Old(body)
                if body.any(&mut |part| matches!(part.kind, ExprKind::WaitLevel)));
        });
        if let (true, Some(credits), Locks::State(entry)) =
            (looks_back, self.credits.clone(), &mut env.old_locks)
        {
            let name = self.fresh("creditsAtEntry");
            let ty = self.lowering.credits_type();
            self.emit_plain(declare(&name, ty, Some(var(&credits))));
            entry.credits = Some(var(&name));
        }
    }

    /// In the text without a place of its own: it cannot fail.
    pub(crate) fn emit_plain(&mut self, stmt: s::Stmt) {
        self.out.push(stmt);
    }

    /// Objects of different classes are different; only locks can tell.
    fn assume_classes(&mut self, method: &Method) {
        if self.program().classes.len() < 2 {
            return;
        }
        let mut facts = vec![self.has_class(&var("this"), &Type::Class(method.class), true)];
        for &parameter in &method.parameters {
            facts.push(self.local_class(parameter));
        }
        let facts = and(facts);
        if !is_true(&facts) {
            self.emit_plain(inhale(facts));
        }
    }

    /// Returns the environment of another method's contract: its receiver and parameters are given
    /// expressions. Results that its precondition mentions are arbitrary values.
    pub(crate) fn callee_env(
        &mut self,
        env: &Env,
        method: MethodId,
        this: s::Expr,
        arguments: Vec<s::Expr>,
        read: ReadAmount,
    ) -> Env {
        let parameters = &self.program().methods[method].parameters;
        let mut replaced: FxHashMap<_, _> = parameters.iter().copied().zip(arguments).collect();
        for &result in &self.lowering.facts.methods[method].entry_results {
            let name = self.havocked(result);
            replaced.insert(result, var(&name));
        }
        Env { this, replaced: Rc::new(replaced), read, side: Side::Exhaled, ..env.clone() }
    }

    /// Returns the value of `e` as a term that can be repeated later: a literal, an unchanged
    /// variable or a new variable.
    pub(crate) fn saved(
        &mut self,
        e: &Expr,
        wanted: &str,
        assigned: &[LocalId],
        env: &Env,
    ) -> s::Expr {
        let value = self.expr(e, env);
        if self.is_stable(e, assigned) {
            return value;
        }
        let name = self.fresh(wanted);
        let ty = self.lowering.ty(&e.ty);
        self.emit_declared(&name, ty, value);
        var(&name)
    }
}
