//! Calls, and the locations that contracts speak of.

use chalice::program::locking::mentions_wait_level;
use chalice::program::{
    AccessTarget, Expr, FieldRef, LocalId, MethodId, OutVariable, PermissionKind,
};
use findings::{ErrorId, Reason};
use sil::source::Name;
use sil::syntax as s;

use super::annotations::{Annotate, renamed, said, unplaced};
use super::assertions::{Guarded, Part};
use super::env::{Env, Locks, OldState, Side};
use super::expressions::may_trigger;
use super::methods::LockNames;
use super::permissions::stars::{Given, has_star};
use super::{Body, Member};
use crate::build::*;

impl Body<'_, '_> {
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
        let locking = self.lowering.facts.locking.method(method);
        let callee = &self.program().methods[method];
        let assigned: Vec<LocalId> = outs.iter().map(|out| out.local).collect();
        let looks_at_debts =
            self.credits.is_some() && callee.requires.iter().any(mentions_wait_level);
        let gives_stars = self.lowering.facts.counting && callee.requires.iter().any(has_star);
        let looks_back = (facts.credits || self.lowering.facts.counting)
            && callee.ensures.iter().any(Expr::looks_back);
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
            let k =
                self.read_fraction(&callee.requires, &contract_env, env, ErrorId::CallPrecondition);
            actuals.push(var(&k));
        }
        self.bound_all_counts(&callee.requires, &contract_env);
        if facts.credits || looks_at_debts {
            self.give_credits(&callee.requires, &contract_env);
        }
        let left = if gives_stars {
            self.left_stars(
                &callee.requires,
                &contract_env,
                Given::InContract,
                ErrorId::CallPrecondition,
            )
        } else {
            Vec::new()
        };
        let mut targets = self.call_targets(outs, method);
        let results = targets.clone();
        if let (true, Locks::State(locks)) = (locking.locks, &env.locks) {
            actuals.extend(locks.values());
            targets.extend(locks.values());
        }
        let entry = looks_back.then(|| self.entry_of_call(env, locking.locks));
        let name = self.lowering.names.borrow().methods[method].clone();
        self.emit(call_method(targets, &name, actuals));
        self.note_left_stars(left);
        let is_releveled = locking.may_relevel || !locking.relevels.is_empty();
        if locking.locks && (is_releveled || !callee.lock_changes.is_empty()) {
            self.recall_levels(env);
        }
        let mut after = with_results(contract_env, &callee.results, &results).on(Side::Inhaled);
        if let Some((label, locks)) = entry {
            (after.old, after.old_locks) = (OldState::Label(label), locks);
        }
        if needs_terms || self.lowering.facts.counting {
            self.bound_all_counts(&callee.ensures, &after);
        }
        if facts.credits {
            for clause in &callee.ensures {
                self.move_credits(clause, &after, s::BinaryOp::Add);
            }
        }
    }

    /// Makes the old state of the next call: a label of the present state, and the locks held in
    /// it, which the call may change.
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

    /// Gives the credits of a precondition, and checks what it says of the wait level: channels
    /// that the caller owes a message count for that, of which the callee's contract cannot speak.
    ///
    /// SOUNDNESS: what the caller still owes is open while the callee runs. So what is claimed of
    /// the wait level has to hold when all credits have been given, too, and not only where it
    /// stands.
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

    fn check_with_debts(&mut self, claim: s::Expr) {
        let words = "what the precondition says of waitlevel might not hold: channels that are owed a message count";
        self.emit(
            assert(unplaced(claim))
                .with(renamed(ErrorId::AssertFailed, ErrorId::CallPrecondition))
                .with(said(Reason::AssertionFalse, words)),
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

    /// Returns the variables that take the results; made up if the program does not want them.
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

    /// Returns a new variable of arbitrary value, of the type and with the name of `like`.
    pub(crate) fn havocked(&mut self, like: LocalId) -> Name {
        let local = &self.program().locals[like];
        let name = self.fresh(&local.name);
        let ty = self.lowering.ty(&local.ty);
        self.emit_plain(declare(&name, ty, None));
        name
    }

    /// [`Self::bound_counts`] of several assertions.
    pub(crate) fn bound_all_counts(&mut self, clauses: &[Expr], env: &Env) {
        for clause in clauses {
            self.bound_counts(clause, env);
        }
    }

    /// However many counting permissions an assertion speaks of, they are less than any fraction
    /// ([`Self::are_few`]). Numbers that are written out are covered by an axiom.
    pub(crate) fn bound_counts(&mut self, clause: &Expr, env: &Env) {
        let mut counts = Vec::new();
        for part in self.parts(clause, env) {
            let (Part::Access(access), Some(has_value)) = (part.part, &part.defined) else {
                continue;
            };
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
                let few = self.are_few(&count);
                let counts_here = and([has_value.clone(), part.guard.clone(), defined]);
                counts.push(implies(counts_here, few));
            }
        }
        for bound in counts {
            self.emit_plain(inhale(bound));
        }
    }
}

impl Member<'_, '_> {
    /// Returns a claim about the wait level, where it makes sense and holds without debts: that it
    /// does is checked by the call, after what stands in front of it.
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

    /// Returns a quantifier over the elements of a collection: once an object, however often it
    /// occurs.
    pub(crate) fn each_of(&mut self, elements: &Expr, env: &Env) -> EachElement {
        let name = self.bound_name("r");
        let inside = contains(&self.expr(elements, env), &var(&name));
        let triggers = if may_trigger(elements) { vec![inside.clone()] } else { Vec::new() };
        EachElement { name, inside, triggers }
    }

    /// Returns the locations of an accessibility assertion, each with the quantifier it needs.
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
            AccessTarget::ElementsPredicate { elements, predicate } => {
                let each = self.each_of(elements, env);
                vec![(self.predicate_at(var(&each.name), *predicate), Some(each))]
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

/// The quantifier of a location of every element of a collection: `forall name: Ref :: {triggers}
/// inside ==> ..`
#[derive(Clone)]
pub(crate) struct EachElement {
    pub(crate) name: Name,
    /// The claim that the object is an element.
    pub(crate) inside: s::Expr,
    /// None where the collection is a term that no trigger may contain.
    pub(crate) triggers: Vec<s::Expr>,
}

impl EachElement {
    /// `claim`, of every element.
    pub(crate) fn satisfies(&self, claim: s::Expr) -> s::Expr {
        forall_ref(&self.name, self.triggers.clone(), implies(self.inside.clone(), claim))
    }
}

/// The same, with results standing for given expressions.
pub(crate) fn with_results(env: Env, results: &[LocalId], values: &[s::Expr]) -> Env {
    let mut replaced = (*env.replaced).clone();
    replaced.extend(results.iter().copied().zip(values.iter().cloned()));
    Env { replaced: std::rc::Rc::new(replaced), ..env }
}
