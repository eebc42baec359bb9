//! Fork and join (Klauser 2012, section 3.2): the precondition is given when a thread starts, the
//! postcondition is received when it is joined, and a token carries what the postcondition needs
//! from one to the other.
//!
//! A token is an object with ghost fields: the receiver, the parameters, the results and the `old`
//! expressions of the postcondition. Permission to `joinable` brings the same permission to them,
//! so a token may be joined by whoever got it. Old values are stored only where they are defined
//! (thesis figure 5).

use std::rc::Rc;

use chalice::program::{Expr, ExprKind, FieldRef, LocalId, MethodId, OutVariable, Program, Type};
use findings::{ErrorId, Pattern, Reason};
use rustc_hash::{FxHashMap, FxHashSet};
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, hidden, renamed, said, unplaced};
use crate::lower::env::{Env, LockState, Locks, OldState, ReadAmount, Side};
use crate::lower::permissions::stars::Given;
use crate::lower::{Body, Lowering};
use crate::names::Names;

/// The ghost fields of the tokens of one method.
pub(crate) struct TokenLayout<'p> {
    pub(crate) this: Name,
    /// In the order of the parameters.
    pub(crate) parameters: Vec<Name>,
    /// In the order of the results.
    pub(crate) results: Vec<Name>,
    /// The outermost `old` expressions of the postcondition.
    pub(crate) olds: Vec<StoredOld<'p>>,
    /// The domain of functions that keep old values below quantifiers.
    functions: Name,
    /// Is the method forked or joined, or are its tokens spoken about?
    is_used: bool,
}

/// An `old` expression of a postcondition.
pub(crate) struct StoredOld<'p> {
    /// The field that keeps its value.
    pub(crate) field: Name,
    /// The expression that is evaluated in the old state. Equal expressions are one value, wherever
    /// they stand.
    pub(crate) body: &'p Expr,
    /// Can its value be known when the thread starts? Not if it mentions results.
    pub(crate) is_known: bool,
    /// Variables of the quantifiers around it: it then has many values, which only a function can
    /// keep.
    pub(crate) bound: Vec<LocalId>,
}

impl<'p> TokenLayout<'p> {
    pub(crate) fn of(program: &'p Program, id: MethodId, is_used: bool, names: &mut Names) -> Self {
        let method = &program.methods[id];
        let base = format!("{}_token", names.methods[id]);
        let local_name = |local: &LocalId| program.locals[*local].name.clone();
        let this = names.fresh(&format!("{base}_this"));
        let parameters = method
            .parameters
            .iter()
            .map(|local| names.fresh(&format!("{base}_{}", local_name(local))))
            .collect();
        let results = method
            .results
            .iter()
            .map(|local| names.fresh(&format!("{base}_{}", local_name(local))))
            .collect();
        let mut bodies = Vec::new();
        for clause in &method.ensures {
            clause.outermost_olds(&mut bodies);
        }
        // It has no value: it says something of the locks of the thread, of which nothing is
        // learnt.
        bodies.retain(|body| !matches!(body.kind, ExprKind::WaitLevel));
        let known: FxHashSet<LocalId> = method.parameters.iter().copied().collect();
        let mut olds: Vec<StoredOld<'p>> = Vec::new();
        for body in bodies {
            // SOUNDNESS: what is one value is decided by what the expressions say, never by how
            // they are written.
            if olds.iter().any(|other| other.body == body) {
                continue;
            }
            let bound = bound_around(program, body);
            olds.push(StoredOld {
                field: names.fresh(&format!("{base}_old{}", olds.len() + 1)),
                body,
                is_known: mentions_only(body, &known.iter().chain(&bound).copied().collect()),
                bound,
            });
        }
        let functions = names.fresh(&format!("{base}_olds"));
        Self { this, parameters, results, olds, functions, is_used }
    }

    /// Returns which of the stored `old` expressions one with this body is.
    pub(crate) fn position_of(&self, body: &Expr) -> Option<usize> {
        self.olds.iter().position(|old| old.body == body)
    }

    /// Does some function keep values that are known when the thread starts?
    fn keeps_functions(&self) -> bool {
        self.olds.iter().any(|old| old.is_known && !old.bound.is_empty())
    }

    /// Returns all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.this)
            .chain(&self.parameters)
            .chain(&self.results)
            .chain(self.olds.iter().filter(|old| old.bound.is_empty()).map(|old| &old.field))
    }
}

/// Does a postcondition speak of the wait level at the start?
fn mentions_old_wait_level(e: &Expr) -> bool {
    e.any(&mut |part| {
        matches!(&part.kind, ExprKind::Old(body) if matches!(body.kind, ExprKind::WaitLevel))
    })
}

/// Does `e` mention no variables but these and those it binds itself?
fn mentions_only(e: &Expr, known: &FxHashSet<LocalId>) -> bool {
    let mut bound = known.clone();
    e.for_each(&mut |part| {
        if let ExprKind::Quantified { variables, .. } = &part.kind {
            bound.extend(variables);
        }
    });
    let mut fine = true;
    e.for_each(&mut |part| {
        if let ExprKind::Local(local) = &part.kind {
            fine &= bound.contains(local);
        }
    });
    fine
}

/// Quantified variables that an expression mentions but does not bind itself.
fn bound_around(program: &Program, e: &Expr) -> Vec<LocalId> {
    let mut own = FxHashSet::default();
    let mut found = Vec::new();
    e.for_each(&mut |part| match &part.kind {
        ExprKind::Quantified { variables, .. } => own.extend(variables.iter().copied()),
        ExprKind::Local(local)
            if program.locals[*local].kind == chalice::program::LocalKind::Quantified
                && !own.contains(local)
                && !found.contains(local) =>
        {
            found.push(*local);
        }
        _ => {}
    });
    found
}

/// Returns the methods that are forked or joined, or whose tokens are values.
pub(crate) fn forked_methods(program: &Program) -> FxHashSet<MethodId> {
    use chalice::program::StmtKind;
    let mut forked = FxHashSet::default();
    for (_, method) in program.methods.iter() {
        crate::walk::each_stmt(&method.body, &mut |stmt| {
            if let StmtKind::Fork { method, .. } | StmtKind::Join { method, .. } = &stmt.kind {
                forked.insert(*method);
            }
        });
    }
    let types = program
        .locals
        .values()
        .map(|local| &local.ty)
        .chain(program.fields.values().map(|field| &field.ty))
        .chain(program.functions.values().map(|function| &function.result));
    forked.extend(types.filter_map(token_method));
    forked
}

/// Returns the method of whose tokens, or collections of tokens, a type is.
fn token_method(of: &Type) -> Option<MethodId> {
    match of {
        Type::Token(method) => Some(*method),
        Type::Seq(element) | Type::Set(element) => token_method(element),
        _ => None,
    }
}

impl Lowering<'_> {
    /// Declarations of the ghost fields of a method's tokens.
    pub(crate) fn token_fields(&self, id: MethodId) -> Vec<s::Member> {
        let layout = &self.tokens[id];
        if !layout.is_used {
            return Vec::new();
        }
        let method = &self.program.methods[id];
        let mut fields = vec![field_member(&layout.this, ty(TypeKind::Ref))];
        let locals = method.parameters.iter().chain(&method.results);
        for (local, name) in locals.zip(layout.parameters.iter().chain(&layout.results)) {
            fields.push(field_member(name, self.ty(&self.program.locals[*local].ty)));
        }
        for old in layout.olds.iter().filter(|old| old.bound.is_empty()) {
            fields.push(field_member(&old.field, self.ty(&old.body.ty)));
        }
        let functions: Vec<_> = layout
            .olds
            .iter()
            .filter(|old| !old.bound.is_empty())
            .map(|old| {
                let mut formals = vec![typed("token", ty(TypeKind::Ref))];
                formals.extend(old.bound.iter().enumerate().map(|(number, &local)| {
                    typed(&format!("x{number}"), self.ty(&self.program.locals[local].ty))
                }));
                domain_function(&old.field, formals, self.ty(&old.body.ty))
            })
            .collect();
        if !functions.is_empty() {
            fields.push(domain(&layout.functions, functions, Vec::new()));
        }
        fields
    }
}

impl Body<'_, '_> {
    /// `fork token := receiver.method(arguments)`
    pub(crate) fn fork(
        &mut self,
        target: Option<&OutVariable>,
        receiver: &Expr,
        method: MethodId,
        arguments: &[Expr],
        env: &Env,
    ) {
        let lowering = self.lowering;
        let callee = &lowering.program.methods[method];
        let facts = lowering.facts.methods[method].clone();
        let layout = &lowering.tokens[method];
        let assigned: Vec<_> = target.iter().map(|out| out.local).collect();
        let this = self.saved(receiver, "receiver", &assigned, env);
        let actuals = self.saved_all(arguments, &callee.parameters, &assigned, env);
        // The new thread holds no locks, whatever the forking one holds. SOUNDNESS: it goes on from
        // what the forking one has seen. Those are states of the past, and what objects are when it
        // acquires them comes after.
        let released = match env.locks.released() {
            None if lowering.states.keeps_released() => Some(self.unknown_states("releasedThere")),
            released => released.cloned(),
        };
        let nothing = Locks::Nothing { released };
        let alone = Env { locks: nothing.clone(), old_locks: nothing, ..env.clone() };
        let mut contract =
            self.callee_env(&alone, method, this.clone(), actuals.clone(), env.read.clone());
        let fraction = if facts.read_fraction {
            let k = self.read_fraction(&callee.requires, &contract, env, ErrorId::ExhaleFailed);
            contract.read = ReadAmount::Fraction(var(&k));
            Some(k)
        } else {
            None
        };
        self.bound_all_counts(&callee.requires, &contract);
        let olds = self.store_olds(method, &contract);
        let before = layout.keeps_functions().then(|| {
            let before = self.fresh("fork");
            self.emit_plain(label(&before));
            before
        });
        let state = self.state_to_fork(method, &this, &actuals, &contract);
        if facts.credits {
            for clause in &callee.requires {
                self.move_credits(clause, &contract, s::BinaryOp::Sub);
            }
        }
        let exists = match receiver.kind {
            ExprKind::This => truth(true),
            _ => ne(this.clone(), null())
                .with(said(Reason::AssertionFalse, &self.might_be_null(receiver))),
        };
        let clauses = callee
            .requires
            .iter()
            .map(|clause| self.assertion(clause, &contract))
            .collect::<Vec<_>>();
        let kept = self.kept_levels(&callee.requires, &contract);
        let given = and(std::iter::once(exists).chain(clauses).chain(kept));
        let left =
            self.left_stars(&callee.requires, &contract, Given::InContract, ErrorId::ExhaleFailed);
        if !is_true(&given) {
            let given = exhale(unplaced(given))
                .with(said(
                    (ErrorId::ExhaleFailed, Reason::InsufficientPermission),
                    "the precondition of the forked method asks for permission that might be missing",
                ))
                .with(said(
                    (ErrorId::ExhaleFailed, Reason::AssertionFalse),
                    "the precondition of the forked method might not hold",
                ));
            // Old values are read before the precondition is given, so what is missing is missing
            // there first.
            let reads_first = layout.olds.iter().any(|old| old.is_known && old.bound.is_empty());
            self.emit(if reads_first {
                given.with(renamed(
                    (ErrorId::ExhaleFailed, Reason::InsufficientPermission),
                    (ErrorId::AssignmentFailed, Reason::InsufficientPermission),
                ))
            } else {
                given
            });
        }
        self.note_left_stars(left);
        let token = match target {
            Some(out) => {
                self.declare_outs(std::slice::from_ref(out));
                self.local(out.local)
            }
            None => {
                let token = self.fresh("token");
                self.emit_plain(declare(&token, ty(TypeKind::Ref), None));
                token
            }
        };
        let mut fields: Vec<Name> = vec![crate::names::fixed::JOINABLE.into()];
        fields.extend(layout.fields().cloned());
        lowering.used.borrow_mut().joinable = true;
        self.emit(assign(var(&token), new_object(&fields)));
        if let Some(k) = fraction {
            let recorded = lowering.fork_fraction(var(&token));
            self.emit_plain(inhale(eq(recorded, var(&k))));
        }
        self.note_forked(&var(&token), state);
        let joinable = self.field_of(var(&token), FieldRef::Joinable);
        self.emit_plain(assign(joinable, truth(true)));
        self.emit_plain(assign(field(var(&token), &layout.this), this));
        for (name, actual) in layout.parameters.iter().zip(actuals) {
            self.emit_plain(assign(field(var(&token), name), actual));
        }
        for (old, value) in layout.olds.iter().zip(olds) {
            if let Some(value) = value {
                self.emit_plain(assign(field(var(&token), &old.field), var(&value)));
            }
        }
        if let Some(before) = before {
            self.note_old_functions(method, &var(&token), &before, &contract);
        }
    }

    /// Notes the functions of a new token: the values of `old` expressions below quantifiers, where
    /// they are defined, in the state before the precondition was given.
    ///
    /// SOUNDNESS: nothing is known yet of these functions at the token, as it is a new object.
    fn note_old_functions(
        &mut self,
        method: MethodId,
        token: &s::Expr,
        before: &str,
        contract: &Env,
    ) {
        for old in &self.lowering.tokens[method].olds {
            if old.bound.is_empty() || !old.is_known {
                continue;
            }
            let variables = self.bound(&old.bound);
            let Some(defined) = self.definedness(old.body, contract) else { continue };
            let value = self.expr(old.body, contract);
            let actuals = variables.iter().map(|variable| var(&variable.name.name));
            let kept = call(&old.field, std::iter::once(token.clone()).chain(actuals));
            let same = eq(kept.clone(), old_at(before, value));
            let known = implies(old_at(before, defined), same);
            let all = quantified(s::Quantifier::Forall, variables, vec![vec![kept]], known);
            self.emit(inhale(all).with(hidden()));
        }
    }

    /// Evaluates the `old` expressions of a postcondition, where they are defined, before the
    /// precondition is given.
    fn store_olds(&mut self, method: MethodId, contract: &Env) -> Vec<Option<Name>> {
        let lowering = self.lowering;
        let mut stored = Vec::new();
        for old in &lowering.tokens[method].olds {
            let is_value = old.is_known && old.bound.is_empty();
            let defined = if is_value { self.definedness(old.body, contract) } else { None };
            let Some(defined) = defined else {
                stored.push(None);
                continue;
            };
            let name = self.fresh("old_value");
            let value = self.expr(old.body, contract);
            self.emit_plain(declare(&name, lowering.ty(&old.body.ty), None));
            let store = assign(var(&name), value).with(hidden());
            if is_true(&defined) {
                self.emit(store);
            } else {
                self.emit(branch(defined, vec![store], Vec::new()).with(hidden()));
            }
            stored.push(Some(name));
        }
        stored
    }

    /// `join outs := token`
    pub(crate) fn join(&mut self, outs: &[OutVariable], token: &Expr, method: MethodId, env: &Env) {
        let lowering = self.lowering;
        let callee = &lowering.program.methods[method];
        let facts = lowering.facts.methods[method].clone();
        let layout = &lowering.tokens[method];
        let assigned: Vec<_> = outs.iter().map(|out| out.local).collect();
        let token = self.saved(token, "token", &assigned, env);
        let joinable = self.field_of(token.clone(), FieldRef::Joinable);
        self.emit(
            assert(acc(joinable.clone(), write()))
                .with(renamed(ErrorId::AssertFailed, ErrorId::JoinFailed))
                .with(said(Pattern::ANY, "permission to join the token might be missing")),
        );
        self.emit(
            assert(joinable.clone())
                .with(said(Reason::AssertionFalse, "the token might have been joined before")),
        );
        let stored = layout.olds.iter().map(|old| {
            // SOUNDNESS: one value for each value of the bound variables, never one for all of
            // them.
            if old.bound.is_empty() {
                field(token.clone(), &old.field)
            } else {
                let bound = old.bound.iter().map(|&local| var(&self.local(local)));
                call(&old.field, std::iter::once(token.clone()).chain(bound))
            }
        });
        let stored: Rc<[s::Expr]> = stored.collect();
        let parameters = callee.parameters.iter().copied().zip(&layout.parameters);
        let results = callee.results.iter().copied().zip(&layout.results);
        let replaced: FxHashMap<_, _> = parameters
            .chain(results)
            .map(|(local, name)| (local, field(token.clone(), name)))
            .collect();
        let locks = if lowering.facts.locking.method(method).locks {
            Locks::State(self.unknown_locks())
        } else {
            Locks::Unknown
        };
        let old_locks = if callee.ensures.iter().any(mentions_old_wait_level) {
            Locks::State(self.unknown_locks())
        } else {
            Locks::Unknown
        };
        let contract = Env {
            this: field(token.clone(), &layout.this),
            replaced: Rc::new(replaced),
            read: ReadAmount::Fraction(lowering.fork_fraction(token.clone())),
            old: OldState::Stored(method, stored),
            old_locks,
            locks,
            side: Side::Inhaled,
            then: None,
        };
        self.recall_forked(method, &token, &contract);
        self.decide_results(method, &token);
        let clauses = callee
            .ensures
            .iter()
            .map(|clause| self.assertion(clause, &contract))
            .collect::<Vec<_>>();
        let received = and(clauses);
        if !is_true(&received) {
            self.emit(
                inhale(unplaced(received))
                    .with(renamed(ErrorId::InhaleFailed, ErrorId::JoinFailed)),
            );
        }
        self.bound_all_counts(&callee.ensures, &contract);
        let here = Env { locks: env.locks.clone(), ..contract.clone() };
        for clause in &callee.ensures {
            for fact in self.levels_in(clause, &here) {
                self.emit_plain(inhale(fact));
            }
        }
        if facts.credits {
            for clause in &callee.ensures {
                self.move_credits(clause, &contract, s::BinaryOp::Add);
            }
        }
        self.emit(
            assign(joinable, truth(false))
                .with(renamed(ErrorId::AssignmentFailed, ErrorId::JoinFailed)),
        );
        for (out, name) in outs.iter().zip(&layout.results) {
            let target = self.local(out.local);
            let result = field(token.clone(), name);
            self.emit(
                assign(var(&target), result)
                    .with(renamed(ErrorId::AssignmentFailed, ErrorId::JoinFailed)),
            );
        }
    }

    /// Gives what a token carries of the end of its method new values: the results, and `old`
    /// expressions that mention them.
    ///
    /// SOUNDNESS: they are decided when the method ends. What they are may have been made after the
    /// fork, from whose values new objects differ.
    fn decide_results(&mut self, method: MethodId, token: &s::Expr) {
        let lowering = self.lowering;
        let layout = &lowering.tokens[method];
        let results = &lowering.program.methods[method].results;
        let results = results.iter().map(|&local| {
            let local = &lowering.program.locals[local];
            (local.name.clone(), &local.ty)
        });
        let olds = layout.olds.iter().filter(|old| !old.is_known && old.bound.is_empty());
        let named = results
            .zip(&layout.results)
            .map(|((wanted, ty), field)| (wanted, ty, field))
            .chain(olds.map(|old| ("old_value".to_owned(), &old.body.ty, &old.field)));
        for (wanted, ty, name) in named {
            let value = self.fresh(&wanted);
            self.emit_plain(declare(&value, lowering.ty(ty), None));
            self.emit(
                assign(field(token.clone(), name), var(&value))
                    .with(renamed(ErrorId::AssignmentFailed, ErrorId::JoinFailed)),
            );
        }
    }

    /// States in which a thread has seen objects, about which nothing is known.
    fn unknown_states(&mut self, wanted: &str) -> s::Expr {
        let name = self.fresh(wanted);
        self.emit_plain(declare(&name, self.lowering.states_type(), None));
        var(&name)
    }

    /// Returns the locks of another thread, about which nothing is known.
    pub(crate) fn unknown_locks(&mut self) -> LockState {
        let lowering = self.lowering;
        let held = self.fresh("heldThere");
        self.emit_plain(declare(&held, lowering.objects_type(), None));
        let read_held = lowering.facts.locking.has_readers.then(|| {
            let name = self.fresh("rdHeldThere");
            self.emit_plain(declare(&name, lowering.objects_type(), None));
            var(&name)
        });
        let levels = self.fresh("muThere");
        self.emit_plain(declare(&levels, lowering.levels_type(), None));
        let states = &lowering.states;
        let [acquired, released] = [
            (states.keeps_acquired(), "acquiredThere"),
            (states.keeps_released(), "releasedThere"),
        ]
        .map(|(is_kept, wanted)| is_kept.then(|| self.unknown_states(wanted)));
        LockState {
            held: var(&held),
            read_held,
            levels: var(&levels),
            acquired,
            released,
            credits: None,
            owed_by_callers: None,
        }
    }
}
