//! States that assertions look back at: `eval`, and `old` in monitor invariants (see
//! [`crate::lower::threads::history`]).
//!
//! A recorded state is a number. What is known of it are the values of functions of the number and
//! of an object: the value of a field then, the permission held then, the value of a function then.
//! Each thread keeps the numbers of the states in which it last acquired and last released each
//! object; a token has the number of the state before its fork.
//!
//! SOUNDNESS: a state is recorded under a new, arbitrary number, and everything said of that number
//! is true of one heap: read the number as a code of that heap. Of other numbers only the program's
//! own assertions speak.
//!
//! Differs from the original verifier
//! - DIVERGENCE: what is recorded are the places that assertions about such states mention, reached
//!   from the object, or from the receiver and the arguments of the fork; values inside folded
//!   predicates are known through functions only.

use chalice::program::{
    Access, AccessTarget, Block, ClassId, EvalState, Expr, ExprKind, FieldRef, MethodId,
    PermissionKind, Program,
};
use findings::Reason;
use front::grow_stack;
use rustc_hash::FxHashMap;
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, renamed};
use crate::lower::env::{Env, Recorded, Side};
use crate::lower::threads::history::has_history;
use crate::lower::{Body, Lowering, Member};
use crate::names::fixed;
use crate::walk::each_expr_in_block;

/// The recorded states that a program speaks about.
#[derive(Default)]
pub(crate) struct States<'p> {
    /// The objects and assertions about states in which objects of a class were acquired.
    acquired: FxHashMap<ClassId, Vec<(&'p Expr, &'p Expr)>>,
    /// The same of the states in which they were released.
    released: FxHashMap<ClassId, Vec<(&'p Expr, &'p Expr)>>,
    /// The assertions about states before forks of a method.
    forked: FxHashMap<MethodId, Vec<(&'p EvalState, &'p Expr)>>,
    /// Has a class a history constraint?
    has_history: bool,
}

impl<'p> States<'p> {
    pub(crate) fn of(program: &'p Program) -> Self {
        let mut states = Self::default();
        let mut note = |e: &'p Expr| states.note(e);
        let mut all = |clauses: &mut dyn Iterator<Item = &'p Expr>| {
            clauses.for_each(|clause| clause.for_each(&mut note));
        };
        for (_, method) in program.methods.iter() {
            all(&mut method.requires.iter().chain(&method.ensures).chain(&method.lock_changes));
        }
        for (_, function) in program.functions.iter() {
            all(&mut function.requires.iter().chain(&function.ensures).chain(&function.body));
        }
        all(&mut program.predicates.iter().map(|(_, predicate)| &predicate.body));
        all(&mut program.channels.iter().filter_map(|(_, channel)| channel.where_clause.as_ref()));
        for (_, method) in program.methods.iter() {
            states.note_block(&method.body);
        }
        states.has_history =
            program.classes.iter().any(|(_, class)| has_history(&class.invariants));
        states
    }

    fn note_block(&mut self, body: &'p Block) {
        each_expr_in_block(body, &mut |e| self.note(e));
    }

    fn note(&mut self, e: &'p Expr) {
        let ExprKind::Eval { state, body } = &e.kind else { return };
        let (of, target) = match &**state {
            EvalState::Acquire(target) => (&mut self.acquired, target),
            EvalState::Release(target) => (&mut self.released, target),
            EvalState::Fork { method, .. } => {
                if !matches!(body.kind, ExprKind::Bool(true)) {
                    self.forked.entry(*method).or_default().push((state, body));
                }
                return;
            }
        };
        if let chalice::program::Type::Class(class) = target.ty {
            of.entry(class).or_default().push((target, body));
        }
    }

    /// Are the states of acquires spoken about?
    pub(crate) fn keeps_acquired(&self) -> bool {
        self.has_history || !self.acquired.is_empty()
    }

    /// Are the states of releases spoken about?
    pub(crate) fn keeps_released(&self) -> bool {
        self.has_history || !self.released.is_empty()
    }

    /// Has a class a history constraint?
    pub(crate) fn has_history(&self) -> bool {
        self.has_history
    }

    /// Is anything said of the states before forks of a method?
    pub(crate) fn keeps_forks(&self, method: MethodId) -> bool {
        self.forked.contains_key(&method)
    }
}

impl Lowering<'_> {
    /// Returns the type of maps from objects to the numbers of states.
    pub(crate) fn states_type(&self) -> s::Type {
        self.used.borrow_mut().state_maps = true;
        domain_type(fixed::STATES)
    }

    /// Returns the number of the state that a map keeps of an object.
    pub(crate) fn state_at(&self, states: &s::Expr, object: &s::Expr) -> s::Expr {
        self.used.borrow_mut().state_maps = true;
        call(fixed::STATE_AT, vec![states.clone(), object.clone()])
    }

    /// Returns the number of the state before the fork that made a token.
    fn fork_state(&self, token: s::Expr) -> s::Expr {
        self.used.borrow_mut().fork_states = true;
        call(fixed::FORK_STATE, vec![token])
    }

    /// `object.of` in a recorded state.
    pub(crate) fn field_then(&self, state: &s::Expr, object: s::Expr, of: FieldRef) -> s::Expr {
        let name: Name = match of {
            FieldRef::Declared(id) => self.names.borrow().fields_then[id].clone(),
            FieldRef::Mu => fixed::MU_THEN.into(),
            FieldRef::Joinable => fixed::JOINABLE_THEN.into(),
        };
        self.recorded.borrow_mut().insert(name.clone(), self.field_type(of));
        call(&name, vec![state.clone(), object])
    }

    /// Returns the permission to `object.of` in a recorded state.
    pub(crate) fn permission_then(
        &self,
        state: &s::Expr,
        object: s::Expr,
        of: FieldRef,
    ) -> s::Expr {
        let name: Name = match of {
            FieldRef::Declared(id) => self.names.borrow().permissions_then[id].clone(),
            FieldRef::Mu => fixed::MU_PERMISSION_THEN.into(),
            FieldRef::Joinable => fixed::JOINABLE_PERMISSION_THEN.into(),
        };
        self.recorded.borrow_mut().insert(name.clone(), ty(TypeKind::Perm));
        call(&name, vec![state.clone(), object])
    }

    pub(crate) fn predicate_then(
        &self,
        state: &s::Expr,
        object: s::Expr,
        predicate: chalice::program::PredicateId,
    ) -> s::Expr {
        let name = self.names.borrow().predicates_then[predicate].clone();
        self.recorded.borrow_mut().insert(name.clone(), ty(TypeKind::Perm));
        call(&name, vec![state.clone(), object])
    }

    /// Returns a function's value in a recorded state.
    pub(crate) fn function_then(
        &self,
        state: &s::Expr,
        function: chalice::program::FunctionId,
        actuals: Vec<s::Expr>,
    ) -> s::Expr {
        let name = self.names.borrow().functions_then[function].clone();
        self.recorded_functions.borrow_mut().insert(function);
        call(&name, std::iter::once(state.clone()).chain(actuals))
    }

    fn field_type(&self, of: FieldRef) -> s::Type {
        match of {
            FieldRef::Declared(id) => self.ty(&self.program.fields[id].ty),
            FieldRef::Mu => self.level_type(),
            FieldRef::Joinable => ty(TypeKind::Bool),
        }
    }
}

/// Terms that stand for what the owner of a recorded state is called where something is said of it.
pub(crate) type Roots<'e> = Vec<(&'e ExprKind, s::Expr)>;

impl<'p> Body<'_, 'p> {
    /// Records the present state, as far as the assertions `about` mention it.
    pub(crate) fn record(&mut self, about: &[(Roots<'p>, &'p Expr)], env: &Env) -> s::Expr {
        let name = self.fresh("state");
        self.emit_plain(declare(&name, ty(TypeKind::Int), None));
        let state = var(&name);
        let mut facts: Vec<s::Expr> = Vec::new();
        for (roots, body) in about {
            let mut atoms: Vec<&Expr> = Vec::new();
            body.for_each(&mut |e| {
                if !atoms.iter().any(|other| other.kind == e.kind) {
                    atoms.push(e);
                }
            });
            for atom in atoms {
                facts.extend(self.recorded_atom(&state, atom, roots, env));
            }
        }
        if !facts.is_empty() {
            self.emit_plain(inhale(and(facts)));
        }
        state
    }

    pub(crate) fn keep(&mut self, states: Option<&s::Expr>, target: &s::Expr, state: s::Expr) {
        if let Some(states) = states {
            let kept = call(fixed::STATE_SET, vec![states.clone(), target.clone(), state]);
            self.emit_plain(assign(states.clone(), kept));
        }
    }

    /// Before a fork: the state that its token will speak of.
    pub(crate) fn state_to_fork(
        &mut self,
        method: MethodId,
        this: &s::Expr,
        actuals: &[s::Expr],
        env: &Env,
    ) -> Option<s::Expr> {
        let lowering = self.lowering;
        let evals = lowering.states.forked.get(&method)?;
        let about: Vec<_> = evals
            .iter()
            .map(|(state, body)| {
                let EvalState::Fork { receiver, arguments, .. } = state else {
                    return (Vec::new(), *body);
                };
                let mut roots = vec![(&receiver.kind, this.clone())];
                for (argument, actual) in arguments.iter().zip(actuals) {
                    roots
                        .extend(argument.as_ref().map(|argument| (&argument.kind, actual.clone())));
                }
                (roots, *body)
            })
            .collect();
        let mut about = about;
        const THIS: &ExprKind = &ExprKind::This;
        // Values that the postcondition has of the same state are found again when the token is
        // joined.
        for old in &lowering.tokens[method].olds {
            about.push((vec![(THIS, this.clone())], old.body));
        }
        Some(self.record(&about, env))
    }

    /// A token speaks of the state before its fork.
    pub(crate) fn note_forked(&mut self, token: &s::Expr, state: Option<s::Expr>) {
        if let Some(state) = state {
            let of = self.lowering.fork_state(token.clone());
            self.emit_plain(inhale(eq(of, state)));
        }
    }

    /// When a token is joined: the old values it carries are values in the state before the fork.
    pub(crate) fn recall_forked(&mut self, method: MethodId, token: &s::Expr, contract: &Env) {
        let lowering = self.lowering;
        if !lowering.states.keeps_forks(method) {
            return;
        }
        let state = lowering.fork_state(token.clone());
        let then = contract.then(state, false);
        for old in lowering.tokens[method].olds.iter().filter(|old| old.is_known) {
            let Some(defined) = self.definedness(old.body, &then) else { continue };
            let value = self.expr(old.body, &then);
            let kept = eq(field(token.clone(), &old.field), value);
            self.emit_plain(inhale(implies(defined, kept)));
        }
    }
}

impl<'p> Member<'_, 'p> {
    fn recorded_atom(
        &mut self,
        state: &s::Expr,
        atom: &Expr,
        roots: &Roots<'_>,
        env: &Env,
    ) -> Option<s::Expr> {
        match &atom.kind {
            ExprKind::FieldRead { receiver, field } => {
                self.recorded_field(state, receiver, *field, roots, env)
            }
            ExprKind::Apply { function, .. } => {
                let (value, defined) = self.rooted(atom, roots, env)?;
                let s::ExprKind::Call { arguments, .. } = &value.kind else { return None };
                let then = self.lowering.function_then(state, *function, arguments.clone());
                Some(implies(defined, eq(then, value)))
            }
            ExprKind::Access(access) => match &access.target {
                AccessTarget::Field { receiver, field } => {
                    self.recorded_field(state, receiver, *field, roots, env)
                }
                AccessTarget::Predicate { receiver, predicate } => {
                    let (object, defined) = self.rooted(receiver, roots, env)?;
                    let then = self.lowering.predicate_then(state, object.clone(), *predicate);
                    let now = perm(self.predicate_at(object.clone(), *predicate));
                    Some(implies(and([defined, ne(object, null())]), eq(then, now)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn recorded_field(
        &mut self,
        state: &s::Expr,
        receiver: &Expr,
        field: FieldRef,
        roots: &Roots<'_>,
        env: &Env,
    ) -> Option<s::Expr> {
        let (object, defined) = self.rooted(receiver, roots, env)?;
        let location = self.field_of(object.clone(), field);
        let value = eq(self.lowering.field_then(state, object.clone(), field), location.clone());
        let held = self.lowering.permission_then(state, object.clone(), field);
        let known =
            and([eq(held, perm(location.clone())), implies(lt(none(), perm(location)), value)]);
        Some(implies(and([defined, ne(object, null())]), known))
    }

    /// Returns the present value of something reached from the roots, and when it has one.
    fn rooted(&mut self, e: &Expr, roots: &Roots<'_>, env: &Env) -> Option<(s::Expr, s::Expr)> {
        if let Some((_, root)) = roots.iter().find(|(kind, _)| **kind == e.kind) {
            return Some((root.clone(), truth(true)));
        }
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Null => {
                Some((self.expr(e, env), truth(true)))
            }
            ExprKind::FieldRead { receiver, field } => {
                let (object, defined) = grow_stack(|| self.rooted(receiver, roots, env))?;
                let location = self.field_of(object.clone(), *field);
                let readable = lt(none(), perm(location.clone()));
                Some((location, and([defined, ne(object, null()), readable])))
            }
            // A recorded state belongs to all threads.
            ExprKind::Apply { function, .. }
                if self.lowering.facts.locking.is_asking(*function) =>
            {
                None
            }
            ExprKind::Apply { receiver, function, arguments } => {
                let declared = &self.program().functions[*function];
                let mut defined = Vec::new();
                let mut actuals = Vec::new();
                let (this, is_defined) = self.rooted(receiver, roots, env)?;
                if !declared.is_static {
                    defined.push(is_defined);
                    defined.push(ne(this.clone(), null()));
                    actuals.push(this.clone());
                }
                let mut replaced = FxHashMap::default();
                for (argument, &parameter) in arguments.iter().zip(&declared.parameters) {
                    let (value, is_defined) = self.rooted(argument, roots, env)?;
                    defined.push(is_defined);
                    actuals.push(value.clone());
                    replaced.insert(parameter, value);
                }
                let inner = Env { this, replaced: replaced.into(), ..env.on(Side::Exhaled) };
                for clause in &declared.requires {
                    defined.push(self.footprint(clause, &inner)?);
                }
                let name = self.lowering.names.borrow().functions[*function].clone();
                Some((call(&name, actuals), and(defined)))
            }
            _ => None,
        }
    }

    /// Lists the expressions to record when an object is acquired or released.
    pub(crate) fn said_of(
        &self,
        class: ClassId,
        target: &s::Expr,
        acquired: bool,
    ) -> Vec<(Roots<'p>, &'p Expr)> {
        const THIS: &ExprKind = &ExprKind::This;
        let lowering = self.lowering;
        let states = if acquired { &lowering.states.acquired } else { &lowering.states.released };
        let evals = states.get(&class).into_iter().flatten();
        let mut all: Vec<_> =
            evals.map(|(object, body)| (vec![(&object.kind, target.clone())], *body)).collect();
        let invariants = &lowering.program.classes[class].invariants;
        if has_history(invariants) {
            all.extend(invariants.iter().map(|clause| (vec![(THIS, target.clone())], clause)));
        }
        all
    }

    /// `eval(state, body)`, as a value or assertion.
    pub(crate) fn eval(&mut self, e: &Expr, state: &EvalState, body: &Expr, env: &Env) -> s::Expr {
        match state {
            EvalState::Acquire(target) | EvalState::Release(target) => {
                let states = match state {
                    EvalState::Acquire(_) => env.locks.acquired(),
                    _ => env.locks.released(),
                };
                let Some(states) = states else {
                    return self.unsupported("eval of this state here", e);
                };
                let object = self.expr(target, env);
                let state = self.lowering.state_at(states, &object);
                self.assertion(body, &env.then(state, true))
            }
            EvalState::Fork { token, receiver, method, arguments } => {
                let token = self.expr(token, env);
                let receiver = self.expr(receiver, env);
                let lowering = self.lowering;
                let layout = &lowering.tokens[*method];
                let mut claims = vec![
                    self.field_of(token.clone(), FieldRef::Joinable),
                    eq(field(token.clone(), &layout.this), receiver),
                ];
                for (argument, recorded) in arguments.iter().zip(&layout.parameters) {
                    if let Some(argument) = argument {
                        claims.push(eq(field(token.clone(), recorded), self.expr(argument, env)));
                    }
                }
                if matches!(body.kind, ExprKind::Bool(true)) {
                    return and(claims);
                }
                let then = env.then(lowering.fork_state(token), true);
                let body_then = self.assertion(body, &then);
                if body.ty == chalice::program::Type::Bool {
                    claims.push(body_then);
                    and(claims)
                } else {
                    asserting(and(claims), body_then)
                }
            }
        }
    }

    /// Returns a field read in a recorded state, where permission to it must have been held.
    pub(crate) fn read_then(&mut self, then: &Recorded, object: s::Expr, of: FieldRef) -> s::Expr {
        let value = self.lowering.field_then(&then.state, object.clone(), of);
        if !then.is_checked {
            return value;
        }
        let held = lt(none(), self.lowering.permission_then(&then.state, object, of));
        let held = held.with(renamed(Reason::AssertionFalse, Reason::InsufficientPermission));
        asserting(held, value)
    }

    /// Returns an accessibility assertion about a recorded state: that much was held.
    pub(crate) fn access_then(&mut self, then: &Recorded, access: &Access, env: &Env) -> s::Expr {
        let (object, held) = match &access.target {
            AccessTarget::Field { receiver, field } => {
                let object = self.expr(receiver, env);
                let held = self.lowering.permission_then(&then.state, object.clone(), *field);
                (object, held)
            }
            AccessTarget::Predicate { receiver, predicate } => {
                let object = self.expr(receiver, env);
                let held = self.lowering.predicate_then(&then.state, object.clone(), *predicate);
                (object, held)
            }
            _ => {
                self.lowering.note_unsupported("permission to many places in eval", access.span);
                return self.refused("permission to many places in eval", truth(true));
            }
        };
        let enough = match &access.amount.kind {
            PermissionKind::AbstractRead | PermissionKind::Star => lt(none(), held),
            _ => le(self.amount_of(&access.amount, env), held),
        };
        and([
            ne(object, null()),
            enough.with(renamed(Reason::AssertionFalse, Reason::InsufficientPermission)),
        ])
    }
}
