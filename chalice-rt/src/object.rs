//! Objects, channels and tokens of an emitted program.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::amount::{Amount, Kappa};
use crate::thread::{Thread, Transfer};
use crate::trouble::Res;
use crate::value::Value;

/// The rule for what an object's monitor or message holds: it asks for that in a transfer. The
/// values are those of the message.
pub type Contract = fn(&mut Thread, &mut Transfer, &Value, &[Value]) -> Res<()>;

/// The kind of an object: a class, a channel, or the tokens of a method.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Names of its cells; the first is `mu`, of a token `joinable`.
    pub cells: &'static [&'static str],
    /// The monitor invariant, or the where clause of a channel.
    pub contract: Option<Contract>,
}

/// Part of an object: a cell, or a predicate instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A cell.
    Cell(u32),
    /// A predicate instance.
    Predicate(u32),
}

/// A location that permission can be held to: the number of an object, and a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The number of the object.
    pub object: u64,
    /// The part of the object.
    pub part: Part,
}

/// Permissions of one holder, by location.
pub type Book = HashMap<Loc, Amount, BuildHasherDefault<Mixer>>;

/// Mixes the few words of a location (after Fowler, Noll and Vo, word by word).
#[derive(Debug, Clone, Copy, Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// The permissions and credits that one holder has.
#[derive(Debug, Clone, Default)]
pub struct Holding {
    /// Permission.
    pub book: Book,
    /// Credits and debts, by channel.
    pub credits: Vec<(Arc<Object>, i64)>,
}

impl Holding {
    /// Returns how much of a location is held.
    pub fn amount(&self, loc: Loc) -> Amount {
        self.book.get(&loc).cloned().unwrap_or(Amount::NONE)
    }

    /// Adds to what is held of a location; the amount may be negative.
    pub fn add(&mut self, loc: Loc, amount: &Amount) {
        match self.book.get_mut(&loc) {
            Some(known) => {
                *known = known.plus(amount);
                if known.is_none() {
                    self.book.remove(&loc);
                }
            }
            None if amount.is_none() => {}
            None => {
                self.book.insert(loc, amount.clone());
            }
        }
    }

    /// Changes the right to receive; negative if messages are owed.
    pub fn credit(&mut self, channel: &Arc<Object>, count: i64) {
        match self.credits.iter_mut().find(|(other, _)| other == channel) {
            Some((_, balance)) => *balance = balance.saturating_add(count),
            None => self.credits.push((channel.clone(), count)),
        }
        self.credits.retain(|(_, balance)| *balance != 0);
    }

    /// Returns the right to receive.
    pub fn balance(&self, channel: &Object) -> i64 {
        let found = self.credits.iter().find(|(other, _)| other.id == channel.id);
        found.map_or(0, |(_, balance)| *balance)
    }

    /// Adds all that another one has.
    pub fn add_all(&mut self, other: Holding) {
        if self.book.is_empty() {
            self.book = other.book;
        } else {
            other.book.iter().for_each(|(loc, amount)| self.add(*loc, amount));
        }
        other.credits.iter().for_each(|(channel, count)| self.credit(channel, *count));
    }
}

/// The permission that a monitor, an instance, a message or a token holds.
pub type Kept = Arc<Mutex<Holding>>;

/// The lock of a shared object, or what else threads wait for.
#[derive(Debug, Default)]
pub struct Status {
    /// Is the object shared?
    pub is_shared: bool,
    /// The thread that holds the lock for writing.
    pub writer: Option<u32>,
    /// The threads that hold it for reading.
    pub readers: Vec<u32>,
    /// The messages that were sent and not received.
    pub queue: VecDeque<(Vec<Value>, Holding)>,
    /// The thread that a token stands for.
    pub thread: Option<u32>,
    /// The results of the thread that a token stands for, when it has ended.
    pub results: Option<Vec<Value>>,
}

/// The parts that only some objects need.
#[derive(Debug, Default)]
pub struct Extra {
    /// The permissions of its monitor, or of its token.
    pub kept: Kept,
    /// Folded predicate instances.
    pub instances: Mutex<Vec<(u32, Kept)>>,
    /// The state that threads wait for. It is only looked at while the world's lock is held.
    pub status: Mutex<Status>,
    /// The read fraction of a token's fork.
    pub kappa: OnceLock<Kappa>,
}

/// An object, channel or token.
pub struct Object {
    /// Its number: later ones have greater numbers.
    pub id: u64,
    /// Its kind.
    pub kind: &'static Kind,
    cells: Box<[Mutex<Value>]>,
    extra: OnceLock<Box<Extra>>,
}

/// Locks, though another thread may have failed meanwhile: what it left is whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Object {
    /// Returns an object with the values of its cells.
    pub fn new(id: u64, kind: &'static Kind, values: Vec<Value>) -> Self {
        let cells = values.into_iter().map(Mutex::new).collect();
        Self { id, kind, cells, extra: OnceLock::new() }
    }

    /// Returns the value of a cell.
    pub fn get(&self, cell: u32) -> Value {
        locked(&self.cells[cell as usize]).clone()
    }

    /// Changes the value of a cell.
    pub fn set(&self, cell: u32, value: Value) {
        // The old value goes when the lock is free again: it may be long.
        let old = std::mem::replace(&mut *locked(&self.cells[cell as usize]), value);
        drop(old);
    }

    /// Returns the parts that only some objects need.
    pub fn extra(&self) -> &Extra {
        self.extra.get_or_init(Box::default)
    }

    /// Returns a predicate instance.
    pub fn instance(&self, predicate: u32) -> Kept {
        let mut instances = locked(&self.extra().instances);
        match instances.iter().find(|(other, _)| *other == predicate) {
            Some((_, kept)) => kept.clone(),
            None => {
                let kept = Kept::default();
                instances.push((predicate, kept.clone()));
                kept
            }
        }
    }

    /// Returns a location of it.
    pub fn loc(&self, part: Part) -> Loc {
        Loc { object: self.id, part }
    }

    /// Returns the number of its cells.
    pub fn cells(&self) -> u32 {
        self.cells.len() as u32
    }
}

/// A long list is dropped node by node, and not by recursion.
impl Drop for Object {
    fn drop(&mut self) {
        let mut open: Vec<Value> = Vec::new();
        let take = |object: &mut Object, open: &mut Vec<Value>| {
            let cells = std::mem::take(&mut object.cells).into_iter();
            let values =
                cells.map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner));
            open.extend(values.filter(|value| matches!(value, Value::Ref(_))));
        };
        take(self, &mut open);
        while let Some(value) = open.pop() {
            if let Value::Ref(object) = value
                && let Some(mut last) = Arc::into_inner(object)
            {
                take(&mut last, &mut open);
            }
        }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Object {}

impl PartialOrd for Object {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Object {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Its kind and number.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.kind.name, self.id)
    }
}
