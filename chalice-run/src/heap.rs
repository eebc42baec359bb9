//! Objects, and who holds how much permission to what.
//!
//! Permission lives at the location it is for, and of a field it always adds up to the whole:
//! whoever gets some, gets it from somebody. So a check that fails can say who has what is missing.

mod permissions;

use std::collections::VecDeque;
use std::sync::Arc;

use chalice::Span;
use imbl::OrdMap;

use crate::amount::{Amount, Kappa};
use crate::value::{Level, Ref, Value};

pub use self::permissions::Permissions;

/// A holder of permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// The surroundings of the program: they grant the needs of the start.
    Environment,
    /// An activation, or what one has left behind. In the thread view, all activations of a thread.
    Frame(u32),
    /// An iteration of a loop, or what one has left behind.
    Loop(u32),
    /// The monitor of an object.
    Monitor(Ref),
    /// A folded predicate instance.
    Instance(Ref, u32),
    /// A message on its way.
    Message(u32),
    /// A token, which keeps the permissions of a finished thread for the thread that joins it.
    Token(Ref),
    /// Objects that were freed.
    Freed,
    /// Nobody: the thread that does not exist yet.
    Nobody,
}

/// The holders of one location, with their amounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Holdings {
    /// Nobody holds any.
    #[default]
    Nobody,
    /// One holds all.
    Whole(Holder),
    /// Up to [`FEW`] hold some: no holder twice, no amount nothing.
    Few(Box<Vec<(Holder, Amount)>>),
    /// More than that do, as in deep recursion: who it is about is found without looking through
    /// all of them, and a copy shares what has not changed.
    Many(Box<OrdMap<Holder, Amount>>),
}

/// The number of holders that are looked through one by one.
const FEW: usize = 8;

impl Holdings {
    /// Does one hold everything?
    pub fn is_whole(&self, holder: Holder) -> bool {
        matches!(self, Self::Whole(one) if *one == holder)
    }

    /// Returns how much one holds.
    pub fn amount(&self, holder: Holder) -> Amount {
        let amount = match self {
            Self::Nobody => None,
            Self::Whole(one) => (*one == holder).then_some(&Amount::FULL),
            Self::Few(parts) => parts.iter().find(|part| part.0 == holder).map(|part| &part.1),
            Self::Many(parts) => parts.get(&holder),
        };
        amount.cloned().unwrap_or(Amount::NONE)
    }

    /// Returns all holders with what they hold, in the order of their names.
    pub fn parts(&self) -> Vec<(Holder, Amount)> {
        match self {
            Self::Nobody => Vec::new(),
            Self::Whole(one) => vec![(*one, Amount::FULL)],
            Self::Few(parts) => {
                let mut parts = (**parts).clone();
                parts.sort_by_key(|part| part.0);
                parts
            }
            Self::Many(parts) => {
                parts.iter().map(|(holder, amount)| (*holder, amount.clone())).collect()
            }
        }
    }

    /// Gives one more. It may be negative.
    pub fn add(&mut self, holder: Holder, amount: &Amount) {
        match self {
            _ if amount.is_none() => {}
            Self::Nobody if amount.is_full() => *self = Self::Whole(holder),
            Self::Nobody => *self = Self::Few(Box::new(vec![(holder, amount.clone())])),
            Self::Whole(one) => {
                *self = Self::Few(Box::new(vec![(*one, Amount::FULL)]));
                return self.add(holder, amount);
            }
            Self::Few(parts) => match parts.iter().position(|part| part.0 == holder) {
                Some(at) => {
                    parts[at].1 = parts[at].1.plus(amount);
                    if parts[at].1.is_none() {
                        parts.remove(at);
                    }
                }
                None => parts.push((holder, amount.clone())),
            },
            Self::Many(parts) => {
                let sum = match parts.get(&holder) {
                    Some(known) => known.plus(amount),
                    None => amount.clone(),
                };
                if sum.is_none() {
                    parts.remove(&holder);
                } else {
                    parts.insert(holder, sum);
                }
            }
        }
        self.tidy();
    }

    /// Brings it into the form for as many holders as there are.
    fn tidy(&mut self) {
        match self {
            Self::Few(parts) => match &parts[..] {
                [] => *self = Self::Nobody,
                [(one, amount)] if amount.is_full() => *self = Self::Whole(*one),
                parts if parts.len() > FEW => {
                    *self = Self::Many(Box::new(parts.iter().cloned().collect()));
                }
                _ => {}
            },
            Self::Many(parts) if parts.len() <= FEW => *self = Self::Few(Box::new(self.parts())),
            _ => {}
        }
    }

    /// Moves an amount.
    pub fn transfer(&mut self, from: Holder, to: Holder, amount: &Amount) {
        if amount.is_full() && self.is_whole(from) {
            *self = Self::Whole(to);
            return;
        }
        // Most often somebody gives all he has to somebody who has none.
        if let Self::Few(parts) = self
            && let Some(at) = parts.iter().position(|part| part.0 == from)
            && parts[at].1 == *amount
            && !parts.iter().any(|part| part.0 == to)
        {
            parts[at].0 = to;
            return;
        }
        self.add(from, &Amount::NONE.minus(amount));
        self.add(to, amount);
    }

    /// Returns the sum over all holders.
    pub fn total(&self) -> Amount {
        self.parts().iter().fold(Amount::NONE, |sum, (_, amount)| sum.plus(amount))
    }
}

/// The place of a field: its value, who may use it, and what it was before.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its value now.
    pub value: Value,
    /// The holders of permission to it.
    pub holdings: Holdings,
    /// Since when it has the value.
    since: u32,
    /// The earlier values, with their times: as many as recorded states need.
    history: Option<Box<History>>,
}

/// Earlier values of a cell with the times since when it had them.
type History = Vec<(u32, Value)>;

/// The kind of an object in the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// An object of a class.
    Class(u32),
    /// A channel.
    Channel(u32),
    /// The token of a fork of a method.
    Token(u32),
}

/// A predicate instance that somebody has folded.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The predicate.
    pub predicate: u32,
    /// The holders of it, with their amounts.
    pub holdings: Holdings,
    /// The last fold.
    pub since: Span,
}

/// The lock of a shared object.
#[derive(Debug, Clone, Default)]
pub struct Lock {
    /// The thread that holds it for writing.
    pub writer: Option<u32>,
    /// The threads that hold it for reading.
    pub readers: Vec<u32>,
    /// When its invariant was last given to it.
    pub since: Span,
    /// The visible steps that come before the next acquire.
    pub clock: Vec<u32>,
}

/// A message.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its holder is [`Holder::Message`] with this number.
    pub number: u32,
    /// Its values.
    pub values: Vec<Value>,
    /// The visible steps that come before its receipt.
    pub clock: Vec<u32>,
}

/// The state of a channel.
#[derive(Debug, Clone, Default)]
pub struct ChannelState {
    /// The messages that were sent and not received.
    pub queue: VecDeque<Message>,
    /// The credits and debts of each holder.
    pub credits: Vec<(Holder, i64)>,
}

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The object.
    pub object: Ref,
    /// For writing, not only for reading?
    pub write: bool,
    /// Its level.
    pub level: Level,
    /// Since when.
    pub span: Span,
}

/// A recorded state, as a thread saw it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The time.
    pub epoch: u32,
    /// The locks that the thread held.
    pub held: Arc<Vec<Held>>,
    /// The holders of permission then, if that is kept.
    pub permissions: Option<Arc<Permissions>>,
}

/// The state of a token.
#[derive(Debug, Clone)]
pub struct TokenState {
    /// The method that was forked.
    pub method: u32,
    /// The thread; absent for tokens that nobody has forked yet (generated ones).
    pub thread: Option<u32>,
    /// Receiver, arguments and, once it has ended, results.
    pub slots: Vec<Value>,
    /// The read fraction of the fork.
    pub kappa: Kappa,
    /// Before the fork.
    pub before: Snapshot,
}

/// The parts that only some objects have.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// The lock, while the object is shared.
    pub lock: Option<Lock>,
    /// If it is a channel.
    pub channel: ChannelState,
    /// If it is a token.
    pub token: Option<TokenState>,
}

/// Something in the heap.
#[derive(Debug, Clone)]
pub struct Object {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The thread that made it, and its number among those that the thread made: a name that does
    /// not depend on what other threads do.
    pub name: (u32, u32),
    /// Its fields; see [`crate::code`] for their order.
    pub cells: Vec<Cell>,
    /// Folded predicate instances.
    pub instances: Vec<Instance>,
    /// The parts that only some objects have.
    pub extra: Option<Box<Extra>>,
}

/// A location that permission can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The object.
    pub object: Ref,
    /// The part of the object.
    pub part: Part,
}

impl Loc {
    /// Returns the location of an object's level.
    pub(crate) fn mu(object: Ref) -> Self {
        Self { object, part: Part::Cell(0) }
    }
}

/// Part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A cell.
    Cell(u32),
    /// A predicate instance.
    Predicate(u32),
}

/// All objects.
#[derive(Debug, Clone, Default)]
pub struct Heap {
    /// In the order in which they were made.
    pub objects: Vec<Object>,
    /// The time: it moves on when a state is recorded.
    epoch: u32,
    /// Recorded states that may still be asked for, in order.
    live: Vec<u32>,
}

impl Heap {
    /// Makes an object; somebody has all permission to it.
    pub fn allocate(
        &mut self,
        kind: ObjectKind,
        name: (u32, u32),
        values: impl IntoIterator<Item = Value>,
        holder: Holder,
    ) -> Ref {
        let since = self.epoch;
        let cells = values
            .into_iter()
            .map(|value| Cell { value, holdings: Holdings::Whole(holder), since, history: None })
            .collect();
        self.objects.push(Object { kind, name, cells, instances: Vec::new(), extra: None });
        Ref(self.objects.len() as u32 - 1)
    }

    /// Returns an object, unless it is the one that stands for those that do not exist.
    pub fn get(&self, object: Ref) -> Option<&Object> {
        self.objects.get(object.0 as usize)
    }

    /// Returns an object that exists.
    pub fn object(&self, object: Ref) -> &Object {
        &self.objects[object.0 as usize]
    }

    /// Returns an object that exists.
    pub(crate) fn object_mut(&mut self, object: Ref) -> &mut Object {
        &mut self.objects[object.0 as usize]
    }

    /// Returns the parts that only some objects have, of an object that needs them.
    pub(crate) fn extra_mut(&mut self, object: Ref) -> &mut Extra {
        self.object_mut(object).extra.get_or_insert_default()
    }

    /// Returns the lock of an object, if it is shared.
    pub fn lock(&self, object: Ref) -> Option<&Lock> {
        self.get(object)?.extra.as_ref()?.lock.as_ref()
    }

    /// Returns the state of a token.
    pub fn token(&self, object: Ref) -> Option<&TokenState> {
        self.get(object)?.extra.as_ref()?.token.as_ref()
    }

    /// Returns the holders of permission to a location.
    pub fn holdings(&self, loc: Loc) -> Option<&Holdings> {
        let object = self.get(loc.object)?;
        match loc.part {
            Part::Cell(cell) => Some(&object.cells[cell as usize].holdings),
            Part::Predicate(predicate) => {
                let instance = object.instances.iter().find(|one| one.predicate == predicate);
                instance.map(|one| &one.holdings)
            }
        }
    }

    /// Returns the holders of permission to a location of an object that exists.
    pub(crate) fn holdings_mut(&mut self, loc: Loc) -> &mut Holdings {
        let object = self.object_mut(loc.object);
        match loc.part {
            Part::Cell(cell) => &mut object.cells[cell as usize].holdings,
            Part::Predicate(predicate) => {
                let instances = &mut object.instances;
                let at = instances.iter().position(|one| one.predicate == predicate);
                let at = at.unwrap_or_else(|| {
                    let holdings = Holdings::Nobody;
                    instances.push(Instance { predicate, holdings, since: Span::default() });
                    instances.len() - 1
                });
                &mut instances[at].holdings
            }
        }
    }

    /// Returns how much somebody holds of a location.
    pub fn amount(&self, loc: Loc, holder: Holder) -> Amount {
        self.holdings(loc).map_or(Amount::NONE, |holdings| holdings.amount(holder))
    }

    /// Writes a cell.
    pub fn write(&mut self, object: Ref, cell: u32, value: Value) {
        let epoch = self.epoch;
        let newest = self.live.last().copied();
        let cell = &mut self.objects[object.0 as usize].cells[cell as usize];
        let old = std::mem::replace(&mut cell.value, value);
        if newest.is_some_and(|newest| newest >= cell.since) {
            let history = cell.history.get_or_insert_default();
            history.push((cell.since, old));
            if history.len() > 8 + 2 * self.live.len() {
                prune(history, epoch, &self.live);
            }
        }
        cell.since = epoch;
    }

    /// Gives a cell the value that it has had since it exists.
    pub fn decide(&mut self, object: Ref, cell: u32, value: Value) {
        let cell = &mut self.objects[object.0 as usize].cells[cell as usize];
        cell.value = value;
    }

    /// Gives a cell the value that it turns out to have had in a recorded state, and since then
    /// until it was written.
    pub(crate) fn decide_at(&mut self, object: Ref, cell: u32, epoch: u32, value: Value) {
        let cell = &mut self.objects[object.0 as usize].cells[cell as usize];
        if cell.since > epoch
            && let Some(history) = &mut cell.history
        {
            let then = history.iter().rposition(|(since, _)| *since <= epoch).unwrap_or(0);
            if let Some((_, known)) = history.get_mut(then) {
                *known = value;
                return;
            }
        }
        cell.value = value;
    }

    /// Says that a cell had a value in a recorded state, and has been written since.
    pub fn had(&mut self, object: Ref, cell: u32, epoch: u32, value: Value) {
        let cell = &mut self.objects[object.0 as usize].cells[cell as usize];
        if cell.since <= epoch {
            cell.history.get_or_insert_default().push((cell.since, value));
            cell.since = epoch + 1;
        }
    }

    /// Returns the value of a cell in a recorded state.
    pub(crate) fn value_at(&self, object: Ref, cell: u32, epoch: u32) -> &Value {
        let cell = &self.objects[object.0 as usize].cells[cell as usize];
        if cell.since <= epoch {
            return &cell.value;
        }
        let history = cell.history.as_ref().map_or(&[][..], |history| &history[..]);
        let then = history.iter().rev().find(|(since, _)| *since <= epoch);
        then.or(history.first()).map_or(&cell.value, |(_, value)| value)
    }

    /// Records the state: what is written from now on comes after it.
    pub fn record(&mut self) -> u32 {
        let epoch = self.epoch;
        self.live.push(epoch);
        self.epoch += 1;
        epoch
    }

    /// Nobody asks for a recorded state any more.
    pub fn forget(&mut self, epoch: u32) {
        if let Some(at) = self.live.iter().rposition(|&live| live == epoch) {
            self.live.remove(at);
        }
    }
}

/// Drops the values that no recorded state shows.
fn prune(history: &mut History, now: u32, live: &[u32]) {
    let ends: Vec<u32> = history.iter().skip(1).map(|(since, _)| *since).chain([now]).collect();
    let mut at = 0;
    history.retain(|(since, _)| {
        let end = ends[at];
        at += 1;
        let first = live.partition_point(|&epoch| epoch < *since);
        live.get(first).is_some_and(|&epoch| epoch < end)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Rational;

    fn heap() -> (Heap, Ref) {
        let mut heap = Heap::default();
        let values = [Value::Int(0)];
        let object = heap.allocate(ObjectKind::Class(0), (0, 1), values, Holder::Frame(0));
        (heap, object)
    }

    #[test]
    fn recorded_states_keep_their_values() {
        let (mut heap, object) = heap();
        let mut states = Vec::new();
        for number in 1..40 {
            let state = heap.record();
            states.push((state, number - 1));
            heap.write(object, 0, Value::Int(number));
            heap.write(object, 0, Value::Int(number));
            if number % 3 == 0 {
                heap.forget(states.remove(0).0);
            }
        }
        for (state, number) in states {
            assert_eq!(*heap.value_at(object, 0, state), Value::Int(number));
        }
    }

    #[test]
    fn states_nobody_asks_for_cost_nothing() {
        let (mut heap, object) = heap();
        for number in 0..1000 {
            let state = heap.record();
            heap.write(object, 0, Value::Int(number));
            heap.forget(state);
        }
        let cell = &heap.object(object).cells[0];
        assert!(cell.history.as_ref().is_none_or(|history| history.len() < 20));
    }

    /// Many holders have the same amounts as in a plain list.
    #[test]
    fn many_holders_are_kept_as_few_are() {
        let mut random = crate::choices::SplitMix(7);
        for holders in [3, 40] {
            let mut holdings = Holdings::Whole(Holder::Frame(0));
            let mut known = vec![Amount::NONE; holders as usize];
            known[0] = Amount::FULL;
            for _ in 0..2000 {
                let (from, to) = (random.below(holders), random.below(holders));
                // All, or a part of all that there is.
                let amount = match random.below(2) {
                    0 => known[from as usize].clone(),
                    _ => Amount::number(Rational::new(1, 7)),
                };
                holdings.transfer(Holder::Frame(from), Holder::Frame(to), &amount);
                known[from as usize] = known[from as usize].minus(&amount);
                known[to as usize] = known[to as usize].plus(&amount);
                let parts = (0..).zip(&known).filter(|(_, amount)| !amount.is_none());
                let parts: Vec<_> =
                    parts.map(|(at, amount)| (Holder::Frame(at), amount.clone())).collect();
                assert_eq!(holdings.parts(), parts);
                assert_eq!(holdings.amount(Holder::Frame(from)), known[from as usize]);
                assert!(holdings.total().is_full());
                let mut again = Holdings::Nobody;
                parts.iter().for_each(|(holder, amount)| again.add(*holder, amount));
                assert_eq!(matches!(again, Holdings::Many(_)), parts.len() > FEW);
                assert_eq!(again.parts(), parts);
            }
        }
    }

    #[test]
    fn transfers_lose_nothing() {
        let (mut heap, object) = heap();
        let loc = Loc::mu(object);
        let half = Amount::number(Rational::new(1, 2));
        let holdings = heap.holdings_mut(loc);
        holdings.transfer(Holder::Frame(0), Holder::Message(1), &half);
        holdings.transfer(Holder::Message(1), Holder::Monitor(object), &half);
        assert_eq!(holdings.amount(Holder::Message(1)), Amount::NONE);
        assert!(holdings.total().is_full());
        holdings.transfer(Holder::Monitor(object), Holder::Frame(0), &half);
        assert!(holdings.is_whole(Holder::Frame(0)));
    }
}
