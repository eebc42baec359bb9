//! Direct symbolic execution of Chalice: rules over the Chalice tree, on the engine of [`symex`].
//!
//! The rules are those of Schwerhoff 2011 (chapter 3) for the sequential part of the language.
//! Nothing here goes through a translation, so the agreement of the two ways is evidence for both.
//! A member with constructs that the rules do not know is `unsupported`, before any part of it is
//! executed ([`scope`]).
//!
//! The engine names locations and members by ids of a SIL program. So [`table`] makes a program
//! that has the names, types and places of the declarations, but no contracts and no bodies.
//!
//! In reading order: [`table`], [`graph`] (applications of functions), [`scope`] (what is
//! supported), [`eval`], [`functions`], [`assertion`] (produce and consume), [`many`] (permission
//! to many locations), [`instance`] (fold and unfold), [`together`] (instances beside each other),
//! [`fractions`] (the amount of `rd`), [`exec`], [`defaults`] (options of the original verifier),
//! [`calls`], [`loops`], [`terminates`] (termination of functions), [`threads`] (locks, forks and
//! channels), [`member`].

mod ahead;
mod assertion;
mod calls;
mod defaults;
mod eval;
mod exec;
mod fractions;
mod functions;
mod graph;
mod instance;
mod loops;
mod many;
mod member;
mod pointers;
mod scope;
mod specification;
mod table;
mod terminates;
mod threads;
mod together;

use std::ops::{Deref, DerefMut};

use chalice::program as tree;
use chalice::program::locking::Locking;
use la_arena::{Arena, ArenaMap, Idx};
use rustc_hash::FxHashSet;
use sil::program::{FieldId, Local, LocalId};
use sil::source::{FileId, Span};
use smt::terms::Sort;

pub use self::table::load;
pub use self::together::above;
use symex::state::heap::Resource;
use symex::{Context, Engine, View};

/// A Chalice program, as the rules read it.
pub struct Direct {
    tree: chalice::Program,
    /// The variables of the program with their own numbers; behind them those below.
    locals: Arena<Local>,
    /// The flag of each ghost constant that tells whether it has been assigned.
    assigned: ArenaMap<tree::LocalId, LocalId>,
    /// The conditionals that may be merged.
    ahead: ahead::Ahead,
    /// The variables that may be foreseen, of methods whose ghosts stay apart.
    foreseen: FxHashSet<tree::LocalId>,
    this: LocalId,
    /// The amount of `rd` in a state: that of the method, the call or the loop.
    fraction: LocalId,
    /// The amount of every permission, where only the presence of permission counts (see
    /// [`terminates`]).
    whole: LocalId,
    /// An amount above all counting permissions, if there are any.
    least: LocalId,
    /// The fields that stand for the level of an object, and for the right to join a token.
    mu: FieldId,
    joinable: FieldId,
    /// The back pointers of each tracked field, as a field.
    pointers: ArenaMap<tree::FieldId, FieldId>,
    /// The assertions of the table's predicates that are no predicates of the program.
    others: Vec<table::OtherInvariant>,
    /// The applications of functions.
    graph: graph::Graph,
    /// The effects of methods on locks.
    locking: Locking,
    /// The sums over collections.
    sums: eval::aggregates::Sums,
    /// The claims of monitor invariants about two states.
    histories: threads::history::Histories,
    /// The options in the first line of the program.
    options: chalice::Options,
}

impl Direct {
    /// Returns the program that is executed directly, if there is one.
    pub fn of<'p>(context: &Context<'p>) -> Option<&'p Self> {
        context.own?.downcast_ref()
    }

    fn local(local: tree::LocalId) -> LocalId {
        renumbered(local)
    }

    /// Returns the resource of levels.
    fn mu(&self) -> Resource {
        Resource::Field(self.mu)
    }

    /// Returns the resource of rights to join.
    fn joinable(&self) -> Resource {
        Resource::Field(self.joinable)
    }

    fn field(&self, field: tree::FieldRef) -> FieldId {
        match field {
            tree::FieldRef::Declared(field) => renumbered(field),
            tree::FieldRef::Mu => self.mu,
            tree::FieldRef::Joinable => self.joinable,
        }
    }
}

/// Returns the name, in messages, of a constant that stands for an amount.
fn amount_in_words(constant: &str) -> Option<&'static str> {
    match constant {
        "direct.counting" => Some("ε"),
        "direct.rd" => Some("rd"),
        _ => None,
    }
}

/// Returns the id with the same number in another arena.
fn renumbered<T, U>(id: Idx<T>) -> Idx<U> {
    Idx::from_raw(id.into_raw())
}

/// Returns a place in the one file that there is.
fn span(span: chalice::Span) -> Span {
    Span::new(FileId(0), span.start as usize, span.end as usize)
}

/// The rules that evaluate no expression: amounts, levels, locks and earlier states of threads, on
/// an engine.
#[derive(derive_more::Deref, derive_more::DerefMut)]
pub(crate) struct Threads<'e, 'p> {
    #[deref(forward)]
    #[deref_mut(forward)]
    core: &'e mut Engine<'p>,
    /// The program whose rules these are.
    direct: &'p Direct,
}

/// The rules of expressions and assertions.
pub struct Chalice<'e, 'p> {
    threads: Threads<'e, 'p>,
    direct: &'p Direct,
}

/// The rules of statements and members, which no expression applies.
#[derive(derive_more::Deref, derive_more::DerefMut)]
pub struct Statements<'e, 'p>(Chalice<'e, 'p>);

impl Threads<'_, '_> {
    fn sort(&mut self, ty: &tree::Type) -> Sort {
        self.core.sort(&table::ty(ty))
    }
}

impl<'e, 'p> Chalice<'e, 'p> {
    /// Makes the view of an engine whose program is executed directly.
    pub(crate) fn of(core: &'e mut Engine<'p>) -> Self {
        let direct = Direct::of(core.context).expect("the rules are asked where there is one");
        Self { threads: Threads { core, direct }, direct }
    }
}

impl<'e, 'p> Statements<'e, 'p> {
    /// Makes the view of an engine whose program is executed directly.
    pub fn of(core: &'e mut Engine<'p>) -> Self {
        Self(Chalice::of(core))
    }
}

impl<'p> View<'p> for Threads<'_, 'p> {
    fn core(&mut self) -> &mut Engine<'p> {
        self.core
    }
}

impl<'p> View<'p> for Chalice<'_, 'p> {
    fn core(&mut self) -> &mut Engine<'p> {
        self.threads.core
    }
}

impl<'p> Deref for Chalice<'_, 'p> {
    type Target = Engine<'p>;

    fn deref(&self) -> &Engine<'p> {
        self.threads.core
    }
}

impl DerefMut for Chalice<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.threads.core
    }
}

impl<'p> View<'p> for Statements<'_, 'p> {
    fn core(&mut self) -> &mut Engine<'p> {
        self.0.core()
    }
}
