//! Calls, and the read fractions chosen for them.

use chalice::program::{
    Access, AccessTarget, Expr, ExprKind, FieldRef, LocalId, MethodId, OutVariable, PermissionKind,
};
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::Member;
use super::annotations::{Annotate, renamed, said, unplaced};
use super::assertions::{Binder, Guarded, Part, mentions_wait_level, under};
use super::env::{Env, Locks, OldState, ReadAmount, Side};
use super::expressions::may_trigger;
use super::methods::LockNames;
use super::stars::has_star;
use crate::build::*;

impl Member<'_, '_> {
    /// `call outs := receiver.method(arguments)`
    pub(crate) fn call(
        &mut self,
        outs: &[OutVariable],
        receiver: &Expr,
        method: MethodId,
        arguments: &[Expr],
        env: &Env,
    ) {
        let facts = self.lowering.facts.methods[method].clone();
        let callee = &self.program().methods[method];
        let assigned: Vec<LocalId> = outs.iter().map(|out| out.local).collect();
        let looks_at_debts =
            self.credits.is_some() && callee.requires.iter().any(mentions_wait_level);
        let gives_stars = self.lowering.facts.counting && callee.requires.iter().any(has_star);
        let looks_back = (facts.credits || self.lowering.facts.counting)
            && callee.ensures.iter().any(mentions_old);
        let needs_terms =
            facts.read_fraction || facts.credits || looks_at_debts || gives_stars || looks_back;
        let this;
        let mut actuals;
        if needs_terms {
            this = self.saved(receiver, "receiver", &assigned, env);
            actuals = self.saved_all(arguments, &callee.parameters, &assigned, env);
        } else {
            this = self.expr(receiver, env);
            actuals = arguments.iter().map(|argument| self.expr(argument, env)).collect();
        }
        let contract_env =
            self.callee_env(env, method, this.clone(), actuals.clone(), env.read.clone());
        actuals.insert(0, this);
        actuals
            .extend(facts.entry_results.iter().map(|result| contract_env.replaced[result].clone()));
        if facts.read_fraction {
            let k = self.read_fraction(&callee.requires, &contract_env, env, "call.precondition");
            actuals.push(var(&k));
        }
        for clause in &callee.requires {
            self.bound_counts(clause, &contract_env);
        }
        if facts.credits || looks_at_debts {
            self.give_credits(&callee.requires, &contract_env);
        }
        let left = if gives_stars {
            self.left_stars(&callee.requires, &contract_env, "call.precondition")
        } else {
            Vec::new()
        };
        let mut targets = self.call_targets(outs, method);
        let results = targets.clone();
        if let (true, Locks::State(locks)) = (facts.locks, &env.locks) {
            actuals.extend(locks.values());
            targets.extend(locks.values());
        }
        let entry = looks_back.then(|| self.entry_of_call(env, facts.locks));
        let name = self.lowering.names.borrow().methods[method].clone();
        self.emit(call_method(targets, &name, actuals));
        self.note_left_stars(left);
        let is_releveled = facts.may_relevel || !facts.relevels.is_empty();
        if facts.locks && (is_releveled || !callee.lock_changes.is_empty()) {
            self.recall_levels(env);
        }
        let mut after = with_results(contract_env, &callee.results, &results).on(Side::Inhaled);
        if let Some((label, locks)) = entry {
            (after.old, after.old_locks) = (OldState::Label(label), locks);
        }
        if needs_terms || self.lowering.facts.counting {
            for clause in &callee.ensures {
                self.bound_counts(clause, &after);
            }
        }
        if facts.credits {
            for clause in &callee.ensures {
                self.move_credits(clause, &after, s::BinaryOp::Add);
            }
        }
    }

    /// What `old` means in the postcondition of a call that comes next: a label of the present state, and the locks held
    /// in it, which the call may change.
    fn entry_of_call(&mut self, env: &Env, changes_locks: bool) -> (Name, Locks) {
        let name = self.fresh("before_call");
        self.emit_plain(label(&name));
        let mut locks = env.locks.clone();
        if let (Locks::State(present), true) = (&mut locks, changes_locks) {
            let saved = LockNames::new(self, "_before");
            let declared = saved.declared(self.lowering);
            for (variable, value) in declared.into_iter().zip(present.values()) {
                self.emit_plain(declare(&variable.name.name, variable.ty, Some(value)));
            }
            *present = saved.state();
        }
        (name, locks)
    }

    /// Gives the credits of a precondition, and checks what it says of the wait level: channels that the caller owes a
    /// message count for that, of which the callee's contract cannot speak.
    ///
    /// SOUNDNESS: what the caller still owes is open while the callee runs. So what is claimed of the wait level has to
    /// hold when all credits have been given, too, and not only where it stands.
    fn give_credits(&mut self, requires: &[Expr], contract: &Env) {
        if self.credits.is_none() {
            return;
        }
        let mut claims = Vec::new();
        for clause in requires {
            for part in self.parts(clause, contract) {
                match part.part {
                    Part::WaitLevel(e) => {
                        let claim = self.claim_with_debts(e, &part, contract);
                        self.check_with_debts(claim.clone());
                        claims.push((claim, false));
                    }
                    Part::Credit { .. } => {
                        self.move_credit(part, contract, s::BinaryOp::Sub);
                        claims.iter_mut().for_each(|(_, is_early)| *is_early = true);
                    }
                    Part::Access(_) => {}
                }
            }
        }
        for (claim, _) in claims.into_iter().filter(|(_, is_early)| *is_early) {
            self.check_with_debts(claim);
        }
    }

    /// A claim about the wait level, where it makes sense and holds without debts: that it does is checked by the call,
    /// after what stands in front of it.
    fn claim_with_debts(&mut self, e: &Expr, part: &Guarded<'_>, contract: &Env) -> s::Expr {
        let without = contract.without_debts();
        let owed = self.assertion(e, contract);
        let claim = implies(self.assertion(e, &without), owed);
        let claim = match self.definedness(e, &without) {
            Some(defined) => implies(defined, claim),
            None => claim,
        };
        let claim = part.when(claim);
        match (&part.defined, &part.binder) {
            (Some(defined), None) => implies(defined.clone(), claim),
            _ => claim,
        }
    }

    fn check_with_debts(&mut self, claim: s::Expr) {
        let words = "what the precondition says of waitlevel might not hold: channels that are owed a message count";
        self.emit(
            assert(unplaced(claim))
                .with(renamed("assert.failed:*", "call.precondition:*"))
                .with(said("*:assertion.false", words)),
        );
    }

    /// Arguments as terms that can be repeated.
    pub(crate) fn saved_all(
        &mut self,
        arguments: &[Expr],
        parameters: &[LocalId],
        assigned: &[LocalId],
        env: &Env,
    ) -> Vec<s::Expr> {
        arguments
            .iter()
            .zip(parameters)
            .map(|(argument, &parameter)| {
                let wanted = self.program().locals[parameter].name.clone();
                self.saved(argument, &wanted, assigned, env)
            })
            .collect()
    }

    /// The variables that take the results; made up if the program does not want them.
    fn call_targets(&mut self, outs: &[OutVariable], method: MethodId) -> Vec<s::Expr> {
        if outs.is_empty() {
            let results = &self.program().methods[method].results;
            return results.iter().map(|&result| var(&self.havocked(result))).collect();
        }
        self.declare_outs(outs);
        outs.iter().map(|out| var(&self.local(out.local))).collect()
    }

    /// Declares the variables that a statement introduces.
    pub(crate) fn declare_outs(&mut self, outs: &[OutVariable]) {
        for out in outs.iter().filter(|out| out.declares) {
            let ty = self.lowering.ty(&self.program().locals[out.local].ty);
            let name = self.local(out.local);
            self.emit_plain(declare(&name, ty, None));
        }
    }

    /// A new variable of arbitrary value, of the type and with the name of `like`.
    pub(crate) fn havocked(&mut self, like: LocalId) -> Name {
        let local = &self.program().locals[like];
        let name = self.fresh(&local.name);
        let ty = self.lowering.ty(&local.ty);
        self.emit_plain(declare(&name, ty, None));
        name
    }

    /// Chooses the read fraction of a contract that is about to be given: smaller than a thousandth of the fraction of
    /// the surroundings, and than what is held of every location that the contract wants to read, shared among its
    /// `n` occurrences of `rd`.
    ///
    /// SOUNDNESS: every bound is an upper bound by a positive amount, so some fraction satisfies all of them.
    /// COMPLETENESS: `n` occurrences fit even if they all speak of one location; exact amounts beside them fit as the
    /// fraction is far below the caller's own.
    pub(crate) fn read_fraction(
        &mut self,
        contract: &[Expr],
        contract_env: &Env,
        env: &Env,
        kind: &str,
    ) -> Name {
        let wanted = if kind.starts_with("invariant") { "k_loop" } else { "k_call" };
        let k = self.smaller_fraction(wanted, env);
        let is_read = |amount: &PermissionKind| matches!(amount, PermissionKind::AbstractRead);
        let bounds = self.fraction_bounds(&var(&k), contract, contract_env, is_read);
        self.emit_bounds(bounds, kind);
        k
    }

    /// Chooses the read fraction of `fold` or `unfold` if it is written with one: that of the surroundings if so much
    /// and more is there, else a smaller one that leaves something of what it is taken from, as a call's does.
    ///
    /// SOUNDNESS: how much is folded or unfolded is the verifier's choice.
    pub(crate) fn traded_fraction(
        &mut self,
        access: &Access,
        wanted: &[Expr],
        contract_env: &Env,
        env: &Env,
        kind: &str,
    ) -> Env {
        if !matches!(access.amount.kind, PermissionKind::AbstractRead) {
            return env.clone();
        }
        let k = self.fresh("k_part");
        self.emit_plain(declare(&k, ty(TypeKind::Perm), None));
        let smaller = self.is_smaller_fraction(&k, env);
        let choice = match &env.read {
            ReadAmount::Fraction(outer) => {
                let is_read = |_: &PermissionKind| true;
                let enough = self.fraction_bounds(outer, wanted, contract_env, is_read);
                let enough = enough.into_iter().map(|bound| bound.when(|_, enough| enough));
                conditional(and(enough), eq(var(&k), outer.clone()), smaller)
            }
            _ => smaller,
        };
        self.emit(inhale(choice).with(renamed("inhale.failed:*", &format!("{kind}:*"))));
        // A fraction of a fraction is one.
        let product = mul(var(&k), self.lowering.common_fraction());
        if let Some(above) = self.lowering.above_counting(product) {
            self.emit_plain(inhale(above));
        }
        let bounds = self.fraction_bounds(&var(&k), wanted, contract_env, |_| true);
        self.emit_bounds(bounds, kind);
        Env { read: ReadAmount::Fraction(var(&k)), ..env.clone() }
    }

    /// A new fraction, positive and smaller than a thousandth of that of the surroundings.
    fn smaller_fraction(&mut self, wanted: &str, env: &Env) -> Name {
        let k = self.fresh(wanted);
        self.emit_plain(declare(&k, ty(TypeKind::Perm), None));
        let smaller = self.is_smaller_fraction(&k, env);
        self.emit_plain(inhale(smaller));
        k
    }

    fn is_smaller_fraction(&self, k: &str, env: &Env) -> s::Expr {
        let outer = match &env.read {
            ReadAmount::Fraction(outer) => outer.clone(),
            _ => binary(s::BinaryOp::Div, int(1), int(100)),
        };
        let mut bounds = vec![lt(none(), var(k)), lt(mul(int(1000), var(k)), outer)];
        bounds.extend(self.lowering.above_counting(var(k)));
        and(bounds)
    }

    fn emit_bounds(&mut self, bounds: Vec<FractionBound>, kind: &str) {
        for bound in bounds {
            // SOUNDNESS: where only nothing, or counting permissions, are held, no fraction is below that.
            let claim = bound.when(implies);
            let renaming = renamed("inhale.failed:*", &format!("{kind}:*"));
            self.emit(inhale(claim).with(renaming));
        }
    }

    /// What is held of the locations of `contract` whose amounts satisfy `counts`, and that the shares of it that have
    /// the fraction `k` leave something, even if they are all of one location.
    fn fraction_bounds(
        &mut self,
        k: &s::Expr,
        contract: &[Expr],
        contract_env: &Env,
        counts: impl Fn(&PermissionKind) -> bool,
    ) -> Vec<FractionBound> {
        let contract_env = Env { side: Side::Exhaled, ..contract_env.clone() };
        let parts: Vec<_> = contract
            .iter()
            .flat_map(|clause| self.parts(clause, &contract_env))
            .filter_map(|part| match part.part {
                Part::Access(access) if counts(&access.amount.kind) => Some((part, access)),
                _ => None,
            })
            .collect();
        // Counting permissions alone are less than any fraction; what is left is a fraction, too.
        let least = self.lowering.least_fraction();
        let share = |amount: s::Expr| {
            let shares = match parts.len() {
                1 => amount,
                several => mul(int(several), amount),
            };
            if self.lowering.facts.counting {
                binary(s::BinaryOp::Add, shares, least.clone())
            } else {
                shares
            }
        };
        let mut bounds = Vec::new();
        for (part, access) in &parts {
            // Of what a predicate contains, a share is taken.
            let is_common = matches!(contract_env.read, ReadAmount::Common);
            let amount = match &access.amount.kind {
                PermissionKind::AbstractRead if is_common => {
                    mul(k.clone(), self.lowering.common_fraction())
                }
                _ => k.clone(),
            };
            for (location, binder) in self.locations(&access.target, &contract_env) {
                let mut variables = part.binder.clone();
                let mut guard = part.guard.clone();
                if let Some(each) = binder {
                    guard = and([guard, each.inside]);
                    // A trigger mentions all variables: with others around it, none is known.
                    let triggers = match variables {
                        None => each.triggers.into_iter().map(|trigger| vec![trigger]).collect(),
                        Some(_) => Vec::new(),
                    };
                    let (mut all, _) = variables.unwrap_or_default();
                    all.push(typed(&each.name, ty(TypeKind::Ref)));
                    variables = Some((all, triggers));
                }
                bounds.push(FractionBound {
                    guard,
                    binder: variables,
                    held: lt(least.clone(), perm(location.clone())),
                    enough: lt(share(amount.clone()), perm(location)),
                });
            }
        }
        bounds
    }

    /// However many counting permissions an assertion speaks of, they are less than any fraction.
    ///
    /// SOUNDNESS: an upper bound on one counting permission; an execution counts finitely often, so some amount is
    /// below all bounds. Numbers that are written out are covered by an axiom.
    pub(crate) fn bound_counts(&mut self, clause: &Expr, env: &Env) {
        let mut counts = Vec::new();
        for part in self.parts(clause, env) {
            let Part::Access(access) = part.part else { continue };
            if part.binder.is_some() {
                continue;
            }
            let mut found = Vec::new();
            access.amount.for_each_amount(&mut |amount| {
                if let PermissionKind::Epsilons(count) = amount
                    && !matches!(count.kind, chalice::program::ExprKind::Int(_))
                {
                    found.push(&**count);
                }
            });
            for count in found {
                let Some(defined) = self.definedness(count, env) else { continue };
                let count = self.expr(count, env);
                let one = self.lowering.counting_fraction();
                let total = mul(count.clone(), one.clone());
                let small = lt(mul(int(1000), total.clone()), self.lowering.least_fraction());
                // A consequence of arithmetic that solvers do not see, as the product is of two unknowns.
                let ordered = implies(le(int(1), count), le(one, total));
                counts.push(implies(and([part.guard.clone(), defined]), and([small, ordered])));
            }
        }
        for bound in counts {
            self.emit_plain(inhale(bound));
        }
    }

    /// A quantifier over the elements of a collection: once an object, however often it occurs.
    pub(crate) fn each_of(&mut self, elements: &Expr, env: &Env) -> EachElement {
        let name = self.bound_name("r");
        let inside = contains(&self.expr(elements, env), &var(&name));
        let triggers = if may_trigger(elements) { vec![inside.clone()] } else { Vec::new() };
        EachElement { name, inside, triggers }
    }

    /// The locations of an accessibility assertion, each with the quantifier it needs.
    pub(crate) fn locations(
        &mut self,
        target: &AccessTarget,
        env: &Env,
    ) -> Vec<(s::Expr, Option<EachElement>)> {
        match target {
            AccessTarget::Field { receiver, field } => {
                let receiver = self.expr(receiver, env);
                vec![(self.field_of(receiver, *field), None)]
            }
            AccessTarget::Predicate { receiver, predicate } => {
                let receiver = self.expr(receiver, env);
                vec![(self.predicate_at(receiver, *predicate), None)]
            }
            AccessTarget::AllFields { receiver, class } => {
                let receiver = self.expr(receiver, env);
                let fields = self.program().classes[*class].fields();
                fields
                    .map(|id| (self.field_of(receiver.clone(), FieldRef::Declared(id)), None))
                    .collect()
            }
            AccessTarget::ElementsField { elements, field } => {
                let each = self.each_of(elements, env);
                vec![(self.field_of(var(&each.name), *field), Some(each))]
            }
            AccessTarget::ElementsAllFields { elements, class } => {
                let each = self.each_of(elements, env);
                let fields = self.program().classes[*class].fields();
                fields
                    .map(|id| {
                        let location = self.field_of(var(&each.name), FieldRef::Declared(id));
                        (location, Some(each.clone()))
                    })
                    .collect()
            }
            AccessTarget::BackPointers { receiver, field, .. } => {
                let receiver = self.expr(receiver, env);
                vec![(self.pointers_to(receiver, *field), None)]
            }
        }
    }
}

/// The quantifier of a location of every element of a collection: `forall name: Ref :: {triggers} inside ==> ..`
#[derive(Clone)]
pub(crate) struct EachElement {
    pub(crate) name: Name,
    /// That the object is an element.
    pub(crate) inside: s::Expr,
    /// None where the collection is a term that no trigger may contain.
    triggers: Vec<s::Expr>,
}

impl EachElement {
    /// `claim`, of every element.
    pub(crate) fn satisfies(&self, claim: s::Expr) -> s::Expr {
        forall_ref(&self.name, self.triggers.clone(), implies(self.inside.clone(), claim))
    }
}

/// An upper bound of a fraction by what is held of a location.
struct FractionBound {
    /// When the location counts, and for which values of the variables.
    guard: s::Expr,
    binder: Option<Binder>,
    /// Some fraction of it is held.
    held: s::Expr,
    /// More is held than is taken.
    enough: s::Expr,
}

impl FractionBound {
    fn when(self, claim: impl FnOnce(s::Expr, s::Expr) -> s::Expr) -> s::Expr {
        under(self.guard, self.binder, claim(self.held, self.enough))
    }
}

/// Does a postcondition speak of the state before?
fn mentions_old(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, ExprKind::Old(_)))
}

/// The same, with results standing for given expressions.
pub(crate) fn with_results(env: Env, results: &[LocalId], values: &[s::Expr]) -> Env {
    let mut replaced = (*env.replaced).clone();
    replaced.extend(results.iter().copied().zip(values.iter().cloned()));
    Env { replaced: std::rc::Rc::new(replaced), ..env }
}
