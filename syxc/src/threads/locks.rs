//! The locks of a thread: the objects that are held, their levels, and the changes that calls,
//! loops and methods may make.
//!
//! Invariants
//! - The level of a held object is its `mu`, and only the thread that holds an object can change
//!   it. So the level is known even where all permission to `mu` has been given away.
//! - Nothing reads the level of an object that is not held.

use chalice::program::locking::Given;
use chalice::program::{ClassId, Expr, LockMode, Method, MethodId, Type};
use sil::source::Span;
use smt::terms::{Quant, Sort, Term, Terms};

use super::asking::sets_of;
use super::levels::{known, objects};
use crate::{Chalice, Direct, Statements, Threads, renumbered, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::state::heap::Chunk;
use symex::state::thread::{Allowed, Changes, Locks};

/// A lockchange list, and the objects that it will name when it can be evaluated.
#[derive(Default, Debug)]
pub(crate) struct Listed<'e> {
    list: &'e [Expr],
    objects: Vec<Term>,
}

impl Listed<'_> {
    pub(crate) fn objects(&self) -> &[Term] {
        &self.objects
    }
}

impl Threads<'_, '_> {
    /// Makes locks of which nothing is known: any may be held.
    pub(crate) fn unknown_locks(&mut self) -> Locks {
        let sort = moment_sort(&mut self.terms);
        let base = self.fresh("locks", sort);
        Locks {
            base: Some(base),
            held: Changes::default(),
            read: Changes::default(),
            level_base: base,
            levels: Changes::default(),
        }
    }

    /// Makes the locks of a thread that starts.
    pub(crate) fn no_locks(&mut self) -> Locks {
        Locks { base: None, ..self.unknown_locks() }
    }

    /// Returns the locks of the thread, if it has any.
    pub(crate) fn locks(&self, at: Span) -> Result<Locks, Stop> {
        match &self.frame.thread.locks {
            Some(locks) => Ok(locks.clone()),
            None => unsupported_at(at, "locks where there is no thread"),
        }
    }

    /// Makes the claim that an object was held for reading at a moment.
    pub(crate) fn base_read(&mut self, base: Term, object: Term) -> Term {
        if !self.direct.locking.has_readers {
            return Terms::FALSE;
        }
        match sets_of(&mut self.terms, base) {
            Some((_, read)) => self.terms.set_contains(object, read),
            None => of_base(&mut self.terms, "direct.rdheld", base, object, Sort::BOOL),
        }
    }

    fn in_read(&mut self, locks: &Locks, object: Term) -> Term {
        let before = match locks.base {
            Some(base) => self.base_read(base, object),
            None => Terms::FALSE,
        };
        changed(&mut self.terms, &locks.read, object, before)
    }

    /// Makes the claim that an object is held, for writing or for reading.
    pub(crate) fn is_held(&mut self, locks: &Locks, object: Term) -> Term {
        let (held, read) = (in_held(&mut self.terms, locks, object), self.in_read(locks, object));
        self.terms.or([held, read])
    }

    /// Makes the claim `holds(object)` or `rd holds(object)`.
    pub(crate) fn holds(&mut self, locks: &Locks, object: Term, mode: LockMode) -> Term {
        let read = self.in_read(locks, object);
        match mode {
            LockMode::Read => read,
            LockMode::Write => {
                let held = in_held(&mut self.terms, locks, object);
                let is_writer = self.terms.not(read);
                self.terms.and([held, is_writer])
            }
        }
    }

    /// Returns the level with which a held object counts.
    pub(crate) fn level_at(&mut self, locks: &Locks, object: Term) -> Term {
        let sort = self.level_sort();
        let before = of_base(&mut self.terms, "direct.level", locks.level_base, object, sort);
        changed(&mut self.terms, &locks.levels, object, before)
    }

    /// Shows that an object is held for writing.
    pub(crate) fn prove_held(&mut self, object: Term, blame: Blame, at: Span) -> Result<(), Stop> {
        let locks = self.locks(blame.span)?;
        let held = in_held(&mut self.terms, &locks, object);
        self.prove(held, blame, Reason::LockNotHeld, at)?;
        let read = self.in_read(&locks, object);
        let is_writer = self.terms.not(read);
        self.prove(is_writer, blame, Reason::LockReadHeld, at)
    }

    /// Makes the claim that the same objects are held as before, except for the objects in `but`.
    pub(crate) fn same_locks(
        &mut self,
        old: &Locks,
        new: &Locks,
        but: &[Term],
    ) -> Result<Term, Stop> {
        let mut all = Vec::new();
        for object in objects([&old.held, &new.held, &old.read, &new.read]) {
            all.push(self.same_lock(old, new, but, object));
        }
        if old.base != new.base {
            let object = self.fresh_variable("o", Sort::REF);
            let same = self.same_lock(old, new, but, object);
            let mut triggers = Vec::new();
            for base in [old.base, new.base].into_iter().flatten() {
                triggers.push(vec![base_held(&mut self.terms, base, object)]);
                let read = self.base_read(base, object);
                if read != Terms::FALSE {
                    triggers.push(vec![read]);
                }
            }
            all.push(self.quantify(Quant::Forall, &[object], triggers, same));
        }
        Ok(self.terms.and(all))
    }

    fn same_lock(&mut self, old: &Locks, new: &Locks, but: &[Term], object: Term) -> Term {
        let unnamed = is_none_of(&mut self.terms, object, but);
        let (before, after) =
            (in_held(&mut self.terms, old, object), in_held(&mut self.terms, new, object));
        let same = self.terms.iff(after, before);
        let (before, after) = (self.in_read(old, object), self.in_read(new, object));
        let same_read = self.terms.iff(after, before);
        let same = self.terms.and([same, same_read]);
        self.terms.implies(unnamed, same)
    }

    /// Makes the claim that objects held before and after have the same level, except for the
    /// objects in `but`.
    pub(crate) fn same_levels(
        &mut self,
        old: &Locks,
        new: &Locks,
        but: &[Term],
    ) -> Result<Term, Stop> {
        let mut all = Vec::new();
        for object in objects([&old.levels, &new.levels]) {
            all.push(self.same_level(old, new, but, object));
        }
        if old.level_base != new.level_base {
            let object = self.fresh_variable("o", Sort::REF);
            let same = self.same_level(old, new, but, object);
            let sort = self.level_sort();
            let base = of_base(&mut self.terms, "direct.level", new.level_base, object, sort);
            all.push(self.quantify(Quant::Forall, &[object], vec![vec![base]], same));
        }
        Ok(self.terms.and(all))
    }

    fn same_level(&mut self, old: &Locks, new: &Locks, but: &[Term], object: Term) -> Term {
        let unnamed = is_none_of(&mut self.terms, object, but);
        let (before, after) = (self.is_held(old, object), self.is_held(new, object));
        let guard = self.terms.and([unnamed, before, after]);
        let (before, after) = (self.level_at(old, object), self.level_at(new, object));
        let same = self.terms.eq(after, before);
        self.terms.implies(guard, same)
    }

    /// Assumes that different objects that are held have different levels.
    pub(crate) fn levels_differ(&mut self) -> Result<(), Stop> {
        let Some(locks) = self.frame.thread.locks.clone() else { return Ok(()) };
        let [first, second] = ["o", "p"].map(|name| self.fresh_variable(name, Sort::REF));
        let fact = self.differ(&locks, first, second);
        let sort = self.level_sort();
        let trigger = [first, second]
            .map(|object| of_base(&mut self.terms, "direct.level", locks.level_base, object, sort));
        let triggers = vec![trigger.to_vec()];
        let fact = self.terms.forall(&[first, second], triggers, fact, "direct.levels.differ", 0);
        self.assume(fact)?;
        let named = known(&locks);
        for (position, &first) in named.iter().enumerate() {
            for &second in &named[position + 1..] {
                let fact = self.differ(&locks, first, second);
                self.assume(fact)?;
            }
        }
        Ok(())
    }

    fn differ(&mut self, locks: &Locks, first: Term, second: Term) -> Term {
        let (one, other) = (self.is_held(locks, first), self.is_held(locks, second));
        let are_two = self.terms.differs(first, second);
        let guard = self.terms.and([one, other, are_two]);
        let (one, other) = (self.level_at(locks, first), self.level_at(locks, second));
        let differ = self.terms.differs(one, other);
        self.terms.implies(guard, differ)
    }

    /// Learns the consequences of permission to `mu` of an object. If the object is held, it has
    /// the level with which it counts, and is shared.
    pub(crate) fn learn_level(&mut self, object: Term) -> Result<(), Stop> {
        let Some(locks) = self.frame.thread.locks.clone() else { return Ok(()) };
        let chunks = self.here.heap.of(self.direct.mu()).to_vec();
        for chunk in chunks.iter().filter(|chunk| chunk.arguments == [object]) {
            self.learn_level_of(&locks, chunk)?;
        }
        Ok(())
    }

    /// Learns the consequences of all permission to `mu`, when locks have changed.
    pub(crate) fn recall_levels(&mut self) -> Result<(), Stop> {
        let Some(locks) = self.frame.thread.locks.clone() else { return Ok(()) };
        let frames = self.here.framed.clone();
        for heap in std::iter::once(self.here.heap.clone()).chain(frames) {
            for chunk in heap.of(self.direct.mu()) {
                self.learn_level_of(&locks, chunk)?;
            }
        }
        Ok(())
    }

    fn learn_level_of(&mut self, locks: &Locks, chunk: &Chunk) -> Result<(), Stop> {
        let object = chunk.arguments[0];
        let readable = self.terms.lt(Terms::NONE, chunk.amount);
        let held = self.is_held(locks, object);
        let guard = self.terms.and([readable, held]);
        if guard == Terms::FALSE {
            return Ok(());
        }
        let level = self.level_at(locks, object);
        let same = self.terms.eq(chunk.value, level);
        let bottom = self.bottom();
        let shared = self.terms.differs(level, bottom);
        let known = self.terms.and([same, shared]);
        let fact = self.terms.implies(guard, known);
        self.assume(fact)
    }

    /// Assumes that nobody holds a new object.
    pub(crate) fn is_not_held(&mut self, object: Term) -> Result<(), Stop> {
        let thread = &self.frame.thread;
        for locks in [thread.locks.clone(), thread.old_locks.clone()].into_iter().flatten() {
            let held = self.is_held(&locks, object);
            let not_held = self.terms.not(held);
            self.assume(not_held)?;
        }
        Ok(())
    }

    /// Forgets whether the objects of a list are held, and at which levels. The list names its
    /// objects once the expressions before it are known ([`Statements::name_listed`]).
    pub(crate) fn change_locks<'e>(&mut self, list: &'e [Expr]) -> Listed<'e> {
        let mut objects = Vec::new();
        if let Some(mut locks) = self.frame.thread.locks.clone() {
            let sort = self.level_sort();
            for _ in list {
                let object = self.fresh("listed", Sort::REF);
                let held = self.fresh("held", Sort::BOOL);
                locks.held.set(object, held);
                if self.direct.locking.has_readers {
                    let read = self.fresh("rdheld", Sort::BOOL);
                    locks.read.set(object, read);
                }
                let level = self.fresh("level", sort);
                locks.levels.set(object, level);
                objects.push(object);
            }
            self.frame.thread.locks = Some(locks);
        }
        Listed { list, objects }
    }

    /// Forgets the levels of all objects, or of those given.
    pub(crate) fn forget_levels(&mut self, all: bool, given: &[Term]) {
        let Some(mut locks) = self.frame.thread.locks.clone() else { return };
        let sort = self.level_sort();
        if all {
            locks.level_base = self.unknown_locks().level_base;
            locks.levels.clear();
        }
        for &object in given {
            let level = self.fresh("level", sort);
            locks.levels.set(object, level);
        }
        self.frame.thread.locks = Some(locks);
    }

    /// Lists the objects given to a method whose levels it may change. The state has the parameters
    /// of the method.
    pub(crate) fn releveled(&self, id: MethodId) -> Vec<Term> {
        let direct = self.direct;
        let value = |given: &Given| match given {
            Given::This => self.frame.store.get(direct.this),
            Given::Parameter(local) => self.frame.store.get(Direct::local(*local)),
        };
        direct.locking.method(id).relevels.iter().filter_map(value).collect()
    }

    /// Shows that no more locks have changed since the start of the method than a list says. With
    /// `may_relevel`, the levels of all objects may have changed; else those of `releveled`.
    pub(crate) fn prove_frame(
        &mut self,
        list: &[Term],
        may_relevel: bool,
        releveled: &[Term],
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        let thread = &self.frame.thread;
        let (Some(new), Some(old)) = (thread.locks.clone(), thread.old_locks.clone()) else {
            return Ok(());
        };
        let blame = Blame::new(ErrorId::LockchangeViolated, at).trusted();
        let same = self.same_locks(&old, &new, list)?;
        self.prove(same, blame, reason, at)?;
        if !may_relevel {
            let but = [list, releveled].concat();
            let same = self.same_levels(&old, &new, &but)?;
            self.prove(same, blame, reason, at)?;
        }
        Ok(())
    }

    /// Proves the obligations about locks at the end of a method, with the values of its lockchange
    /// list.
    pub(crate) fn prove_ending(
        &mut self,
        id: MethodId,
        method: &Method,
        list: &[Term],
    ) -> Result<(), Stop> {
        let facts = self.direct.locking.method(id);
        if self.frame.thread.locks.is_none() || !facts.locks {
            return Ok(());
        }
        let at = span(method.span);
        let Allowed { may_relevel, releveled, .. } = self.frame.thread.allowed.clone();
        self.prove_frame(list, may_relevel, &releveled, Reason::ByMethod, at)?;
        if facts.is_forked && !method.lock_changes.is_empty() {
            self.prove_lets_go(at)?;
        }
        Ok(())
    }

    /// Shows that a thread which starts with nothing held ends with nothing held, as a forked
    /// method must.
    ///
    /// SOUNDNESS: nobody else can release the locks of a thread. Once a thread has ended, whoever
    /// acquires a lock that it still holds waits for ever.
    fn prove_lets_go(&mut self, at: Span) -> Result<(), Stop> {
        let thread = &self.frame.thread;
        let (Some(new), Some(old)) = (thread.locks.clone(), thread.old_locks.clone()) else {
            return Ok(());
        };
        let before = self.holds_nothing(&old);
        let after = self.holds_nothing(&new);
        let claim = self.terms.implies(before, after);
        let blame = Blame::new(ErrorId::LockchangeViolated, at).trusted();
        self.prove(claim, blame, Reason::ByThread, at)
    }

    fn holds_nothing(&mut self, locks: &Locks) -> Term {
        let named = known(locks);
        let mut all = Vec::new();
        for &object in &named {
            let held = self.is_held(locks, object);
            all.push(self.terms.not(held));
        }
        if let Some(base) = locks.base {
            let object = self.fresh_variable("o", Sort::REF);
            let (held, read) =
                (base_held(&mut self.terms, base, object), self.base_read(base, object));
            let some = self.terms.or([held, read]);
            let mut none = vec![self.terms.not(some)];
            none.extend(named.iter().map(|&known| self.terms.identical(object, known)));
            let body = self.terms.or(none);
            let mut triggers = vec![vec![held]];
            if read != Terms::FALSE {
                triggers.push(vec![read]);
            }
            all.push(self.quantify(Quant::Forall, &[object], triggers, body));
        }
        self.terms.and(all)
    }

    /// Assumes that an object is of a class, or `null` where it need not exist. Only locks tell
    /// objects of different classes apart.
    pub(crate) fn is_of_class(
        &mut self,
        object: Term,
        class: ClassId,
        exists: bool,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        if direct.tree.classes.len() < 2 || !direct.locking.is_used {
            return Ok(());
        }
        let symbol = self.terms.declare_function("direct.class", &[Sort::REF], Sort::INT);
        let own = self.terms.apply(symbol, &[object]);
        let number = self.terms.int(i64::from(class.into_raw().into_u32()));
        let fits = self.terms.eq(own, number);
        let fact = if exists {
            fits
        } else {
            let none = self.terms.identical(object, Terms::NULL);
            self.terms.or([none, fits])
        };
        self.assume(fact)
    }

    /// Assumes that the objects a method is given are of their types.
    pub(crate) fn assume_classes(&mut self, method: &Method) -> Result<(), Stop> {
        let direct = self.direct;
        if let Some(this) = self.frame.store.get(direct.this) {
            self.is_of_class(this, method.class, true)?;
        }
        for &parameter in &method.parameters {
            if let Type::Class(class) = direct.tree.locals[parameter].ty
                && let Some(value) = self.frame.store.get(renumbered(parameter))
            {
                self.is_of_class(value, class, false)?;
            }
        }
        Ok(())
    }
}

impl Chalice<'_, '_> {
    /// Learns that a held object is shared.
    pub(crate) fn is_shared(&mut self, target: &Expr) -> Result<(), Stop> {
        let Some(locks) = self.frame.thread.locks.clone() else { return Ok(()) };
        let blame = Blame::new(ErrorId::InhaleFailed, span(target.span)).silent();
        let object = self.eval(target, blame)?;
        let held = self.threads.is_held(&locks, object);
        let level = self.threads.level_at(&locks, object);
        let bottom = self.threads.bottom();
        let shared = self.terms.differs(level, bottom);
        let fact = self.terms.implies(held, shared);
        self.assume(fact)
    }

    /// Evaluates a lockchange list. Each object is shown to have a value where `blame` does not
    /// trust it.
    pub(crate) fn list(
        &mut self,
        list: &[Expr],
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<Vec<Term>, Stop> {
        list.iter().map(|object| self.eval(object, blame(object))).collect()
    }
}

impl Statements<'_, '_> {
    /// Assumes that the objects of a list are those that the list names in the present state.
    ///
    /// SOUNDNESS: nothing is known of these objects but what the list makes of them, and an
    /// expression has one value.
    pub(crate) fn name_listed(
        &mut self,
        listed: &Listed<'_>,
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<(), Stop> {
        let values = self.list(listed.list, blame)?;
        for (&object, value) in listed.objects.iter().zip(values) {
            let same = self.terms.identical(object, value);
            self.assume(same)?;
        }
        Ok(())
    }
}

/// Returns the sort of moments. A moment tells which objects are held then, and at which levels.
pub(crate) fn moment_sort(terms: &mut Terms) -> Sort {
    terms.user_sort("Locks", &[])
}

pub(crate) fn of_base(
    terms: &mut Terms,
    name: &str,
    base: Term,
    object: Term,
    result: Sort,
) -> Term {
    let moment = terms.sort(base);
    let symbol = terms.declare_function(name, &[moment, Sort::REF], result);
    terms.apply(symbol, &[base, object])
}

/// Returns the value of an object: that of the last change of this object.
fn changed(terms: &mut Terms, changes: &Changes, object: Term, before: Term) -> Term {
    changes.iter().fold(before, |value, (changed, new)| {
        let is_it = terms.identical(object, changed);
        terms.ite(is_it, new, value)
    })
}

fn is_none_of(terms: &mut Terms, object: Term, others: &[Term]) -> Term {
    let others: Vec<Term> = others.iter().map(|&other| terms.differs(object, other)).collect();
    terms.and(others)
}

/// Makes the claim that an object was held at a moment.
pub(crate) fn base_held(terms: &mut Terms, base: Term, object: Term) -> Term {
    match sets_of(terms, base) {
        Some((held, _)) => terms.set_contains(object, held),
        None => of_base(terms, "direct.held", base, object, Sort::BOOL),
    }
}

fn in_held(terms: &mut Terms, locks: &Locks, object: Term) -> Term {
    let before = match locks.base {
        Some(base) => base_held(terms, base, object),
        None => Terms::FALSE,
    };
    changed(terms, &locks.held, object, before)
}
