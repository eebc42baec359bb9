//! The verification of a method and of a predicate.

use chalice::program::{Expr, LocalId, MethodId};
use sil::program::Member;
use smt::terms::Sort;

use super::exec::Flow;
use super::scope::{self, Needs};
use super::table::Invariant;
use super::{Chalice, Statements, Threads, renumbered, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::rules::assertion::conjuncts;
use symex::rules::language::Language;
use symex::state::heap::Heap;
use symex::state::thread::{Allowed, Thread};
use symex::state::{State, Store};
use symex::{Amounts, Explore, Stop};

impl Statements<'_, '_> {
    /// Verifies a member of a Chalice program. Stops if some construct has no rules.
    pub fn verify(&mut self, member: Member) -> Result<(), Stop> {
        let direct = self.direct;
        let needs = self.check_scope(member)?;
        match member {
            Member::Method(id) => self.method(renumbered(id), needs),
            Member::Predicate(id) => match direct.invariant(id) {
                Invariant::Predicate(predicate) => {
                    let body = std::slice::from_ref(&predicate.body);
                    self.invariant(body, &[], |_| Ok(()))
                }
                Invariant::Monitor(id, _) => {
                    self.invariant(direct.invariants(id), &[], |chalice| chalice.check_history(id))
                }
                Invariant::Messages(channel) => {
                    let clause = channel.where_clause.as_slice();
                    self.invariant(clause, &channel.parameters, |_| Ok(()))
                }

                Invariant::Other(at) => unsupported_at(span(at), "conditions in direct execution"),
            },
            // Functions have rules of their own; fields and domains have no obligations.
            Member::Function(_) | Member::Field(_) | Member::Domain(_) => Ok(()),
        }
    }

    /// Returns the needs of a member, if there are rules for everything in it.
    pub(super) fn check_scope(&self, member: Member) -> Result<Needs, Stop> {
        scope::needs(self.direct, member)
            .or_else(|(at, what)| unsupported_at(at, &format!("{what} in direct execution")))
    }

    /// Verifies a method: its contract has to make sense, and its body has to meet it.
    fn method(&mut self, id: MethodId, needs: Needs) -> Result<(), Stop> {
        let method = &self.direct.tree.methods[id];
        let mut has_start = false;
        self.explore_apart(|chalice| {
            chalice.path(id, needs, &mut has_start)?;
            chalice.log.count_path();
            chalice.go_on()
        })?;
        if let (false, Some(first)) = (has_start, method.requires.first()) {
            self.log.warn_of_contradiction(span(first.span), "the precondition");
        }
        self.report_unreached(method)
    }

    /// Follows one path through a method. `has_start` is set behind the precondition.
    fn path(&mut self, id: MethodId, needs: Needs, has_start: &mut bool) -> Result<(), Stop> {
        let direct = self.direct;
        let method = &direct.tree.methods[id];
        self.start()?;
        self.begin_epoch();
        if needs.counts {
            self.threads.count();
        }
        if needs.fractions {
            self.threads.choose_fraction(None)?;
        }
        self.threads.forget(method.parameters.iter().copied());
        self.threads.start_thread(id)?;
        let well_formed =
            |clause: &chalice::program::Expr| Blame::new(ErrorId::NotWellformed, span(clause.span));
        self.produce_all(&method.requires, None, well_formed)?;
        self.end_unframed_by(method.requires.iter().map(|clause| span(clause.span)))?;
        if !method.requires.is_empty() && self.seems_dead()? {
            return Err(Stop::Infeasible);
        }
        *has_start = true;
        self.learn_kept_levels(&method.requires)?;
        self.move_credits(&method.requires, false)?;
        self.frame.past.old = Some(self.here.heap.clone());
        self.frame.thread.old_credits = self.here.credits.clone();
        self.threads.forget(method.results.iter().copied());
        if self.choose(&[None, None])? == 0 {
            self.here.heap = Heap::default();
            self.threads.forget_all_moments();
            if self.frame.thread.locks.is_some() {
                self.frame.thread.locks = Some(self.threads.unknown_locks());
            }
            self.produce_all(&method.ensures, None, well_formed)?;
            self.list(&method.lock_changes, well_formed)?;
            return Ok(());
        }
        if method.requires.iter().any(|clause| direct.locking.mentions_holds(clause)) {
            self.threads.levels_differ()?;
        }
        if direct.options.defaults > 0 {
            self.open_own(&method.requires)?;
        }
        if self.block(&method.body)? == Flow::Ends {
            return Ok(());
        }
        self.comes_to(span(method.span))?;
        if direct.options.defaults > 0 {
            self.close_own(&method.ensures)?;
        }
        self.log.enter("contract", span(method.span));
        self.show_state_at_all(method.ensures.iter().map(|clause| span(clause.span)));
        self.show_state_at_end(span(method.span));
        // An ill-formed postcondition has been reported, and no body can be held to it.
        if self.is_any_ill_formed(method.ensures.iter().map(|clause| span(clause.span)))? {
            self.log.rely_on_report();
            return Ok(());
        }
        if direct.locking.method(id).is_forked {
            self.prove_no_debt_in_token(&method.ensures, span(method.span))?;
        }
        self.move_credits(&method.ensures, true)?;
        self.threads.prove_no_debt(Reason::ByMethod, span(method.span))?;
        // Evaluated before permission is given away that the list may need.
        let list = self.list(&method.lock_changes, |object| {
            Blame::new(ErrorId::NotWellformed, span(object.span)).trusted()
        })?;
        let violated = Blame::new(ErrorId::PostconditionViolated, span(method.span));
        self.prove_kept_levels(&method.ensures, violated)?;
        self.consume_all(&method.ensures, |clause| {
            Blame::new(ErrorId::PostconditionViolated, span(clause.span)).trusted()
        })?;
        self.threads.prove_no_leak(Reason::ByMethod, span(method.span))?;
        self.threads.prove_ending(id, method, &list)
    }

    /// Goes to a state where nothing is known but that there is an object.
    fn start(&mut self) -> Result<(), Stop> {
        let direct = self.direct;
        self.set_state(State::new(&direct.locals));
        let this = self.fresh("this", Sort::REF);
        self.frame.store.set(direct.this, this);
        let exists = self.terms.differs(this, smt::terms::Terms::NULL);
        self.assume(exists)?;
        self.sums()
    }

    /// Verifies the body of a predicate: it has to frame itself and to be defined.
    fn invariant(
        &mut self,
        clauses: &[Expr],
        of: &[LocalId],
        mut check: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let paths = self.explore(|chalice| {
            chalice.start()?;
            chalice.threads.order()?;
            chalice.threads.forget(of.iter().copied());
            let common = chalice.threads.common()?;
            chalice.threads.set_fraction(common);
            // SOUNDNESS: more than full permission is no contradiction, since a part of an instance
            // may be held.
            chalice.here.heap.amounts = Amounts::SomeOrNone;
            for (_, conjunct) in conjuncts::<Chalice>(clauses) {
                let blame = Blame::new(ErrorId::NotWellformed, span(conjunct.span));
                chalice.produce_all([conjunct], None, |_| blame)?;
            }
            if chalice.seems_dead()? {
                return Err(Stop::Infeasible);
            }
            check(chalice)
        })?;
        if let (true, Some(first)) = (paths.is_empty(), clauses.first()) {
            self.log.warn_of_contradiction(span(first.span), "the body of the predicate");
        }
        Ok(())
    }
}

impl Threads<'_, '_> {
    /// Sets the knowledge about locks at the start of a method.
    fn start_thread(&mut self, id: MethodId) -> Result<(), Stop> {
        let direct = self.direct;
        if !direct.locking.is_used {
            return Ok(());
        }
        let method = &direct.tree.methods[id];
        self.order()?;
        self.assume_classes(method)?;
        let locks = self.unknown_locks();
        let allowed = Allowed {
            changes: direct.locking.changes(&method.body),
            may_relevel: direct.locking.method(id).may_relevel,
            releveled: self.releveled(id).into(),
        };
        let (locks, old_locks) = (Some(locks.clone()), Some(locks));
        self.frame.thread = Thread { locks, old_locks, allowed, ..Thread::default() };
        Ok(())
    }

    /// Makes a store with only the values that all expressions of the member share.
    pub(super) fn store(&self) -> Store {
        let direct = self.direct;
        let mut store = Store::new(&direct.locals);
        for ghost in [direct.whole, direct.least] {
            if let Some(value) = self.frame.store.get(ghost) {
                store.set(ghost, value);
            }
        }
        store
    }
}
