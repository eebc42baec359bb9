//! Loops (Schwerhoff 2011, section 3.9).

use chalice::options::Dialect;
use chalice::program::walk::{assigned_by, each_stmt};
use chalice::program::{Block, Expr, LocalId, Stmt, StmtKind};
use sil::source::Span;
use smt::terms::Term;

use super::exec::{Flow, keyword};
use super::threads::locks::Listed;
use super::{Statements, Threads, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::language::Language;
use symex::state::heap::Heap;
use symex::state::thread::{Allowed, Balances};

/// A loop, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Loop<'e> {
    pub(super) guard: &'e Expr,
    pub(super) invariants: &'e [Expr],
    pub(super) lock_changes: &'e [Expr],
    pub(super) body: &'e Block,
}

impl Statements<'_, '_> {
    /// Executes a loop. The invariants have to make sense where nothing else is known, to hold on
    /// entry, and to be kept by the body. The permission that they do not need is framed around the
    /// loop.
    pub(super) fn exec_loop(&mut self, stmt: &Stmt, parts: Loop<'_>) -> Result<Flow, Stop> {
        let Loop { guard, invariants, body, .. } = parts;
        let at = span(stmt.span);
        let has_own = self.direct.options.dialect == Dialect::Original;
        let outer = self.threads.fraction().filter(|_| has_own);
        if outer.is_some() {
            let chosen = self.threads.choose_fraction(outer)?;
            self.bound(chosen, invariants)?;
        }
        let changed = assigned(body);
        let changes_locks = self.direct.locking.changes(body) && self.frame.thread.locks.is_some();
        let ill_formed = |clause: &Expr| Blame::new(ErrorId::NotWellformed, span(clause.span));
        if self.choose(&[None, None])? == 0 {
            self.here.heap = Heap::default();
            self.begin_epoch();
            self.threads.forget_all_moments();
            self.threads.forget(changed);
            let listed = self.threads.loop_locks(parts, changes_locks);
            self.produce_all(invariants, None, ill_formed)?;
            self.name_listed(&listed, ill_formed)?;
            return Ok(Flow::Ends);
        }
        let trusted = |error| move |clause: &Expr| Blame::new(error, span(clause.span)).trusted();
        if !changes_locks && self.frame.thread.allowed.changes {
            let list = self.loop_list(parts, ill_formed)?;
            self.threads.prove_loop_frame(&list, false, Reason::AtLoopEntry, at)?;
        }
        let outside = self.credits_outside(invariants, at)?;
        let established = (ErrorId::InvariantNotEstablished, Reason::AtLoopEntry);
        self.prove_kept_levels(invariants, Blame::new(established.0, at))?;
        self.give_invariants(parts, changes_locks, established, at)?;
        let frame = std::mem::take(&mut self.here.heap);
        self.here.framed.push(frame);
        self.begin_epoch();
        self.threads.forget(changed);
        let listed = self.threads.loop_locks(parts, changes_locks);
        let may_unlock = self.direct.may_unlock(body);
        self.threads.forget_moments(may_unlock, listed.objects());
        self.produce_all(invariants, None, trusted(ErrorId::NotWellformed))?;
        self.learn_kept_levels(invariants)?;
        self.here.credits = Balances::default();
        self.move_credits(invariants, false)?;
        self.name_listed(&listed, trusted(ErrorId::NotWellformed))?;
        if changes_locks {
            self.threads.recall_levels()?;
            let locking = &self.direct.locking;
            if invariants.iter().any(|clause| locking.mentions_holds(clause)) {
                self.threads.levels_differ()?;
            }
        }
        self.end_unframed_by(invariants.iter().map(|clause| span(clause.span)))?;
        if self.condition(guard, ErrorId::WhileFailed)? {
            if self.block(body)? == Flow::Goes {
                self.comes_to(span(body.span))?;
                self.log.enter(keyword(&stmt.kind), at);
                self.move_credits(invariants, true)?;
                self.threads.prove_no_debt(Reason::ByLoop, at)?;
                let preserved = (ErrorId::InvariantNotPreserved, Reason::ByLoop);
                self.prove_kept_levels(invariants, Blame::new(preserved.0, at))?;
                self.give_invariants(parts, changes_locks, preserved, at)?;
                self.threads.prove_no_leak(Reason::ByLoop, at)?;
            }
            return Ok(Flow::Ends);
        }
        self.here.credits = outside;
        self.move_credits(invariants, false)?;
        if let Some(frame) = self.here.framed.pop() {
            self.add_all(&frame)?;
        }
        if let Some(outer) = outer {
            self.threads.set_fraction(outer);
        }
        Ok(Flow::Goes)
    }

    /// Returns the credits that the invariants do not take over. No debt may be among them.
    fn credits_outside(&mut self, invariants: &[Expr], at: Span) -> Result<Balances, Stop> {
        self.move_credits(invariants, true)?;
        self.threads.prove_no_debt(Reason::AtLoopEntry, at)?;
        Ok(self.here.credits.clone())
    }

    /// Gives the invariants away, and shows that no more locks have changed than the loop names.
    fn give_invariants(
        &mut self,
        parts: Loop<'_>,
        changes_locks: bool,
        (error, reason): (ErrorId, Reason),
        at: Span,
    ) -> Result<(), Stop> {
        let trusted = |clause: &Expr| Blame::new(error, span(clause.span)).trusted();
        self.show_state_at_all(parts.invariants.iter().map(|clause| span(clause.span)));
        if !changes_locks {
            self.consume_all(parts.invariants, trusted)?;
            return Ok(());
        }
        // Evaluated before permission is given away that the list may need.
        let list = self.loop_list(parts, trusted)?;
        self.consume_all(parts.invariants, trusted)?;
        self.threads.prove_loop_frame(&list, true, reason, at)
    }

    /// Evaluates the lockchange list of a loop.
    fn loop_list(
        &mut self,
        parts: Loop<'_>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Vec<Term>, Stop> {
        // SOUNDNESS: an ill-formed list has been reported, and does not tell what the loop may
        // change.
        if self.is_any_ill_formed(parts.lock_changes.iter().map(|object| span(object.span)))? {
            self.log.rely_on_report();
            return Err(Stop::Infeasible);
        }
        self.list(parts.lock_changes, blame)
    }
}

impl Threads<'_, '_> {
    /// Returns the locks of a thread in a loop that changes them: those at the start of the method,
    /// except those that the loop names.
    fn loop_locks<'e>(&mut self, parts: Loop<'e>, changes: bool) -> Listed<'e> {
        if !changes {
            return Listed::default();
        }
        let entry = self.frame.thread.old_locks.clone();
        self.frame.thread.locks = entry;
        let Allowed { may_relevel, releveled, .. } = self.frame.thread.allowed.clone();
        self.forget_levels(may_relevel, &releveled);
        self.change_locks(parts.lock_changes)
    }

    /// Shows that the loop need not name further changes since the start of the method.
    fn prove_loop_frame(
        &mut self,
        list: &[Term],
        changes: bool,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        let Allowed { may_relevel, releveled, .. } = self.frame.thread.allowed.clone();
        self.prove_frame(list, may_relevel || !changes, &releveled, reason, at)
    }
}

/// Returns the variables that statements assign.
fn assigned(block: &Block) -> Vec<LocalId> {
    let mut to = Vec::new();
    each_stmt(block, &mut |stmt| {
        if let StmtKind::Declare { local, .. } = stmt.kind {
            to.push(local);
        }
        to.extend(assigned_by(stmt));
    });
    to
}
