//! Loops (Schwerhoff 2011, section 3.9).

use chalice::program::locking::mentions_holds;
use chalice::program::walk::{assigned_by, each_stmt};
use chalice::program::{Block, Expr, LocalId, Stmt, StmtKind};
use smt::terms::Term;

use super::exec::{Flow, keyword};
use super::locks::Listed;
use super::span;
use crate::engine::findings::blame::{Blame, ErrorId, Reason};
use crate::engine::state::heap::Heap;
use crate::engine::state::thread::{Allowed, Balances};
use crate::engine::{Engine, Stop};

/// A loop, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Loop<'e> {
    pub(super) guard: &'e Expr,
    pub(super) invariants: &'e [Expr],
    pub(super) lock_changes: &'e [Expr],
    pub(super) body: &'e Block,
}

impl Engine<'_> {
    /// The invariants make sense where nothing else is known, hold on entry, and are kept by the
    /// body; what they do not need is framed around the loop.
    pub(super) fn direct_loop(&mut self, stmt: &Stmt, parts: Loop<'_>) -> Result<Flow, Stop> {
        let Loop { guard, invariants, body, .. } = parts;
        let at = span(stmt.span);
        let outer = self.direct_fraction();
        if outer.is_some() {
            let chosen = self.direct_choose_fraction(outer)?;
            self.direct_bound(chosen, invariants)?;
        }
        let changed = assigned(body);
        let changes_locks =
            self.direct().locking.changes(body) && self.frame.thread.locks.is_some();
        let ill_formed = |clause: &Expr| Blame::new(ErrorId::NotWellformed, span(clause.span));
        if self.choose(&[None, None])? == 0 {
            self.here.heap = Heap::default();
            self.begin_epoch();
            self.direct_forget_all_moments();
            self.direct_forget(changed);
            let listed = self.direct_loop_locks(parts, changes_locks);
            self.direct_produce_all(invariants, None, ill_formed)?;
            self.direct_name_listed(&listed, ill_formed)?;
            return Ok(Flow::Ends);
        }
        let trusted = |error| move |clause: &Expr| Blame::new(error, span(clause.span)).trusted();
        if !changes_locks && self.frame.thread.allowed.changes {
            let list = self.direct_loop_list(parts, ill_formed)?;
            self.direct_prove_loop_frame(&list, false, Reason::AtLoopEntry, at)?;
        }
        let outside = self.direct_credits_outside(invariants, at)?;
        let established = (ErrorId::InvariantNotEstablished, Reason::AtLoopEntry);
        self.direct_prove_kept_levels(invariants, Blame::new(established.0, at))?;
        self.direct_give_invariants(parts, changes_locks, established, at)?;
        let frame = std::mem::take(&mut self.here.heap);
        self.here.framed.push(frame);
        self.begin_epoch();
        self.direct_forget(changed);
        let listed = self.direct_loop_locks(parts, changes_locks);
        self.direct_forget_moments(self.direct().may_unlock(body), listed.objects());
        self.direct_produce_all(invariants, None, trusted(ErrorId::NotWellformed))?;
        self.direct_learn_kept_levels(invariants)?;
        self.here.credits = Balances::default();
        self.direct_move_credits(invariants, false)?;
        self.direct_name_listed(&listed, trusted(ErrorId::NotWellformed))?;
        if changes_locks {
            self.direct_recall_levels()?;
            if invariants.iter().any(mentions_holds) {
                self.direct_levels_differ()?;
            }
        }
        for clause in invariants {
            if self.is_ill_formed_at(span(clause.span))? {
                self.end_unframed()?;
                break;
            }
        }
        if self.direct_condition(guard, ErrorId::WhileFailed)? {
            if self.direct_block(body)? == Flow::Goes {
                self.log.enter(keyword(&stmt.kind), at);
                self.direct_move_credits(invariants, true)?;
                self.direct_prove_no_debt(Reason::ByLoop, at)?;
                let preserved = (ErrorId::InvariantNotPreserved, Reason::ByLoop);
                self.direct_prove_kept_levels(invariants, Blame::new(preserved.0, at))?;
                self.direct_give_invariants(parts, changes_locks, preserved, at)?;
                self.direct_prove_no_leak(Reason::ByLoop, at)?;
            }
            return Ok(Flow::Ends);
        }
        self.here.credits = outside;
        self.direct_move_credits(invariants, false)?;
        if let Some(frame) = self.here.framed.pop() {
            self.rejoin(&frame)?;
        }
        if let Some(outer) = outer {
            self.frame.store.set(self.direct().fraction, outer);
        }
        Ok(Flow::Goes)
    }

    /// The credits that the invariants do not take over, and no debt is among them.
    fn direct_credits_outside(
        &mut self,
        invariants: &[Expr],
        at: sil::source::Span,
    ) -> Result<Balances, Stop> {
        self.direct_move_credits(invariants, true)?;
        self.direct_prove_no_debt(Reason::AtLoopEntry, at)?;
        Ok(self.here.credits.clone())
    }

    /// The invariants are given away, and no more locks have changed than the loop names.
    fn direct_give_invariants(
        &mut self,
        parts: Loop<'_>,
        changes_locks: bool,
        (error, reason): (ErrorId, Reason),
        at: sil::source::Span,
    ) -> Result<(), Stop> {
        let trusted = |clause: &Expr| Blame::new(error, span(clause.span)).trusted();
        if !changes_locks {
            self.direct_consume_all(parts.invariants, trusted)?;
            return Ok(());
        }
        // Before permission is given away that the list may need.
        let list = self.direct_loop_list(parts, trusted)?;
        self.direct_consume_all(parts.invariants, trusted)?;
        self.direct_prove_loop_frame(&list, true, reason, at)
    }

    /// The locks of a thread in a loop that changes them: those at the start of the method, but for
    /// those that the loop names.
    fn direct_loop_locks<'e>(&mut self, parts: Loop<'e>, changes: bool) -> Listed<'e> {
        if !changes {
            return Listed::default();
        }
        let entry = self.frame.thread.old_locks.clone();
        self.frame.thread.locks = entry;
        let Allowed { may_relevel, releveled, .. } = self.frame.thread.allowed.clone();
        self.direct_forget_levels(may_relevel, &releveled);
        self.direct_change_locks(parts.lock_changes)
    }

    /// The values of the lockchange list of a loop.
    fn direct_loop_list(
        &mut self,
        parts: Loop<'_>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Vec<Term>, Stop> {
        // SOUNDNESS: that has been reported, and nobody can say what the loop may change.
        for object in parts.lock_changes {
            if self.is_ill_formed_at(span(object.span))? {
                self.log.rely_on_report();
                return Err(Stop::Infeasible);
            }
        }
        self.direct_list(parts.lock_changes, blame)
    }

    /// Shows that the loop does not need to name more of what has changed since the start of the
    /// method.
    fn direct_prove_loop_frame(
        &mut self,
        list: &[Term],
        changes: bool,
        reason: Reason,
        at: sil::source::Span,
    ) -> Result<(), Stop> {
        let Allowed { may_relevel, releveled, .. } = self.frame.thread.allowed.clone();
        self.direct_prove_frame(list, may_relevel || !changes, &releveled, reason, at)
    }
}

/// The variables that statements assign.
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
