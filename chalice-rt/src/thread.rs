//! A thread of an emitted program: its activations with what each may use.
//!
//! Permission is kept in books, one for each activation and each loop that is being executed; only
//! their thread looks at them. What is given away goes from one book to another: with a call, into
//! a monitor, with a message.

mod channels;
mod functions;
mod levels;
mod locks;
mod predicates;
mod transfer;

use std::sync::Arc;

use crate::amount::{Amount, Kappa};
use crate::flaw::Flaw;
use crate::levels::{Level, Levels};
use crate::object::{Kind, Loc, Object, Part, locked};
use crate::trouble::{At, Fault, Res, Trouble, fail};
use crate::value::Value;
use crate::world::{Wish, World};

pub use crate::object::Holding;
pub use functions::{Function, receiver};
pub use levels::{Bound, Side};
pub use predicates::Trade;
pub use transfer::{Chosen, Once, Transfer};

/// The read fraction of predicates, monitors and channels.
pub const COMMON: Kappa = Kappa(0);

/// Objects whose lock may change: an expression for each.
pub type OnLocks<'a> = &'a mut dyn FnMut(&mut Thread) -> Res<Vec<Value>>;

/// Clauses, each of which asks for something in a transfer.
pub type Clauses<'a> = &'a mut dyn FnMut(&mut Thread, &mut Transfer) -> Res<()>;

/// Where permission is kept.
#[derive(Debug, Clone)]
pub enum Place {
    /// With an activation or loop of the thread.
    Frame(usize),
    /// Elsewhere.
    Kept(crate::object::Kept),
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Frame(one), Self::Frame(two)) => one == two,
            (Self::Kept(one), Self::Kept(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// A lock that a thread holds.
#[derive(Debug, Clone)]
struct Held {
    object: Arc<Object>,
    write: bool,
    level: Level,
}

/// Locks that are held at a time.
type Locks = Arc<Vec<Held>>;

/// An activation of a method, or a loop that is being executed.
#[derive(Debug)]
struct Frame {
    holding: Holding,
    kappa: Kappa,
    is_loop: bool,
    /// The locks held when the activation began.
    held: Locks,
}

/// The judgement on a claim that has to hold however levels are ordered that nothing orders.
#[derive(Debug)]
struct Judging {
    is_below: bool,
    asked: bool,
    /// The levels with what was supposed of them.
    supposed: Option<Levels>,
}

/// A thread.
pub struct Thread {
    /// The state that it shares with other threads.
    pub world: Arc<World>,
    number: u32,
    token: Option<Arc<Object>>,
    frames: Vec<Frame>,
    held: Locks,
    /// The holder whose permission is used.
    reader: Place,
    kappa: Kappa,
    /// Is permission to read checked just now?
    reads_checked: bool,
    /// Is something said in the name of a thread that there is not yet?
    is_nobody: bool,
    /// Does `waitlevel` stand for what is held only?
    ignores_debts: bool,
    /// Instances open beside the reader's own permission, each with the part that may be used.
    opened: Vec<(Place, Amount)>,
    judging: Option<Judging>,
    /// Credits that an assertion being evaluated has given away.
    given: Vec<(Arc<Object>, i64)>,
    /// Functions that are being evaluated, outermost first.
    evaluating: Vec<u32>,
    measured: Vec<functions::Measured>,
    /// The lowest address that the stack may reach.
    floor: usize,
}

/// So much of the stack is left to what does not ask for room.
const RESERVE: usize = 1 << 19;

/// The permission that a precondition gives to an activation.
#[derive(Debug)]
pub struct Granted {
    holding: Holding,
    kappa: Kappa,
}

impl Thread {
    /// Returns a thread that begins here, with a stack of this size.
    pub(crate) fn new(world: Arc<World>, number: u32, stack: usize) -> Self {
        let here = 0_u8;
        let reads_checked = world.program.checks;
        Self {
            world,
            number,
            token: None,
            frames: Vec::new(),
            held: Locks::default(),
            reader: Place::Kept(Arc::default()),
            kappa: COMMON,
            reads_checked,
            is_nobody: false,
            ignores_debts: false,
            opened: Vec::new(),
            judging: None,
            given: Vec::new(),
            evaluating: Vec::new(),
            measured: Vec::new(),
            floor: std::ptr::from_ref(&here).addr().saturating_sub(stack - RESERVE),
        }
    }

    /// Are checks made?
    fn checks(&self) -> bool {
        self.world.program.checks
    }

    /// Goes one call deeper, or once more round a loop.
    ///
    /// # Errors
    /// The run is over, or the stack is used up.
    pub fn deeper(&self, at: At) -> Res<()> {
        let here = 0_u8;
        if std::ptr::from_ref(&here).addr() < self.floor {
            return Err(Box::new(Trouble::Bound("calls are nested too deep", at)));
        }
        if self.world.is_over() { Err(Box::new(Trouble::Over)) } else { Ok(()) }
    }

    /// Returns the read fraction of the context.
    pub fn kappa(&self) -> Kappa {
        self.kappa
    }

    /// Makes an object: whoever makes it has all permission to it.
    pub fn allocate(&mut self, kind: &'static Kind, values: Vec<Value>) -> Value {
        let object = Arc::new(Object::new(self.world.next_object(), kind, values));
        if self.checks() {
            for cell in 0..object.cells() {
                let loc = object.loc(Part::Cell(cell));
                self.with_holding(|holding| {
                    holding.book.insert(loc, Amount::FULL);
                });
            }
        }
        Value::Ref(object)
    }

    /// Makes a channel between bounds.
    pub fn allocate_channel(
        &mut self,
        kind: &'static Kind,
        bounds: (Vec<Bound>, Vec<Bound>),
    ) -> Res<Value> {
        let level = self.place(bounds)?;
        Ok(self.allocate(kind, vec![Value::Level(level)]))
    }

    /// Writes a line out.
    pub fn print(&self, value: &Value) {
        self.world.print(value.to_string());
    }

    /// Does something with what the reader has.
    fn with_holding<T>(&mut self, action: impl FnOnce(&mut Holding) -> T) -> T {
        match &self.reader {
            Place::Frame(at) => action(&mut self.frames[*at].holding),
            Place::Kept(kept) => action(&mut locked(kept)),
        }
    }

    fn amount_at(&self, place: &Place, loc: Loc) -> Amount {
        match place {
            Place::Frame(at) => self.frames[*at].holding.amount(loc),
            Place::Kept(kept) => locked(kept).amount(loc),
        }
    }

    /// Returns how much of a location may be used.
    fn available(&self, loc: Loc) -> Amount {
        let mut sum = self.amount_at(&self.reader, loc);
        for (place, scale) in self.opened.iter().filter(|(place, _)| *place != self.reader) {
            let part = self.amount_at(place, loc);
            if !part.is_none() {
                // Counting permissions inside stay what they are.
                sum = sum.plus(&part.times(scale).unwrap_or(part));
            }
        }
        sum
    }

    fn may_read(&self, loc: Loc) -> bool {
        let is_plain = |amount: &Amount| amount.is_full();
        if is_plain(&self.amount_at(&self.reader, loc)) {
            return true;
        }
        let mut others = self.opened.iter().rev();
        if others.any(|(place, scale)| is_plain(scale) && is_plain(&self.amount_at(place, loc))) {
            return true;
        }
        let amount = self.available(loc);
        let fractions = self.world.fractions.read();
        fractions.unwrap_or_else(std::sync::PoisonError::into_inner).is_readable(&amount)
    }

    /// Returns the value of a cell, if it may be read.
    ///
    /// # Errors
    /// It may not.
    pub fn read(&self, object: &Object, cell: u32, at: At) -> Res<Value> {
        if self.reads_checked && !self.may_read(object.loc(Part::Cell(cell))) {
            return missing(Flaw::NoRead, object, Part::Cell(cell), None, at);
        }
        Ok(object.get(cell))
    }

    /// Checks that all of a cell may be used.
    ///
    /// # Errors
    /// It may not.
    pub fn ask_full(&self, object: &Object, cell: u32, flaw: Flaw, at: At) -> Res<()> {
        let part = Part::Cell(cell);
        if !self.checks() || self.available(object.loc(part)).is_full() {
            return Ok(());
        }
        missing(flaw, object, part, Some(&Amount::FULL), at)
    }

    /// Evaluates something in the state at the start of a method. What fails is a failure where it
    /// is used, if it is.
    pub fn past<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let checks = std::mem::replace(&mut self.reads_checked, false);
        let result = evaluate(self);
        self.reads_checked = checks;
        result
    }

    /// Goes back to the innermost activation or loop, as every statement does.
    fn settle_in(&mut self) {
        if let Some(top) = self.frames.last() {
            self.kappa = top.kappa;
            self.reader = Place::Frame(self.frames.len() - 1);
        }
    }

    /// Does something with another's permission, and another read fraction.
    fn on_behalf<T>(
        &mut self,
        reader: Place,
        kappa: Kappa,
        action: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = (std::mem::replace(&mut self.reader, reader), self.kappa);
        self.kappa = kappa;
        let result = action(self);
        (self.reader, self.kappa) = outer;
        result
    }

    fn fresh(&self, below: Option<Kappa>) -> Kappa {
        let fractions = self.world.fractions.write();
        fractions.unwrap_or_else(std::sync::PoisonError::into_inner).fresh(below)
    }

    /// Gives a method what its precondition asks for, with a read fraction of its own or not.
    ///
    /// # Errors
    /// The precondition does not hold, or lacks permission.
    pub fn grant(&mut self, has_fraction: bool, requires: Clauses<'_>) -> Res<Granted> {
        let outer = self.kappa;
        let kappa = if has_fraction { self.fresh(Some(outer)) } else { outer };
        let mut ask = Transfer::give();
        ask.fresh = has_fraction.then_some(kappa);
        self.kappa = kappa;
        let result = requires(self, &mut ask).and_then(|()| self.settle(ask));
        self.kappa = outer;
        Ok(Granted { holding: result?, kappa })
    }

    /// Begins an activation with what it was given.
    pub fn push(&mut self, granted: Granted) {
        let Granted { holding, kappa } = granted;
        let held = self.held.clone();
        self.frames.push(Frame { holding, kappa, is_loop: false, held });
        self.settle_in();
    }

    /// Ends an activation: what its postcondition says goes to whoever waits for it.
    ///
    /// # Errors
    /// A postcondition that does not hold, a lock that may not have changed, a debt, a leak.
    pub fn finish(&mut self, ensures: Clauses<'_>, listed: OnLocks<'_>, at: At) -> Res<()> {
        let moved = self.moved(Transfer::give(), ensures);
        let moved = blamed(moved, "postcondition.violated", None)?;
        if let Some(object) = self.changed_locks(listed)? {
            return fail(Flaw::LocksChanged, at, &[&object]);
        }
        if self.frames.len() == 1
            && self.token.is_some()
            && let Some(held) = self.held.first()
        {
            return fail(Flaw::HeldAtTheEnd, at, &[&held.object]);
        }
        self.check_debt(Flaw::Debt, at)?;
        self.check_leaks(Flaw::Leak, at)?;
        self.frames.pop();
        match (self.frames.last_mut(), &self.token) {
            (Some(caller), _) => caller.holding.add_all(moved),
            (None, Some(token)) => locked(&token.extra().kept).add_all(moved),
            (None, None) => {}
        }
        self.settle_in();
        Ok(())
    }

    /// Takes what clauses ask for from the reader.
    fn moved(&mut self, mut ask: Transfer, clauses: Clauses<'_>) -> Res<Holding> {
        self.without_debts(|thread| {
            clauses(thread, &mut ask)?;
            thread.settle(ask)
        })
    }

    /// Judges a postcondition or the invariants of a loop, which hand over the debts that they name.
    fn without_debts<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.ignores_debts = true;
        let result = work(self);
        self.ignores_debts = false;
        result
    }

    /// Begins a loop.
    ///
    /// # Errors
    /// An invariant that does not hold.
    pub fn enter_loop(
        &mut self,
        has_fraction: bool,
        invariants: Clauses<'_>,
        listed: OnLocks<'_>,
        at: At,
    ) -> Res<()> {
        let granted = self.without_debts(|thread| thread.grant(has_fraction, invariants));
        let Granted { holding, kappa } = blamed(granted, "invariant.not.established", None)?;
        self.check_debt(Flaw::DebtBeforeLoop, at)?;
        if let Some(object) = self.changed_locks(listed)? {
            return fail(Flaw::LocksChangedBeforeLoop, at, &[&object]);
        }
        let held = self.held_at_entry();
        self.frames.push(Frame { holding, kappa, is_loop: true, held });
        self.settle_in();
        Ok(())
    }

    /// The guard of a loop reads with what the loop has and what is around it. Where it is false,
    /// the loop ends.
    ///
    /// # Errors
    /// The guard has no value.
    pub fn goes_on(&mut self, guard: &mut dyn FnMut(&mut Self) -> Res<bool>) -> Res<bool> {
        let around = self.frames.len() - 2;
        self.opened.push((Place::Frame(around), Amount::FULL));
        let goes_on = guard(self);
        self.opened.clear();
        if goes_on? {
            return Ok(true);
        }
        if let Some(ended) = self.frames.pop() {
            self.frames[around].holding.add_all(ended.holding);
        }
        self.settle_in();
        Ok(false)
    }

    /// Ends an iteration: the next one has what the invariants ask for, and nothing else.
    ///
    /// # Errors
    /// An invariant that does not hold, a lock that may not have changed, a debt, a leak.
    pub fn repeat_loop(&mut self, invariants: Clauses<'_>, listed: OnLocks<'_>, at: At) -> Res<()> {
        let moved = self.moved(Transfer::give(), invariants);
        let moved = blamed(moved, "invariant.not.preserved", None)?;
        self.check_debt(Flaw::DebtByLoop, at)?;
        if let Some(object) = self.changed_locks(listed)? {
            return fail(Flaw::LocksChangedByLoop, at, &[&object]);
        }
        self.check_leaks(Flaw::LeakByLoop, at)?;
        if let Some(top) = self.frames.last_mut() {
            top.holding = moved;
        }
        self.deeper(at)
    }

    fn check_debt(&mut self, flaw: Flaw, at: At) -> Res<()> {
        let owed = self.with_holding(|holding| {
            let mut owed: Vec<_> =
                holding.credits.iter().filter(|(_, balance)| *balance < 0).cloned().collect();
            owed.sort_by_key(|(channel, _)| channel.id);
            owed.into_iter().next()
        });
        match owed {
            Some((channel, balance)) => fail(flaw, at, &[&-balance, &channel]),
            None => Ok(()),
        }
    }

    fn check_leaks(&mut self, flaw: Flaw, at: At) -> Res<()> {
        if !self.world.program.leaks_fail {
            return Ok(());
        }
        let left = self.with_holding(|holding| holding.book.keys().min().copied());
        match left {
            Some(loc) => fail(flaw, at, &[&format!("object {}", loc.object)]),
            None => Ok(()),
        }
    }

    /// Returns the locks held when the innermost activation began.
    fn held_at_entry(&self) -> Locks {
        let activation = self.frames.iter().rev().find(|frame| !frame.is_loop);
        activation.map(|frame| frame.held.clone()).unwrap_or_default()
    }

    /// Returns an object whose lock status is not what it was, and may not have changed.
    fn changed_locks(&mut self, listed: OnLocks<'_>) -> Res<Option<Arc<Object>>> {
        let (before, now) = (self.held_at_entry(), self.held.clone());
        if Arc::ptr_eq(&before, &now) || before.is_empty() && now.is_empty() {
            return Ok(None);
        }
        let listed = self.past(|thread| listed(thread))?;
        let is_in = |held: &Held, all: &[Held]| {
            all.iter().any(|one| one.object == held.object && one.write == held.write)
        };
        let is_unlisted = |held: &&Held| !listed.contains(&Value::Ref(held.object.clone()));
        let mut changed = now.iter().filter(|held| !is_in(held, &before));
        let mut gone = before.iter().filter(|held| !is_in(held, &now));
        let found = changed.find(is_unlisted).or_else(|| gone.find(is_unlisted));
        Ok(found.map(|held| held.object.clone()))
    }

    /// Gives a thread that does not exist yet what its precondition asks for. It holds no locks,
    /// and locks cannot be given.
    ///
    /// # Errors
    /// The precondition does not hold, or lacks permission.
    pub fn grant_to_new(&mut self, requires: Clauses<'_>) -> Res<Granted> {
        self.is_nobody = true;
        let granted = self.grant(true, requires);
        self.is_nobody = false;
        granted
    }

    /// Forks a thread, and returns its token.
    ///
    /// # Errors
    /// No more threads can be started.
    pub fn fork(
        &mut self,
        kind: &'static Kind,
        granted: Granted,
        at: At,
        work: impl FnOnce(&mut Thread) -> Res<Vec<Value>> + Send + 'static,
    ) -> Res<Value> {
        let value = self.allocate(kind, vec![Value::Bool(true)]);
        let token = value.object(at)?;
        let number = self.world.next_thread();
        let _ = token.extra().kappa.set(granted.kappa);
        locked(&token.extra().status).thread = Some(number);
        let world = self.world.clone();
        world.fork(number, at, move |thread| {
            thread.token = Some(token.clone());
            thread.push(granted);
            let results = work(thread)?;
            Ok(Some((token, results)))
        })?;
        Ok(value)
    }

    /// Waits for the thread of a token, and takes what it leaves.
    ///
    /// # Errors
    /// The token may not be joined, or was joined.
    pub fn join(&mut self, token: &Arc<Object>, at: At) -> Res<Vec<Value>> {
        self.ask_full(token, 0, Flaw::NoJoin, at)?;
        if !self.read(token, 0, at)?.truth() {
            return fail(Flaw::NotJoinable, at, &[]);
        }
        let wish = Wish::End(token.clone());
        let results = self.world.wait(self.number, at, wish, |status| status.results.clone())?;
        token.set(0, Value::Bool(false));
        let left = std::mem::take(&mut *locked(&token.extra().kept));
        self.with_holding(|holding| holding.add_all(left));
        Ok(results.unwrap_or_default())
    }

    /// Begins the entry, to which nothing is given yet.
    pub fn begin(&mut self, has_fraction: bool) {
        let kappa = if has_fraction { self.fresh(Some(COMMON)) } else { COMMON };
        self.push(Granted { holding: Holding::default(), kappa });
    }

    /// Returns an object that was there before the entry began.
    pub fn existing(&self, kind: &'static Kind, values: Vec<Value>) -> Arc<Object> {
        Arc::new(Object::new(self.world.next_object(), kind, values))
    }

    /// Puts permission to part of an object into a predicate instance.
    pub fn hold_inside(
        &self,
        (object, predicate): (&Object, u32),
        of: &Object,
        part: Part,
        amount: &Amount,
    ) {
        locked(&object.instance(predicate)).add(of.loc(part), amount);
    }

    /// Gives the entry permission to part of an object.
    pub fn hold(&mut self, object: &Object, part: Part, amount: &Amount) {
        self.with_holding(|holding| holding.add(object.loc(part), amount));
    }
}

/// Permission that is missing.
fn missing<T>(flaw: Flaw, object: &Object, part: Part, amount: Option<&Amount>, at: At) -> Res<T> {
    let location = match part {
        Part::Cell(cell) => {
            let name = object.kind.cells.get(cell as usize).copied().unwrap_or_default();
            format!("{object}.{name}")
        }
        Part::Predicate(_) => format!("a predicate of {object}"),
    };
    let mut fault = Fault::new(flaw, at, &[]);
    fault.words = match amount {
        Some(amount) => format!("{}: {amount} of {location} is needed", fault.words),
        None => format!("{}: {location}", fault.words),
    };
    Err(fault.into())
}

/// Says what kind of check has failed, and where, unless a part of it has said so already.
///
/// # Errors
/// Those of the result.
pub fn blamed<T>(result: Res<T>, kind: &'static str, at: Option<At>) -> Res<T> {
    result.map_err(|mut trouble| {
        if let Trouble::Fault(fault) = &mut *trouble
            && fault.kind.is_none()
        {
            fault.kind = Some(kind);
            fault.clause = at.or(fault.clause);
        }
        trouble
    })
}

/// Returns the failure of an obligation, in its own words.
///
/// # Errors
/// Those of the result.
pub fn told<T>(result: Res<T>, reason: &'static str, words: &str) -> Res<T> {
    result.map_err(|mut trouble| {
        if let Trouble::Fault(fault) = &mut *trouble
            && fault.reason == Flaw::False.reason()
        {
            fault.reason = reason;
            words.clone_into(&mut fault.words);
        }
        trouble
    })
}
