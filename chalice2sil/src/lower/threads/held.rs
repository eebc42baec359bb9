//! The objects that a thread holds: claims about them, and arguments of functions that ask.

use chalice::program::{FunctionId, LockMode};
use sil::syntax as s;

use crate::build::*;
use crate::lower::Member;
use crate::lower::env::{Env, Held, Locks};

impl Member<'_, '_> {
    /// Makes the claim `holds(target)` or `rd holds(target)`; nothing if the lock state is not at
    /// hand.
    pub(crate) fn holds(&self, target: &s::Expr, mode: LockMode, env: &Env) -> Option<s::Expr> {
        if matches!(env.locks, Locks::Nothing { .. }) {
            return Some(truth(false));
        }
        let held = self.held_objects(env)?;
        Some(match (mode, &held.read) {
            (LockMode::Write, None) => contains(&held.all, target),
            (LockMode::Write, Some(read)) => {
                and([contains(&held.all, target), not(contains(read, target))])
            }
            (LockMode::Read, Some(read)) => contains(read, target),
            (LockMode::Read, None) => truth(false),
        })
    }

    /// Returns the objects that the thread holds; nothing if the lock state is not at hand.
    fn held_objects(&self, env: &Env) -> Option<Held> {
        let has_readers = self.lowering.facts.locking.has_readers;
        let none = || literal(s::Collection::Set, ty(s::TypeKind::Ref), []);
        Some(match &env.locks {
            Locks::Unknown => return None,
            Locks::Nothing { .. } => Held { all: none(), read: has_readers.then(none) },
            Locks::Held(held) => held.clone(),
            Locks::State(locks) => Held { all: locks.held.clone(), read: locks.read_held.clone() },
        })
    }

    /// Returns the sets of held objects that an application passes to a function: none if the
    /// function does not ask for them; nothing if the lock state is not at hand.
    ///
    /// SOUNDNESS: the value of a function that asks may change whenever the thread acquires or
    /// releases something. So the locks are arguments.
    pub(crate) fn held_by(&self, function: FunctionId, env: &Env) -> Option<Vec<s::Expr>> {
        if !self.lowering.facts.locking.is_asking(function) {
            return Some(Vec::new());
        }
        self.held_objects(env).map(|held| std::iter::once(held.all).chain(held.read).collect())
    }

    /// Adds the formals for the arguments of [`Self::held_by`], and returns the locks that the
    /// function knows by them.
    pub(crate) fn held_formals(
        &mut self,
        function: FunctionId,
        formals: &mut Vec<s::TypedName>,
    ) -> Locks {
        let lowering = self.lowering;
        if !lowering.facts.locking.is_asking(function) {
            return Locks::Unknown;
        }
        let mut declared = |name: &str| {
            let name = self.fresh(name);
            formals.push(typed(&name, lowering.objects_type()));
            var(&name)
        };
        let all = declared("heldMap");
        let read = lowering.facts.locking.has_readers.then(|| declared("rdHeldMap"));
        Locks::Held(Held { all, read })
    }
}
