//! History constraints: clauses of a monitor invariant that mention, with `old`, an earlier state
//! of its object (Leino, Müller and Smans 2009). [`super::kept`] has the states.
//!
//! SOUNDNESS
//! - Between two times that a thread sees an object, others may have acquired it, or nobody. So a
//!   constraint has to be transitive and reflexive, which is checked once for each class.
//! - Unsharing an object and sharing it again begins a new history. Levels tell histories apart:
//!   some levels have never been a level of an object, so a chosen level counts as one of these.
//!   Facts about a state count only if the level is the same.
//! - Contracts that mention the last release also claim that the level has been kept since, where
//!   they let it be read and the object is not held. Users that give such a contract show the
//!   claim; joins do not take it.

use chalice::program::{
    AccessTarget, Class, ClassId, EvalState, Expr, ExprKind, FieldRef, LockMode, PermissionKind,
    Program, Type,
};
use la_arena::ArenaMap;
use sil::source::Span;
use smt::terms::{Term, Terms, grow_stack};

use crate::{Chalice, Direct, Statements, span};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::language::Language;
use symex::state::heap::Heap;
use symex::{Explore, Stop, View};

/// A monitor invariant that looks back.
#[derive(Debug)]
pub(crate) struct History {
    /// The clauses about one state.
    now: Vec<Expr>,
    /// The clauses about a state and an earlier one.
    since: Vec<Expr>,
}

/// The invariants that look back.
#[derive(Default, Debug)]
pub(crate) struct Histories(ArenaMap<ClassId, History>);

impl Histories {
    pub(crate) fn of(tree: &Program) -> Self {
        let mut all = ArenaMap::default();
        for (id, class) in
            tree.classes.iter().filter(|(_, class)| class.invariants.iter().any(Expr::looks_back))
        {
            let now = class.invariants.iter().map(Expr::one_state).collect();
            let since = class.invariants.iter().map(Expr::two_states).collect();
            all.insert(id, History { now, since });
        }
        Self(all)
    }
}

impl Direct {
    /// Returns the clauses of a class's monitor invariant about one state.
    pub(crate) fn invariants(&self, class: ClassId) -> &[Expr] {
        match self.histories.0.get(class) {
            Some(history) => &history.now,
            None => &self.tree.classes[class].invariants,
        }
    }

    /// Returns the clauses of a class's monitor invariant about a state and an earlier one.
    pub(crate) fn history(&self, class: ClassId) -> &[Expr] {
        self.histories.0.get(class).map_or(&[], |history| &history.since)
    }

    fn has_histories(&self) -> bool {
        self.histories.0.iter().next().is_some()
    }
}

/// A part of an assertion, and its condition.
type Guarded<'e> = (Term, &'e Expr);

impl Chalice<'_, '_> {
    /// Learns the statement of an acquired object's invariant about the states in which the thread
    /// left it. The state is that of the monitor.
    pub(crate) fn learn_history(
        &mut self,
        class: ClassId,
        object: Term,
        level: Term,
        blame: Blame,
    ) -> Result<(), Stop> {
        let clauses = self.direct.history(class);
        if clauses.is_empty() {
            return Ok(());
        }
        let left = self.frame.thread.memory.left.clone();
        for kept in left.all() {
            let Some(before) = kept.level else { continue };
            let is_it = self.terms.identical(kept.of, object);
            let is_same = self.terms.eq(before, level);
            let guard = self.terms.and([is_it, is_same]);
            if guard == Terms::FALSE {
                continue;
            }
            let claim = self.under(guard, |chalice| {
                chalice.since(clauses, kept.heap.clone(), blame.trusted())
            })?;
            if let Some(claim) = claim {
                let fact = self.terms.implies(guard, claim);
                self.assume(fact)?;
            }
        }
        Ok(())
    }

    /// Evaluates clauses about the present state and an earlier one.
    fn since(&mut self, clauses: &[Expr], old: Heap, blame: Blame) -> Result<Term, Stop> {
        let eval = |chalice: &mut Self| {
            let claims = clauses.iter().map(|clause| chalice.eval(clause, blame));
            claims.collect::<Result<Vec<_>, _>>()
        };
        let claims = self.exchanging(|chalice| &mut chalice.frame.past.old, Some(old), eval).0?;
        Ok(self.terms.and(claims))
    }

    /// Shows the claims of an object's invariant about the present state, in which the invariant is
    /// given away, and an earlier one. The present state is that of the monitor.
    pub(crate) fn prove_history(
        &mut self,
        clauses: &[Expr],
        old: Heap,
        blame: Blame,
    ) -> Result<(), Stop> {
        let parts = clauses.iter().flat_map(|clause| match &clause.kind {
            ExprKind::And(parts) => parts.as_slice(),
            _ => std::slice::from_ref(clause),
        });
        for clause in parts {
            let blame = blame.clause(span(clause.span));
            let claim = self.since(std::slice::from_ref(clause), old.clone(), blame.trusted())?;
            self.prove(claim, blame, Reason::AssertionFalse, span(clause.span))?;
        }
        Ok(())
    }

    /// Collects the parts of a clause, each with the condition under which the part counts. The
    /// conditions are evaluated in the present state.
    fn guarded<'e>(
        &mut self,
        clause: &'e Expr,
        guard: Term,
        found: &mut Vec<Guarded<'e>>,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::CallFailed, span(clause.span)).silent();
        let mut sides = Vec::new();
        match &clause.kind {
            ExprKind::And(parts) => {
                return parts
                    .iter()
                    .try_for_each(|part| grow_stack(|| self.guarded(part, guard, found)));
            }
            ExprKind::Implies { guard, body } => sides.push((guard, &**body, true)),
            ExprKind::Conditional { condition, then, otherwise } => {
                sides.push((condition, &**then, true));
                sides.push((condition, &**otherwise, false));
            }
            _ => found.push((guard, clause)),
        }
        for (condition, body, wanted) in sides {
            let value = self.under(guard, |chalice| chalice.eval(condition, blame))?;
            let Some(value) = value else { continue };
            let value = if wanted { value } else { self.terms.not(value) };
            let both = self.terms.and([guard, value]);
            grow_stack(|| self.guarded(body, both, found))?;
        }
        Ok(())
    }

    /// Makes the claims that objects have kept their levels since they were last left. A claim is
    /// made where clauses both tell of that state and let the level be read.
    fn kept_levels(&mut self, clauses: &[Expr]) -> Result<Vec<(Term, Span)>, Stop> {
        if !self.direct.has_histories() || self.frame.thread.locks.is_none() {
            return Ok(Vec::new());
        }
        let mut parts = Vec::new();
        for clause in clauses {
            self.guarded(clause, Terms::TRUE, &mut parts)?;
        }
        let mut facts = Vec::new();
        for &(told, part) in &parts {
            let ExprKind::Eval { state, .. } = &part.kind else { continue };
            let EvalState::Release(object) = &**state else { continue };
            let Type::Class(class) = object.ty else { continue };
            if self.direct.history(class).is_empty() {
                continue;
            }
            for &(readable, other) in &parts {
                let ExprKind::Access(access) = &other.kind else { continue };
                let AccessTarget::Field { receiver, field: FieldRef::Mu } = &access.target else {
                    continue;
                };
                if receiver.ty != object.ty || !is_certain(&access.amount.kind) {
                    continue;
                }
                let guard = self.terms.and([told, readable]);
                let fact = self.under(guard, |chalice| chalice.kept_level(object, receiver))?;
                if let Some(fact) = fact {
                    facts.push((self.terms.implies(guard, fact), span(part.span)));
                }
            }
        }
        Ok(facts)
    }

    fn kept_level(&mut self, object: &Expr, readable: &Expr) -> Result<Term, Stop> {
        let at = span(object.span);
        let blame = Blame::new(ErrorId::CallFailed, at).silent();
        let of = self.eval(object, blame)?;
        let other = self.eval(readable, blame)?;
        let locks = self.threads.locks(at)?;
        let is_it = self.terms.identical(of, other);
        let held = self.threads.is_held(&locks, of);
        let is_left = self.terms.not(held);
        let guard = self.terms.and([is_it, is_left]);
        let same = self.under(guard, |chalice| {
            let before = chalice.level_left(of)?;
            let now = chalice.threads.read_level(of, None, at)?;
            Ok(chalice.terms.eq(before, now))
        })?;
        Ok(same.map_or(Terms::TRUE, |same| self.terms.implies(guard, same)))
    }

    /// Learns from received clauses that objects which were left have kept their levels.
    pub(crate) fn learn_kept_levels(&mut self, clauses: &[Expr]) -> Result<(), Stop> {
        for (fact, _) in self.kept_levels(clauses)? {
            self.assume(fact)?;
        }
        Ok(())
    }

    /// Shows that objects which were left have kept their levels, as clauses say that are about to
    /// be given away.
    pub(crate) fn prove_kept_levels(&mut self, clauses: &[Expr], blame: Blame) -> Result<(), Stop> {
        for (fact, at) in self.kept_levels(clauses)? {
            self.prove(fact, blame.trusted().clause(at), Reason::AssertionFalse, at)?;
        }
        Ok(())
    }
}

impl Statements<'_, '_> {
    /// Shows that the history constraint of a class makes sense. Of three states in a row, whose
    /// permissions have been asked for, each follows itself and the last one follows the first.
    pub(crate) fn check_history(&mut self, class: ClassId) -> Result<(), Stop> {
        let direct = self.direct;
        let clauses = direct.history(class);
        if clauses.is_empty() {
            return Ok(());
        }
        let ill_formed = |clause: &Expr| Blame::new(ErrorId::NotWellformed, span(clause.span));
        let mut states = vec![self.here.heap.clone()];
        for round in 0..2 {
            self.here.heap = Heap::inexact();
            self.produce_all(direct.invariants(class), None, |clause| {
                ill_formed(clause).trusted()
            })?;
            for clause in clauses {
                let blame =
                    if round == 0 { ill_formed(clause) } else { ill_formed(clause).trusted() };
                let before = states[round].clone();
                let claim = self.since(std::slice::from_ref(clause), before, blame)?;
                if self.is_ill_formed(span(clause.span))? {
                    return self.end_unframed();
                }
                self.assume(claim)?;
            }
            states.push(self.here.heap.clone());
            let (error, old) = match round {
                0 => (ErrorId::InvariantNotReflexive, &states[1]),
                _ => (ErrorId::InvariantNotTransitive, &states[0]),
            };
            for clause in clauses {
                let blame = Blame::new(error, span(clause.span)).trusted();
                let clause = std::slice::from_ref(clause);
                self.prove_history(clause, old.clone(), blame)?;
            }
        }
        Ok(())
    }

    /// Shows what the history of an object asks for before the object is left, and keeps its state.
    /// The present state is that of the thread.
    pub(crate) fn leave(
        &mut self,
        class: ClassId,
        object: Term,
        mode: LockMode,
        at: Span,
    ) -> Result<(), Stop> {
        let clauses = self.direct.history(class);
        if !clauses.is_empty() && mode == LockMode::Write {
            let old = self.threads.heap_of_acquire(object)?;
            self.prove_history_of(object, clauses, old, at)?;
        }
        let locks = self.threads.locks(at)?;
        let level = self.threads.level_at(&locks, object);
        self.threads.note_left(object, level);
        Ok(())
    }

    /// Shows that the first state in the history of an object follows itself. The object is about
    /// to be shared with a level.
    pub(crate) fn begin_history(
        &mut self,
        class: ClassId,
        object: Term,
        level: Term,
        at: Span,
    ) -> Result<(), Stop> {
        let clauses = self.direct.history(class);
        if !clauses.is_empty() {
            let old = self.here.heap.clone();
            self.prove_history_of(object, clauses, old, at)?;
        }
        self.threads.note_left(object, level);
        Ok(())
    }

    fn prove_history_of(
        &mut self,
        object: Term,
        clauses: &[Expr],
        old: Heap,
        at: Span,
    ) -> Result<(), Stop> {
        let words = "the monitor invariant might not hold";
        let blame = Blame::new(ErrorId::FoldFailed, at).saying(words).trusted();
        self.in_monitor(object, LockMode::Write, |chalice| {
            chalice.prove_history(clauses, old, blame)
        })
    }
}

/// Tells whether an amount is positive whatever the state is.
fn is_certain(amount: &PermissionKind) -> bool {
    match amount {
        PermissionKind::Full | PermissionKind::AbstractRead | PermissionKind::Star => true,
        PermissionKind::Percentage(percent) => {
            matches!(&percent.kind, ExprKind::Int(value) if *value > 0.into())
        }
        _ => false,
    }
}

/// Tells whether a class has an invariant that gives permission depending on an earlier state.
pub(crate) fn depends_on_the_past(class: &Class) -> bool {
    class.invariants.iter().any(|clause| clause.one_state().looks_back())
}
